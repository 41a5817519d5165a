"""The samples of one label set on their way into one log event."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import Any

from cwgpu.digest.line import Line, Slot
from cwgpu.digest.tally import Tally
from cwgpu.digest.values import Values
from cwgpu.emf import delta, limits
from cwgpu.emf import number as emf_number
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

    def __len__(self) -> int:
        return len(self._known.keys() | self._used.keys())

    def age(self) -> None:
        """Forget what was not asked for since the last call."""
        self._known, self._used = self._used, {}


class Record:
    """The lines whose values one event template takes, in the template's order."""

    __slots__ = (
        "_at_ms",
        "_counters",
        "_gauges",
        "_lines",
        "_pick",
        "_pick_gauges",
        "_positions",
        "_slots",
        "_stream",
        "_template",
    )

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
        self._positions = [place.position for place in places]
        self._pick = picker(self._positions)
        counters = {at for at, slot in enumerate(self._slots) if slot.treatment is not None}
        self._counters = tuple(sorted(counters))
        self._gauges = tuple(at for at in range(len(places)) if at not in counters)
        self._pick_gauges = picker([places[at].position for at in self._gauges])

    def emit(
        self, values: Values, scraped_at_ms: int, *, templates: Templates, tally: Tally
    ) -> list[EmfEvent]:
        """Make the record's events; a value that cannot be sent is put to the tally's account."""
        at_ms = scraped_at_ms if self._at_ms is None else self._at_ms
        texts = self._pick(values.texts)
        special = self._special(values)
        if not special:
            return [self._event(self._template, at_ms, texts)]
        numbers = self._pick(values.numbers)
        sent, lost = list(texts), set()
        for place in special:
            line = self._lines[place]
            given = _value(line, self._slots[place], sent[place], numbers[place], at_ms=at_ms)
            if isinstance(given, DropReason):
                tally.add(given, line.name, position=self._positions[place])
                lost.add(place)
            else:
                sent[place] = given
        if not lost:
            return [self._event(self._template, at_ms, sent)]
        return self._spread(sent, lost, at_ms, templates)

    @property
    def stream(self) -> StreamKey:
        """Where its events go."""
        return self._stream

    @property
    def at_ms(self) -> int | None:
        """The time that the page itself gives its samples."""
        return self._at_ms

    def outline(self) -> bytes:
        """Give the event that it makes when no value is lost, each value being its position."""
        return self._template.render(0, [b"%d" % position for position in self._positions])

    def _event(self, template: EventTemplate, at_ms: int, texts: Sequence[bytes]) -> EmfEvent:
        message = template.render(at_ms, texts)
        return EmfEvent(self._stream, at_ms, message, len(texts), template.datapoints)

    def _special(self, values: Values) -> Sequence[int]:
        """Name the places whose value is not simply sent as the page has it."""
        if not values.finite:
            return range(len(self._slots))
        gauges = self._pick_gauges(values.numbers)
        if not gauges or (max(gauges) < blank.FLOOR and min(gauges) >= -limits.VALUE):
            return self._counters
        plain = zip(self._gauges, gauges, strict=True)
        odd = (at for at, one in plain if not -limits.VALUE <= one < blank.FLOOR)
        return sorted((*odd, *self._counters))

    def _spread(
        self, texts: Sequence[bytes], lost: set[int], at_ms: int, templates: Templates
    ) -> list[EmfEvent]:
        """Make events of the values that are left."""
        kept = [place for place in range(len(texts)) if place not in lost]
        metrics = tuple(self._slots[place].metric for place in kept)
        layout = templates.layout(self._slots[0].labels, metrics)
        return [
            self._event(template, at_ms, [texts[kept[at]] for at in template.metrics])
            for template in layout.templates
        ]


def _value(line: Line, slot: Slot, text: bytes, number: float, *, at_ms: int) -> bytes | DropReason:
    value = float(number)
    if value >= blank.FLOOR and slot.field and blank.is_blank(slot.field, value):
        return DropReason.BLANK
    if slot.treatment is None:
        if not math.isfinite(value):
            return DropReason.NOT_FINITE
        return text if abs(value) <= limits.VALUE else DropReason.OUT_OF_RANGE
    line.baseline, given = delta.step(line.baseline, value, at_ms, slot.treatment)
    return given if isinstance(given, DropReason) else emf_number.text(given)
