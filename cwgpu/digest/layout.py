"""A page compiled: where each line's value goes, for as long as the page keeps its lines.

Two scrapes of an exporter differ in their numbers and in little else. A layout holds the page
without its numbers; a page that fits it is read by cutting the numbers out, with no look-up, no
label and no regex.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from cwgpu.digest.judge import Judge
from cwgpu.digest.line import Watch
from cwgpu.digest.pick import picker
from cwgpu.digest.record import Record
from cwgpu.digest.survey import Survey
from cwgpu.model.reading import BadLine, Counts, Drop


@dataclass(frozen=True, slots=True)
class Contents:
    """What a page holds, whatever its numbers."""

    now: tuple[Record, ...]
    """Records that are rendered at every scrape."""
    later: tuple[Record, ...]
    """Records that are rendered when a window is over."""
    judge: Judge
    samples: int
    drops: tuple[Drop, ...]
    """Samples that are dropped whatever their values."""
    bad_lines: tuple[BadLine, ...]
    counts: Counts = field(default_factory=Counts)
    """Without new series: there are none as long as the page keeps its lines."""
    shadowed: frozenset[str] = frozenset()
    watches: tuple[tuple[int, Watch], ...] = ()
    """With the positions of their values among those of the page."""

    @property
    def records(self) -> tuple[Record, ...]:
        """All of them."""
        return self.now + self.later


class Layout:
    """The shape of a page, to be compared with the next one."""

    __slots__ = ("_blank", "_cuts", "_fixed", "_heads", "_series", "content_type", "contents")

    def __init__(self, survey: Survey, contents: Contents, content_type: str) -> None:
        """Every sample of the survey must be a simple line: head and value, no more."""
        self.contents = contents
        self.content_type = content_type
        # A line that holds no sample is its own head, and nothing may follow it.
        self._heads = list(survey.physical)
        for sighting in survey.sightings:
            self._heads[sighting.number] = sighting.head
        self._cuts = [len(head) for head in self._heads]
        samples = [sighting.number for sighting in survey.sightings]
        fixed = sorted(set(range(len(self._heads))).difference(samples))
        self._series = picker(samples)
        self._fixed = picker(fixed)
        self._blank = (b"",) * len(fixed)

    def match(self, body: bytes) -> Sequence[bytes] | None:
        """Cut the values out of a page of this shape; None for a page of another shape."""
        lines = body.split(b"\n")
        if len(lines) != len(self._heads):
            return None
        if not all(map(bytes.startswith, lines, self._heads)):
            return None
        tails = [line[cut:] for line, cut in zip(lines, self._cuts, strict=True)]
        if self._fixed(tails) != self._blank:
            return None
        return self._series(tails)
