"""Reading bodies within a bound."""

import asyncio
import gzip
import zlib
from collections.abc import AsyncIterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cwgpu.scrape import answer, body

LIMIT = 1 << 30


async def chunked(data: bytes, size: int) -> AsyncIterator[bytes]:
    """Cut a body into chunks."""
    for start in range(0, len(data), size):
        yield data[start : start + size]


@pytest.mark.parametrize("gzipped", [False, True])
@pytest.mark.parametrize("size", [1, 7, 1 << 20])
async def test_a_body_comes_whole(size: int, gzipped: bool) -> None:  # noqa: FBT001
    """However the body is cut on its way, it is the same page."""
    page = b"DCGM_FI_DEV_GPU_TEMP 41\n" * 50
    sent = gzip.compress(page) if gzipped else page
    assert await body.read(chunked(sent, size), gzipped=gzipped, limit_bytes=LIMIT) == page


async def test_gzip_members_follow_each_other() -> None:
    """Several gzip members are one body, as for Go's reader."""
    sent = gzip.compress(b"a 1\n") + gzip.compress(b"") + gzip.compress(b"b 2\n")
    for size in (1, 1000):
        assert await body.read(chunked(sent, size), gzipped=True, limit_bytes=LIMIT) == (
            b"a 1\nb 2\n"
        )


async def test_nothing_is_an_empty_page() -> None:
    """A body without a byte is a page without a sample, even if it says gzip."""
    assert await body.read(chunked(b"", 1), gzipped=True, limit_bytes=LIMIT) == b""


@pytest.mark.parametrize(
    ("sent", "fault"),
    [
        (gzip.compress(b"a 1\n", mtime=0)[:-1], "ends in the middle"),
        (gzip.compress(b"a 1\n" * 1000, mtime=0)[:20], "ends in the middle"),
        (b"a 1\n", "incorrect header"),
        (zlib.compress(b"a 1\n"), "incorrect header"),
        (gzip.compress(b"a 1\n", mtime=0) + b"rest", "incorrect header"),
        (gzip.compress(b"a 1\n", mtime=0)[:-8] + b"\0" * 8, "incorrect data check"),
    ],
)
async def test_what_is_no_gzip_is_refused(sent: bytes, fault: str) -> None:
    """Truncated, wrong and followed by something else: each is an error, not a part of a page."""
    with pytest.raises(answer.GzipError, match=fault):
        await body.read(chunked(sent, 5), gzipped=True, limit_bytes=LIMIT)


@pytest.mark.parametrize("gzipped", [False, True])
async def test_the_limit_itself_is_too_much(gzipped: bool) -> None:  # noqa: FBT001
    """A body of exactly the limit fails, as in Prometheus; one byte less is fine."""
    page = b"x" * 1000
    sent = gzip.compress(page) if gzipped else page
    assert await body.read(chunked(sent, 64), gzipped=gzipped, limit_bytes=1001) == page
    with pytest.raises(answer.TooLargeError):
        await body.read(chunked(sent, 64), gzipped=gzipped, limit_bytes=1000)


@pytest.mark.parametrize("page", [b"", b"a 1\n", b"a 1\n" * 1000, b"a 1\n" * (1 << 19)])
async def test_a_packed_body_that_came_at_once_is_the_same(page: bytes) -> None:
    """In one member or in several, of one piece or of more, and as if it had come in pieces."""
    until_s = asyncio.get_running_loop().time() + 3600.0
    packed = gzip.compress(page, 1)
    assert await body.unpacked(packed, LIMIT, until_s) == page
    assert await body.unpacked(packed + packed, LIMIT, until_s) == page + page
    read = await body.read(chunked(packed, 1 << 20), gzipped=True, limit_bytes=LIMIT)
    assert read == page


@pytest.mark.parametrize(
    ("packed", "error"),
    [
        (gzip.compress(b"x" * 1000, mtime=0), answer.TooLargeError),
        (gzip.compress(b"x" * (64 << 20), 1, mtime=0), answer.TooLargeError),
        (gzip.compress(b"x" * 10, mtime=0)[:-1], answer.GzipError),
        (b"a 1\n", answer.GzipError),
    ],
    ids=["large", "huge", "cut", "plain"],
)
async def test_a_packed_body_that_came_at_once_has_its_bounds(
    packed: bytes, error: type[Exception]
) -> None:
    """Those of any other."""
    until_s = asyncio.get_running_loop().time() + 3600.0
    with pytest.raises(error):
        await body.unpacked(packed, 1000, until_s)


async def test_unpacking_ends_with_the_time() -> None:
    """It is looked at between one piece and the next."""
    packed = gzip.compress(b"x" * (3 << 20), 1)
    with pytest.raises(TimeoutError):
        await body.unpacked(packed, LIMIT, asyncio.get_running_loop().time())


async def test_a_bomb_is_not_unpacked() -> None:
    """Gzip that would be far larger than the limit is left alone once the limit is reached."""
    bomb = gzip.compress(b"\0" * (64 << 20))
    taken = 0

    async def chunks() -> AsyncIterator[bytes]:
        nonlocal taken
        for start in range(0, len(bomb), 1000):
            taken += 1
            yield bomb[start : start + 1000]

    with pytest.raises(answer.TooLargeError):
        await body.read(chunks(), gzipped=True, limit_bytes=3 << 20)
    assert taken < 10


@given(
    page=st.binary(max_size=3000),
    copies=st.integers(1, 2000),
    size=st.integers(1, 5000),
)
@settings(max_examples=60, deadline=None)
async def test_gzip_unpacks_to_what_was_packed(page: bytes, copies: int, size: int) -> None:
    """Whatever was packed comes out, also when it is longer than one piece."""
    sent = gzip.compress(page * copies, 1)
    read = await body.read(chunked(sent, size), gzipped=True, limit_bytes=LIMIT)
    assert read == page * copies
