"""Where in which file something is written.

A text may be embedded in another file (a JSON file inside a Kubernetes ConfigMap): its places
are then those of the file that a person has open.
"""

import re
from dataclasses import dataclass, field

_BREAK = re.compile(r"\r\n|\n|\r")


def line_starts(text: str) -> list[int]:
    """Give the offset at which each line begins."""
    return [0, *(found.end() for found in _BREAK.finditer(text))]


@dataclass(frozen=True, slots=True)
class Source:
    """A file as it is shown, and where in it the text that is read begins."""

    name: str
    lines: tuple[str, ...] = field(repr=False)
    """The lines of the file as a whole, without their ends."""
    lines_before: int = 0
    indent: int = 0
    """Columns that stand before each line of the text."""

    @classmethod
    def of(cls, name: str, text: str) -> "Source":
        """Make the source of a text that is a file of its own."""
        return cls(name, tuple(_BREAK.split(text)))

    def place(self, line: int, column: int, width: int = 1) -> "Place":
        """Give the place of ``line`` and ``column`` (both from 1) of the text."""
        if self.lines_before + line > len(self.lines):  # where libyaml says that a file ends
            line = len(self.lines) - self.lines_before
            column = len(self.lines[-1]) - self.indent + 1
        return Place(self, self.lines_before + line, self.indent + column, max(width, 1))

    def embedded(self, lines_before: int, indent: int) -> "Source":
        """Make the source of a text inside this one, so many lines down and columns in."""
        return Source(self.name, self.lines, self.lines_before + lines_before, self.indent + indent)


@dataclass(frozen=True, slots=True)
class Place:
    """A stretch of one line of a file; line and column count from 1, in characters."""

    source: Source
    line: int
    column: int
    width: int = 1

    @property
    def excerpt(self) -> str:
        """The whole line."""
        lines = self.source.lines
        return lines[self.line - 1] if 0 < self.line <= len(lines) else ""
