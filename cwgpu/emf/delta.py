"""Counters: what one more sample of a running total is worth.

The rules are those of the CloudWatch agent's Prometheus support, so that graphs stay the same when
it is replaced; docs/compatibility.md names the two cases in which we differ.
"""

import enum
import math
from dataclasses import dataclass
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


@dataclass(frozen=True, slots=True)
class Baseline:
    """The sample that the next one is compared with."""

    value: float
    at_ms: int


Step: TypeAlias = tuple[Baseline | None, float | DropReason]
"""What a sample gave: the baseline to be handed in with the next one, and the value to send, finite
and within what CloudWatch takes, or why there is none. A bare tuple: this is the hot path."""


def step(baseline: Baseline | None, value: float, at_ms: int, treatment: Treatment) -> Step:
    """Take one sample of a series; ``baseline`` is what the step before gave, None at first.

    A total below the one before was reset in between: all of it is new.
    """
    if not math.isfinite(value):
        return None, DropReason.NOT_FINITE
    if treatment is Treatment.ABSOLUTE:
        return _sendable(None, value)
    latest = Baseline(value, at_ms)
    if baseline is None:
        return latest, DropReason.FIRST_OF_COUNTER
    elapsed_ms = at_ms - baseline.at_ms
    if elapsed_ms <= 0:
        return baseline, DropReason.NOT_ADVANCED
    increase = value - baseline.value if value >= baseline.value else value
    if treatment is Treatment.RATE:
        return _sendable(latest, increase / elapsed_ms * 1000)
    return _sendable(latest, increase)


def _sendable(baseline: Baseline | None, value: float) -> Step:
    if abs(value) > limits.VALUE:
        return baseline, DropReason.OUT_OF_RANGE
    return baseline, value
