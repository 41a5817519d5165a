"""From the lines of one page to its records: which samples share an event, and which go nowhere.

First by label set, as the page has them: what comes twice counts once, and what no event can hold
is left out. Then by what the plan groups events by.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from cwgpu.digest import draft, stream
from cwgpu.digest.budget import Feed
from cwgpu.digest.draft import Draft
from cwgpu.digest.judge import Judge, Place
from cwgpu.digest.layout import Contents
from cwgpu.digest.line import Dropped, Line, Partial
from cwgpu.digest.recipe import Recipe
from cwgpu.digest.record import Kind, Record, Templates
from cwgpu.digest.tally import Tally
from cwgpu.digest.tellers import Telling
from cwgpu.digest.window import Waiting
from cwgpu.emf.narrow import Narrowed
from cwgpu.emf.template import Metric, Sets
from cwgpu.model.drop import DropReason
from cwgpu.model.labels import LabelPairs, Labels
from cwgpu.model.reading import BadLine
from cwgpu.plan.plan import Events, GroupBy

# Shown in full, of the bad lines of one page; the rest are counted.
_SHOWN_BAD_LINES = 5


@dataclass(frozen=True, slots=True)
class Sample:
    """A line of the page and the time the page gives it, if it does."""

    line: Line
    at_ms: int | None
    fresh: bool = False
    """The last page did not have it, nor has this one so far."""


def contents(
    samples: Sequence[Sample],
    bad: Sequence[BadLine],
    recipe: Recipe,
    templates: Templates,
    *,
    tally: Tally | None = None,
    feed: Feed | None = None,
    telling: Telling | None = None,
) -> Contents:
    """Group the samples into records and account for those that are in none.

    ``tally`` is an empty one of the caller's, who wants to know more than the counts; ``feed``
    decides on the metrics that there may be, ``telling`` on what other targets tell too.
    """
    tally, partly = tally or Tally(), Tally()
    for line in bad:
        tally.add(DropReason.BAD_LINE, f"line {line.number}")
    records: list[Record] = []
    sent: list[Place] = []
    events = recipe.plan.emf.events
    groups: Iterable[_LabelGroup] = _by_labels(samples, tally).items()
    if telling is not None:
        groups = _heard(groups, telling, tally)
    for each in _drafts(_narrowed(groups, templates, tally, feed, partly=partly), recipe):
        for record, places in each.records(events.labels, templates, tally):
            records.append(record)
            sent += places
    sent.sort(key=_position)
    return Contents(
        now=tuple(record for record in records if not record.kind.waits),
        later=Waiting([record for record in records if record.kind.waits]),
        judge=Judge(sent, events.decimals),
        samples=len(samples) + len(bad),
        drops=tally.drops(),
        partly=partly.drops(),
        bad_lines=tuple(bad[:_SHOWN_BAD_LINES]),
    )


_LabelSet: TypeAlias = tuple[LabelPairs, int | None]
"""With the time that the page gives the samples."""
_LabelGroup: TypeAlias = tuple[_LabelSet, list[Place]]


def _by_labels(samples: Sequence[Sample], tally: Tally) -> dict[_LabelSet, list[Place]]:
    groups: dict[_LabelSet, dict[str, Place]] = {}
    for position, sample in enumerate(samples):
        fate = sample.line.fate
        if isinstance(fate, Dropped):
            tally.add(fate.reason, sample.line.name, position=position, detail=fate.detail)
            continue
        group = groups.setdefault((fate.labels, sample.at_ms), {})
        former = group.get(fate.metric.name)
        if former is not None:
            tally.add(DropReason.DUPLICATE, former.line.name, position=former.position)
        group[fate.metric.name] = Place(sample.line, fate, position, sample.at_ms)
    return {key: list(group.values()) for key, group in groups.items()}


def _heard(groups: Iterable[_LabelGroup], telling: Telling, tally: Tally) -> Iterator[_LabelGroup]:
    """Leave out what a target that is preferred tells of the same GPU."""
    for key, places in groups:
        theirs = telling.take(key[0], (place.slot.metric.name for place in places))
        ours: list[Place] = []
        for place in places:
            if place.slot.metric.name not in theirs:
                ours.append(place)
                continue
            # When this target is heard again, the others have told what came in between.
            place.line.baseline = None
            tally.add(DropReason.LESS_PREFERRED, place.line.name, position=place.position)
        if ours:
            yield key, ours


@dataclass(frozen=True, slots=True)
class _Group:
    """What can be sent of a label set."""

    labels: LabelPairs
    at_ms: int | None
    shown: LabelPairs
    places: Sequence[Place]
    metrics: Sequence[tuple[int, Metric]]
    """Each with the number of its place."""


def _narrowed(
    groups: Iterable[_LabelGroup],
    templates: Templates,
    tally: Tally,
    feed: Feed | None,
    *,
    partly: Tally,
) -> Iterator[_Group]:
    """Leave out of each label set what no event can hold, and what may not be.

    ``partly`` is the account of those that lose some of their dimension sets.
    """
    for (labels, at_ms), places in groups:
        narrowed = templates.narrow(labels, tuple(place.slot.metric for place in places))
        for at, reason in narrowed.dropped:
            tally.add(reason, places[at].line.name, position=places[at].position)
        metrics = list(zip(narrowed.places, narrowed.metrics, strict=True))
        if feed is not None:
            metrics = list(_admitted(feed, dict(labels), places, metrics, tally=tally))
        for at, detail in _skipped(places, narrowed, metrics):
            partly.add(DropReason.DIMENSION_INVALID, places[at].line.name, detail=detail)
        yield _Group(labels, at_ms, narrowed.labels, places, metrics)


def _skipped(
    places: Sequence[Place], narrowed: Narrowed, metrics: Iterable[tuple[int, Metric]]
) -> Iterator[tuple[int, str]]:
    """Give those that are sent by fewer dimension sets than they are declared for, and why."""
    hidden = dict(narrowed.skipped) if narrowed.skipped else {}
    for at, _ in metrics:
        slot = places[at].slot
        if isinstance(slot, Partial):
            yield at, slot.skipped
        elif at in hidden:
            yield at, f"[{', '.join(hidden[at])}]: a metric of the event has the name of a label"


def _admitted(
    feed: Feed,
    labels: Labels,
    places: Sequence[Place],
    metrics: Iterable[tuple[int, Metric]],
    *,
    tally: Tally,
) -> Iterator[tuple[int, Metric]]:
    """Keep what the budget has room for."""
    for at, metric in metrics:
        admitted = feed.admit(places[at].position, labels, metric)
        if admitted is None:
            name = places[at].line.name
            tally.add(DropReason.OVER_BUDGET, name, position=places[at].position)
        else:
            yield at, admitted


def _drafts(groups: Iterable[_Group], recipe: Recipe) -> Iterable[Draft]:
    """Group the samples by what an event has."""
    events, cloudwatch = recipe.plan.emf.events, recipe.plan.cloudwatch
    drafts: dict[object, Draft] = {}
    units: dict[str, str | None] = {}
    for group in groups:
        labels, at_ms = group.labels, group.at_ms
        to = stream.resolve(cloudwatch.log_group, cloudwatch.log_stream, dict(labels))
        parts: dict[_Part, list[tuple[int, Metric]]] = {}
        for one in group.metrics:
            parts.setdefault(_part(one[1], events, units), []).append(one)
        for (waits, by, apart), metrics in parts.items():
            kind = Kind(to, at_ms, waits)
            # Metrics that have no dimension set have nothing but their labels in common.
            common = _projected(labels, by) if by else labels
            joined = drafts.setdefault((kind, by, common, apart), Draft(kind))
            joined.join(group.shown, metrics, group.places)
    return drafts.values()


_Directives: TypeAlias = tuple[Sets, ...]
_Part: TypeAlias = tuple[bool, _Directives | None, str | None]
"""Whether it waits, the directives that it shares, and what else keeps it apart."""


def _part(metric: Metric, events: Events, units: dict[str, str | None]) -> _Part:
    """Say which metrics of a label set this one shares events with; ``units`` are those so far."""
    waits = events.window_s is not None and metric.resolution != 1
    if events.group_by is GroupBy.LABELS:
        # A plain field has nothing but its labels, so these are not left out beside it.
        apart = events.labels != "all" and not metric.sets
        return waits, () if apart else None, None
    # Rules may give fields of different units one name; in an event it has one unit.
    same = units.setdefault(metric.name, metric.unit) == metric.unit
    return waits, metric.sets, None if same else str(metric.unit)


def _projected(labels: LabelPairs, directives: _Directives) -> LabelPairs:
    """Give the labels that dimension sets name."""
    names = draft.names(directives)
    return tuple(pair for pair in labels if pair[0] in names)


def _position(place: Place) -> int:
    return place.position
