"""What the end of a run means to whoever started it: its exit code."""

from collections.abc import Collection

from cwgpu.agent.lane import Trouble
from cwgpu.agent.orders import Ending
from cwgpu.cli import exits
from cwgpu.logs.verdict import Credentials, Denied, Retry, RetryKind
from cwgpu.sinks import stdout
from cwgpu.telemetry.account import Account


def code(ending: Ending, found: Account | None, *, counts: bool) -> int:
    """Give the exit code.

    ``found`` is there for a run that ends by itself. ``counts``: that nothing was found is a
    failure; an agent that stays would have waited for it.
    """
    if ending.broken is not None:
        return exits.OK if ending.broken.code == stdout.CLOSED else exits.RUNTIME
    if ending.bug is not None:
        return exits.RUNTIME
    if ending.rest.lost_samples and found is None:
        return exits.RUNTIME
    if ending.troubles and found is not None:
        return _undelivered(ending.troubles)
    return exits.OK if found is None else _found(found, counts=counts)


def _undelivered(troubles: Collection[Trouble | None]) -> int:
    """Give the code that helps most: a permission is missing, or nothing answers."""
    if any(isinstance(trouble, Denied | Credentials) for trouble in troubles):
        return exits.PERMISSION
    kinds = {trouble.kind if isinstance(trouble, Retry) else trouble for trouble in troubles}
    return exits.UNAVAILABLE if kinds <= {None, RetryKind.NETWORK} else exits.RUNTIME


def _found(found: Account, *, counts: bool) -> int:
    if found.lost_later or found.bugs:
        return exits.RUNTIME
    if not counts or found.selected:
        return exits.OK
    return exits.UNAVAILABLE if found.down and not found.up else exits.NOTHING_FOUND
