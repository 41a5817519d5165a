"""What discovery finds, and what the target life-cycle makes of it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from cwgpu.model.labels import LabelPairs, Labels, pairs

Identity: TypeAlias = tuple[str, str, LabelPairs]
"""Job, URL and public labels: what tells one target from another."""

Forgotten: TypeAlias = Mapping[tuple[str, bool], int]
"""How many dropped targets are not remembered, by job and by ``rejected``."""


@dataclass(frozen=True, slots=True)
class TargetGroup:
    """Targets that one source of discovery names together.

    A later group with the same ``source`` replaces the earlier one.
    """

    source: str
    targets: tuple[Labels, ...]
    labels: Labels


@dataclass(frozen=True, slots=True)
class Target:
    """One page to scrape."""

    job: str
    """``job_name`` of the scrape configuration, which a ``job`` label may differ from."""
    url: str
    labels: Labels
    """Public labels, after relabelling: they are put on every sample of the page."""
    interval_s: float
    timeout_s: float
    identity: Identity = field(init=False, repr=False, compare=False)
    """Two targets of equal identity are one target, and scraped once."""

    def __post_init__(self) -> None:
        identity = (self.job, self.url, pairs(self.labels))
        object.__setattr__(self, "identity", identity)


@dataclass(frozen=True, slots=True)
class DroppedTarget:
    """A discovered target that is not scraped, and why."""

    job: str
    discovered: Labels
    reason: str
    """A sentence for a person: the rule and the value that decided."""
    rejected: bool = False
    """True when relabelling kept it but it cannot be scraped (no address, bad interval ...)."""
