"""The samples of one label set on their way into one log event."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import Any

from cwgpu.digest.line import Line, Slot
from cwgpu.digest.tally import Tally
from cwgpu.digest.values import Values
from cwgpu.emf import delta, limits, number
from cwgpu.emf import template as emf_template
from cwgpu.emf.template import EventTemplate, Metric
from cwgpu.gpu import blank
from cwgpu.model.drop import DropReason
from cwgpu.model.event import EmfEvent, StreamKey
from cwgpu.model.labels import LabelPairs


@dataclass(frozen=True, slots=True)
class Place:
    """A line with a slot, and the position of its value among those of the page."""

    line: Line
    slot: Slot
    position: int


Pick = Callable[[Sequence[Any]], Sequence[Any]]


def picker(positions: Sequence[int]) -> Pick:
    """Give a function that takes these positions out of a sequence, in this order."""
    if len(positions) > 1:
        return itemgetter(*positions)
    return lambda sequence: tuple(sequence[position] for position in positions)


class Templates:
    """Event templates by label set and metrics: making one costs more than rendering a hundred."""

    def __init__(self, namespace: str) -> None:
        """Start empty."""
        self._namespace = namespace
        self._known: dict[tuple[LabelPairs, tuple[Metric, ...]], emf_template.Layout] = {}
        self._used: dict[tuple[LabelPairs, tuple[Metric, ...]], emf_template.Layout] = {}

    def layout(self, labels: LabelPairs, metrics: tuple[Metric, ...]) -> emf_template.Layout:
        """Lay out the events for these metrics, or remember how it was done."""
        key = (labels, metrics)
        found = self._used.get(key) or self._known.get(key)
        if found is None:
            found = emf_template.layout(self._namespace, labels, metrics)
        self._used[key] = found
        return found

    def age(self) -> None:
        """Forget what was not asked for since the last call."""
        self._known, self._used = self._used, {}


class Record:
    """The lines whose values one event template takes, in the template's order."""

    __slots__ = ("_at_ms", "_lines", "_pick", "_plain", "_slots", "_stream", "_template")

    def __init__(
        self,
        stream: StreamKey,
        template: EventTemplate,
        places: Sequence[Place],
        *,
        at_ms: int | None,
    ) -> None:
        """``at_ms`` is the time the page itself gives these samples; None: that of the scrape."""
        self._stream = stream
        self._template = template
        self._at_ms = at_ms
        self._lines = tuple(place.line for place in places)
        self._slots = tuple(place.slot for place in places)
        self._pick = picker([place.position for place in places])
        self._plain = all(slot.treatment is None for slot in self._slots)

    def emit(
        self, values: Values, scraped_at_ms: int, *, templates: Templates, tally: Tally
    ) -> list[EmfEvent]:
        """Make the record's events; a value that cannot be sent is put to the tally's account."""
        at_ms = scraped_at_ms if self._at_ms is None else self._at_ms
        numbers = self._pick(values.numbers)
        texts = self._pick(values.texts)
        if self._plain and values.finite and _ordinary(numbers):
            return [self._event(self._template, at_ms, texts)]
        return self._emit_each(texts, numbers, at_ms, templates=templates, tally=tally)

    def _event(self, template: EventTemplate, at_ms: int, texts: Sequence[bytes]) -> EmfEvent:
        message = template.render(at_ms, texts)
        return EmfEvent(self._stream, at_ms, message, len(texts), template.datapoints)

    def _emit_each(
        self,
        texts: Sequence[bytes],
        numbers: Sequence[float],
        at_ms: int,
        *,
        templates: Templates,
        tally: Tally,
    ) -> list[EmfEvent]:
        kept: list[bytes] = []
        metrics: list[Metric] = []
        for line, slot, text, value in zip(self._lines, self._slots, texts, numbers, strict=True):
            sent = _value(line, slot, (text, float(value)), at_ms)
            if isinstance(sent, DropReason):
                tally.add(sent, line.name)
            else:
                kept.append(sent)
                metrics.append(slot.metric)
        if len(kept) == len(texts):
            return [self._event(self._template, at_ms, kept)]
        if not kept:
            return []
        layout = templates.layout(self._slots[0].labels, tuple(metrics))
        return [
            self._event(template, at_ms, [kept[index] for index in template.metrics])
            for template in layout.templates
        ]


def _ordinary(numbers: Sequence[float]) -> bool:
    # Nothing DCGM calls blank lies below the floor, and the floor lies below CloudWatch's limit.
    return max(numbers) < blank.FLOOR and min(numbers) >= -limits.VALUE


def _value(line: Line, slot: Slot, given: tuple[bytes, float], at_ms: int) -> bytes | DropReason:
    text, value = given
    if slot.blanks and blank.is_blank(slot.metric.name, value):
        return DropReason.BLANK
    if slot.treatment is not None:
        step = delta.step(line.baseline, value, at_ms, slot.treatment)
        line.baseline = step.baseline
        if step.dropped is not None or step.value is None:
            return step.dropped or DropReason.NOT_FINITE
        value, text = step.value, number.text(step.value)
    if not math.isfinite(value):
        return DropReason.NOT_FINITE
    return text if abs(value) <= limits.VALUE else DropReason.OUT_OF_RANGE
