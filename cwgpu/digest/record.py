"""The samples that share a log event, on their way into it.

A record has the metrics of one event template. Each has a value or several of every scrape (those
of eight GPUs, say), and an event takes one scrape or as many as an array has room for.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import TypeAlias

from cwgpu.digest.judge import Place, Row
from cwgpu.digest.memo import Memo
from cwgpu.digest.pick import ALL, Pick, picker
from cwgpu.digest.share import Commons
from cwgpu.emf import limits, narrow
from cwgpu.emf import template as emf_template
from cwgpu.emf.narrow import Narrowed
from cwgpu.emf.template import EventTemplate, Metric
from cwgpu.model import quoting
from cwgpu.model.event import EmfEvent, StreamKey
from cwgpu.model.labels import LabelPairs

_Texts: TypeAlias = Sequence[bytes]
"""Values of one metric, in order of time."""


class Templates:
    """Event templates by labels and metrics: making one costs more than rendering a hundred."""

    def __init__(self, namespace: str, most: int, commons: Commons) -> None:
        """Start empty. An event has up to ``most`` values of a metric."""
        self._namespace = namespace
        self._most = most
        self._commons = commons
        self._layouts = Memo(self._laid)
        self._narrowed = Memo(narrow.narrow)

    def narrow(self, labels: LabelPairs, metrics: tuple[Metric, ...]) -> Narrowed:
        """Say what of a label set's metrics can be sent."""
        return self._narrowed.give(labels, metrics)

    def layout(self, labels: LabelPairs, metrics: tuple[Metric, ...]) -> emf_template.Layout:
        """Lay out the events for these metrics."""
        return self._layouts.give(labels, metrics)

    def __len__(self) -> int:
        return len(self._layouts) + len(self._narrowed)

    def age(self) -> None:
        """Forget what was not asked for since the last call."""
        self._layouts.age()
        self._narrowed.age()

    def _laid(self, labels: LabelPairs, metrics: tuple[Metric, ...]) -> emf_template.Layout:
        laid = emf_template.layout(self._namespace, labels, metrics, most=self._most)
        return replace(laid, templates=tuple(map(self._shared, laid.templates)))

    def _shared(self, template: EventTemplate) -> EventTemplate:
        """Take what other label sets have, too, from them."""
        commons, numbers = self._commons, self._commons.numbers
        return replace(
            template,
            metrics=numbers.give(template.metrics),
            weights=numbers.give(template.weights),
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


Column: TypeAlias = tuple[Metric, list[Place]]
"""A metric of an event and the samples whose values it takes: at least one, and no more than an
array has room for."""


class Record:
    """What goes into the events of one template."""

    __slots__ = ("_labels", "_metrics", "_pick", "_picks", "_rows", "_template", "kind")

    def __init__(
        self,
        kind: Kind,
        template: EventTemplate,
        columns: Sequence[Column],
        labels: LabelPairs,
    ) -> None:
        """``columns`` are in the template's order, ``labels`` those that it shows."""
        self.kind = kind
        self._template = template
        self._labels = labels
        self._metrics = tuple([metric for metric, _ in columns])
        widest = max(len(places) for _, places in columns)
        self._rows = limits.ARRAY_VALUES // widest
        # One value of each metric at a scrape is what most records have.
        narrow = widest == 1
        self._pick = picker([places[0].position for _, places in columns]) if narrow else None
        self._picks = [] if narrow else [_picker(places) for _, places in columns]

    def events(self, rows: Sequence[Row], templates: Templates) -> list[EmfEvent]:
        """Make the events of these scrapes, which are in order of time."""
        if len(rows) == 1 and self._pick:
            (row,), template = rows, self._template
            texts = self._pick(row.texts)
            if not row.lost or None not in texts:
                at_ms = row.at_ms if self.kind.at_ms is None else self.kind.at_ms
                return [self._event(template, at_ms, texts, len(texts), template.datapoints)]
        if len(rows) <= self._rows:
            return self._some(rows, templates)
        starts = range(0, len(rows), self._rows)
        each = (self._some(rows[start : start + self._rows], templates) for start in starts)
        return list(chain.from_iterable(each))

    def outline(self, positions: Sequence[int] = ALL) -> bytes:
        """Give the event that it makes when no value is lost, arrays of positions for values.

        ``positions`` are those of the values that it chooses from.
        """
        columns = [[at] for at in self._pick(positions)] if self._pick else None
        columns = columns or [list(pick(positions)) for pick in self._picks]
        return quoting.read(self._template.render(0, [b"%a" % column for column in columns]))

    @property
    def positions(self) -> list[int]:
        """Say where all of its values are."""
        picks = [self._pick] if self._pick else self._picks
        return list(chain.from_iterable(pick(ALL) for pick in picks))

    def renumber(self, numbers: Mapping[int, int]) -> None:
        """Choose from others, whose positions these are by the former ones."""
        if self._pick:
            self._pick = _renumbered(self._pick, numbers)
        self._picks = [_renumbered(pick, numbers) for pick in self._picks]

    def _some(self, rows: Sequence[Row], templates: Templates) -> list[EmfEvent]:
        """Make the events of no more scrapes than fit."""
        at_ms = rows[-1].at_ms if self.kind.at_ms is None else self.kind.at_ms
        whole = not any(row.lost for row in rows)
        values = self._values(rows)
        if not whole:
            values = [list(filter(None, texts)) for texts in values]
        if all(values):
            return [self._filled(self._template, at_ms, values)]
        return self._spread(values, at_ms, templates)

    def _values(self, rows: Sequence[Row]) -> Sequence[_Texts]:
        """Give the values of each metric."""
        scrapes = [row.texts for row in rows]
        if self._pick:
            return list(zip(*map(self._pick, scrapes), strict=True))
        return [list(chain.from_iterable(map(pick, scrapes))) for pick in self._picks]

    def _spread(self, values: Sequence[_Texts], at_ms: int, templates: Templates) -> list[EmfEvent]:
        """Make events of the metrics that have a value."""
        kept = [at for at, texts in enumerate(values) if texts]
        layout = templates.layout(self._labels, tuple([self._metrics[at] for at in kept]))
        return [
            self._filled(template, at_ms, [values[kept[at]] for at in template.metrics])
            for template in layout.templates
        ]

    def _filled(self, template: EventTemplate, at_ms: int, values: Sequence[_Texts]) -> EmfEvent:
        counts = [len(texts) for texts in values]
        arrays = [_array(texts) for texts in values]
        datapoints = sum(map(int.__mul__, counts, template.weights))
        return self._event(template, at_ms, arrays, sum(counts), datapoints)

    def _event(self, template: EventTemplate, at_ms: int, values: _Texts, *load: int) -> EmfEvent:
        """Render an event; ``load`` are its samples and its datapoints."""
        text = template.render(at_ms, values)
        size_bytes = len(text) - template.quoting_bytes
        return EmfEvent(self.kind.stream, at_ms, text, size_bytes, *load)


def _array(texts: _Texts) -> bytes:
    return b"[%b]" % b",".join(texts) if len(texts) > 1 else texts[0]


def _renumbered(pick: Pick, numbers: Mapping[int, int]) -> Pick:
    return picker([numbers[at] for at in pick(ALL)])


def _picker(places: Sequence[Place]) -> Pick:
    return picker([place.position for place in places])
