"""A server of the Kubernetes API: requests with an answer, and streams of lines without an end.

Raw HTTP with JSON: the generated models of Kubernetes' own client take sixty times the CPU time for
the same list. A failure is a value; whoever asked decides what becomes of it.
"""

import asyncio
import contextlib
import socket
from collections.abc import AsyncGenerator, Callable, Iterator
from types import TracebackType
from typing import Any, Self, TypeAlias

import aiohttp
from aiohttp.abc import AbstractResolver
from yarl import URL

import cwgpu
from cwgpu.client.resolve import Resolver
from cwgpu.kube import failure, fault, limit
from cwgpu.kube.access import Access, Credentials
from cwgpu.kube.failure import Failure
from cwgpu.kube.lines import Lines
from cwgpu.kube.request import Request

ANSWER_S = 30.0
"""For an answer, or the beginning of a stream. The server itself gives up after 60 s
(--request-timeout), but by then our question is not worth waiting for."""

# Half-open connections are the kernel's to find: a probe after 30 s of silence, then each 10 s,
# and after three without an answer, or what was sent unacknowledged for a minute, it is dead.
_KEEPALIVE = (
    (socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1),
    (socket.IPPROTO_TCP, socket.TCP_KEEPIDLE, 30),
    (socket.IPPROTO_TCP, socket.TCP_KEEPINTVL, 10),
    (socket.IPPROTO_TCP, socket.TCP_KEEPCNT, 3),
    (socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, 60_000),
)
_OK = range(200, 300)
# What is read at once when much is there; then there is nothing to wait for.
_FLOOD_BYTES = 32 << 10
# A stream is dead after so many looks at it, in the time that it may be quiet, found nothing new.
_LOOKS = 4

Piece: TypeAlias = list[bytes] | Failure
"""Of a stream: the lines that have become complete, or how it ended when that was not well."""


