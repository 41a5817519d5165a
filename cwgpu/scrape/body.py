"""Reading an answer's body into memory that is bounded, whatever the other side sends.

gzip is unpacked here and not by the HTTP library: the limit holds for the unpacked page, and a few
kilobytes of gzip can be gigabytes of page (https://www.rfc-editor.org/rfc/rfc1952).
"""

import asyncio
import zlib
from collections.abc import AsyncIterable, Iterator

from cwgpu.scrape import answer

# The largest deflate window, plus 16: zlib's way to say "with gzip's header and trailer".
_GZIP = zlib.MAX_WBITS + 16
# What is unpacked before other work gets its turn: about a millisecond.
_PIECE_BYTES = 1 << 20


async def read(chunks: AsyncIterable[bytes], *, gzipped: bool, limit_bytes: int) -> bytes:
    """Read all of a body; raises TooLargeError or GzipError.

    Prometheus refuses a body of exactly the limit, so this does too.
    """
    gunzip, parts = _Gunzip() if gzipped else None, _Parts(limit_bytes)
    async for chunk in chunks:
        for piece in gunzip.pieces(chunk) if gunzip else (chunk,):
            parts.take(piece)
            if len(piece) >= _PIECE_BYTES:
                await asyncio.sleep(0)
    if gunzip:
        gunzip.finish()
    return parts.joined()


async def unpacked(packed: bytes, limit_bytes: int, until_s: float) -> bytes:
    """Read a packed body that came at once; raises TimeoutError, too, by the loop's clock."""
    gunzip, parts = _Gunzip(), _Parts(limit_bytes)
    for piece in gunzip.pieces(packed):
        parts.take(piece)
        if len(piece) >= _PIECE_BYTES:
            await asyncio.sleep(0)
            if asyncio.get_running_loop().time() >= until_s:
                raise TimeoutError
    gunzip.finish()
    return parts.joined()


def whole(page: bytes, limit_bytes: int) -> bytes:
    """Give the same, which came at once and is not packed; raises TooLargeError."""
    if len(page) >= limit_bytes:
        raise answer.TooLargeError
    return page


class _Parts:
    """What there is of a page."""

    def __init__(self, limit_bytes: int) -> None:
        self._limit_bytes = limit_bytes
        self._parts: list[bytes] = []
        self._size_bytes = 0

    def take(self, part: bytes) -> None:
        self._size_bytes += len(part)
        if self._size_bytes >= self._limit_bytes:
            raise answer.TooLargeError
        self._parts.append(part)

    def joined(self) -> bytes:
        return b"".join(self._parts)


class _Gunzip:
    """Unpacks gzip members that follow each other, at most ``_PIECE_BYTES`` at a time."""

    def __init__(self) -> None:
        self._member = zlib.decompressobj(_GZIP)
        self._started = False

    def pieces(self, data: bytes) -> Iterator[bytes]:
        self._started = self._started or bool(data)
        while True:
            if self._member.eof and data:
                self._member = zlib.decompressobj(_GZIP)
            try:
                piece = self._member.decompress(data, _PIECE_BYTES)
            except zlib.error as error:
                raise answer.GzipError(str(error)) from error
            if piece:
                yield piece
            data = self._member.unused_data or self._member.unconsumed_tail
            # A full piece may have been cut by its limit with all input taken: ask again.
            if not data and len(piece) < _PIECE_BYTES:
                return

    def finish(self) -> None:
        # Nothing at all is an empty page: an exporter that is reloading sends that.
        if self._started and not self._member.eof:
            raise answer.GzipError("it ends in the middle")
