"""How many custom metrics there are, and whether there may be one more.

CloudWatch counts a metric for every hour in which it gets a value, so a metric is here as long as
its last value is less than an hour old. One that is here may stay; one that is new needs a place.
What a page feeds is known from its shape: its metrics are looked up when the page is laid out, and
from then on noted once a minute.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from cwgpu.emf.template import Metric
from cwgpu.model.labels import Labels
from cwgpu.plan.plan import Budget as Limit

_HOUR_MS = 3_600_000
_MOST_REFUSED = 100_000
"""Metrics without a place that are told apart; who has more has other worries."""
_NOTED_MS = 60_000
"""How old a note may be, and how often what is an hour old is looked for."""

Identity: TypeAlias = tuple[tuple[str, tuple[tuple[str, str], ...]], str]
"""Namespace and dimensions, and the metric's name: what CloudWatch tells metrics apart by."""


@dataclass(slots=True)
class Entry:
    """A metric that was let in: whoever feeds it notes the time here, without a look-up."""

    identity: Identity
    at_ms: int
    here: bool = True
    """Whether it is counted; once an hour has passed without a value it is not."""


_Fed: TypeAlias = tuple[int, list[Entry]]
"""Where a value stands among those of a page, and the metrics that it goes to."""


class Budget:
    """The metrics of the last hour, of all targets together."""

    def __init__(self) -> None:
        """Begin with none, and without a limit."""
        self._seen: dict[Identity, Entry] = {}
        self._limit: Limit | None = None
        self._looked_ms = 0
        self.refused: Identity | None = None
        """The first that found no place, since there was room last."""
        self._refused: set[int] = set()
        """Hashes of all that did."""
        self.rooms = 0
        """How often there was room again for metrics after some had been refused."""

    def follow(self, limit: Limit | None) -> None:
        """Have another limit from now on; metrics that are there stay."""
        if limit != self._limit:
            self._limit = limit
            self._vacate()

    def count(self, now_ms: int) -> int:
        """Give how many there are."""
        self._look(now_ms)
        return len(self._seen)

    @property
    def refusals(self) -> int:
        """Give how many found no place since there was room last."""
        return len(self._refused)

    @property
    def exceeded(self) -> bool:
        """Whether there are more than there should be, or some were refused."""
        limit = self._limit
        more = limit is not None and len(self._seen) > limit.metrics
        return more or self.refused is not None

    def admit(self, one: Identity, at_ms: int) -> Entry | None:
        """Let a metric in if it is there, or if there is a place that it can take."""
        entry = self._seen.get(one)
        if entry is not None and entry.at_ms > at_ms - _HOUR_MS:
            return entry
        if self._full():
            self.mind(at_ms)
        if self._full():
            self.refused = self.refused or one
            if len(self._refused) < _MOST_REFUSED:
                self._refused.add(hash(one))
            return None
        entry = self._seen.setdefault(one, Entry(one, at_ms))
        entry.at_ms = at_ms
        return entry

    def note(self, some: Iterable[Entry], at_ms: int) -> None:
        """Take that these have a value."""
        for one in some:
            entry = one
            if not entry.here:  # after an hour it is let in again, or somebody else let it in
                entry = self._seen.setdefault(one.identity, one)
                entry.here = True
            entry.at_ms = at_ms

    def mind(self, at_ms: int) -> None:
        """Look now and then for what is an hour old."""
        # Some pages are older than others by seconds; by more the clock was set back.
        if abs(at_ms - self._looked_ms) >= _NOTED_MS:
            self._look(at_ms)

    def _full(self) -> bool:
        limit = self._limit
        return limit is not None and limit.drops and len(self._seen) >= limit.metrics

    def _look(self, now_ms: int) -> None:
        """Forget what has no value since an hour."""
        self._looked_ms = now_ms
        # A page may be noted by another thread meanwhile.
        for entry in list(self._seen.values()):
            # A time to come is that of a clock that was set back since.
            entry.at_ms = min(entry.at_ms, now_ms)
            if entry.at_ms <= now_ms - _HOUR_MS:
                entry.here = False
                self._seen.pop(entry.identity, None)
        if self.refused is not None and not self._full():
            self._vacate()

    def _vacate(self) -> None:
        self.rooms += self.refused is not None
        self.refused = None
        self._refused.clear()


class Feed:
    """The metrics that the values of one page go to, as far as the budget lets them."""

    def __init__(self, budget: Budget, namespace: str, at_ms: int) -> None:
        """``at_ms`` is when the page came."""
        self._budget = budget
        self._namespace = namespace
        self._at_ms = at_ms
        self._rooms = budget.rooms
        self._refused = False
        self._fed: list[_Fed] = []
        self._without: Sequence[_Fed] = ()
        """Those without a value since all were noted last."""
        self._due_ms = at_ms

    @property
    def stale(self) -> bool:
        """Whether metrics were refused, and there was room again since."""
        return self._refused and self._rooms != self._budget.rooms

    def admit(self, position: int, labels: Labels, metric: Metric) -> Metric | None:
        """Leave a metric those dimension sets whose metrics may be; None if there is none left.

        ``position`` is that of its value among those of the page.
        """
        fed: list[Entry] = []
        kept = []
        for sets in metric.sets:
            left = []
            for names in sets:
                dimensions = (self._namespace, tuple([(name, labels[name]) for name in names]))
                entry = self._budget.admit((dimensions, metric.name), self._at_ms)
                if entry is not None:
                    fed.append(entry)
                    left.append(names)
            kept.append(tuple(left))
        self._fed.append((position, fed))
        if tuple(kept) == metric.sets:
            return metric
        self._refused = True
        rest = tuple(sets for sets in kept if sets)
        return Metric(metric.name, rest, metric.unit, metric.resolution) if rest else None

    def flow(self, texts: Sequence[bytes | None], at_ms: int) -> None:
        """Note a scrape's values, by the positions they have; None is none.

        All are noted once a minute, and in between those that had none then.
        """
        self._budget.mind(at_ms)
        if not self._due_ms - _NOTED_MS <= at_ms < self._due_ms:  # or the clock was set back
            self._without = self._note(self._fed, texts, at_ms)
            self._due_ms = at_ms + _NOTED_MS
        elif self._without:
            self._without = self._note(self._without, texts, at_ms)

    def _note(
        self, some: Sequence[_Fed], texts: Sequence[bytes | None], at_ms: int
    ) -> Sequence[_Fed]:
        """Note what has a value, and give the rest."""
        without: Sequence[_Fed] = ()
        if None in texts:
            without = [one for one in some if texts[one[0]] is None]
            some = [one for one in some if texts[one[0]] is not None]
        self._budget.note((entry for _, fed in some for entry in fed), at_ms)
        return without