class Connection:
    """One API server; its connections are shared by all that is asked of it."""

    def __init__(
        self,
        credentials: Credentials,
        *,
        sleep: limit.Sleep = asyncio.sleep,
        resolver: AbstractResolver | None = None,
    ) -> None:
        """``sleep`` ends what takes too long; ``resolver`` looks names up."""
        self._credentials = credentials
        self._sleep = sleep
        self._resolver = resolver
        self._session: aiohttp.ClientSession | None = None
        self.streams_lists = True
        """False once the server has said that it cannot begin a watch with what there is."""

    async def __aenter__(self) -> Self:
        """Give itself: connections come with the first request."""
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Close every connection."""
        await self.close()

    async def close(self) -> None:
        """Close every connection. Nobody should be watching any more."""
        session, self._session = self._session, None
        if session is not None:
            await session.close()

    async def ask(self, request: Request, limit_s: float = ANSWER_S) -> bytes | Failure:
        """Give the body of an answer, all of it there within that time."""
        url = ""
        try:
            async with limit.within(limit_s, self._sleep):
                access = await self._credentials.access()
                url = access.url
                return await self._answer(request, access)
        except fault.OUTSIDE as error:
            return fault.broken(request, error, url, limit_s)

    async def _answer(self, request: Request, access: Access) -> bytes | Failure:
        async with self._send(request, access) as response:
            body = await response.read()
            if response.status in _OK:
                return body
            return self._refusal(request, access, response, body)

    async def stream(
        self, request: Request, quiet_s: Callable[[], float], gather_s: Callable[[], float]
    ) -> AsyncGenerator[Piece, None]:
        """Give lines as they come: an empty list first, when the server has agreed.

        ``quiet_s`` says for how long nothing may come before the stream counts as dead, and
        ``gather_s`` for how long what comes is left to come together after some has. A Failure is
        the last piece; a stream without one has ended well.
        """
        async with contextlib.AsyncExitStack() as stack:
            response = await self._open(request, stack)
            if isinstance(response, Failure):
                yield response
                return
            yield []
            lines, content = Lines(), response.content
            stack.enter_context(self._minding(content, lines, quiet_s))
            try:
                while not content.at_eof():
                    chunk = await content.readany()
                    yield lines.feed(chunk)
                    gathers_s = gather_s() if len(chunk) < _FLOOD_BYTES else 0.0
                    await self._gather(response, gathers_s)
            except fault.OUTSIDE as error:
                yield fault.broken(request, error, str(response.url), quiet_s())

    async def _open(
        self, request: Request, stack: contextlib.AsyncExitStack
    ) -> aiohttp.ClientResponse | Failure:
        url = ""
        try:
            async with limit.within(ANSWER_S, self._sleep):
                access = await self._credentials.access()
                url = access.url
                response = await stack.enter_async_context(self._send(request, access))
                if response.status in _OK:
                    return response
                return self._refusal(request, access, response, await response.read())
        except fault.OUTSIDE as error:
            return fault.broken(request, error, url, ANSWER_S)

    @contextlib.contextmanager
    def _minding(
        self, content: aiohttp.StreamReader, lines: Lines, quiet_s: Callable[[], float]
    ) -> Iterator[None]:
        """End a stream in which nothing comes any more."""
        minder = asyncio.create_task(self._mind(content, lines, quiet_s))
        try:
            yield
        finally:
            minder.cancel()

    async def _mind(
        self, content: aiohttp.StreamReader, lines: Lines, quiet_s: Callable[[], float]
    ) -> None:
        # Looking now and then costs nothing with each event, unlike a timer for each of them. Lines
        # count and not bytes: a byte now and then is no answer.
        looks, heard = 0, lines.complete
        while looks < _LOOKS:
            await self._sleep(quiet_s() / _LOOKS)
            looks = looks + 1 if lines.complete == heard else 0
            heard = lines.complete
        content.set_exception(TimeoutError())

    async def _gather(self, response: aiohttp.ClientResponse, gather_s: float) -> None:
        """Leave what comes to the kernel for a while: most of what an event costs is waking up."""
        transport = response.connection.transport if response.connection is not None else None
        if not gather_s or transport is None or transport.is_closing():
            return
        transport.pause_reading()
        await self._sleep(gather_s)
        if transport.is_closing():
            raise ConnectionResetError("closed meanwhile")
        transport.resume_reading()

    def _refusal(
        self, request: Request, access: Access, response: aiohttp.ClientResponse, body: bytes
    ) -> Failure:
        if response.status == failure.UNAUTHORIZED:
            self._credentials.refused(access)
        return fault.answered(request, response.status, response.headers, body)

    def _send(
        self, request: Request, access: Access
    ) -> contextlib.AbstractAsyncContextManager[aiohttp.ClientResponse]:
        headers = access.headers.copy()
        headers.setdefault("User-Agent", f"cwgpu/{cwgpu.__version__}")
        headers["Accept"] = "application/json"
        headers["Accept-Encoding"] = "gzip"
        if request.body is not None:
            headers["Content-Type"] = "application/json"
        way: dict[str, Any] = {**access.way}
        return self._opened().request(
            request.method,
            URL(access.url + request.path).with_query(request.query),
            headers=headers,
            data=request.body,
            allow_redirects=False,  # a server that sends us elsewhere is no API server
            **way,
        )

    def _opened(self) -> aiohttp.ClientSession:
        if self._session is None:
            self._session = aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(
                    limit=0, resolver=self._resolver or Resolver(), socket_factory=_socket
                ),
                cookie_jar=aiohttp.DummyCookieJar(),
                timeout=aiohttp.ClientTimeout(),  # ours are above
                trust_env=False,
            )
        return self._session


def _socket(address: Any) -> socket.socket:  # noqa: ANN401 - as socket.getaddrinfo gives it
    made = socket.socket(*address[:3])
    for level, option, value in _KEEPALIVE:
        made.setsockopt(level, option, value)
    return made
