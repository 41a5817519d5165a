"""The short way to a page: a request that is ready, on a connection that is kept.

A scrape of a known page costs little more than its GET, and of that the general HTTP library takes
most. So the usual answer of a usual exporter is read here; for any other, ``Unusual`` sends the one
who asked to the library.
"""

import asyncio
import ipaddress
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple, cast

from cwgpu.client import address, fault
from cwgpu.client.connect import Progress
from cwgpu.client.failure import WithdrawnError
from cwgpu.plan.client import Client
from cwgpu.scrape import message
from cwgpu.scrape.deadline import Deadlines
from cwgpu.scrape.message import Bytes, Chunks, Gone, Head, Heads, Unusual

_PIECES = 8
"""In how many a head may come, which is looked at from its beginning each time."""
_OK = 200
_ROOM_BYTES = 1 << 18
"""As much as asyncio reads at a time; what a page leaves of it is never touched."""


@dataclass(frozen=True, slots=True)
class Ask:
    """A request that needs nothing but a connection."""

    host: str
    """An address."""
    port: int
    request: bytes


def ask(client: Client, text: str, headers: Mapping[str, str]) -> Ask | None:
    """Make a GET ready; None for one that needs a name looked up, TLS or credentials.

    Raises ValueError for what is no URL.
    """
    url = address.url(text)
    host = url.raw_host or ""
    bare = client.credentials is None and not client.headers and url.raw_user is None
    if url.scheme != "http" or not bare or url.port is None or not _is_address(host):
        return None
    fields = {"Host": url.host_port_subcomponent or "", **headers}
    lines = [f"GET {url.raw_path_qs} HTTP/1.1", *map(": ".join, fields.items())]
    return Ask(host, url.port, "\r\n".join(lines).encode() + message.END)


def _is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


def room() -> memoryview:
    """Give a place to receive at, for all connections of an event loop.

    What comes is read, or put elsewhere, before anybody else receives. So it comes to where the
    processor has just been, and not into new memory each time.
    """
    return memoryview(bytearray(_ROOM_BYTES))


class Answer(NamedTuple):
    """A whole answer."""

    head: Head
    body: bytes


class Wire:
    """The way to one server."""

    def __init__(self, ask: Ask, room: memoryview, deadlines: Deadlines) -> None:
        """Connect when asked first."""
        self._ask = ask
        self._room = room
        self._deadlines = deadlines
        self._kept: _Connection | None = None
        self._closed = False

    async def get(self, progress: Progress, until_s: float) -> Answer:
        """Give the answer, whatever its status.

        Raises ``Unusual``, WithdrawnError and BrokenError; and TimeoutError at that time of the
        loop's.
        """
        kept, self._kept = self._kept, None
        if kept is None or not kept.stays:
            async with asyncio.timeout_at(until_s):
                return await self._answer(await self._connect(), progress)
        progress.reused = True
        self._deadlines.watch(kept, until_s)
        try:
            return await self._answer(kept, progress)
        finally:
            self._deadlines.forget(kept)

    def close(self) -> None:
        """Keep no connection, nor one that is still asked."""
        self._closed = True
        if self._kept is not None:
            self._kept.close()

    async def _connect(self) -> "_Connection":
        loop, host, port = asyncio.get_running_loop(), self._ask.host, self._ask.port
        try:
            _, made = await loop.create_connection(lambda: _Connection(self._room), host, port)
        except OSError as error:
            raise Gone from error
        return made

    async def _answer(self, connection: "_Connection", progress: Progress) -> Answer:
        progress.connected = True
        if not progress.wanted():
            connection.close()
            raise WithdrawnError("it was not sent: it is not wanted any more")
        try:
            answer = await connection.ask(self._ask.request, progress)
        except Unusual as error:
            if progress.reused or progress.heard:
                raise
            # A server that hangs up on us said no.
            raise fault.BrokenError from error
        except (asyncio.CancelledError, TimeoutError):  # an answer that comes later is nobody's
            connection.close()
            raise
        # Somebody else may have asked meanwhile, or said that nobody will.
        spare, self._kept = (connection, None) if self._closed else (self._kept, connection)
        if spare is not None:
            spare.close()
        return answer


