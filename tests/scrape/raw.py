"""Loopback servers that answer with raw bytes, rightly or wrongly."""

import asyncio
import contextlib
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field

Handler = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


@dataclass(slots=True)
class Server:
    """A server that is up."""

    port: int
    requests: list[bytes] = field(default_factory=list)
    """Heads of the requests that got a plain answer, in the order in which they came."""
    connections: int = 0

    @property
    def url(self) -> str:
        """Where its page is."""
        return f"http://127.0.0.1:{self.port}/metrics"


@contextlib.asynccontextmanager
async def serve(
    answer: bytes | Handler, *, tls: ssl.SSLContext | None = None
) -> AsyncIterator[Server]:
    """Run the handler for each connection, or give each connection's first request the answer."""
    server = Server(port=0)
    tasks: set[asyncio.Task[None]] = set()
    writers: list[asyncio.StreamWriter] = []

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        tasks.add(task)
        writers.append(writer)
        server.connections += 1
        with contextlib.suppress(OSError, asyncio.IncompleteReadError, asyncio.CancelledError):
            if isinstance(answer, bytes):
                server.requests.append(await reader.readuntil(b"\r\n\r\n"))
                writer.write(answer)
                await writer.drain()
            else:
                await answer(reader, writer)
        writer.close()
        tasks.discard(task)

    listener = await asyncio.start_server(connected, "127.0.0.1", 0, ssl=tls)
    server.port = listener.sockets[0].getsockname()[1]
    try:
        yield server
    finally:
        listener.close()
        for _ in range(5):  # who has connected, and gone again, has not been heard yet
            await asyncio.sleep(0)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        # One that is closed stays while there is something to be sent that nobody takes.
        for writer in writers:
            writer.transport.abort()
        await asyncio.gather(*(each.wait_closed() for each in writers), return_exceptions=True)
