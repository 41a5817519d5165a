"""From the values of one scrape to the texts that its events carry, or why there is none.

Most values are sent as the page has them. What needs a look, counters, fields of another unit and
large or odd numbers, is found for the whole page at once.
"""

import math
from array import array
from collections.abc import Iterable, Sequence
from operator import attrgetter
from typing import NamedTuple, cast

from cwgpu.digest.growth import Growth
from cwgpu.digest.line import Line, Slot
from cwgpu.digest.pick import picker
from cwgpu.digest.tally import Tally
from cwgpu.digest.values import Values
from cwgpu.emf import delta, limits
from cwgpu.emf import number as emf_number
from cwgpu.emf.delta import Treatment
from cwgpu.gpu import blank
from cwgpu.model.drop import DropReason


class Place(NamedTuple):
    """A line with a slot, where its value stands among those of the page, and its time."""

    line: Line
    slot: Slot
    position: int
    at_ms: int | None
    """The time that the page itself gives it; None: that of the scrape."""


class Row(NamedTuple):
    """The texts of one scrape."""

    at_ms: int
    """When the scrape began."""
    texts: Sequence[bytes | None]
    """None for a value that cannot be sent; what no event asks for may be any text."""
    lost: int
    """How many cannot be sent, of those that events ask for."""


class Judge:
    """Decides on the values of a page's places, scrape for scrape."""

    __slots__ = (
        *("_apart", "_changed", "_decimals", "_growing", "_growth", "_lines", "_pick_plain"),
        *("_plain", "_positions", "_times"),
    )

    def __init__(self, places: Sequence[Place], decimals: int | None) -> None:
        """``places`` are in the page's order."""
        self._decimals = decimals
        self._positions = array("Q", [place.position for place in places])
        self._lines = tuple([place.line for place in places])
        timed = any(place.at_ms is not None for place in places)
        self._times = tuple([place.at_ms for place in places]) if timed else None
        # As places only those that are looked at each time: there may be a million lines.
        changed = [place for place in places if _is_changed(place.slot)]
        # A line with a time and without one on the same page has its totals in the page's order.
        growing = [] if timed else [place for place in changed if _grows(place.slot)]
        self._growing = tuple(growing)
        self._growth = Growth([(one.position, one.line, _most(one.slot)) for one in growing])
        self._apart = self._growing
        """Those of them that have to be looked at one by one."""
        self._changed = tuple([place for place in changed if timed or not _grows(place.slot)])
        plain = [at for at, place in enumerate(places) if not _is_changed(place.slot)]
        self._plain = array("Q", plain)
        self._pick_plain = picker([places[at].position for at in plain])
        for place in places:
            if place.slot.treatment is Treatment.ABSOLUTE:  # a former plan may have counted
                place.line.baseline = None

    def __len__(self) -> int:
        """Give how many samples of a scrape may go into events."""
        return len(self._lines)

    def row(self, values: Values, scraped_at_ms: int, tally: Tally) -> Row:
        """Take the values of a scrape; one that cannot be sent is put to the tally's account."""
        special = self._special(values)
        if not special and not self._growing and self._decimals is None:
            return Row(scraped_at_ms, values.texts, 0)
        texts: list[bytes | None] = list(values.texts)
        self._grow(texts, values, scraped_at_ms)
        if self._apart:
            special = _in_order(self._apart, special)
        lost, made = 0, {}
        for place in special:
            given = _value(place, values, scraped_at_ms)
            if isinstance(given, DropReason):
                tally.add(given, place.line.name, position=place.position)
                texts[place.position] = None
                lost += 1
            elif given is not None:
                made[place.position] = given
        _write(texts, made.keys(), made.values())
        if self._decimals is not None:
            self._round(texts, self._decimals)
        return Row(scraped_at_ms, texts, lost)

    def settle(self) -> None:
        """Leave the totals of counters to their lines, for who has to do with these from now on."""
        self._growth.settle()
        self._apart = self._growing

    def _grow(self, texts: list[bytes | None], values: Values, at_ms: int) -> None:
        """Write the increase of counters that do as counters do, and set the others apart."""
        if not self._growing:
            return
        increases = self._growth.take(values, at_ms)
        if increases is None:
            self._apart = self._growing
            return
        positions = self._growth.positions
        if len(self._apart) + len(positions) != len(self._growing):
            taken = frozenset(positions)
            self._apart = tuple([one for one in self._growing if one.position not in taken])
        _write(texts, positions, increases)

    def _special(self, values: Values) -> Sequence[Place]:
        """Give the places whose value is not simply sent as the page has it."""
        if not values.finite:
            growing = {place.position for place in self._growing}
            apart = (at for at, position in enumerate(self._positions) if position not in growing)
            return [self._place(at) for at in apart]
        plain = self._pick_plain(values.numbers)
        low = values.signed and min(plain, default=0) < -limits.VALUE
        if not low and max(plain, default=0) < blank.FLOOR:
            return self._changed
        pairs = zip(self._plain, plain, strict=True)
        odd = [self._place(at) for at, one in pairs if not -limits.VALUE <= one < blank.FLOOR]
        return _in_order(odd, self._changed)

    def _place(self, at: int) -> Place:
        line, at_ms = self._lines[at], self._times[at] if self._times else None
        return Place(line, cast("Slot", line.fate), self._positions[at], at_ms)

    def _round(self, texts: list[bytes | None], decimals: int) -> None:
        for position in self._positions:
            text = texts[position]
            if text is not None:
                texts[position] = emf_number.rounded(text, decimals)


def _is_changed(slot: Slot) -> bool:
    """Whether what is sent is another number than the page has, or depends on more than that."""
    return slot.treatment not in {None, Treatment.ABSOLUTE} or slot.convert is not None


def _in_order(some: Iterable[Place], others: Iterable[Place]) -> Sequence[Place]:
    """Give all of them in the page's order, in which what becomes of them is told."""
    return sorted((*some, *others), key=attrgetter("position"))


def _write(texts: list[bytes | None], positions: Iterable[int], numbers: Iterable[float]) -> None:
    """Put other numbers in the place of a page's."""
    for position, text in zip(positions, emf_number.texts(numbers), strict=True):
        texts[position] = text


def _grows(slot: Slot) -> bool:
    """Whether the difference to the last total is sent."""
    return slot.treatment is Treatment.DELTA and slot.convert is None


def _most(slot: Slot) -> float:
    """Give what a total is below, if it needs no second look."""
    return blank.least(slot.field) if slot.field else limits.VALUE


def _value(place: Place, values: Values, scraped_at_ms: int) -> float | DropReason | None:
    """Give the value to be sent; None: as the page has it."""
    line, slot = place.line, place.slot
    value = float(values.numbers[place.position])
    if value >= blank.FLOOR and slot.field and blank.is_blank(slot.field, value):
        return DropReason.BLANK
    converted = slot.convert(value) if slot.convert else value
    if isinstance(converted, DropReason):
        return converted
    if slot.treatment is None:
        fault = _fault(converted)
        return fault or (None if converted == value else converted)
    ours = place.at_ms is None
    at_ms = scraped_at_ms if place.at_ms is None else place.at_ms
    line.baseline, given = delta.step(line.baseline, converted, at_ms, slot.treatment, ours=ours)
    return given


def _fault(value: float) -> DropReason | None:
    """Say why a gauge's value cannot be sent."""
    if not math.isfinite(value):
        return DropReason.NOT_FINITE
    return DropReason.OUT_OF_RANGE if abs(value) > limits.VALUE else None
