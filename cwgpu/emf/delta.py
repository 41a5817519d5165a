"""Counters: what one more sample of a running total is worth.

The rules are those of the CloudWatch agent's Prometheus support, so that graphs stay the same when
it is replaced; docs/compatibility.md names the two cases in which we differ.
"""

import enum
import math
from typing import TypeAlias

from cwgpu.emf import limits
from cwgpu.model.drop import DropReason


class Treatment(enum.Enum):
    """What is sent for a counter."""

    DELTA = "delta"
    """The increase since the sample before."""
    RATE = "rate"
    """That increase, per second."""
    ABSOLUTE = "absolute"
    """The total itself, as if it were a gauge."""


# Bare tuples, because every counter of every scrape makes two of them: this is the hot path.
Baseline: TypeAlias = tuple[float, int]
"""The sample that the next one is compared with: its total and its time in milliseconds."""
Step: TypeAlias = tuple[Baseline | None, float | DropReason]
"""What a sample gave: the baseline to be handed in with the next one, and the value to send, finite
and within what CloudWatch takes, or why there is none."""


def step(
    baseline: Baseline | None,
    value: float,
    at_ms: int,
    treatment: Treatment,
    *,
    ours: bool = False,
) -> Step:
    """Take one sample of a series; ``baseline`` is what the step before gave, None at first.

    A total below the one before was reset in between: all of it is new. With ``ours`` the time is
    that of our own clock, so samples come in order, and an earlier time says that it was set back.
    """
    if not math.isfinite(value):
        return None, DropReason.NOT_FINITE
    if treatment is Treatment.ABSOLUTE:
        return None, value if abs(value) <= limits.VALUE else DropReason.OUT_OF_RANGE
    latest = (value, at_ms)
    if baseline is None:
        return latest, DropReason.FIRST_OF_COUNTER
    total, since_ms = baseline
    elapsed_ms = at_ms - since_ms
    set_back = ours and elapsed_ms < 0
    if elapsed_ms <= 0 and (not set_back or treatment is Treatment.RATE):
        return latest if set_back else baseline, DropReason.NOT_ADVANCED
    increase = value - total if value >= total else value
    if treatment is Treatment.RATE:
        increase = increase / elapsed_ms * 1000
    return latest, increase if abs(increase) <= limits.VALUE else DropReason.OUT_OF_RANGE
