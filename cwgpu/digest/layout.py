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

    __slots__ = (
        *("_count", "_names", "_others", "_pick_others", "_pick_series", "_rests", "_size_bytes"),
        "contents",
    )

    def __init__(
        self,
        commons: Commons,
        physical: Sequence[bytes],
        lines: Mapping[int, Line],
        contents: Contents,
    ) -> None:
        """``lines`` are the samples by number; ``physical`` has what the other lines are."""
        self.contents = contents
        self._count = len(physical)
        self._names = commons.names.give(tuple([line.exposed.text for line in lines.values()]))
        self._rests = [line.rest for line in lines.values()]
        others = [number for number in range(len(physical)) if number not in lines]
        self._others = commons.names.give(tuple([physical[number] for number in others]))
        self._pick_series, self._pick_others = picker(list(lines)), picker(others)
        fixed = (
            sum(map(len, self._names)) + sum(map(len, self._rests)) + sum(map(len, self._others))
        )
        self._size_bytes = fixed + len(physical) - 1 - max(0, len(lines) - 1)
        """Of a page without its values, and without as many characters as join these."""

    def match(self, body: bytes) -> Texts | None:
        """Cut the values out of a page of this shape; None for a page of another shape."""
        lines = body.split(b"\n")
        if len(lines) != self._count or self._pick_others(lines) != self._others:
            return None
        named = map(bytes.removeprefix, self._pick_series(lines), self._names)
        texts = list(map(bytes.removeprefix, named, self._rests))
        joined = b",".join(texts)
        # A line that begins otherwise keeps more than what is behind a head, so all are longer.
        if len(joined) + self._size_bytes != len(body):
            return None
        return Texts(texts, joined)
