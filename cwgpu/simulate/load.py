"""How busy a GPU is over time, as curves whose integral is known.

Energy is the integral of power, so a counter that never goes back and agrees with the gauge beside
it comes straight from the curve, whenever and however often a page is asked for.
"""

import math
from dataclasses import dataclass
from typing import Protocol


class Load(Protocol):
    """A load over time; all times in seconds since the simulation began."""

    def level(self, at_s: float) -> float:
        """Give the load at that time, from 0 to 1."""

    def total(self, at_s: float) -> float:
        """Give the integral of the level, in seconds at full load, from any fixed time on."""


@dataclass(frozen=True, slots=True)
class Steady:
    """A load that sways about its mean: training."""

    mean: float
    swing: float = 0.0
    period_s: float = 12.0
    phase_s: float = 0.0

    def level(self, at_s: float) -> float:
        """Give the load at that time."""
        return self.mean + self.swing * math.sin(self._angle(at_s))

    def total(self, at_s: float) -> float:
        """Give the integral of the level."""
        sway = self.swing * self.period_s / math.tau * math.cos(self._angle(at_s))
        return self.mean * at_s - sway

    def _angle(self, at_s: float) -> float:
        return math.tau * (at_s + self.phase_s) / self.period_s


IDLE = Steady(0.0)


@dataclass(frozen=True, slots=True)
class Bursts:
    """A load that comes and goes, 20 s each, as a queue of jobs does."""

    peak: float
    phase_s: float = 0.0

    def level(self, at_s: float) -> float:
        """Give the load at that time."""
        in_period_s = (at_s + self.phase_s) % _PERIOD_S
        if in_period_s < _ON_S:
            return self.peak * min(1.0, in_period_s / _RAMP_S)
        return self.peak * max(0.0, 1.0 - (in_period_s - _ON_S) / _RAMP_S)

    def total(self, at_s: float) -> float:
        """Give the integral of the level."""
        periods, in_period_s = divmod(at_s + self.phase_s, _PERIOD_S)
        # What the ramp up lacks, the ramp down gives back: a whole period is _ON_S at the peak.
        area = _ramped(in_period_s) - _ramped(max(0.0, in_period_s - _ON_S))
        return self.peak * (periods * _ON_S + area)


_ON_S = 20.0
_PERIOD_S = 40.0
# Short enough for a page every 5 s to show full and no load, long enough to show one in between.
_RAMP_S = 3.0


def _ramped(elapsed_s: float) -> float:
    """Give the area below a line that rises to 1 within the ramp and stays there."""
    if elapsed_s < _RAMP_S:
        return elapsed_s * elapsed_s / (2 * _RAMP_S)
    return elapsed_s - _RAMP_S / 2


@dataclass(frozen=True, slots=True)
class Shares:
    """What the parts of a GPU add up to: the load of one in MIG mode."""

    parts: tuple[tuple[float, Load], ...]
    """Each with its share of the GPU."""

    def level(self, at_s: float) -> float:
        """Give the load at that time."""
        return sum(share * load.level(at_s) for share, load in self.parts)

    def total(self, at_s: float) -> float:
        """Give the integral of the level."""
        return sum(share * load.total(at_s) for share, load in self.parts)
