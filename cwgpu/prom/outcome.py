"""The life-cycle of one target, told: what the rules saw, what they did, and what became of it.

What becomes of targets is decided in ``cwgpu.prom.targeting``; this keeps what it passes through.
"""

import enum
from dataclasses import dataclass

from cwgpu.model.labels import Labels
from cwgpu.model.target import DroppedTarget, Target
from cwgpu.prom import relabel, targeting
from cwgpu.prom.targeting import Job
from cwgpu.prom.trace import Trace, trace


class Fate(enum.Enum):
    """What becomes of a discovered target."""

    ACTIVE = "active"
    DROPPED = "dropped"
    """By a rule."""
    REJECTED = "rejected"
    """The rules kept it, but it cannot be scraped."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one discovered target, and how."""

    discovered: Labels
    """What the rules saw: what was discovered, and what the job adds."""
    trace: Trace
    target: Target | DroppedTarget

    @property
    def fate(self) -> Fate:
        """Say it in a word."""
        if isinstance(self.target, Target):
            return Fate.ACTIVE
        return Fate.REJECTED if self.target.rejected else Fate.DROPPED

    @property
    def interval(self) -> str | None:
        """The interval as it is written, in the configuration or in a label; None if not active."""
        return self._period(targeting.INTERVAL)

    @property
    def timeout(self) -> str | None:
        """The timeout, likewise."""
        return self._period(targeting.TIMEOUT)

    def _period(self, name: str) -> str | None:
        result = self.trace.result
        if isinstance(self.target, DroppedTarget) or isinstance(result, relabel.Dropped):
            return None
        return result[name]


def outcome(job: Job, labels: Labels) -> Outcome:
    """Follow one target from the labels that discovery found, those of its group among them."""
    discovered = targeting.discovered(job, labels)
    if rejected := targeting.unreadable(job, discovered):
        return Outcome(discovered, Trace((), discovered), rejected)
    traced = trace(discovered, job.relabel)
    return Outcome(discovered, traced, targeting.settled(job, discovered, traced.result))
