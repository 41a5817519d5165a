"""Answers as nearly all exporters give them: HTTP/1.1, and a body with a length or in chunks.

https://www.rfc-editor.org/rfc/rfc9112 says how they are written. What is otherwise, or wrong, is
``Unusual``: for somebody who knows all of HTTP and has a word for each of its faults.
"""

import re
from typing import NamedTuple, TypeAlias

Bytes: TypeAlias = bytes | bytearray | memoryview

FRAMES_BYTES = 1 << 16
"""More than what stands between the chunks of a page, which comes in a few."""

END = b"\r\n\r\n"
"""Of the head."""
_LINE_END = b"\r\n"
_VERSION = b"HTTP/1.1 "
_HEAD_BYTES = 16384
_HEAD_FIELDS = 128
"""An exporter's is some hundred bytes, in five fields."""

_STATUS = re.compile(rb"HTTP/1\.1 ([2-5][0-9]{2})(?: [^\r\n]*)?\r\n")
_FIELD = re.compile(rb"([!#$%&'*+.^_`|~0-9A-Za-z-]+):([^\r\n\0]*)\r\n")
_BLANKS = b" \t"
"""Around a value. No regular expression takes them off: many of them would take it long."""
_LENGTH = re.compile(rb"[0-9]{1,18}")
_CHANGING = re.compile(rb"\n(?:date:([^\r]*)|content-length:[ \t]*([0-9]*))", re.IGNORECASE)
_TEXT = re.compile(rb"[^\r\n\0]*")
_SIZE = re.compile(rb"([0-9A-Fa-f]{1,8})\r\n")
_SOME_SIZE = re.compile(rb"(?:[0-9A-Fa-f]{1,8}\r?)?")
_DECIDING = frozenset(
    (b"connection", b"content-encoding", b"content-length", b"content-type", b"transfer-encoding")
)
"""Fields that say what the body is; none of them may be there twice."""


class Unusual(Exception):  # noqa: N818 - nothing need be wrong
    """The answer, or that there is none, is not for us."""


class Gone(Unusual):
    """There is no answer, or half of one: the connection was refused, or has ended."""


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
    """Read status and fields; None while they have not ended.

    Nothing is waited for where what has come is no head: it may have no end.
    """
    came = bytes(came[:_HEAD_BYTES])
    end = came.find(END)
    if end < 0:
        _begun(came)
        return None
    status, fields = _read(came, end + len(_LINE_END))
    length, coding = fields.get(b"content-length"), fields.get(b"transfer-encoding")
    # With neither the body ends with the connection; with both they may disagree.
    if (length is None) == (coding is None) or coding not in {None, b"chunked"}:
        raise Unusual
    if length is not None and not _LENGTH.fullmatch(length):
        raise Unusual
    return Head(
        end + len(END),
        status,
        None if length is None else int(length),
        fields.get(b"content-type", b"").decode(errors="surrogateescape"),
        fields.get(b"content-encoding", b"").decode("latin-1"),
        stays=b"close" not in fields.get(b"connection", b"").lower(),
    )


class Heads:
    """The heads of one server, each of which is most often like the one before.

    But for the date and the length of the body it is the same, byte for byte, and is not read
    again.
    """

    def __init__(self) -> None:
        """Know none."""
        self._last: Head | None = None
        self._fixed: list[tuple[int, bytes]] = []
        """What stays the same, and where it begins."""
        self._dates: list[tuple[int, int]] = []
        """From where to where there is a date, or what its server takes for one."""
        self._length: tuple[int, int] | None = None
        """From where to where the length stands."""

    def read(self, came: Bytes) -> Head | None:
        """Do as ``head`` does."""
        last = self._last
        again = None if last is None else self._again(last, bytes(came[: last.size_bytes]))
        if again is not None:
            return again
        found = head(came)
        if found is not None:
            self._learn(found, bytes(came[: found.size_bytes]))
        return found

    def _again(self, last: Head, text: bytes) -> Head | None:
        for start, part in self._fixed:
            if not text.startswith(part, start):
                return None
        for start, end in self._dates:
            if not _TEXT.fullmatch(text, start, end):
                return None
        if self._length is None:
            return last
        start, end = self._length
        digits = text[start:end]
        if not digits.isdigit():
            return None
        length = int(digits)
        if length == last.length:
            return last
        return Head(last.size_bytes, last.status, length, *last[3:])

    def _learn(self, found: Head, text: bytes) -> None:
        self._last, self._fixed, self._dates, self._length = found, [], [], None
        start = 0
        for field in _CHANGING.finditer(text):
            first, last = field.span(field.lastindex or 0)
            self._fixed.append((start, text[start:first]))
            start = last
            if field.lastindex == 1:
                self._dates.append((first, last))
            else:
                self._length = first, last
        self._fixed.append((start, text[start:]))


def _begun(came: bytes) -> None:
    """See whether this can become a head."""
    if len(came) >= _HEAD_BYTES or not _VERSION.startswith(came[: len(_VERSION)]):
        raise Unusual
    lines = came.rfind(b"\n") + 1
    if lines:
        _read(came, lines)


def _read(came: bytes, end: int) -> tuple[int, dict[bytes, bytes]]:
    """Read the status, and those fields that decide."""
    found = _STATUS.match(came, 0, end)
    if found is None:
        raise Unusual
    fields: dict[bytes, bytes] = {}
    start = found.end()
    for _ in range(_HEAD_FIELDS):
        if start == end:
            return int(found[1]), fields
        field = _FIELD.match(came, start, end)
        if field is None:
            break
        name, start = field[1].lower(), field.end()
        if name in fields:
            break
        if name in _DECIDING:
            fields[name] = field[2].strip(_BLANKS)
    raise Unusual


class Chunks:
    """A body in chunks, as it comes."""

    def __init__(self, start: int) -> None:
        """Begin there."""
        self._start = self._next = start
        self._parts: list[tuple[int, int]] = []
        self._whole_bytes = 0
        self.body_bytes = 0
        """What has come of the body itself."""

    def joined(self, came: Bytes) -> bytes | None:
        """Give the body; None while there is more to come. ``came`` is the same, or longer.

        As with heads, nothing is waited for where this can be none.
        """
        while size := _SIZE.match(came, self._next):
            first, length = size.end(), int(size[1], 16)
            last = first + length
            behind = bytes(came[last : last + len(_LINE_END)])
            if behind != _LINE_END:
                if not _LINE_END.startswith(behind):
                    raise Unusual
                self.body_bytes = self._whole_bytes + min(length, len(came) - first)
                return None
            self._parts.append((first, last))
            self._whole_bytes += length
            self._next = last + len(_LINE_END)
            # Each part takes some hundred bytes.
            if self._next - self._start - self._whole_bytes > FRAMES_BYTES:
                raise Unusual
            if not length:
                return self._all(came)
        self.body_bytes = self._whole_bytes
        if not _SOME_SIZE.fullmatch(came, self._next):
            raise Unusual
        return None

    def _all(self, came: Bytes) -> bytes:
        if self._next != len(came):
            raise Unusual
        self.body_bytes = self._whole_bytes
        view = memoryview(came)
        return b"".join([view[first:last] for first, last in self._parts])
