"""What a dry run found, in numbers and the first few examples of each."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from types import MappingProxyType

from cwgpu.model.drop import DropReason
from cwgpu.model.event import EmfEvent, Outcome
from cwgpu.model.reading import BadLine, Drop, Reading
from cwgpu.model.scrape import Scrape, ScrapeFailed
from cwgpu.model.target import DroppedTarget, Forgotten, Identity, Target
from cwgpu.telemetry import identity

NAMES = 5
"""Metric names kept as examples of each drop reason."""
BAD_LINES = 3
"""Bad lines kept of each target."""
# Different CloudWatch metrics that are told apart; a dry run that finds more has other worries.
_MOST_METRICS = 100_000
# Sentences of discovery that are kept: a few are written out, the rest is a number.
_MOST_SAID = 100


@dataclass(slots=True)
class Seen:
    """What is known of one target."""

    target: Target
    scrapes: int = 0
    failed: ScrapeFailed | None = None
    """The last scrape's failure; None if it gave a page."""
    empty: bool = False
    """The last page had no samples."""
    bad_lines: dict[int, BadLine] = field(default_factory=dict)
    lost: set[DropReason] = field(default_factory=set)
    """Why samples of its pages were dropped."""


@dataclass(slots=True)
class Lost:
    """Samples that one reason kept from CloudWatch."""

    count: int = 0
    names: dict[str, None] = field(default_factory=dict)
    """The first few metric names; the values say nothing, the order does."""
    detail: str = ""
    """The rule that decided on the first of them."""

    def add(self, drop: Drop) -> None:
        """Take those of one page."""
        self.count += drop.count
        self.detail = self.detail or drop.detail
        for name in drop.names:
            if len(self.names) < NAMES:
                self.names.setdefault(name)


class Account:
    """Takes what happens. Memory is bounded by the targets there are."""

    def __init__(self, unset: Iterable[str] = ()) -> None:
        """``unset`` names variables that static targets are missing for."""
        self.unset = tuple(unset)
        self.seen: dict[Identity, Seen] = {}
        self.dropped_targets: tuple[DroppedTarget, ...] = ()
        self.discovery: dict[tuple[str, str], None] = {}
        """What discovery said of a job, in its order: why there are targets missing."""
        self.forgotten_targets = 0
        """Dropped beyond what keep_dropped_targets lets us remember."""
        self.samples = 0
        self.selected = 0
        self.lost: dict[DropReason, Lost] = {}
        self.partly: dict[DropReason, Lost] = {}
        """Samples that are sent, and not by all dimension sets that they are declared for."""
        self.lost_later: Counter[DropReason] = Counter()
        """Samples that were selected, and lost on their way out."""
        self.events = 0
        self.datapoints = 0
        self.size_bytes = 0
        self.bugs = 0
        """Scrapes that ended by an exception nobody expected."""
        self._metrics: set[identity.MetricIdentity] = set()

    @property
    def up(self) -> int:
        """Targets whose last scrape gave a page."""
        return sum(1 for one in self.seen.values() if one.scrapes and one.failed is None)

    @property
    def down(self) -> int:
        """Targets whose last scrape failed."""
        return sum(1 for one in self.seen.values() if one.failed is not None)

    @property
    def empty(self) -> int:
        """Targets whose last page had no samples; they are up."""
        return sum(one.empty for one in self.seen.values())

    @property
    def metrics(self) -> int:
        """Different CloudWatch metrics that the events feed."""
        return len(self._metrics)

    @property
    def needs_second_scrape(self) -> bool:
        """Counters gave nothing only because no target was scraped twice."""
        twice = any(one.scrapes > 1 for one in self.seen.values())
        return DropReason.FIRST_OF_COUNTER in self.lost and not twice

    def discovered(
        self,
        wanted: Iterable[Target],
        dropped: Iterable[DroppedTarget],
        forgotten: Forgotten = MappingProxyType({}),
    ) -> None:
        """Take the targets there are now."""
        former = self.seen
        self.seen = {one.identity: former.get(one.identity, Seen(one)) for one in wanted}
        self.dropped_targets = tuple(dropped)
        self.forgotten_targets = sum(forgotten.values())

    def discovery_said(self, job: str, sentence: str) -> None:
        """Take what is wrong with where a job's targets come from, or why there are none."""
        if len(self.discovery) < _MOST_SAID:
            self.discovery.setdefault((job, sentence))

    def scraped(self, target: Target, scrape: Scrape, reading: Reading) -> None:
        """Take a page that was read."""
        del scrape
        seen = self._scrape_of(target)
        seen.failed = None
        seen.empty = not reading.samples
        for bad in reading.bad_lines:
            if len(seen.bad_lines) < BAD_LINES:
                seen.bad_lines.setdefault(bad.number, bad)
        seen.lost.update(drop.reason for drop in (*reading.dropped, *reading.partly))
        self.reported(reading)

    def reported(self, reading: Reading) -> None:
        """Take the samples of a page, or of a target's report series."""
        self.samples += reading.samples
        self.selected += reading.selected
        for drop in reading.dropped:
            self.lost.setdefault(drop.reason, Lost()).add(drop)
        for drop in reading.partly:
            self.partly.setdefault(drop.reason, Lost()).add(drop)
        self.closed(reading.events)

    def closed(self, events: Iterable[EmfEvent]) -> None:
        """Take events, of the last scrape or of former ones."""
        for event in events:
            self._event(event)

    def scrape_failed(self, target: Target, failed: ScrapeFailed) -> None:
        """Take a scrape that gave nothing."""
        seen = self._scrape_of(target)
        seen.failed, seen.empty = failed, False

    def outcome(self, outcome: Outcome) -> None:
        """Take what became of a batch."""
        self.lost_later.update(dict(outcome.dropped))

    def _scrape_of(self, target: Target) -> Seen:
        seen = self.seen.setdefault(target.identity, Seen(target))
        seen.scrapes += 1
        return seen

    def _event(self, event: EmfEvent) -> None:
        self.events += 1
        self.datapoints += event.datapoints
        self.size_bytes += event.size_bytes
        if len(self._metrics) < _MOST_METRICS:
            self._metrics.update(identity.metrics(event.message))
