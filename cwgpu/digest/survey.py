"""Walking a page line by line: what is there, and what of it was there before.

A line known from an earlier scrape costs a dictionary look-up; any other is read by
``prom.exposition``. TYPEs are collected first and roles given afterwards, since a page may put its
TYPE below its samples.
"""

import re
from dataclasses import dataclass, field

from cwgpu.digest.line import Line
from cwgpu.digest.lines import Lines
from cwgpu.model.kind import Kind
from cwgpu.model.reading import BadLine
from cwgpu.prom import exposition
from cwgpu.prom.exposition import Context, Format, SeriesItem
from cwgpu.prom.quote import quoted

# A text a known line may end in without being read again: every such text is a number to both
# formats. Anything else (NaN, a second number, an exemplar) goes through the parser.
_PLAIN_NUMBER = re.compile(rb"-?[0-9]{1,30}(?:\.[0-9]{1,30})?(?:[eE][+-]?[0-9]{1,2})?")
# Any 18 digits fit the int64 that a timestamp must.
_TIMESTAMP = re.compile(rb"[0-9]{1,18}")
MOST_BAD = 10_000
"""Bad lines after which a page is not read any further: it is none. Ten megabytes of newlines would
else keep a core busy for minutes and take gigabytes."""
# Of a bad line, this much is shown; the rest is rarely needed to recognise it.
_SHOWN = 120


@dataclass(frozen=True, slots=True)
class Sighting:
    """One sample of the page."""

    number: int
    """Its physical line, counted from 0."""
    head: bytes
    context: Kind
    item: SeriesItem | None
    """The series as it was read; None for a line that is remembered."""
    value: bytes
    at_ms: int | None
    simple: bool
    """The physical line is exactly head + value."""


@dataclass(slots=True)
class Survey:
    """All that was found on a page."""

    physical: list[bytes]
    sightings: list[Sighting] = field(default_factory=list)
    types: dict[str, Kind] = field(default_factory=dict)
    bad: list[BadLine] = field(default_factory=list)
    repetitive: set[int] = field(default_factory=set)
    """Numbers of bad lines, counted from 1, that Prometheus parses, so that its storage fails."""


class Walk:
    """One pass over a page."""

    def __init__(self, body: bytes, fmt: Format, known: Lines) -> None:
        """``known`` is only read."""
        self._body = body
        self._known = known
        self._milliseconds = fmt is Format.TEXT
        self._context = Context(fmt)
        self._survey = Survey(body.split(b"\n"))

    def run(self) -> Survey:
        """Read the page to its end, or until more than ``MOST_BAD`` lines are bad."""
        start = resume = 0
        for number, line in enumerate(self._survey.physical):
            # A quoted label value may hold newlines: then one item covers several lines.
            if self._context.ended_at is not None or len(self._survey.bad) > MOST_BAD:
                break
            unread = resume <= start < len(self._body) and (line or not self._milliseconds)
            # A blank line of the text format is nothing, and a page may have millions of them.
            if unread and not self._recall(number, line):
                resume = self._parse(number, start)
            start += len(line) + 1
        # An empty answer is a page without samples in either format, as Prometheus 3 has it.
        final = exposition.finish(self._body, self._context) if self._body else None
        if final is not None:
            self._bad(len(self._survey.physical) - 1, final.fault, b"")
        return self._survey

    def _recall(self, number: int, line: bytes) -> bool:
        if not self._milliseconds and number == len(self._survey.physical) - 1:
            return False  # OpenMetrics wants a newline behind every sample; this one has none
        cut = line.rfind(b" ") + 1
        known = self._known.get(line[:cut])
        if known is not None and _PLAIN_NUMBER.fullmatch(line, cut):
            return self._remember(number, known, line[cut:], None)
        inner = line.rfind(b" ", 0, cut - 1) + 1 if cut else 0
        known = self._known.get(line[:inner]) if inner and self._milliseconds else None
        if (
            known is not None
            and _PLAIN_NUMBER.fullmatch(line, inner, cut - 1)
            and _TIMESTAMP.fullmatch(line, cut)
        ):
            return self._remember(number, known, line[inner : cut - 1], int(line[cut:]))
        return False

    def _remember(self, number: int, line: Line, value: bytes, at_ms: int | None) -> bool:
        context = self._context.kind
        if line.exposed.context is not context:
            return False
        self._survey.sightings.append(
            Sighting(number, line.head, context, None, value, at_ms, at_ms is None)
        )
        return True

    def _parse(self, number: int, start: int) -> int:
        context = self._context.kind
        item = exposition.item(self._body, start, self._context)
        if isinstance(item, SeriesItem):
            self._series(number, item, context)
        elif isinstance(item, exposition.BadItem):
            self._bad(number, item.fault, self._survey.physical[number])
        elif isinstance(item, exposition.TypeItem):
            self._survey.types[item.name] = item.kind
        return item.end

    def _series(self, number: int, item: SeriesItem, context: Kind) -> None:
        name = exposition.repeated(item.labels)
        if name is not None:
            self._survey.repetitive.add(number + 1)
            fault = f"label {quoted(name.encode())} is there twice"
            self._bad(number, fault, self._survey.physical[number])
            return
        head = item.text + b" "
        simple = self._survey.physical[number] == head + item.value
        self._survey.sightings.append(
            Sighting(number, head, context, item, item.value, item.timestamp_ms, simple)
        )

    def _bad(self, number: int, fault: str, line: bytes) -> None:
        shown = line[:_SHOWN].decode(errors="replace")
        self._survey.bad.append(BadLine(number + 1, fault, shown))
