"""The fleet: exporters of one process, each at a loopback address of its own, on one port.

Started by ``stage``, which tells them what to do: see ``child``. An exporter answers ``well``,
``late``, by ``drip``, byte by byte for ever, or is ``mute``: it takes the connection and never
says a word. One that is ended resets its connections, and its address refuses others.
"""

import asyncio
import contextlib
import socket
import struct
import sys
import time
from collections import Counter
from collections.abc import Callable, Coroutine, Mapping
from typing import Any, TypeAlias

from tests.bench.soak import child
from tests.bench.soak.page import Node

_HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain; version=0.0.4\r\nContent-Length: %d\r\n\r\n"
Order: TypeAlias = Callable[..., Coroutine[Any, Any, dict[str, Any]]]

_DRIP_S = 0.2
# https://man7.org/linux/man-pages/man7/socket.7.html: closed at once, by a reset.
_RESETS = struct.pack("ii", 1, 0)


class Exporter:
    """One of them, between its start and its end."""

    def __init__(self, kind: str, late_s: float, page: Callable[[], bytes]) -> None:
        """``page`` is asked for each answer."""
        self.kind = kind
        self.late_s = late_s
        self.answers = 0
        self._page = page
        self._open: set[asyncio.Transport] = set()
        self._server: asyncio.Server | None = None

    async def begin(self, address: str, port: int) -> int:
        """Listen; gives the port."""
        loop = asyncio.get_running_loop()
        self._server = await loop.create_server(lambda: _Connection(self), address, port)
        found: int = self._server.sockets[0].getsockname()[1]
        return found

    def end(self) -> None:
        """Listen no more, and reset all connections."""
        assert self._server is not None
        self._server.close()
        for transport in list(self._open):
            transport.get_extra_info("socket").setsockopt(
                socket.SOL_SOCKET, socket.SO_LINGER, _RESETS
            )
            transport.abort()

    def opened(self, transport: asyncio.Transport) -> None:
        """Take a new connection."""
        self._open.add(transport)

    def closed(self, transport: asyncio.Transport) -> None:
        """Forget one."""
        self._open.discard(transport)

    def answer(self, transport: asyncio.Transport) -> None:
        """Answer a request, in this exporter's way."""
        loop = asyncio.get_running_loop()
        if self.kind == "late":
            loop.call_later(self.late_s, self._write, transport)
        elif self.kind == "drip":
            page = self._page()
            transport.write(_HEAD % len(page))
            loop.call_later(_DRIP_S, self._drip, transport, page)
        elif self.kind == "well":
            self._write(transport)

    def _write(self, transport: asyncio.Transport) -> None:
        if not transport.is_closing():
            page = self._page()
            transport.write(_HEAD % len(page) + page)
            self.answers += 1

    def _drip(self, transport: asyncio.Transport, page: bytes) -> None:
        if page and not transport.is_closing():
            transport.write(page[:1])
            asyncio.get_running_loop().call_later(_DRIP_S, self._drip, transport, page[1:])


class _Connection(asyncio.Protocol):
    def __init__(self, exporter: Exporter) -> None:
        self._exporter = exporter
        self._asked = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._exporter.opened(transport)

    def connection_lost(self, _: Exception | None) -> None:
        self._exporter.closed(self._transport)

    def data_received(self, data: bytes) -> None:
        self._asked += data
        if self._asked.endswith(b"\r\n\r\n"):  # a GET has no body
            self._asked = b""
            self._exporter.answer(self._transport)


class Fleet:
    """All of them, by address."""

    def __init__(self) -> None:
        """There is none."""
        self.port = 0
        self._exporters: dict[str, Exporter] = {}
        self._answers: Counter[str] = Counter()

    async def start(
        self, *, address: str, name: str, kind: str, pod_s: float, late_s: float
    ) -> dict[str, Any]:
        """Begin one there, whose counters begin now; gives the port of all."""
        node = Node(name, pod_s, time.monotonic())
        exporter = Exporter(kind, late_s, lambda: node.page(time.monotonic()))
        self._exporters[address] = exporter
        self.port = await exporter.begin(address, self.port)
        return {"port": self.port}

    async def stop(self, *, address: str) -> dict[str, Any]:
        """End the one that is there."""
        exporter = self._exporters.pop(address)
        exporter.end()
        self._answers[exporter.kind] += exporter.answers
        return {}

    async def count(self) -> dict[str, Any]:
        """Give how many answers were written in full, by kind."""
        answers = self._answers.copy()
        for each in self._exporters.values():
            answers[each.kind] += each.answers
        return dict(answers)


async def _serve() -> None:
    fleet = Fleet()
    orders: Mapping[str, Order] = {"start": fleet.start, "stop": fleet.stop, "count": fleet.count}
    loop = asyncio.get_running_loop()

    def obey(order: str, **given: Any) -> dict[str, Any]:  # noqa: ANN401 - what the order takes
        return asyncio.run_coroutine_threadsafe(orders[order](**given), loop).result()

    await asyncio.to_thread(child.obey, obey)


if __name__ == "__main__":
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(_serve())
    sys.exit()
