"""OpenMetrics 1.0 text, as Prometheus 3.0.1 reads it.

https://prometheus.io/docs/specs/om/open_metrics_spec/ is the specification; Prometheus'
model/textparse/openmetricslex.l and openmetricsparse.go, followed here, ask for its syntax to the
letter (one blank between tokens, no comments, no blank lines, ``# EOF`` at the end) and for little
of its rules (no ``_total`` suffix, no grouping by family). Exemplars must be well-formed and are
not kept; ``_created`` samples are samples like others.

One difference: where Prometheus finds the fault of a line only after its value, it has handed the
sample out already when it fails the page. Here such a line is bad as a whole.
"""

import dataclasses
import re
from collections.abc import Callable
from typing import TypeVar

from cwgpu.model.kind import Kind
from cwgpu.prom import meta, number, series
from cwgpu.prom.cursor import Cursor
from cwgpu.prom.items import Context, EofItem, HelpItem, Item, OtherItem, SeriesItem, TypeItem
from cwgpu.prom.stride import ROUNDS, Stride

_T = TypeVar("_T")

_NEWLINE = re.compile(rb"\n")
_BLANK = re.compile(rb" ")
# NUL bytes are the lexer's own mark of the end.
_EOF = re.compile(rb"# EOF\0*+\n?\0*+")
_META = re.compile(rb"# (?:HELP|TYPE|UNIT) ")
_TOKEN = re.compile(rb" [^ \n\0]+")
_EXEMPLAR = re.compile(rb" # \{")

_LINE_END = "the end of the line"

_DIALECT = series.Dialect(
    blank=re.compile(rb""),
    # As in the text format, but a newline must be escaped.
    value=re.compile(rf'(?:[^"\\\n]++|\\\0*+[^\n]){ROUNDS}'.encode()),
    stride=Stride("", ",", quoted_names=True),
    comma_required=True,
    beginning="a metric name, { or # (there are no blank lines)",
)
_EXEMPLAR_DIALECT = dataclasses.replace(
    _DIALECT, stride=Stride("", ",", quoted_names=False), quoted_names=False
)
_KINDS = {kind.value.encode(): kind for kind in Kind}


def read(cursor: Cursor, context: Context) -> Item:
    """Read one item; the cursor stands before the end of the page. Raises ExpositionError."""
    if cursor.take(_EOF):
        context.ended_at = cursor.at
        return EofItem(cursor.start, cursor.at)
    if cursor.peek() == b"#":
        return _meta(cursor, context)
    return _series(cursor, context)


def _meta(cursor: Cursor, context: Context) -> Item:
    opening = cursor.expect(_META, "# HELP, # TYPE, # UNIT or # EOF (there are no comments)")
    family = meta.family(cursor)
    cursor.expect(_BLANK, "one blank after the name")
    if opening == b"# TYPE ":
        kind = meta.kind(cursor, _KINDS)
        cursor.expect(_NEWLINE, _LINE_END)
        context.kind = kind
        return TypeItem(cursor.start, cursor.at, meta.name(family), kind)
    if opening == b"# UNIT ":
        _unit(cursor, family)
        cursor.expect(_NEWLINE, _LINE_END)
        return OtherItem(cursor.start, cursor.at)
    meta.help_text(cursor)
    cursor.expect(_NEWLINE, _LINE_END)
    return HelpItem(cursor.start, cursor.at, meta.name(family))


def _unit(cursor: Cursor, family: bytes) -> None:
    begin = cursor.at
    unit = meta.text(cursor)
    if unit and not family.endswith(b"_" + unit):
        cursor.at = begin
        raise cursor.refusal("the unit that the name ends with, after _")


def _series(cursor: Cursor, context: Context) -> SeriesItem:
    head = series.head(cursor, _DIALECT, context.kind)
    _number(cursor, number.parse, "one blank and a value")
    value = cursor.body[head.end + 1 : cursor.at]
    timestamp_ms = None
    if cursor.peek() == b" " and _EXEMPLAR.match(cursor.body, cursor.at) is None:
        timestamp_ms = _number(cursor, number.seconds, f"one blank and a timestamp, or {_LINE_END}")
    if cursor.take(_EXEMPLAR):
        _exemplar(cursor)
    cursor.expect(_NEWLINE, _LINE_END)
    return head.item(cursor, value, timestamp_ms)


def _exemplar(cursor: Cursor) -> None:
    series.braces(cursor, _EXEMPLAR_DIALECT, [], None)
    _number(cursor, number.parse, "one blank and the exemplar's value")
    if cursor.peek() == b" ":
        _number(cursor, number.seconds, f"one blank and a timestamp, or {_LINE_END}")


def _number(cursor: Cursor, read: Callable[[bytes], _T], allowed: str) -> _T:
    begin = cursor.at + 1
    cursor.expect(_TOKEN, allowed)
    return cursor.convert(begin, read)
