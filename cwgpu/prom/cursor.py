"""A place in a page, and how to say what stands there.

The lexers of both formats walk with it when a line is not of the common shape, so what it refuses
is read by a person: every refusal says where, what was found and what is allowed.
"""

import re
from collections.abc import Callable
from typing import TypeVar

from cwgpu.model.errors import ExpositionError
from cwgpu.prom.quote import quoted

_T = TypeVar("_T")

_WORD = re.compile(rb'[^\s,{}="\0]+|.', re.DOTALL)
_NAMED = {
    b"\n": "the end of the line",
    b"\r": "a carriage return (lines end with a line feed alone)",
    b"\t": "a tab",
    b" ": "a blank",
    b"\0": "a NUL byte",
    b'"': "a double quote",
}
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


class FaultError(ExpositionError):
    """What stands at a certain place is not allowed there."""

    def __init__(self, at: int, text: str) -> None:
        """``at`` is the offset; the text names the place too, in words."""
        super().__init__(text)
        self.at = at


class Cursor:
    """Reads one item, from ``start`` on; ``at`` is the offset of what comes next."""

    __slots__ = ("at", "body", "start")

    def __init__(self, body: bytes, start: int) -> None:
        self.body = body
        self.start = start
        self.at = start

    def peek(self) -> bytes:
        """Give the next byte; nothing at the end of the page."""
        return self.body[self.at : self.at + 1]

    def take(self, pattern: re.Pattern[bytes]) -> bytes | None:
        """Step over what matches here and give it; None, and no step, when nothing does."""
        match = pattern.match(self.body, self.at)
        if match is None:
            return None
        self.at = match.end()
        return match[0]

    def expect(self, pattern: re.Pattern[bytes], allowed: str) -> bytes:
        """Step over what must stand here; ``allowed`` names it."""
        found = self.take(pattern)
        if found is None:
            raise self.refusal(allowed)
        return found

    def refusal(self, allowed: str) -> FaultError:
        """Say that what stands here is not what is allowed."""
        return self._fault(self.at, f"found {self._found()}, allowed is {allowed}")

    def decode(self, start: int, end: int) -> str:
        """Give a part of the page as text."""
        try:
            return self.body[start:end].decode()
        except UnicodeDecodeError as error:
            at = start + error.start
            text = f"found the byte 0x{self.body[at]:02x}, allowed is UTF-8"
            raise self._fault(at, text) from None

    def convert(self, start: int, read: Callable[[bytes], _T]) -> _T:
        """Give what ``read`` makes of the part from ``start`` to here, or say where it failed."""
        try:
            return read(self.body[start : self.at])
        except ExpositionError as error:
            raise self._fault(start, str(error)) from None

    def place(self, offset: int) -> str:
        """Name the column of an offset, and the line if it is another than the item's first."""
        column = self.column(offset)
        below = self.body.count(b"\n", self.start, offset)
        if not below:
            return f"column {column}"
        return f"column {column}, {below} {'line' if below == 1 else 'lines'} further down"

    def column(self, offset: int) -> int:
        """Give the column of an offset, counted in characters from 1."""
        begin = self.body.rfind(b"\n", self.start, offset) + 1 or self.start
        return len(self.body[begin:offset].decode(errors="replace")) + 1

    def _fault(self, at: int, text: str) -> FaultError:
        return FaultError(at, f"{self.place(at)}: {text}")

    def _found(self) -> str:
        word = _WORD.match(self.body, self.at)
        if word is None:
            return "the end of the page"
        if self.body.startswith(_BYTE_ORDER_MARK, self.at):
            return "a byte order mark"
        return _NAMED.get(word[0]) or quoted(word[0])
