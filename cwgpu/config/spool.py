"""How long what was rendered may wait: from ``cwgpu.spool`` and ``shutdown_grace`` to the plan."""

from collections.abc import Mapping
from pathlib import Path, PurePath

from cwgpu.config.node import Loc
from cwgpu.config.own import Own, Spool
from cwgpu.config.report import Report
from cwgpu.logs import limits
from cwgpu.plan import plan
from cwgpu.plan.plan import SpoolMode
from cwgpu.prom import duration

_SPOOL: Loc = ("cwgpu", "spool")
_GRACE: Loc = ("cwgpu", "shutdown_grace")

VARIABLE = "CWGPU_SPOOL_DIR"
"""Twin of the flag that names the directory; counts more than the file."""

_LEAST_BYTES = 4 << 20
"""A batch is 1 MiB at most before it is compressed: with less room hardly any would be held."""
_LEAST_AGE_MS = 60_000
"""A minute, the longest pause between two attempts: with less none would be tried again."""
_MOST_AGE_MS = limits.OLDEST_MS - limits.BATCH_SPAN_MS
"""13 days: CloudWatch takes 14, and the events of one batch may lie a day apart."""
_LEAST_GRACE_MS = 6000
"""Sending has 5 seconds less, and needs one: a call takes a tenth of that where all is well."""
_MOST_GRACE_MS = 3_600_000
"""An hour: nobody waits longer for a node that is drained, and what is spooled is sent later."""
_DAY_MS = 86_400_000


def spool(own: Own, directory: PurePath, environ: Mapping[str, str], report: Report) -> plan.Spool:
    """Make the spool; a relative ``dir`` begins at ``directory``."""
    written = own.spool or Spool()
    _check_bounds(written, own.log_retention_days, report)
    given = environ.get(VARIABLE)
    mode = SpoolMode(written.mode)
    _check_mode(written, mode, report, given=bool(given))
    place = str(Path(given).absolute()) if given else None
    if place is None and written.dir is not None:
        place = str(directory / written.dir)
    return plan.Spool(place, mode, written.max_bytes, written.max_age / 1000)


def _check_bounds(written: Spool, retention_days: int | None, report: Report) -> None:
    if written.max_bytes < _LEAST_BYTES:
        message = f"max_bytes {written.max_bytes} is less than 4MiB"
        advice = "write 256MiB, or 4MiB or more"
        report.error((*_SPOOL, "max_bytes"), "wrong-value", message, advice)
    here = (*_SPOOL, "max_age")
    age = duration.format(written.max_age)
    if written.max_age > _MOST_AGE_MS:
        message = f"max_age {age} is longer than 13d"
        advice = "write 13d or less: CloudWatch Logs takes no event older than 14 days"
        report.error(here, "wrong-value", message, advice)
    elif written.max_age < _LEAST_AGE_MS:
        message = f"max_age {age} is shorter than 1m"
        report.error(here, "wrong-value", message, "write 24h, or 1m or more")
    elif retention_days is not None and written.max_age > retention_days * _DAY_MS:
        message = f"max_age {age} is longer than log_retention_days {retention_days}"
        advice = f"write {retention_days}d: the log group takes no event older than it keeps them"
        report.warning(here, "spool-outlives-group", message, advice)


def _check_mode(written: Spool, mode: SpoolMode, report: Report, *, given: bool) -> None:
    """Tell when the directory and what is to be done with it do not fit."""
    named = given or written.dir is not None
    if mode is SpoolMode.OFF and named:
        message = "mode is off: nothing is written into the spool's directory"
        advice = 'write "mode": "always", or leave the directory out'
        report.warning((*_SPOOL, "mode"), "nothing-spooled", message, advice)
    elif mode is not SpoolMode.OFF and not named and _asks(written, report):
        message = f"mode is {mode.value} and there is no dir: what waits is held in memory only"
        advice = (
            f'write "dir": "/var/spool/cwgpu", or name it with --spool-dir or {VARIABLE} where '
            "the agent runs"
        )
        report.warning((*_SPOOL, "mode"), "nothing-spooled", message, advice)


def _asks(written: Spool, report: Report) -> bool:
    """Tell whether the mode was written, and not a directory that was refused already."""
    return "mode" in written.model_fields_set and not report.said((*_SPOOL, "dir"))


def grace_s(own: Own, report: Report) -> float:
    """Give the time from SIGTERM to the end of the process."""
    grace = duration.format(own.shutdown_grace)
    if own.shutdown_grace < _LEAST_GRACE_MS:
        message = f"shutdown_grace {grace} is shorter than 6s"
        advice = "write 25s: the last 5 seconds are for what cannot be sent any more"
        report.error(_GRACE, "wrong-value", message, advice)
    elif own.shutdown_grace > _MOST_GRACE_MS:
        message = f"shutdown_grace {grace} is longer than an hour"
        advice = "write 25s; what is spooled is sent when the agent is back"
        report.error(_GRACE, "wrong-value", message, advice)
    return own.shutdown_grace / 1000
