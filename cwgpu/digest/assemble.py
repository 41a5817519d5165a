"""From the lines of one page to its records: which samples share an event, and which go nowhere.

First by label set, as the page has them: what comes twice counts once, and what no event can hold
is left out. Then by what the plan groups events by.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from cwgpu.digest import draft, stream
from cwgpu.digest.draft import Draft
from cwgpu.digest.judge import Judge, Place
from cwgpu.digest.layout import Contents
from cwgpu.digest.line import Dropped, Line
from cwgpu.digest.recipe import Recipe
from cwgpu.digest.record import Kind, Record, Templates
from cwgpu.digest.tally import Tally
from cwgpu.emf.template import Metric, Sets
from cwgpu.model.drop import DropReason
from cwgpu.model.labels import LabelPairs
from cwgpu.model.reading import BadLine
from cwgpu.plan.plan import GroupBy

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
) -> Contents:
    """Group the samples into records and account for those that are in none.

    ``tally`` is an empty one of the caller's, who wants to know more than the counts.
    """
    tally = tally or Tally()
    for line in bad:
        tally.add(DropReason.BAD_LINE, f"line {line.number}")
    records: list[Record] = []
    sent: list[Place] = []
    events = recipe.plan.emf.events
    for each in _drafts(samples, recipe, templates, tally):
        for record, places in each.records(events.labels, templates, tally):
            records.append(record)
            sent += places
    sent.sort(key=_position)
    return Contents(
        now=tuple(record for record in records if not record.kind.waits),
        later=tuple(record for record in records if record.kind.waits),
        judge=Judge(sent, events.decimals),
        samples=len(samples) + len(bad),
        drops=tally.drops(),
        bad_lines=tuple(bad[:_SHOWN_BAD_LINES]),
    )


_LabelSet: TypeAlias = tuple[LabelPairs, int | None]
"""With the time that the page gives the samples."""


def _by_labels(samples: Sequence[Sample], tally: Tally) -> dict[_LabelSet, list[Place]]:
    groups: dict[_LabelSet, dict[str, Place]] = {}
    for position, sample in enumerate(samples):
        fate = sample.line.fate
        if isinstance(fate, Dropped):
            tally.add(fate.reason, sample.line.name, position=position)
            continue
        group = groups.setdefault((fate.labels, sample.at_ms), {})
        former = group.get(fate.metric.name)
        if former is not None:
            tally.add(DropReason.DUPLICATE, former.line.name, position=former.position)
        group[fate.metric.name] = Place(sample.line, fate, position, sample.at_ms)
    return {key: list(group.values()) for key, group in groups.items()}


def _drafts(
    samples: Sequence[Sample], recipe: Recipe, templates: Templates, tally: Tally
) -> Iterable[Draft]:
    """Group the samples that an event can hold."""
    events, cloudwatch = recipe.plan.emf.events, recipe.plan.cloudwatch
    drafts: dict[object, Draft] = {}
    for (labels, at_ms), places in _by_labels(samples, tally).items():
        narrowed = templates.narrow(labels, tuple(place.slot.metric for place in places))
        for at, reason in narrowed.dropped:
            tally.add(reason, places[at].line.name, position=places[at].position)
        to = stream.resolve(cloudwatch.log_group, cloudwatch.log_stream, dict(labels))
        parts: dict[tuple[bool, _Directives | None], list[tuple[int, Metric]]] = {}
        for one in narrowed.metrics:
            metric = one[1]
            waits = events.window_s is not None and at_ms is None and metric.resolution != 1
            by = metric.sets if events.group_by is GroupBy.DIMENSIONS else None
            parts.setdefault((waits, by), []).append(one)
        for (waits, by), metrics in parts.items():
            kind = Kind(to, at_ms, waits)
            # Metrics that have no dimension set have nothing but their labels in common.
            common = _projected(labels, by) if by else labels
            joined = drafts.setdefault((kind, by, common), Draft(kind))
            joined.join(narrowed.labels, metrics, places)
    return drafts.values()


_Directives: TypeAlias = tuple[Sets, ...]


def _projected(labels: LabelPairs, directives: _Directives) -> LabelPairs:
    """Give the labels that dimension sets name."""
    names = draft.names(directives)
    return tuple(pair for pair in labels if pair[0] in names)


def _position(place: Place) -> int:
    return place.position
