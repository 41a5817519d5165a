"""Event templates: all of a log event but its time and its values, encoded once.

The events of a label set differ from scrape to scrape in nothing else, so ``layout`` does the slow
work when a label set first appears, and ``EventTemplate.render`` fills in the rest in one call.
The form is EMF v1, the specification named in the package; the limits are in ``limits``.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias

import orjson

from cwgpu.emf import limits
from cwgpu.emf.declare import DimensionSet
from cwgpu.model.drop import DropReason
from cwgpu.model.labels import LabelPairs

Sets: TypeAlias = tuple[DimensionSet, ...]
"""The dimension sets of one directive, each once."""


@dataclass(frozen=True, slots=True)
class Metric:
    """What is known of a metric before its value."""

    name: str
    sets: tuple[Sets, ...]
    """As ``declare.Declared.sets``: a directive each. Empty makes it a plain field of the log."""
    unit: str | None = None
    """One of ``units.UNITS``."""
    resolution: int | None = None
    """1 or 60 seconds; None leaves it unsaid, which CloudWatch takes as 60."""


@dataclass(frozen=True, slots=True)
class EventTemplate:
    """A log event without its time and values."""

    metrics: tuple[int, ...]
    """Places, in the sequence given to ``layout``, of the metrics that it carries."""
    datapoints: int
    """Datapoints that CloudWatch makes of one event."""
    form: bytes
    """For the ``%`` operator: one ``%b`` for each value, before them ``%d`` if ``timed``."""
    timed: bool
    """Whether the event has directives, and so a time."""

    def render(self, at_ms: int, values: Sequence[bytes]) -> bytes:
        """Give the message: ``values`` are JSON texts in the order of ``metrics``."""
        if self.timed:
            return self.form % (at_ms, *values)
        return self.form % tuple(values)


@dataclass(frozen=True, slots=True)
class Layout:
    """How the metrics of one label set are spread over events."""

    templates: tuple[EventTemplate, ...]
    dropped: tuple[tuple[int, DropReason], ...]
    """Place of each metric that is in no template, and why; in order of the places."""
    skipped: tuple[tuple[int, DimensionSet], ...]
    """Dimension sets that cannot be used, each with the place of its metric; in that order."""


def layout(namespace: str, labels: LabelPairs, metrics: Sequence[Metric]) -> Layout:
    """Spread the metrics of one label set over as few events as their order allows.

    Every rendered message is within ``limits.MESSAGE_BYTES`` as long as a value's text is within
    ``limits.VALUE_BYTES``. Names are the caller's; what cannot be sent is dropped here:

    * a metric whose name CloudWatch does not take, or called ``_aws``;
    * all but the last of equally named metrics: an event holds a name once;
    * a dimension set that names a label which is absent, or hidden because a metric of the label
      set has its name; a metric left without any set;
    * a metric that is too large for an event of its own.

    That the values of the labels are valid dimensions was checked by ``declare.directives``.
    """
    losses = _Losses()
    sendable = _sendable(labels, metrics, losses)
    hidden = {limits.RESERVED, *(metric.name for metric in sendable.values())}
    members = [
        _text(name) + b":" + _text(value) for name, value in labels if value and name not in hidden
    ]
    drafts = [_Draft(namespace, members)]
    for place, metric in sendable.items():
        if drafts[-1].take(place, metric):
            continue
        fresh = _Draft(namespace, members)
        if fresh.take(place, metric):
            drafts.append(fresh)
        else:
            losses.dropped[place] = DropReason.TOO_LARGE
    return Layout(
        templates=tuple(draft.template() for draft in drafts if draft.places),
        dropped=tuple(sorted(losses.dropped.items(), key=_place)),
        skipped=tuple(sorted(losses.skipped, key=_place)),
    )


@dataclass(frozen=True, slots=True)
class _Losses:
    """What ``Layout`` tells of the metrics that did not go through whole."""

    dropped: dict[int, DropReason] = field(default_factory=dict)
    skipped: list[tuple[int, DimensionSet]] = field(default_factory=list)


def _place(loss: tuple[int, object]) -> int:
    return loss[0]


def _sendable(labels: LabelPairs, metrics: Sequence[Metric], losses: _Losses) -> dict[int, Metric]:
    """Keep what an event can hold, by place, with the dimension sets that can be used."""
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
    present = {name for name, value in labels if value} - {limits.RESERVED}
    # First each metric alone: one that lives only by the label it hides is lost and hides nothing.
    for place, metric in list(kept.items()):
        _narrow(kept, place, present - {metric.name}, losses)
    shown = present - {metric.name for metric in kept.values()}
    for place in list(kept):
        _narrow(kept, place, shown, losses)
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


_OPENING = b'{"_aws":{"Timestamp":%d,"CloudWatchMetrics":['
_CLOSING = b"]},"


class _Draft:
    """One event while it is being filled."""

    def __init__(self, namespace: str, members: Sequence[bytes]) -> None:
        self.places: list[int] = []
        self._namespace = _text(namespace)
        self._members = members
        self._names: list[bytes] = []
        self._directives: dict[tuple[Sets, int], list[bytes]] = {}
        self._definitions = 0
        self._datapoints = 0
        # Each member and element is counted with a comma, also the last ones, which have none.
        self._bytes = len(_OPENING) + limits.TIME_BYTES + len(_CLOSING) + len("}")
        self._bytes += sum(len(member) + len(",") for member in members)

    def take(self, place: int, metric: Metric) -> bool:
        """Add a metric if it fits; else change nothing and say False."""
        name = _text(metric.name)
        definition = _definition(metric)
        size = len(name) + len(":,") + limits.VALUE_BYTES
        keys = list(_keys(metric.sets))
        for key in keys:
            size += len(definition) + len(",")
            if key not in self._directives:
                size += len(self._directive(key[0], [])) + len(",")
        if (
            self._definitions + len(keys) > limits.DEFINITIONS
            or self._bytes + size > limits.MESSAGE_BYTES
        ):
            return False
        for key in keys:
            self._directives.setdefault(key, []).append(definition)
        self.places.append(place)
        self._names.append(name)
        self._bytes += size
        self._definitions += len(keys)
        self._datapoints += sum(len(sets) for sets in metric.sets)
        return True

    def template(self) -> EventTemplate:
        """Finish the event."""
        fields = [_literal(name) + b":%b" for name in self._names]
        body = b",".join([*map(_literal, self._members), *fields])
        directives = b",".join(self._directive(key[0], of) for key, of in self._directives.items())
        opening = _OPENING + _literal(directives) + _CLOSING if directives else b"{"
        return EventTemplate(
            metrics=tuple(self.places),
            datapoints=self._datapoints,
            form=opening + body + b"}",
            timed=bool(directives),
        )

    def _directive(self, sets: Sets, definitions: Sequence[bytes]) -> bytes:
        parts = (self._namespace, orjson.dumps(sets), b",".join(definitions))
        return b'{"Namespace":%b,"Dimensions":%b,"Metrics":[%b]}' % parts


def _keys(directives: tuple[Sets, ...]) -> Iterator[tuple[Sets, int]]:
    """Name the directives that a metric needs; metrics with a key in common share a directive.

    Equal directives of one metric are counted, since a directive may hold a metric only once.
    """
    for place, sets in enumerate(directives):
        yield sets, directives[:place].count(sets)


def _definition(metric: Metric) -> bytes:
    members: dict[str, str | int] = {"Name": metric.name}
    if metric.unit is not None:
        members["Unit"] = metric.unit
    if metric.resolution is not None:
        members["StorageResolution"] = metric.resolution
    return orjson.dumps(members)


def _text(text: str) -> bytes:
    return orjson.dumps(text)


def _literal(text: bytes) -> bytes:
    """Keep the ``%`` operator from reading anything into the text."""
    return text.replace(b"%", b"%%")
