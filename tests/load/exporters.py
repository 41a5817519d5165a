"""Many exporters in one process, some of which accept a connection and then say nothing.

Started by ``tests.load.targets`` as a program of its own, so that what it costs is not taken from
the event loop under test::

    python -m tests.load.exporters HEALTHY DEAD PAGE

Exporters listen on one port of many loopback addresses. The first line of standard output is the
port; when standard input ends, the last line is JSON: the arrival times of requests (healthy ones)
or of connections (dead ones) by address, in seconds since 1970.
"""

import asyncio
import json
import sys
import time
from collections import defaultdict
from pathlib import Path
from typing import Any

FIRST = 16
"""127.0.0.1 and its neighbours may be taken by others; 127.16.0.0 and up hardly ever are."""
_EACH = 250
"""Addresses of one network of 256."""

_HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain; version=0.0.4\r\nContent-Length: %d\r\n\r\n"


def addresses(count: int, network: int) -> list[str]:
    """Give so many loopback addresses; other networks give others."""
    return [f"127.{network}.{each // _EACH}.{each % _EACH + 1}" for each in range(count)]


class _Exporter(asyncio.Protocol):
    """One connection. Answers every request with the same page, or never."""

    def __init__(self, arrivals: dict[str, list[float]], page: bytes | None) -> None:
        self._arrivals = arrivals
        self._answer = None if page is None else _HEAD % len(page) + page
        self._asked = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._address: str = transport.get_extra_info("sockname")[0]
        if self._answer is None:
            self._note()

    def data_received(self, data: bytes) -> None:
        if self._answer is None:
            return
        if not self._asked:
            self._note()
        self._asked += data
        if self._asked.endswith(b"\r\n\r\n"):  # a GET has no body
            self._asked = b""
            self._transport.write(self._answer)

    def _note(self) -> None:
        self._arrivals[self._address].append(time.time())


async def _serve(healthy: int, dead: int, page: bytes) -> None:
    loop = asyncio.get_running_loop()
    arrivals: dict[str, list[float]] = defaultdict(list)
    port = 0
    for count, network, answer in ((healthy, FIRST, page), (dead, FIRST + 1, None)):
        for address in addresses(count, network):
            server: Any = await loop.create_server(
                lambda answer=answer: _Exporter(arrivals, answer),  # type: ignore[misc]
                address,
                port,
            )
            port = server.sockets[0].getsockname()[1]
    print(port, flush=True)  # noqa: T201 - the answer to who started this
    await asyncio.to_thread(sys.stdin.read)
    print(json.dumps(arrivals), flush=True)  # noqa: T201


if __name__ == "__main__":
    asyncio.run(_serve(int(sys.argv[1]), int(sys.argv[2]), Path(sys.argv[3]).read_bytes()))
