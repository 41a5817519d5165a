"""What a metrics page is made of: the items that the lexers give, one after the other.

An item is what Prometheus calls an entry, with its place in the page. It is a line, except that a
quoted string may hold raw newlines. The items of a page tile it: each begins where the one before
it ended.
"""

import enum
from dataclasses import dataclass
from typing import TypeAlias

from cwgpu.model.kind import Kind


class Format(enum.Enum):
    """The languages a page may be written in, named by their media types."""

    TEXT = "text/plain"
    OPENMETRICS = "application/openmetrics-text"


@dataclass(slots=True)
class Context:
    """What has to be remembered from one item to the next.

    A caller that passes over items which it knows already keeps ``kind`` up to date itself.
    """

    format: Format
    kind: Kind = Kind.UNKNOWN
    """Of the last TYPE line, whatever family it named: it governs ``le`` and ``quantile``."""
    ended_at: int | None = None
    """Offset after the item that ended the page; None before."""


@dataclass(frozen=True, slots=True)
class SeriesItem:
    """A sample."""

    start: int
    end: int
    """Offset after the newline that ends the item, or of the end of the page."""
    text: bytes
    """Name and braces exactly as written, from ``start`` on and without blanks behind them."""
    name: str
    labels: tuple[tuple[str, str], ...]
    """In written order, escapes resolved, without the name; empty values and repeats are kept."""
    value: bytes
    """A number by the rules of :mod:`cwgpu.prom.number`."""
    timestamp_ms: int | None


@dataclass(frozen=True, slots=True)
class TypeItem:
    """``# TYPE``."""

    start: int
    end: int
    name: str
    kind: Kind


@dataclass(frozen=True, slots=True)
class HelpItem:
    """``# HELP``."""

    start: int
    end: int
    name: str


@dataclass(frozen=True, slots=True)
class OtherItem:
    """A blank line, a comment or ``# UNIT``: allowed, and without consequence."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class EofItem:
    """The end that the page itself declares; nothing is read after it."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class BadItem:
    """What the format does not allow. It reaches to the next newline after its start."""

    start: int
    end: int
    fault: str
    """A sentence for a person: where, what was found, what is allowed."""
    at: int
    """Offset of what is not allowed."""


Item: TypeAlias = SeriesItem | TypeItem | HelpItem | OtherItem | EofItem | BadItem
