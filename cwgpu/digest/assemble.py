"""From the lines of one page to its records: which samples share an event, and which go nowhere."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from cwgpu.digest import stream
from cwgpu.digest.layout import Contents
from cwgpu.digest.line import Dropped, Line
from cwgpu.digest.recipe import Recipe
from cwgpu.digest.record import Place, Record, Templates
from cwgpu.digest.tally import Tally
from cwgpu.model.drop import DropReason
from cwgpu.model.labels import LabelPairs
from cwgpu.model.reading import BadLine

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
    for (labels, at_ms), places in _groups(samples, tally).items():
        records += _records(labels, places, recipe, templates=templates, tally=tally, at_ms=at_ms)
    return Contents(
        records=tuple(records),
        samples=len(samples) + len(bad),
        drops=tally.drops(),
        bad_lines=tuple(bad[:_SHOWN_BAD_LINES]),
    )


def _groups(
    samples: Iterable[Sample], tally: Tally
) -> dict[tuple[LabelPairs, int | None], list[Place]]:
    groups: dict[tuple[LabelPairs, int | None], dict[str, Place]] = {}
    for position, sample in enumerate(samples):
        fate = sample.line.fate
        if isinstance(fate, Dropped):
            tally.add(fate.reason, sample.line.name, position=position)
            continue
        group = groups.setdefault((fate.labels, sample.at_ms), {})
        former = group.get(fate.metric.name)
        if former is not None:
            tally.add(DropReason.DUPLICATE, former.line.name, position=former.position)
        group[fate.metric.name] = Place(sample.line, fate, position)
    return {key: list(group.values()) for key, group in groups.items()}


def _records(
    labels: LabelPairs,
    places: list[Place],
    recipe: Recipe,
    *,
    templates: Templates,
    tally: Tally,
    at_ms: int | None,
) -> list[Record]:
    layout = templates.layout(labels, tuple(place.slot.metric for place in places))
    for index, reason in layout.dropped:
        place = places[index]
        tally.add(reason, place.line.name, position=place.position)
    cloudwatch = recipe.plan.cloudwatch
    key = stream.resolve(cloudwatch.log_group, cloudwatch.log_stream, dict(labels))
    return [
        Record(key, template, [places[index] for index in template.metrics], at_ms=at_ms)
        for template in layout.templates
    ]
