"""What of a label set's metrics can be sent: by which dimension sets, and beside which labels.

The names of an event's labels and metrics are members of one object, so a metric takes the place of
a label of its name. Whether it does is decided by the label set alone and not by its values: a
metric whose value is missing once changes nothing for the others. And it is decided before metrics
of several label sets come together in an event, so that CloudWatch gets the same datapoints
however they are packed.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from cwgpu.emf import limits
from cwgpu.emf.declare import DimensionSet
from cwgpu.emf.template import Metric
from cwgpu.model.drop import DropReason
from cwgpu.model.labels import LabelPairs


@dataclass(frozen=True, slots=True)
class Narrowed:
    """The metrics of a label set that can be sent."""

    places: Sequence[int]
    """Of the metrics in the sequence given to ``narrow``."""
    metrics: tuple[Metric, ...]
    """With the sets that can be used, in the order of the places."""
    labels: LabelPairs
    """The labels that are shown: none is empty, reserved, or has a metric's name."""
    dropped: tuple[tuple[int, DropReason], ...]
    """Place of each metric that cannot be sent, and why; in order of the places."""
    skipped: tuple[tuple[int, DimensionSet], ...]
    """Dimension sets that cannot be used, each with the place of its metric; in that order."""


def narrow(labels: LabelPairs, metrics: tuple[Metric, ...]) -> Narrowed:
    """Leave out what no event of this label set can hold.

    * A metric whose name CloudWatch does not take, or called ``_aws``.
    * All but the last of equally named metrics: an event holds a name once.
    * A dimension set that names a label which is absent, or hidden because a metric of the label
      set has its name; a metric left without any set.

    That the values of the labels are valid dimensions was checked by ``declare.directives``.
    """
    losses = _Losses()
    kept = _named(metrics, losses)
    present = {name for name, value in labels if value} - {limits.RESERVED}
    # First each metric alone: one that lives only by the label it hides is lost and hides nothing.
    for place, metric in list(kept.items()):
        _narrow(kept, place, present - {metric.name}, losses)
    shown = present - {metric.name for metric in kept.values()}
    for place in list(kept):
        _narrow(kept, place, shown, losses)
    hidden = {limits.RESERVED, *(metric.name for metric in kept.values())}
    whole = tuple(kept.values()) == metrics  # as nearly always: then nothing is to be held of it
    return Narrowed(
        places=range(len(metrics)) if whole else tuple(kept),
        metrics=metrics if whole else tuple(kept.values()),
        labels=tuple([pair for pair in labels if pair[1] and pair[0] not in hidden]),
        dropped=tuple(sorted(losses.dropped.items(), key=_place)),
        skipped=tuple(sorted(losses.skipped, key=_place)),
    )


@dataclass(frozen=True, slots=True)
class _Losses:
    """What ``Narrowed`` tells of the metrics that did not go through whole."""

    dropped: dict[int, DropReason] = field(default_factory=dict)
    skipped: list[tuple[int, DimensionSet]] = field(default_factory=list)


def _place(loss: tuple[int, object]) -> int:
    return loss[0]


def _named(metrics: Sequence[Metric], losses: _Losses) -> dict[int, Metric]:
    """Keep what has a name of its own that can be sent, by place."""
    last = {metric.name: place for place, metric in enumerate(metrics)}
    kept: dict[int, Metric] = {}
    for place, metric in enumerate(metrics):
        reserved = metric.name == limits.RESERVED
        if reserved or (metric.sets and limits.metric_name_fault(metric.name)):
            losses.dropped[place] = DropReason.NAME_INVALID
        elif last[metric.name] != place:
            losses.dropped[place] = DropReason.DUPLICATE
        else:
            kept[place] = metric
    return kept


def _narrow(kept: dict[int, Metric], place: int, shown: set[str], losses: _Losses) -> None:
    """Leave the metric the sets made of labels that are shown; drop it if none is left."""
    metric = kept[place]
    unusable = {
        names
        for sets in metric.sets
        for names in sets
        if len(names) > limits.SET_NAMES or not shown.issuperset(names)
    }
    if not unusable:
        return
    losses.skipped.extend((place, names) for names in sorted(unusable))
    rest = (tuple(names for names in sets if names not in unusable) for sets in metric.sets)
    kept[place] = replace(metric, sets=tuple(sets for sets in rest if sets))
    if not kept[place].sets:
        large = any(len(names) > limits.SET_NAMES for names in unusable)
        losses.dropped[place] = (
            DropReason.DIMENSION_INVALID if large else DropReason.DIMENSION_MISSING
        )
        del kept[place]
