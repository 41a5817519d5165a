"""What HELP, TYPE and UNIT lines say, as far as the two formats agree on it."""

import re
from collections.abc import Mapping

from cwgpu.model.errors import ExpositionError
from cwgpu.model.kind import Kind
from cwgpu.prom import series, stride
from cwgpu.prom.cursor import Cursor
from cwgpu.prom.quote import quoted

_REST = re.compile(rb"[^\n]*")


def family(cursor: Cursor) -> bytes:
    """Step over the name of a metric family and give it, without its quotes if it has some."""
    if cursor.peek() == b'"':
        return series.quoted(cursor, series.NAME, "a name with a closing quote")
    return cursor.expect(series.METRIC, "the name of a metric family")


def name(family: bytes) -> str:
    """Give the name as samples have it.

    Prometheus 3.0.1 leaves escapes in, and finds no metadata for such families. Bytes that are no
    UTF-8 are replaced: no sample can have that name, but the line itself is allowed.
    """
    return stride.unescaped(family.decode(errors="replace"))


def text(cursor: Cursor) -> bytes:
    """Step over the rest of the line and give it."""
    return cursor.expect(_REST, "a text")


def help_text(cursor: Cursor) -> None:
    """Step over the help, which has to be UTF-8 though nobody reads it here."""
    begin = cursor.at
    text(cursor)
    cursor.decode(begin, cursor.at)


def kind(cursor: Cursor, kinds: Mapping[bytes, Kind]) -> Kind:
    """Step over the type, which has to be all of the rest of the line."""

    def known(word: bytes) -> Kind:
        if word in kinds:
            return kinds[word]
        words = ", ".join(word.decode() for word in kinds)
        raise ExpositionError(f"found {quoted(word)}, allowed is one of {words}")

    begin = cursor.at
    text(cursor)
    return cursor.convert(begin, known)
