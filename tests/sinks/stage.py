"""What tests of sinks share: where they send, what they send, and pages of others."""

import contextlib
import dataclasses
import time
from collections.abc import AsyncIterator

from aiohttp import web

from cwgpu.logs.parcel import pack
from cwgpu.logs.verdict import Answer
from cwgpu.model.event import EmfEvent, LogBatch, Parcel, StreamKey

KEY = StreamKey("/gpu/lab", "node-1")
DAY_MS = 86_400_000


def now_ms() -> int:
    """Give the time, as log events have it."""
    return int(time.time() * 1000)


def parcel(*messages: str, at_ms: int | None = None, key: StreamKey = KEY) -> Parcel:
    """Give messages of one time, ready to be sent."""
    at_ms = now_ms() if at_ms is None else at_ms
    events = (EmfEvent.of(key, at_ms, text.encode(), 1, 1) for text in messages or ("x",))
    return pack(LogBatch(key, tuple(events)))


def bare(answer: Answer) -> Answer:
    """Give an answer without the times that come with it."""
    return dataclasses.replace(answer, date_s=None, expires_s=None)


@contextlib.asynccontextmanager
async def serving(
    pages: dict[str, str], status: int = 200
) -> AsyncIterator[tuple[str, list[web.Request]]]:
    """Serve pages by path; gives the address, and the requests as they come."""
    came: list[web.Request] = []

    async def page(request: web.Request) -> web.Response:
        came.append(request)
        text = pages.get(request.path)
        if text is None:
            return web.Response(status=404)
        content_type = "text/html" if text.startswith("<h1>") else "text/plain"
        code = 403 if "<Error>" in text else status
        return web.Response(text=text, status=code, content_type=content_type)

    app = web.Application()
    app.router.add_route("*", "/{path:.*}", page)
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    host, port = runner.addresses[0][:2]
    try:
        yield f"http://{host}:{port}", came
    finally:
        await runner.cleanup()
