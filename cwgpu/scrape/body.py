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
    gunzip = _Gunzip() if gzipped else None
    parts: list[bytes] = []
    size_bytes = 0
    async for chunk in chunks:
        for piece in gunzip.pieces(chunk) if gunzip else (chunk,):
            size_bytes += len(piece)
            if size_bytes >= limit_bytes:
                raise answer.TooLargeError
            parts.append(piece)
            if len(piece) >= _PIECE_BYTES:
                await asyncio.sleep(0)
    if gunzip:
        gunzip.finish()
    return b"".join(parts)


def whole(page: bytes, limit_bytes: int) -> bytes:
    """Give the same, which came at once and is not packed; raises TooLargeError."""
    if len(page) >= limit_bytes:
        raise answer.TooLargeError
    return page


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
