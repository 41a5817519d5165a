"""A metrics page, item by item: the door to both formats.

This is the cold path, for lines that nobody has seen before; clarity comes first here. What is let
in and what is refused is what Prometheus 3.0.1 lets in and refuses, except that a bad line costs
itself alone: reading goes on at the next newline, and whoever wants Prometheus' all or nothing
stops at the first BadItem.
"""

from collections.abc import Iterable, Iterator

from cwgpu.prom import openmetrics, quick, text
from cwgpu.prom.cursor import Cursor, FaultError
from cwgpu.prom.items import (
    BadItem,
    Context,
    EofItem,
    Format,
    HelpItem,
    Item,
    OtherItem,
    SeriesItem,
    TypeItem,
)

__all__ = [
    "BadItem",
    "Context",
    "EofItem",
    "Format",
    "HelpItem",
    "Item",
    "OtherItem",
    "SeriesItem",
    "TypeItem",
    "finish",
    "item",
    "repeated",
    "scan",
]

_READERS = {Format.TEXT: text.read, Format.OPENMETRICS: openmetrics.read}


def scan(body: bytes, format: Format) -> Iterator[Item]:  # noqa: A002 - what else is it
    """Give the items of a page in order, and last the page's own fault, if it has one."""
    context = Context(format)
    at = 0
    while at < len(body) and context.ended_at is None:
        found = item(body, at, context)
        yield found
        at = found.end
    fault = finish(body, context)
    if fault is not None:
        yield fault


def item(body: bytes, start: int, context: Context) -> Item:
    """Read the one item that begins at ``start``, an offset less than the length of the page.

    The context is brought up to date. After an EofItem nothing is to be read any more.
    """
    return quick.read(body, start, context) or slowly(body, start, context)


def slowly(body: bytes, start: int, context: Context) -> Item:
    """Do what ``item`` does, by the lexer alone."""
    try:
        return _READERS[context.format](Cursor(body, start), context)
    except FaultError as fault:
        return BadItem(start, body.find(b"\n", start) + 1 or len(body), str(fault), fault.at)


def finish(body: bytes, context: Context) -> BadItem | None:
    """Give the fault of a page that has been read to its end, if it has one.

    OpenMetrics asks for ``# EOF`` (also on an empty page) and for nothing after it. The item has no
    length when the end is missing.
    """
    size = len(body)
    if context.format is Format.TEXT or context.ended_at == size:
        return None
    if context.ended_at is None:
        fault = "the page ends without # EOF: it is cut off, or it is no OpenMetrics"
        return BadItem(size, size, fault, size)
    end = context.ended_at
    fault = f"found {size - end} bytes after # EOF, allowed is nothing"
    return BadItem(end, size, fault, end)


def repeated(labels: Iterable[tuple[str, str]]) -> str | None:
    """Give the first label name that a sample has twice; ``__name__`` is taken by the metric.

    Prometheus' parser lets such a sample pass and its storage then fails the page.
    """
    seen = {"__name__"}
    for name, _ in labels:
        if name in seen:
            return name
        seen.add(name)
    return None
