"""Names and labels: the part of a sample that the two formats nearly share.

Follows the states ``sLabels`` and ``sLValue`` of Prometheus' lexers (model/textparse/promlex.l and
openmetricslex.l, v3.0.1) and ``parseLVals``. Two things that Prometheus lets pass by accident are
refused here: a bare word in place of the quoted name (``{abc} 1``: it takes the name ``b``), and a
NUL byte behind a closing quote (it takes the quote into the value). Names that its storage would
refuse next, because they are empty or no UTF-8, are refused here already.
"""

import re
from dataclasses import dataclass

from cwgpu.model.kind import Kind
from cwgpu.prom import number, stride
from cwgpu.prom.cursor import Cursor
from cwgpu.prom.items import SeriesItem
from cwgpu.prom.stride import ROUNDS, Stride

METRIC = re.compile(rb"[a-zA-Z_:][a-zA-Z0-9_:]*")
NAME = re.compile(rf'(?:[^"\\\0]++|\\[^\n\0]){ROUNDS}'.encode())
"""Some of a quoted name; raw newlines are allowed in it, in both formats."""

_LABEL = re.compile(rb"[a-zA-Z_][a-zA-Z0-9_]*")
_OPEN = re.compile(rb"\{")
_CLOSE = re.compile(rb"\}")
_COMMA = re.compile(rb",")
_EQUAL = re.compile(rb"=")
_QUOTE = re.compile(rb'"')

_NORMALISED = {Kind.HISTOGRAM: "le", Kind.SUMMARY: "quantile"}
"""The label whose numbers Prometheus 3 rewrites, by the kind of the last TYPE."""


@dataclass(frozen=True, slots=True)
class Dialect:
    """Where the formats differ."""

    blank: re.Pattern[bytes]
    """What may stand between two tokens."""
    value: re.Pattern[bytes]
    """Some of the value of a label, within its quotes."""
    stride: Stride
    comma_required: bool
    beginning: str
    """What an item may begin with, for a fault."""
    quoted_names: bool = True
    """False within exemplars, which have no name and plain labels only."""


@dataclass(frozen=True, slots=True)
class Head:
    """What a sample says before its value."""

    name: str
    labels: tuple[tuple[str, str], ...]
    end: int
    """Offset after the closing brace, or after the name when there are none."""

    def item(self, cursor: Cursor, value: bytes, timestamp_ms: int | None) -> SeriesItem:
        """Give the sample that ends where the cursor stands now."""
        written = cursor.body[cursor.start : self.end]
        return SeriesItem(
            cursor.start, cursor.at, written, self.name, self.labels, value, timestamp_ms
        )


def head(cursor: Cursor, dialect: Dialect, kind: Kind) -> Head:
    """Read ``name{label="value",...}``, ``name`` or ``{"name",label="value",...}``.

    ``kind`` is that of the last TYPE, which says whether bounds are normalised.
    """
    name = None
    begin = cursor.at
    if cursor.take(METRIC):
        # Blanks before a name belong to it: Prometheus 3 reads an indented line so.
        name = cursor.body[cursor.start : cursor.at].decode()
    elif cursor.peek() != b"{":
        raise cursor.refusal(dialect.beginning)
    end = cursor.at
    cursor.take(dialect.blank)
    labels: list[tuple[str, str]] = []
    if cursor.take(_OPEN):
        name = braces(cursor, dialect, labels, name)
        end = cursor.at
    if name is None:
        cursor.at = begin
        raise cursor.refusal('a metric name, before the braces or quoted within, as in {"m",a="b"}')
    return Head(name, normalised(tuple(labels), kind), end)


def braces(
    cursor: Cursor, dialect: Dialect, labels: list[tuple[str, str]], name: str | None
) -> str | None:
    """Read up to the closing brace, collect the labels and give the metric's name.

    ``name`` is what stood before the braces.
    """
    while True:
        dialect.stride.take(cursor, labels)
        cursor.take(dialect.blank)
        if cursor.take(_CLOSE):
            return name
        begin = cursor.at
        word = _word(cursor, dialect)
        cursor.take(dialect.blank)
        if cursor.peek() in (b",", b"}") and dialect.quoted_names:
            if name is not None or cursor.body[begin : begin + 1] != b'"':
                raise cursor.refusal('="..." after a label name (a metric name is quoted)')
            name = word
            cursor.take(_COMMA)
            continue
        cursor.expect(_EQUAL, '= after a label name (a quote within a value is written \\")')
        cursor.take(dialect.blank)
        labels.append((word, _value(cursor, dialect)))
        cursor.take(dialect.blank)
        if not cursor.take(_COMMA) and dialect.comma_required and cursor.peek() != b"}":
            raise cursor.refusal(", or } after a label")


def normalised(labels: tuple[tuple[str, str], ...], kind: Kind) -> tuple[tuple[str, str], ...]:
    """Give ``le`` of histograms and ``quantile`` of summaries their canonical numbers."""
    bound = _NORMALISED.get(kind)
    if bound is None:
        return labels
    texts = {text: number.canonical(text) for text in {v for name, v in labels if name == bound}}
    if not texts:
        return labels
    return tuple([(bound, texts[pair[1]]) if pair[0] == bound else pair for pair in labels])


def quoted(cursor: Cursor, inside: re.Pattern[bytes], allowed: str) -> bytes:
    """Step over a text in quotes and give what is within; ``inside`` matches some of it."""
    begin = cursor.at
    cursor.take(_QUOTE)
    while cursor.take(inside):
        pass
    if not cursor.take(_QUOTE):
        cursor.at = begin
        raise cursor.refusal(allowed)
    return cursor.body[begin + 1 : cursor.at - 1]


def _word(cursor: Cursor, dialect: Dialect) -> str:
    """Read the name of a label or, in quotes, of a label or the metric."""
    begin = cursor.at
    if cursor.take(_LABEL):
        return cursor.decode(begin, cursor.at)
    if not dialect.quoted_names or cursor.peek() != b'"':
        raise cursor.refusal("a label name or }")
    quoted(cursor, NAME, "a name with a closing quote")
    word = stride.unescaped(cursor.decode(begin + 1, cursor.at - 1))
    if not word:
        cursor.at = begin
        raise cursor.refusal("a name that is not empty")
    return word


def _value(cursor: Cursor, dialect: Dialect) -> str:
    """Read the quoted value of a label."""
    begin = cursor.at
    if cursor.peek() != b'"':
        raise cursor.refusal("a label value in double quotes")
    quoted(cursor, dialect.value, "a label value with a closing quote")
    return stride.unescaped(cursor.decode(begin + 1, cursor.at - 1))
