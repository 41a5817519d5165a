"""Why: which event each series of a page goes to, or what keeps it from CloudWatch.

Nothing is decided here. The page goes the way of every first scrape, and it is noted which series
gets where; that the account agrees with that of ``Page.read`` is held by a property test.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, cast

import orjson

from cwgpu.digest import assemble, page, values
from cwgpu.digest.assemble import Sample
from cwgpu.digest.because import Asked
from cwgpu.digest.line import Partial, Slot
from cwgpu.digest.recipe import Recipe, Series
from cwgpu.digest.record import Record
from cwgpu.digest.survey import Sighting
from cwgpu.digest.tally import Tally
from cwgpu.emf.delta import Treatment
from cwgpu.emf.template import Sets
from cwgpu.model.drop import DropReason
from cwgpu.model.event import StreamKey
from cwgpu.model.kind import Kind
from cwgpu.model.labels import LabelPairs, Labels
from cwgpu.model.reading import BadLine, Drop, Refused
from cwgpu.prom.exposition import SeriesItem

_Json: TypeAlias = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Event:
    """One log event of the page, without its time and values."""

    stream: StreamKey
    at_ms: int | None
    """The time that the page gives its samples; None: that of the scrape."""
    labels: Labels
    """Its fields besides the metrics."""


@dataclass(frozen=True, slots=True)
class Metric:
    """Where a series goes."""

    event: int
    """Position in ``Explanation.events``."""
    name: str
    unit: str | None
    resolution: int | None
    """1 or 60 seconds; None: unsaid, which is 60."""
    treatment: Treatment | None
    """What is sent for a counter; None for what is sent as it is."""
    directives: tuple[Sets, ...]
    """The dimension sets that CloudWatch gets, by directive; none for a plain field of the log."""
    skipped: str = ""
    """A dimension set that it is declared for and cannot have, and why."""


@dataclass(frozen=True, slots=True)
class Fate:
    """A series of the page and what becomes of it."""

    line: int
    """Counted from 1."""
    name: str
    labels: LabelPairs
    """As exposed."""
    value: str
    at_ms: int | None
    """The time that the page gives it, if the job honours that."""
    kind: Kind
    metric: Metric | None
    """There also for a value that cannot be sent, or not from a first scrape."""
    reason: DropReason | None
    """None for what is sent."""
    detail: str
    """More about the reason, for a person; may be empty."""


@dataclass(frozen=True, slots=True)
class Explanation:
    """What a first scrape makes of a page that it lets in."""

    events: tuple[Event, ...]
    fates: tuple[Fate, ...]
    """In the order of the page."""
    bad_lines: tuple[BadLine, ...]
    """All of them."""
    dropped: tuple[Drop, ...]

    @property
    def samples(self) -> int:
        """Sample lines of the page, bad ones included."""
        return len(self.fates) + len(self.bad_lines)

    @property
    def selected(self) -> int:
        """How many of them the events carry."""
        return sum(fate.reason is None for fate in self.fates)


class Ledger(Tally):
    """An account that also knows which samples it counts."""

    def __init__(self) -> None:
        super().__init__()
        self.reasons: dict[int, DropReason] = {}
        """By the sample's position among those of the page."""

    def add(
        self,
        reason: DropReason,
        name: str,
        count: int = 1,
        *,
        position: int | None = None,
        detail: str = "",
    ) -> None:
        """Count, and remember the sample."""
        super().add(reason, name, count, detail=detail)
        if position is not None:
            self.reasons[position] = reason


def explain(
    recipe: Recipe, target_labels: Labels, body: bytes, content_type: str = "", *, at_ms: int = 0
) -> Explanation | Refused:
    """Say of each series of an answer what a first scrape makes of it, which begins at ``at_ms``.

    The time decides on counters only that the page has with a time of their own and without.
    """
    examined = page.Page(recipe, target_labels).examine(body, content_type)
    if isinstance(examined, Refused):
        return examined
    survey, samples = examined.survey, examined.samples
    ledger, templates = Ledger(), page.templates(recipe)
    contents = assemble.contents(samples, survey.bad, recipe, templates, tally=ledger)
    found = values.read([sighting.value for sighting in survey.sightings])
    contents.judge.row(found, at_ms, ledger)
    outlines = list(map(orjson.loads, contents.outlines()))
    metrics = dict(_metrics(outlines, samples))
    asked = Asked(recipe, target_labels)
    return Explanation(
        events=tuple(map(_event, contents.records, outlines)),
        fates=tuple(
            _fate(sighting, sample, metrics.get(at), ledger.reasons.get(at), asked=asked)
            for at, (sighting, sample) in enumerate(zip(survey.sightings, samples, strict=True))
        ),
        bad_lines=tuple(survey.bad),
        dropped=ledger.drops(),
    )


def _event(record: Record, outline: _Json) -> Event:
    labels = {name: value for name, value in outline.items() if isinstance(value, str)}
    return Event(record.kind.stream, record.kind.at_ms, labels)


def _metrics(outlines: Sequence[_Json], samples: Sequence[Sample]) -> Iterator[tuple[int, Metric]]:
    """Give what the events say of their metrics, by the position of the sample."""
    for event, outline in enumerate(outlines):
        directives = _directives(outline)
        for name, positions in outline.items():
            for position in positions if isinstance(positions, list) else ():
                slot = cast("Slot", samples[position].line.fate)  # as all that is in an event
                yield (
                    position,
                    Metric(
                        event,
                        name,
                        slot.metric.unit,
                        slot.metric.resolution,
                        treatment=slot.treatment,
                        directives=tuple(directives.get(name, ())),
                        skipped=slot.skipped if isinstance(slot, Partial) else "",
                    ),
                )


def _directives(outline: _Json) -> dict[str, list[Sets]]:
    """Give the dimension sets of each metric."""
    found: dict[str, list[Sets]] = {}
    for directive in outline.get("_aws", {}).get("CloudWatchMetrics", ()):
        sets = tuple(map(tuple, directive["Dimensions"]))
        for metric in directive["Metrics"]:
            found.setdefault(metric["Name"], []).append(sets)
    return found


def _fate(
    sighting: Sighting,
    sample: Sample,
    metric: Metric | None,
    reason: DropReason | None,
    *,
    asked: Asked,
) -> Fate:
    line = sample.line
    item = cast("SeriesItem", sighting.item)  # nothing is recalled on a page never seen before
    series = Series(item.name, item.labels, line.role)
    value = sighting.value.decode()
    return Fate(
        line=sighting.number + 1,
        name=item.name,
        labels=item.labels,
        value=value,
        at_ms=sample.at_ms,
        kind=Kind.UNKNOWN if line.role is None else line.role.kind,
        metric=metric,
        reason=reason,
        detail=asked.why(reason, series, line.fate, value) if reason else "",
    )
