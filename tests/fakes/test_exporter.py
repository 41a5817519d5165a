"""The fake exporter keeps its promises, and breaks them when it is told to."""

import asyncio
import gzip
import math
import urllib.request
import zlib

import aiohttp
import pytest

from tests.fakes.exporter import OPENMETRICS, TEXT, Answer, FakeExporter, Request

PAGE = b"DCGM_FI_DEV_GPU_TEMP 41\n" * 20


async def get(url: str) -> tuple[int, str | None, bytes]:
    """Fetch without unpacking: status, Content-Type and body."""
    async with (
        aiohttp.ClientSession(auto_decompress=False) as session,
        session.get(url, headers={"X-Probe": "1"}) as answer,
    ):
        return answer.status, answer.headers.get("Content-Type"), await answer.read()


async def test_answers_come_in_order_and_the_last_for_ever() -> None:
    """Each request takes one answer; what was asked is written down."""
    async with FakeExporter(b"a 1\n", b"a 2\n") as exporter:
        assert [(await get(exporter.url))[2] for _ in range(3)] == [b"a 1\n", b"a 2\n", b"a 2\n"]
        exporter.answer(b"a 3\n")
        assert await get(f"{exporter.url}?x=1") == (200, TEXT, b"a 3\n")
        assert [request.path for request in exporter.requests[2:]] == ["/metrics", "/metrics?x=1"]
        assert exporter.requests[0].headers["x-probe"] == "1"
        assert exporter.requests[0].headers["host"] == exporter.address


async def test_an_answer_is_what_was_said() -> None:
    """Status, headers, content type or none at all, and gzip are as given."""
    async with FakeExporter(Answer(body=b"no", status=503, headers={"X-Why": "x"})) as exporter:
        assert (await get(exporter.url))[::2] == (503, b"no")
        exporter.answer(Answer(body=PAGE, content_type=None))
        assert await get(exporter.url) == (200, None, PAGE)
        exporter.answer(Answer(body=PAGE, gzip=True, content_type=OPENMETRICS))
        _, content_type, body = await get(exporter.url)
        assert (content_type, gzip.decompress(body)) == (OPENMETRICS, PAGE)
        assert await get(exporter.url.replace("metrics", "other")) == (
            404, "text/plain", b"404 page not found\n",
        )  # fmt: skip
        exporter.answer()
        assert await get(exporter.url) == (200, TEXT, b"")


async def test_gzip_can_end_too_early() -> None:
    """A truncated gzip body is a whole HTTP answer, and yet no whole page."""
    async with FakeExporter(Answer(body=PAGE, gzip=True, cut_bytes=9)) as exporter:
        _, _, body = await get(exporter.url)
        unpack = zlib.decompressobj(zlib.MAX_WBITS + 16)
        assert PAGE.startswith(unpack.decompress(body))
        assert not unpack.eof


async def test_a_body_can_be_shorter_than_its_length() -> None:
    """The connection ends before Content-Length is reached."""
    async with FakeExporter(Answer(body=PAGE, missing_bytes=1)) as exporter:
        with pytest.raises(aiohttp.ClientPayloadError):
            await get(exporter.url)


async def test_a_connection_can_break() -> None:
    """A reset comes instead of an answer; the next request is served."""
    async with FakeExporter(Answer(reset=True), PAGE) as exporter:
        async with aiohttp.ClientSession() as session:
            with pytest.raises(aiohttp.ClientOSError):
                # Not GET, which the client would send a second time by itself.
                await session.post(exporter.url)
        assert (await get(exporter.url))[2] == PAGE


async def test_an_answer_can_wait() -> None:
    """Nothing is sent before the test says so."""
    async with FakeExporter(Answer(body=PAGE, delay_s=math.inf)) as exporter:
        asked = asyncio.create_task(get(exporter.url))
        await asyncio.to_thread(exporter.wait, lambda: exporter.requests)
        assert not asked.done()
        exporter.release()
        assert (await asked)[2] == PAGE


async def test_a_body_can_drip() -> None:
    """The body comes in pieces, with a wait after each that the test may end."""
    slow = Answer(body=PAGE, drip_bytes=100, drip_s=math.inf)
    async with (
        FakeExporter(slow) as exporter,
        aiohttp.ClientSession() as session,
        session.get(exporter.url) as answer,
    ):
        assert await answer.content.read(len(PAGE)) == PAGE[:100]
        exporter.answer(Answer(body=PAGE, drip_bytes=100, drip_s=0.001))
        assert (await get(exporter.url))[2] == PAGE


async def test_stopping_does_not_wait_for_held_answers() -> None:
    """A test ends at once even where an answer would never come."""
    async with FakeExporter(Answer(delay_s=math.inf)) as exporter:
        asked = asyncio.create_task(get(exporter.url))
        await asyncio.to_thread(exporter.wait, lambda: exporter.requests)
    # Released at the end, the answer may still get out, or not any more.
    await asyncio.gather(asked, return_exceptions=True)
    assert exporter.requests[0].path == "/metrics"


async def test_a_restart_keeps_the_port() -> None:
    """While it is away nobody listens; afterwards the same URL works."""
    async with FakeExporter(PAGE) as exporter:
        url = exporter.url
        await exporter.restart()
        assert exporter.url == url
        assert (await get(url))[2] == PAGE
        await exporter.stop()
        with pytest.raises(aiohttp.ClientConnectorError):
            await get(url)
        await exporter.start()
        assert (await get(url))[2] == PAGE


def test_it_serves_from_a_thread() -> None:
    """Without an event loop of the test's own everything works the same."""
    with FakeExporter(b"a 1\n") as exporter:
        for body in (b"a 1\n", b"a 2\n"):
            exporter.answer(body)
            with urllib.request.urlopen(exporter.url) as answer:  # noqa: S310 - it is http
                assert answer.read() == body
            exporter.run(exporter.restart())
        assert [type(request) for request in exporter.requests] == [Request, Request]
        with pytest.raises(TimeoutError, match="2 requests came"):
            exporter.wait(lambda: len(exporter.requests) > 2, timeout_s=0.0)