class _Connection(asyncio.BufferedProtocol):
    """One connection."""

    def __init__(self, room: memoryview) -> None:
        self.stays = True
        """It can be asked again."""
        self._room = room
        self._transport: asyncio.Transport | None = None
        self._waiter: asyncio.Future[Answer] | None = None
        self._progress = Progress()
        self._heads = Heads()
        self._came = bytearray()
        """What came of an answer before."""
        self._head: Head | None = None
        self._chunks = Chunks(0)
        self._pieces = 0

    async def ask(self, request: bytes, progress: Progress) -> Answer:
        """Send the request and wait for the answer."""
        if self._transport is None or not self.stays:
            raise Gone
        self._waiter = asyncio.get_running_loop().create_future()
        self._progress, self._head, self._pieces = progress, None, 0
        self._transport.write(request)
        try:
            return await self._waiter
        finally:
            self._waiter = None  # it would keep the page

    def late(self) -> None:
        """Wait no more; an answer that has come, has come."""
        if self._waiter is not None and not self._waiter.done():
            self._fail(TimeoutError())

    def close(self) -> None:
        """Ask no more."""
        self.stays = False
        if self._transport is not None:
            self._transport.abort()

    # ---- what the event loop calls

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)

    def connection_lost(self, exc: Exception | None) -> None:
        del exc
        self._fail(Gone())

    def eof_received(self) -> None:
        # What may end so is no usual answer, and is known from its head.
        self._fail(Gone())

    def get_buffer(self, sizehint: int) -> memoryview:
        del sizehint
        return self._room

    def buffer_updated(self, nbytes: int) -> None:
        if self._waiter is None or self._waiter.done():
            self.close()  # nobody asked, or there was more than the answer
            return
        try:
            answer = self._take(self._room[:nbytes])
        except Unusual as error:
            self._fail(error)
            self.close()  # who is asked again is asked on another
            return
        if answer is not None:
            self._waiter.set_result(answer)
            if not answer.head.stays:
                self.close()

    def _fail(self, error: Unusual | TimeoutError) -> None:
        self.stays = False
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_exception(error)

    def _take(self, new: memoryview) -> Answer | None:
        """Give the answer; None while some of it is to come."""
        if not self._came:  # most often it is all there is
            answer = self._read(new)
            if answer is None:
                self._came += new
            return answer
        self._came += new
        answer = self._read(self._came)
        if answer is not None:
            self._came = bytearray()  # those of a thousand connections would be a lot to keep
        return answer

    def _read(self, came: Bytes) -> Answer | None:
        progress = self._progress
        progress.heard = True
        head = self._head or self._begin(came)
        if head is None:
            return None
        if len(came) - head.size_bytes > progress.limit_bytes + message.FRAMES_BYTES:
            raise Unusual
        body = self._body(head, came)
        if body is not None:
            return Answer(head, body)
        if head.status != _OK:
            raise Unusual  # what is no page may take its time, and nobody here has any for it
        return None

    def _begin(self, came: Bytes) -> Head | None:
        self._head = head = self._heads.read(came)
        self._pieces += 1
        if head is not None:
            self._progress.status = head.status
            if head.length is None:
                self._chunks = Chunks(head.size_bytes)
        elif self._pieces == _PIECES:
            raise Unusual
        return head

    def _body(self, head: Head, came: Bytes) -> bytes | None:
        if head.length is None:
            body = self._chunks.joined(came)
            self._progress.body_bytes = self._chunks.body_bytes
            return body
        self._progress.body_bytes = come = len(came) - head.size_bytes
        if come > head.length:
            raise Unusual
        return bytes(memoryview(came)[head.size_bytes :]) if come == head.length else None
