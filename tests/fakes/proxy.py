"""An HTTP proxy on loopback: requests with whole URLs, and tunnels by CONNECT.

In a test: ``async with FakeProxy() as proxy: ...``

Everything goes to where ``proxy.leads`` says, when it says so, whatever host was asked for.
"""

import asyncio
import base64
import contextlib
from dataclasses import dataclass, field
from typing import Self

from yarl import URL

HEAD_END = b"\r\n\r\n"


@dataclass
class FakeProxy:
    """The proxy."""

    leads: tuple[str, int] | None = None
    user: str = ""
    """``name:password`` without which the answer is 407."""
    status: int = 0
    """Answer with this status instead of going anywhere."""
    port: int = 0
    heads: list[str] = field(default_factory=list)
    """The requests' first lines and headers, as they came."""
    _tasks: set[asyncio.Task[None]] = field(default_factory=set)

    @property
    def url(self) -> str:
        """Where it is."""
        return f"http://127.0.0.1:{self.port}"

    async def __aenter__(self) -> Self:
        """Listen."""
        self._listener = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.port = self._listener.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *_: object) -> None:
        """End all connections."""
        self._listener.close()
        for _turn in range(5):  # who has connected, and gone again, has not been heard yet
            await asyncio.sleep(0)
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        with contextlib.suppress(OSError, asyncio.IncompleteReadError, asyncio.CancelledError):
            head = (await reader.readuntil(HEAD_END)).decode()
            self.heads.append(head)
            status = self._refusal(head)
            if status:
                writer.write(_answer(status))
                await writer.drain()
            else:
                await self._go(head, reader, writer)
        writer.close()
        self._tasks.discard(task)

    def _refusal(self, head: str) -> int:
        wanted = base64.b64encode(self.user.encode()).decode()
        if self.user and f"Proxy-Authorization: Basic {wanted}\r\n" not in head:
            return 407
        return self.status

    async def _go(
        self, head: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        method, target, _ = head.split("\r\n", maxsplit=1)[0].split(" ")
        url = URL(f"//{target}" if method == "CONNECT" else target)
        host, port = self.leads or (url.host, url.port)
        try:
            their_reader, their_writer = await asyncio.open_connection(host, port)
        except OSError:
            writer.write(_answer(502))
            return
        try:
            if method == "CONNECT":
                writer.write(b"HTTP/1.1 200 OK\r\n\r\n")
            else:
                line, rest = head.split("\r\n", 1)
                line = line.replace(target, url.raw_path_qs)
                their_writer.write(f"{line}\r\n{rest}".encode())
            await asyncio.gather(_pump(reader, their_writer), _pump(their_reader, writer))
        finally:
            their_writer.close()


def _answer(status: int) -> bytes:
    return f"HTTP/1.1 {status} No\r\nContent-Length: 0\r\n\r\n".encode()


async def _pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while data := await reader.read(1 << 16):
        writer.write(data)
        await writer.drain()
    writer.close()
