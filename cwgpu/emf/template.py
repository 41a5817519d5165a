"""Event templates: all of a log event but its time and its values, encoded and quoted once.

The events of a label set differ from scrape to scrape in nothing else, so ``layout`` does the slow
work when a label set first appears, and ``EventTemplate.render`` fills in the rest in one call.
The form is EMF v1, the specification named in the package; the limits are in ``limits``.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import orjson

from cwgpu.emf import limits
from cwgpu.emf.declare import DimensionSet
from cwgpu.model import quoting
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
    weights: tuple[int, ...]
    """Datapoints that CloudWatch makes of one value of each of them."""
    datapoints: int
    """Datapoints of one value of each of them, together."""
    labels: bytes
    """Their members, quoted."""
    frame: tuple[bytes, ...]
    """Everything else, quoted too, in pieces as ``_frame`` gives them, with nothing where something
    goes."""
    quoting_bytes: int
    """By how much all of it is longer than what is quoted."""

    def render(self, at_ms: int, values: Sequence[bytes]) -> bytes:
        """Give the message, quoted: ``values`` are JSON texts in the order of ``metrics``.

        Each is a number, or an array of as many as ``layout`` was told of: quoted they are the
        same, so that the message has ``quoting_bytes`` less than this.
        """
        pieces = list(self.frame)
        if pieces[0]:  # an event has a time if it has directives
            pieces[1] = b"%d" % at_ms
        pieces[3] = self.labels
        pieces[5::2] = values
        return b"".join(pieces)


@dataclass(frozen=True, slots=True)
class Layout:
    """How metrics are spread over events."""

    templates: tuple[EventTemplate, ...]
    dropped: tuple[tuple[int, DropReason], ...] = ()
    """Place of each metric that is in no template, and why; in order of the places."""


def layout(
    namespace: str, labels: LabelPairs, metrics: Sequence[Metric], *, most: int = 1
) -> Layout:
    """Spread metrics over as few events as their order allows, each with all the labels.

    Labels and metrics are as ``narrow.narrow`` leaves them: no two have one name, and dimension
    sets name labels that are there. Every rendered message is within ``limits.MESSAGE_BYTES`` as
    long as a metric has up to ``most`` values, with texts within ``limits.VALUE_BYTES``. A metric
    that is too large for an event of its own is dropped here.
    """
    members = [_text(name) + b":" + _text(value) for name, value in labels]
    drafts = [_Draft(namespace, members, most)]
    dropped: list[tuple[int, DropReason]] = []
    for place, metric in enumerate(metrics):
        if drafts[-1].take(place, metric):
            continue
        fresh = _Draft(namespace, members, most)
        if fresh.take(place, metric):
            drafts.append(fresh)
        else:
            dropped.append((place, DropReason.TOO_LARGE))
    return Layout(tuple(draft.template() for draft in drafts if draft.places), tuple(dropped))


_TIME = b'{"_aws":{"Timestamp":'
_OPENING = b',"CloudWatchMetrics":['
_CLOSING = b"]},"


class _Draft:
    """One event while it is being filled."""

    def __init__(self, namespace: str, members: Sequence[bytes], most: int) -> None:
        self.places: list[int] = []
        self._namespace = _text(namespace)
        self._members = members
        self._names: list[bytes] = []
        self._directives: dict[tuple[Sets, int], list[bytes]] = {}
        self._definitions = 0
        self._weights: list[int] = []
        self._room = most * limits.VALUE_BYTES + (most > 1) * (len("[]") + (most - 1) * len(","))
        # Each member and element is counted with a comma, also the last ones, which have none.
        self._bytes = len(_TIME) + limits.TIME_BYTES + len(_OPENING) + len(_CLOSING) + len("}")
        self._bytes += sum(len(member) + len(",") for member in members)

    def take(self, place: int, metric: Metric) -> bool:
        """Add a metric if it fits; else change nothing and say False."""
        name = _text(metric.name)
        definition = _definition(metric)
        size = len(name) + len(":,") + self._room
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
        self._weights.append(sum(len(sets) for sets in metric.sets))
        return True

    def template(self) -> EventTemplate:
        """Finish the event."""
        directives = b",".join(self._directive(key[0], of) for key, of in self._directives.items())
        labels = b"".join([member + b"," for member in self._members])
        frame = tuple(_frame(directives, self._names))
        quoted_labels, quoted_frame = quoting.quote(labels), tuple(map(quoting.quote, frame))
        return EventTemplate(
            metrics=tuple(self.places),
            weights=tuple(self._weights),
            datapoints=sum(self._weights),
            labels=quoted_labels,
            frame=quoted_frame,
            quoting_bytes=sum(map(len, (quoted_labels, *quoted_frame)))
            - sum(map(len, (labels, *frame))),
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


def _frame(directives: bytes, names: Sequence[bytes]) -> Iterator[bytes]:
    """Give the pieces of an event between which time, labels and values go, each of these empty."""
    yield from (_TIME, b"", _OPENING + directives + _CLOSING) if directives else (b"", b"", b"{")
    yield b""
    for number, name in enumerate(names):
        yield b"," * (number > 0) + name + b":"
        yield b""
    yield b"}"
