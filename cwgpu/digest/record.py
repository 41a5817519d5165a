"""The samples that share a log event, on their way into it.

A record has the metrics of one event template. Each has a value or several of every scrape (those
of eight GPUs, say), and an event takes one scrape or as many as an array has room for.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import accumulate
from operator import mul
from typing import TypeAlias, TypeVar

from cwgpu.digest.judge import Place, Row
from cwgpu.digest.memo import Memo
from cwgpu.digest.pick import ALL, picker
from cwgpu.digest.share import Commons
from cwgpu.emf import limits, narrow
from cwgpu.emf import template as emf_template
from cwgpu.emf.narrow import Narrowed
from cwgpu.emf.template import EventTemplate, Metric
from cwgpu.model import quoting
from cwgpu.model.event import EmfEvent, StreamKey
from cwgpu.model.labels import LabelPairs

V = TypeVar("V")
_Texts: TypeAlias = Sequence[bytes]


class Templates:
    """Event templates by labels and metrics: making one costs more than rendering a hundred."""

    def __init__(self, namespace: str, most: int, commons: Commons) -> None:
        """Start empty. An event has up to ``most`` values of a metric."""
        self._commons = commons
        # A page's templates must go with it, at once: not one may know who remembers it.
        lay = partial(_laid, namespace=namespace, most=most, commons=commons)
        self._layouts = Memo(lay)
        self._narrowed = Memo(narrow.narrow)

    def narrow(self, labels: LabelPairs, metrics: tuple[Metric, ...]) -> Narrowed:
        """Say what of a label set's metrics can be sent."""
        return self._narrowed.give(labels, self.share(metrics))

    def layout(self, labels: LabelPairs, metrics: tuple[Metric, ...]) -> emf_template.Layout:
        """Lay out the events for these metrics."""
        return self._layouts.give(labels, self.share(metrics))

    def share(self, metrics: tuple[Metric, ...]) -> tuple[Metric, ...]:
        """Give these metrics as others have them, too: GPUs of a kind have the same."""
        return self._commons.columns.give(metrics)

    def __len__(self) -> int:
        return len(self._layouts) + len(self._narrowed)

    def age(self) -> None:
        """Forget what was not asked for since the last call."""
        self._layouts.age()
        self._narrowed.age()


def _laid(
    labels: LabelPairs,
    metrics: tuple[Metric, ...],
    *,
    namespace: str,
    most: int,
    commons: Commons,
) -> emf_template.Layout:
    laid = emf_template.layout(namespace, labels, metrics, most=most)
    return replace(laid, templates=tuple([_shared(each, commons) for each in laid.templates]))


def _shared(template: EventTemplate, commons: Commons) -> EventTemplate:
    """Take what other label sets have, too, from them."""
    return replace(
        template,
        metrics=commons.numbers.give(template.metrics),
        weights=commons.numbers.give(template.weights),
        frame=commons.frames.give(template.frame),
    )


@dataclass(frozen=True, slots=True)
class Kind:
    """What all samples of an event have in common."""

    stream: StreamKey
    at_ms: int | None
    """The time that the page gives them; None: that of the scrape."""
    waits: bool
    """Whether an event may take several scrapes."""


