"""From the values of one scrape to the texts that its events carry, or why there is none.

Most values are sent as the page has them. What needs a look, counters and large or odd numbers, is
found for the whole page at once.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from cwgpu.digest.line import Line, Slot
from cwgpu.digest.pick import picker
from cwgpu.digest.tally import Tally
from cwgpu.digest.values import Values
from cwgpu.emf import delta, limits
from cwgpu.emf import number as emf_number
from cwgpu.gpu import blank
from cwgpu.model.drop import DropReason


class Place(NamedTuple):
    """A line with a slot, where its value stands among those of the page, and its time."""

    line: Line
    slot: Slot
    position: int
    at_ms: int | None
    """The time that the page itself gives it; None: that of the scrape."""


@dataclass(frozen=True, slots=True)
class Row:
    """The texts of one scrape, in the page's order."""

    at_ms: int
    """When the scrape began."""
    texts: Sequence[bytes | None]
    """None for a value that cannot be sent; what no event asks for may be any text."""
    lost: int
    """How many cannot be sent, of those that events ask for."""


class Judge:
    """Decides on the values of a page's places, scrape for scrape."""

    __slots__ = ("_counters", "_decimals", "_gauges", "_pick_gauges", "_places")

    def __init__(self, places: Sequence[Place], decimals: int | None) -> None:
        """``places`` are in the page's order."""
        self._places = places
        self._decimals = decimals
        counters = {at for at, place in enumerate(places) if place.slot.treatment is not None}
        self._counters = tuple(sorted(counters))
        self._gauges = tuple(at for at in range(len(places)) if at not in counters)
        self._pick_gauges = picker([places[at].position for at in self._gauges])

    def __len__(self) -> int:
        """Give how many samples of a scrape may go into events."""
        return len(self._places)

    def row(self, values: Values, scraped_at_ms: int, tally: Tally) -> Row:
        """Take the values of a scrape; one that cannot be sent is put to the tally's account."""
        special = self._special(values)
        if not special and self._decimals is None:
            return Row(scraped_at_ms, values.texts, 0)
        texts: list[bytes | None] = list(values.texts)
        lost = 0
        for at in special:
            place = self._places[at]
            given = _value(place, values, scraped_at_ms)
            if isinstance(given, DropReason):
                tally.add(given, place.line.name, position=place.position)
                texts[place.position] = None
                lost += 1
            else:
                texts[place.position] = given
        if self._decimals is not None:
            self._round(texts, self._decimals)
        return Row(scraped_at_ms, texts, lost)

    def _special(self, values: Values) -> Sequence[int]:
        """Name the places whose value is not simply sent as the page has it."""
        if not values.finite:
            return range(len(self._places))
        gauges = self._pick_gauges(values.numbers)
        if not gauges or (max(gauges) < blank.FLOOR and min(gauges) >= -limits.VALUE):
            return self._counters
        plain = zip(self._gauges, gauges, strict=True)
        odd = [at for at, one in plain if not -limits.VALUE <= one < blank.FLOOR]
        return sorted((*odd, *self._counters))

    def _round(self, texts: list[bytes | None], decimals: int) -> None:
        for place in self._places:
            text = texts[place.position]
            if text is not None:
                texts[place.position] = emf_number.rounded(text, decimals)


def _value(place: Place, values: Values, scraped_at_ms: int) -> bytes | DropReason:
    line, slot = place.line, place.slot
    value = float(values.numbers[place.position])
    if value >= blank.FLOOR and slot.field and blank.is_blank(slot.field, value):
        return DropReason.BLANK
    if slot.treatment is None:
        if not math.isfinite(value):
            return DropReason.NOT_FINITE
        sendable = abs(value) <= limits.VALUE
        return values.texts[place.position] if sendable else DropReason.OUT_OF_RANGE
    at_ms = scraped_at_ms if place.at_ms is None else place.at_ms
    line.baseline, given = delta.step(line.baseline, value, at_ms, slot.treatment)
    return given if isinstance(given, DropReason) else emf_number.text(given)
