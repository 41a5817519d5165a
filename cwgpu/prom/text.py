"""The text format, version 0.0.4, as Prometheus 3.0.1 reads it.

https://prometheus.io/docs/instrumenting/exposition_formats/ tells the idea; what is really let in
is in Prometheus' model/textparse/promlex.l and promparse.go, and this module follows those: blanks
and tabs are free between tokens, commas between labels are optional, a newline may stand raw in
quotes, and the last line needs none.

NUL bytes: one where an item could begin ends the page silently, in quotes, HELP texts and comments
they are data, and anywhere else they are a fault.
"""

import re

from cwgpu.model.kind import Kind
from cwgpu.prom import meta, number, series
from cwgpu.prom.cursor import Cursor
from cwgpu.prom.items import Context, EofItem, HelpItem, Item, OtherItem, SeriesItem, TypeItem
from cwgpu.prom.stride import ROUNDS, Stride

_BLANK = re.compile(rb"[ \t]*")
_NEWLINE = re.compile(rb"\n|\Z")
_COMMENT = re.compile(rb"#(?:[ \t]+(?:HELP|TYPE)[ \t]+)?")
# Whatever follows the family's name is taken for the separator, were it a letter.
_SEPARATOR = re.compile(rb"[^\n\0]|(?=\n)|\Z")
_VALUE = re.compile(rb"[^{ \t\n\0]+")
_TIMESTAMP = re.compile(rb"[0-9]+")

_DIALECT = series.Dialect(
    blank=_BLANK,
    # The lexer does not see NUL bytes in here, not even between a backslash and what it escapes.
    value=re.compile(rf'(?:[^"\\]++|\\\0*+[^\n]){ROUNDS}'.encode()),
    stride=Stride(r"[ \t]*+", ",?", quoted_names=True),
    comma_required=False,
    beginning="a metric name, {, # or a blank line",
)
_KINDS = {
    b"counter": Kind.COUNTER,
    b"gauge": Kind.GAUGE,
    b"histogram": Kind.HISTOGRAM,
    b"summary": Kind.SUMMARY,
    b"untyped": Kind.UNKNOWN,
}


def read(cursor: Cursor, context: Context) -> Item:
    """Read one item; the cursor stands before the end of the page. Raises ExpositionError."""
    cursor.take(_BLANK)
    if cursor.take(_NEWLINE) is not None:
        return OtherItem(cursor.start, cursor.at)
    first = cursor.peek()
    if first == b"#":
        return _comment(cursor, context)
    if first == b"\0":
        context.ended_at = len(cursor.body)
        return EofItem(cursor.start, context.ended_at)
    return _series(cursor, context)


def _comment(cursor: Cursor, context: Context) -> Item:
    opening = cursor.expect(_COMMENT, "#")
    if opening == b"#":
        meta.text(cursor)
        cursor.take(_NEWLINE)
        return OtherItem(cursor.start, cursor.at)
    family = meta.family(cursor)
    cursor.expect(_SEPARATOR, "a blank after the name")
    if b"HELP" in opening:
        meta.help_text(cursor)
        cursor.take(_NEWLINE)
        return HelpItem(cursor.start, cursor.at, meta.name(family))
    context.kind = meta.kind(cursor, _KINDS)
    cursor.take(_NEWLINE)
    return TypeItem(cursor.start, cursor.at, meta.name(family), context.kind)


def _series(cursor: Cursor, context: Context) -> SeriesItem:
    head = series.head(cursor, _DIALECT, context.kind)
    cursor.take(_BLANK)
    begin = cursor.at
    value = cursor.expect(_VALUE, "a value after the metric")
    cursor.convert(begin, number.parse)
    cursor.take(_BLANK)
    begin = cursor.at
    timestamp_ms = None
    if cursor.take(_TIMESTAMP):
        timestamp_ms = cursor.convert(begin, number.milliseconds)
        cursor.take(_BLANK)
    allowed = "a timestamp in milliseconds or" if timestamp_ms is None else "nothing but"
    cursor.expect(_NEWLINE, f"{allowed} the end of the line")
    return head.item(cursor, value, timestamp_ms)
