"""Answers as nearly all exporters give them: HTTP/1.1, and a body with a length or in chunks.

https://www.rfc-editor.org/rfc/rfc9112 says how they are written. What is otherwise, or wrong, is
``Unusual``: for somebody who knows all of HTTP and has a word for each of its faults.
"""

import re
from typing import NamedTuple, TypeAlias

Bytes: TypeAlias = bytes | bytearray

END = b"\r\n\r\n"
"""Of the head; and nearly always that of the chunks, too."""
_HEAD_BYTES = 16384
_HEAD_FIELDS = 128
"""An exporter's is some hundred bytes, in five fields."""

_STATUS = re.compile(rb"HTTP/1\.1 ([2-5][0-9]{2})(?: [^\r\n]*)?\r\n")
_FIELD = re.compile(rb"([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*([^\r\n\0]*?)[ \t]*\r\n")
_LENGTH = re.compile(rb"[0-9]{1,18}")
_SIZE = re.compile(rb"([0-9A-Fa-f]{1,8})\r\n")
_DECIDING = frozenset(
    (b"connection", b"content-encoding", b"content-length", b"content-type", b"transfer-encoding")
)
"""Fields that say what the body is; none of them may be there twice."""


class Unusual(Exception):  # noqa: N818 - nothing need be wrong
    """The answer, or that there is none, is not for us."""


class Head(NamedTuple):
    """The beginning of an answer."""

    size_bytes: int
    status: int
    length: int | None
    """Of the body; None: it comes in chunks."""
    content_type: str
    encoding: str
    """Content-Encoding; empty when there is none."""
    stays: bool
    """Whether the connection can be used again."""


def head(came: Bytes) -> Head | None:
    """Read status and fields; None while they have not ended."""
    end = came.find(END, 0, _HEAD_BYTES)
    if end < 0 and len(came) < _HEAD_BYTES:
        return None
    found = _STATUS.match(came)
    if end < 0 or found is None:
        raise Unusual
    fields = _fields(came, found.end(), end + 2)
    length, coding = fields.get(b"content-length"), fields.get(b"transfer-encoding")
    # With neither the body ends with the connection; with both they may disagree.
    if (length is None) == (coding is None) or coding not in {None, b"chunked"}:
        raise Unusual
    if length is not None and not _LENGTH.fullmatch(length):
        raise Unusual
    return Head(
        end + len(END),
        int(found[1]),
        None if length is None else int(length),
        fields.get(b"content-type", b"").decode(errors="surrogateescape"),
        fields.get(b"content-encoding", b"").decode("latin-1"),
        stays=b"close" not in fields.get(b"connection", b"").lower(),
    )


def _fields(came: Bytes, start: int, end: int) -> dict[bytes, bytes]:
    """Read those that decide."""
    fields: dict[bytes, bytes] = {}
    for _ in range(_HEAD_FIELDS):
        if start == end:
            return fields
        field = _FIELD.match(came, start, end)
        if field is None:
            break
        name, start = field[1].lower(), field.end()
        if name in fields:
            break
        if name in _DECIDING:
            fields[name] = field[2]
    raise Unusual


def joined(came: Bytes, start: int) -> bytes | None:
    """Join the chunks that begin there; None when there are more to come."""
    parts, view = [], memoryview(came)
    length = -1
    while length:
        size = _SIZE.match(came, start)
        if size is not None:
            first, length = size.end(), int(size[1], 16)
            parts.append(view[first : first + length])
            start = first + length
        if start >= len(came):
            return None
        if size is None or came[start : start + 2] != b"\r\n":
            raise Unusual
        start += 2
    if start != len(came):
        raise Unusual
    return b"".join(parts)