class Record:
    """What goes into the events of one template."""

    __slots__ = ("_labels", "_metrics", "_most_scrapes", "_pick", "_template", "_widths", "kind")

    def __init__(
        self,
        kind: Kind,
        template: EventTemplate,
        labels: LabelPairs,
        *,
        metrics: tuple[Metric, ...],
        columns: Sequence[Sequence[Place]],
    ) -> None:
        """``labels`` are those that the template shows, ``metrics`` and ``columns`` in its order.

        A column has the samples whose values its metric takes: at least one, and no more than an
        array has room for.
        """
        self.kind = kind
        self._template = template
        self._labels = labels
        self._metrics = metrics
        widths = [len(places) for places in columns]
        self._most_scrapes = limits.ARRAY_VALUES // max(widths)
        # One value of each metric at a scrape is what most records have.
        self._widths = widths if max(widths) > 1 else None
        self._pick = picker([place.position for places in columns for place in places])

    def events(self, row: Row, templates: Templates) -> list[EmfEvent]:
        """Make the events of one scrape."""
        values, template = self._pick(row.texts), self._template
        at_ms = row.at_ms if self.kind.at_ms is None else self.kind.at_ms
        if self._widths is None and (not row.lost or None not in values):
            return [self._event(template, at_ms, values, len(values), template.datapoints)]
        return self._left(at_ms, self._cut(values), templates)

    def window(
        self,
        times_ms: Sequence[int],
        columns: Sequence[_Texts],
        templates: Templates,
        *,
        lost: bool,
    ) -> list[EmfEvent]:
        """Make the events of scrapes of these times, in as few as hold them.

        ``columns`` are of the template's metrics: values of each scrape, with commas between them.
        ``lost``: some may not be there.
        """
        if len(times_ms) > self._most_scrapes:
            starts = range(0, len(times_ms), self._most_scrapes)
            parts = [slice(start, start + self._most_scrapes) for start in starts]
            return [
                event
                for part in parts
                for event in self.window(
                    times_ms[part], [column[part] for column in columns], templates, lost=lost
                )
            ]
        at_ms = times_ms[-1] if self.kind.at_ms is None else self.kind.at_ms
        texts = list(map(b",".join, columns))
        if lost:
            return self._left(at_ms, [text.split(b",") for text in texts], templates)
        counts = [width * len(times_ms) for width in self._widths or [1] * len(columns)]
        return self._made(at_ms, texts, counts, templates)

    def outline(self) -> bytes:
        """Give the event that it makes when no value is lost, arrays of positions for values."""
        arrays = [b"%a" % list(column) for column in self.columns]
        return quoting.read(self._template.render(0, arrays))

    @property
    def columns(self) -> list[Sequence[int]]:
        """Say where the values of each metric are."""
        return self._cut(self._pick(ALL))

    @property
    def width(self) -> int:
        """Say how many metrics it has."""
        return len(self._metrics)

    def _cut(self, values: Sequence[V]) -> list[Sequence[V]]:
        """Give the values of each metric."""
        if self._widths is None:
            return [(value,) for value in values]
        ends = accumulate(self._widths)
        return [values[end - width : end] for width, end in zip(self._widths, ends, strict=True)]

    def _left(
        self, at_ms: int, columns: Sequence[Sequence[bytes | None]], templates: Templates
    ) -> list[EmfEvent]:
        """Make events of the values that are left when the lost ones, None or empty, are out."""
        left = [list(filter(None, column)) for column in columns]
        return self._made(at_ms, list(map(b",".join, left)), list(map(len, left)), templates)

    def _made(
        self, at_ms: int, texts: _Texts, counts: Sequence[int], templates: Templates
    ) -> list[EmfEvent]:
        """Make an event of the metrics that have a value, or more where it takes more."""
        if all(counts):
            return [self._filled(self._template, at_ms, texts, counts)]
        kept = [at for at, count in enumerate(counts) if count]
        layout = templates.layout(self._labels, tuple([self._metrics[at] for at in kept]))
        chosen = [[kept[at] for at in template.metrics] for template in layout.templates]
        return [
            self._filled(template, at_ms, [texts[at] for at in some], [counts[at] for at in some])
            for template, some in zip(layout.templates, chosen, strict=True)
        ]

    def _filled(
        self, template: EventTemplate, at_ms: int, texts: _Texts, counts: Sequence[int]
    ) -> EmfEvent:
        values = [
            text if count == 1 else b"[%b]" % text
            for text, count in zip(texts, counts, strict=True)
        ]
        datapoints = sum(map(mul, counts, template.weights))
        return self._event(template, at_ms, values, sum(counts), datapoints)

    def _event(self, template: EventTemplate, at_ms: int, values: _Texts, *load: int) -> EmfEvent:
        """Render an event; ``load`` are its samples and its datapoints."""
        text = template.render(at_ms, values)
        size_bytes = len(text) - template.quoting_bytes
        return EmfEvent(self.kind.stream, at_ms, text, size_bytes, *load)
