"""A page compiled: where each line's value goes, for as long as the page keeps its lines.

Two scrapes of an exporter differ in their numbers and in little else. A layout holds the page
without its numbers; a page that fits it is read by cutting the numbers out, with no look-up, no
label and no regex.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from cwgpu.digest.judge import Judge
from cwgpu.digest.line import Line, Watch
from cwgpu.digest.pick import picker
from cwgpu.digest.pulse import Sensor
from cwgpu.digest.record import Record
from cwgpu.digest.share import Commons
from cwgpu.digest.values import Texts
from cwgpu.digest.window import Waiting
from cwgpu.model.reading import BadLine, Counts, Drop


@dataclass(frozen=True, slots=True)
class Contents:
    """What a page holds, whatever its numbers."""

    now: tuple[Record, ...]
    """Records that are rendered at every scrape."""
    later: Waiting
    judge: Judge
    samples: int
    drops: tuple[Drop, ...]
    """Samples that are dropped whatever their values."""
    bad_lines: tuple[BadLine, ...]
    partly: tuple[Drop, ...] = ()
    """Samples that are sent, and not by all dimension sets that they are declared for."""
    counts: Counts = field(default_factory=Counts)
    """Without new series: there are none as long as the page keeps its lines."""
    shadowed: frozenset[str] = frozenset()
    watches: tuple[tuple[int, Watch], ...] = ()
    """With the positions of their values among those of the page."""
    sensor: Sensor | None = None
    """None where nobody asks whether the page moves."""

    def outlines(self) -> list[bytes]:
        """Give the outline of each record."""
        return [*(record.outline() for record in self.now), *self.later.outlines()]

    @property
    def records(self) -> tuple[Record, ...]:
        """All of them."""
        return self.now + self.later.records


class Layout:
    """The shape of a page, to be compared with the next one."""

    __slots__ = ("_blank", "_fixed", "_names", "_rests", "_series", "_size_bytes", "contents")

    def __init__(
        self,
        commons: Commons,
        physical: Sequence[bytes],
        lines: Mapping[int, Line],
        contents: Contents,
    ) -> None:
        """``lines`` are the samples by number; the page has head and value of them, no more."""
        self.contents = contents
        # A line that holds no sample is its own name, and nothing may follow it.
        names, rests = list(physical), [b""] * len(physical)
        for number, line in lines.items():
            names[number] = line.exposed.text
            rests[number] = line.rest
        self._names, self._rests = commons.names.give(tuple(names)), rests
        between = len(physical) - 1 - max(0, len(lines) - 1)
        self._size_bytes = sum(map(len, names)) + sum(map(len, rests)) + between
        """Of a page without its values, and without as many characters as join these."""
        self._series = picker(list(lines))
        fixed = [number for number in range(len(physical)) if number not in lines]
        self._fixed = picker(fixed)
        self._blank = (b"",) * len(fixed)

    def match(self, body: bytes) -> Texts | None:
        """Cut the values out of a page of this shape; None for a page of another shape."""
        lines = body.split(b"\n")
        if len(lines) != len(self._names):
            return None
        named = map(bytes.removeprefix, lines, self._names)
        tails = list(map(bytes.removeprefix, named, self._rests))
        if self._fixed(tails) != self._blank:
            return None
        texts = self._series(tails)
        joined = b",".join(texts)
        # A line that begins otherwise keeps more than what is behind a head, so all are longer.
        if len(joined) + self._size_bytes != len(body):
            return None
        return Texts(texts, joined)
