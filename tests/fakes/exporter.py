"""A metrics exporter on loopback that answers as it is told, well or badly.

In a test's own event loop, or in a thread of its own for tests that start processes::

    async with FakeExporter(PAGE) as exporter: ...
    with FakeExporter(PAGE) as exporter: ...

``exporter.url`` is the page. ``exporter.answer(...)`` says what comes next, one answer a request,
the last for ever; ``exporter.requests`` tells what was asked.
"""

import asyncio
import contextlib
import gzip
import math
import socket
import struct
import threading
import time
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

from aiohttp import web

TEXT = "text/plain; version=0.0.4; charset=utf-8"
OPENMETRICS = "application/openmetrics-text; version=1.0.0; charset=utf-8"


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """One answer. Without faults it is a good one."""

    body: bytes = b""
    content_type: str | None = TEXT
    """None: no such header at all."""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    gzip: bool = False
    cut_bytes: int = 0
    """The body, as compressed, ends so many bytes early; its length says the same."""
    missing_bytes: int = 0
    """Content-Length promises so many bytes more than come before the connection ends."""
    delay_s: float = 0.0
    """Wait before anything is sent; ``math.inf``: until ``release``."""
    drip_bytes: int = 0
    """The body comes in pieces of this size; 0: at once."""
    drip_s: float = 0.0
    """Wait after each piece; ``math.inf``: until ``release``."""
    reset: bool = False
    """Break the connection instead of answering."""

    @property
    def wire(self) -> bytes:
        """The body as it goes over the wire."""
        packed = gzip.compress(self.body) if self.gzip else self.body
        return packed[: len(packed) - self.cut_bytes]


@dataclass(frozen=True, slots=True)
class Request:
    """One request as it came."""

    path: str
    """With the query."""
    headers: Mapping[str, str]
    """Names in lower case."""
    at_s: float = 0.0
    """When it came, by the clock of ``time.monotonic``."""


class FakeExporter:
    """The exporter. Only ``path`` is served; other paths are 404 and count as requests too."""

    def __init__(self, *answers: Answer | bytes, path: str = "/metrics") -> None:
        """Take the first answers; bytes are the body of a good one."""
        self.port = 0
        self.requests: list[Request] = []
        self._path = path
        self._answers: Sequence[Answer] = ()
        self._came = threading.Condition()
        self._released = asyncio.Event()
        self.answer(*answers)

    @property
    def address(self) -> str:
        """Host and port, as a target is written."""
        return f"127.0.0.1:{self.port}"

    @property
    def url(self) -> str:
        """Where the page is."""
        return f"http://{self.address}{self._path}"

    def answer(self, *answers: Answer | bytes) -> None:
        """Give these answers to the next requests, the last one for ever; from any thread."""
        made = [Answer(body=one) if isinstance(one, bytes) else one for one in answers]
        self._answers = made or [Answer()]

    def wait(self, until: Callable[[], object], timeout_s: float = 10.0) -> None:
        """Block this thread until a request has made the condition true; TimeoutError otherwise.

        In the loop that serves: ``await asyncio.to_thread(exporter.wait, condition)``.
        """
        with self._came:
            if not self._came.wait_for(until, timeout_s):
                raise TimeoutError(f"not in {timeout_s} s; {len(self.requests)} requests came")

    def release(self) -> None:
        """End all waiting of the answers under way; from any thread."""
        self._loop.call_soon_threadsafe(self._release)

    # ---- life

    async def start(self) -> None:
        """Listen, on the same port as before if there was one."""
        self._loop = asyncio.get_running_loop()
        app = web.Application()
        app.router.add_route("*", "/{path:.*}", self._handle)
        app.on_response_prepare.append(_without_type)
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", self.port).start()
        self.port = self._runner.addresses[0][1]

    async def stop(self) -> None:
        """Listen no more and end all connections; ``start`` takes the port again."""
        self._release()
        await self._runner.cleanup()

    async def restart(self) -> None:
        """Be away for a moment, as an exporter whose pod is replaced on the same address."""
        await self.stop()
        await self.start()

    def run(self, act: Coroutine[Any, Any, None]) -> None:
        """Do ``exporter.stop()`` and the like from a thread that does not serve."""
        asyncio.run_coroutine_threadsafe(act, self._loop).result()

    async def __aenter__(self) -> Self:
        """Serve in the running event loop."""
        await self.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        """Stop serving."""
        await self.stop()

    def __enter__(self) -> Self:
        """Serve in a thread of its own."""
        ready = threading.Event()
        self._thread = threading.Thread(target=asyncio.run, args=(self._serve(ready),))
        self._thread.start()
        ready.wait()
        return self

    def __exit__(self, *_: object) -> None:
        """Stop the thread."""
        self._loop.call_soon_threadsafe(self._closing.set)
        self._thread.join()

    async def _serve(self, ready: threading.Event) -> None:
        self._closing = asyncio.Event()
        async with self:
            ready.set()
            await self._closing.wait()

    # ---- one request

    async def _handle(self, request: web.Request) -> web.StreamResponse:
        answer = self._next(request)
        await self._pause(answer.delay_s)
        if answer.reset:
            return _reset(request)
        headers = dict(answer.headers)
        if answer.content_type is not None:
            headers["Content-Type"] = answer.content_type
        if answer.gzip:
            headers["Content-Encoding"] = "gzip"
        response = web.StreamResponse(status=answer.status, headers=headers)
        response.content_length = len(answer.wire) + answer.missing_bytes
        with contextlib.suppress(ConnectionError):  # who asked has gone
            await self._send(response, request, answer)
        return response

    async def _send(
        self, response: web.StreamResponse, request: web.Request, answer: Answer
    ) -> None:
        await response.prepare(request)
        size = answer.drip_bytes or max(1, len(answer.wire))
        for start in range(0, len(answer.wire), size):
            await response.write(answer.wire[start : start + size])
            await self._pause(answer.drip_s)
        if answer.missing_bytes and request.transport is not None:
            request.transport.close()
        await response.write_eof()

    def _next(self, request: web.Request) -> Answer:
        answer = self._answers[0]
        if request.path != self._path:
            answer = Answer(status=404, body=b"404 page not found\n", content_type="text/plain")
        elif len(self._answers) > 1:
            self._answers = self._answers[1:]
        headers = {name.lower(): value for name, value in request.headers.items()}
        with self._came:
            self.requests.append(Request(request.path_qs, headers, time.monotonic()))
            self._came.notify_all()
        return answer

    async def _pause(self, seconds: float) -> None:
        if seconds > 0:
            with contextlib.suppress(TimeoutError):
                timeout_s = None if math.isinf(seconds) else seconds
                await asyncio.wait_for(self._released.wait(), timeout_s)

    def _release(self) -> None:
        under_way, self._released = self._released, asyncio.Event()
        under_way.set()


async def _without_type(request: web.Request, response: web.StreamResponse) -> None:
    """Take away the Content-Type that aiohttp gives to answers without one."""
    if response.headers.get("Content-Type") == "application/octet-stream":
        del response.headers["Content-Type"]


def _reset(request: web.Request) -> web.Response:
    """Break the connection with a TCP reset, as a crashed peer does."""
    transport = request.transport
    if transport is not None:
        peer: socket.socket = transport.get_extra_info("socket")
        linger_not_at_all = struct.pack("ii", 1, 0)
        peer.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger_not_at_all)
        transport.abort()
    return web.Response()
