"""A complaint: where, what was found, what to write instead.

All complaints of a file are collected before anything is refused. The text form is that of the
compilers people know (rustc, ruff): level and code, place, the line with carets, help.
"""

import enum
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from cwgpu.config import node, secret
from cwgpu.config.source import Place
from cwgpu.model import errors


class Level(enum.Enum):
    """How much a complaint matters."""

    ERROR = "error"
    """The configuration cannot be used."""
    WARNING = "warning"
    """Something that is asked for will not happen, or not as it was meant."""
    NOTE = "note"
    """Good to know."""


@dataclass(frozen=True, slots=True)
class Complaint:
    """One complaint about one place. ``code`` is stable and kebab-case."""

    code: str
    level: Level
    file: str
    line: int
    """Counted from 1; 0 when the complaint is about the file as a whole."""
    column: int
    path: str
    """Where in the tree: ``scrape_configs[0].job_name``."""
    message: str
    help: str = ""
    label: str = ""
    """What stands beside the carets."""
    excerpt: str = ""
    """The line of the file, secrets masked."""
    width: int = 1
    """How many characters of the line are meant."""


class InvalidError(errors.ConfigurationError):
    """A configuration that cannot be used; the text is the rendered list of complaints."""

    def __init__(self, complaints: Sequence[Complaint]) -> None:
        """Keep every complaint, warnings and notes too: they may explain the errors."""
        super().__init__(render_all(complaints))
        self.complaints = tuple(complaints)


def at(
    place: Place,
    code: str,
    message: str,
    *,
    level: Level = Level.ERROR,
    loc: node.Loc = (),
    advice: str = "",
    label: str = "",
) -> Complaint:
    """Make a complaint about a place."""
    return Complaint(
        code,
        level,
        place.source.name,
        place.line,
        place.column,
        _path(loc),
        message,
        advice,
        label,
        secret.masked(place.source.lines, place.line),
        place.width,
    )


def _path(loc: node.Loc) -> str:
    # Deeper than anything that has a meaning; what is nested without end has no useful path.
    longest = 20
    return node.path(loc) if len(loc) <= longest else f"{node.path(loc[:longest])}..."


def about(file: str, code: str, message: str, *, advice: str = "") -> Complaint:
    """Make an error about a file as a whole."""
    return Complaint(code, Level.ERROR, file, 0, 0, "", message, advice)


def errors_in(complaints: Iterable[Complaint]) -> bool:
    """Tell whether one of them is an error."""
    return any(each.level is Level.ERROR for each in complaints)


def ordered(complaints: Iterable[Complaint]) -> tuple[Complaint, ...]:
    """Order by place, each complaint once; files stay in the order in which they appear."""
    unique = tuple(dict.fromkeys(complaints))
    files = {file: number for number, file in enumerate(dict.fromkeys(c.file for c in unique))}
    return tuple(sorted(unique, key=lambda c: (files[c.file], c.line, c.column)))


def as_json(complaint: Complaint) -> dict[str, str | int]:
    """Give the members of a complaint's JSON form; the line itself is left out."""
    return {
        "level": complaint.level.value,
        "code": complaint.code,
        "file": complaint.file,
        "line": complaint.line,
        "column": complaint.column,
        "path": complaint.path,
        "message": complaint.message,
        "label": complaint.label,
        "help": complaint.help,
    }


def render_all(complaints: Iterable[Complaint]) -> str:
    """Render complaints, one to a paragraph."""
    return "\n\n".join(render(each) for each in complaints)


def render(complaint: Complaint) -> str:
    """Render one complaint as text, without colours and without a newline at the end."""
    head = f"{complaint.level.value}[{complaint.code}]: {complaint.message}"
    gutter = " " * len(str(complaint.line))
    return "\n".join(
        [head, _arrow(complaint), *_quoted(complaint, gutter), *_help(complaint, gutter)]
    )


def _arrow(complaint: Complaint) -> str:
    where = (
        f"{complaint.file}:{complaint.line}:{complaint.column}"
        if complaint.line
        else complaint.file
    )
    path = f" ({complaint.path})" if complaint.path else ""
    return f"  --> {where}{path}"


def _help(complaint: Complaint, gutter: str) -> list[str]:
    return [f"{gutter} = help: {line}" for line in complaint.help.splitlines()]


# A minified JSON file is one line: show this many characters of it before the place and in all.
_BEFORE = 80
_SHOWN = 160


def _quoted(complaint: Complaint, gutter: str) -> list[str]:
    if not complaint.line or not complaint.excerpt:
        return []
    start = max(0, complaint.column - 1 - _BEFORE) if len(complaint.excerpt) > _SHOWN else 0
    shown = "".join(_printable(char) for char in complaint.excerpt[start : start + _SHOWN])
    before = shown[: complaint.column - 1 - start]
    blanks = "".join("\t" if char == "\t" else " " for char in before)
    width = max(1, min(complaint.width, len(shown) - len(before)))
    label = f" {complaint.label}" if complaint.label else ""
    return [f"{complaint.line} | {shown}".rstrip(), f"{gutter} | {blanks}{'^' * width}{label}"]


def _printable(char: str) -> str:
    return char if char.isprintable() or char == "\t" else "?"
