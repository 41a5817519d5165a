"""The exporters: many targets in one process, far cheaper than who scrapes them.

    python -m tests.bench.fleet.exporters TARGETS GPUS FIELDS

Each target is an address of its own, and has a page of its own. A scrape costs one join. The first
line of standard output is the port; then each line of standard input is an order, and gets a line
of JSON for an answer:

``counts``  how often each target was scraped; ``freeze`` the same, and answer nobody from now on;
``anew``  forget all scrapes, and answer again; ``least``  the fewest scrapes of a target, and the
sum of all; ``times``  when the scrapes of each target came, in seconds since 1970.
"""

import asyncio
import functools
import json
import resource
import sys
import time
from collections.abc import Callable
from typing import Any

from tests.bench.fleet import page
from tests.load import exporters

NETWORK = 18
"""Not that of ``tests.load``: both may run at once."""

_HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain; version=0.0.4\r\nContent-Length: %d\r\n\r\n"
_KEPT = 64
"""Scrapes whose values are kept: targets are never so far apart."""

_Values = Callable[[int], list[bytes]]


class _Target:
    """One exporter."""

    __slots__ = ("_parts", "_values", "times")

    def __init__(self, heads: list[bytes], values: _Values) -> None:
        self._values = values
        self._parts = [b""] * (2 * len(heads)) + [b"\n"]
        self._parts[0:-1:2] = heads
        self.times: list[float] = []
        """When its scrapes came, in seconds since 1970."""

    def answer(self) -> bytes:
        """Give the page of the next scrape."""
        self._parts[1:-1:2] = self._values(len(self.times))
        self.times.append(time.time())
        body = b"".join(self._parts)
        return _HEAD % len(body) + body


class _Fleet:
    """All of them."""

    def __init__(self, targets: int, gpus: int, fields: int) -> None:
        chosen = page.fields(fields)
        values = functools.lru_cache(_KEPT)(functools.partial(page.values, chosen, gpus))
        addresses = exporters.addresses(targets, NETWORK)
        self.targets = {
            address: _Target(page.heads(chosen, gpus, number), values)
            for number, address in enumerate(addresses)
        }
        self.frozen = False

    def obey(self, order: str) -> Any:  # noqa: ANN401 - what each order gives, above
        """Do what a line of standard input says."""
        times = [target.times for target in self.targets.values()]
        if order == "times":
            return times
        if order == "least":
            return [min(map(len, times)), sum(map(len, times))]
        if order == "anew":
            for each in times:
                each.clear()
        self.frozen = {"anew": False, "freeze": True}.get(order, self.frozen)
        return [len(each) for each in times]


class _Connection(asyncio.Protocol):
    """One connection, and the target that it leads to."""

    def __init__(self, fleet: _Fleet) -> None:
        self._fleet = fleet
        self._asked = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._target = self._fleet.targets[transport.get_extra_info("sockname")[0]]

    def data_received(self, data: bytes) -> None:
        self._asked += data
        if self._asked.endswith(b"\r\n\r\n") and not self._fleet.frozen:  # a GET has no body
            self._asked = b""
            self._transport.write(self._target.answer())


async def _serve(fleet: _Fleet) -> None:
    loop = asyncio.get_running_loop()
    port = 0
    for address in fleet.targets:
        server: Any = await loop.create_server(lambda: _Connection(fleet), address, port)
        port = server.sockets[0].getsockname()[1]
    say(port)
    orders = asyncio.StreamReader()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(orders), sys.stdin)
    while line := await orders.readline():
        say(fleet.obey(line.decode().strip()))


def say(answer: object) -> None:
    """Answer who started this."""
    sys.stdout.write(json.dumps(answer) + "\n")
    sys.stdout.flush()


def open_files() -> None:
    """Let there be as many files as may be: two for each target."""
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


if __name__ == "__main__":
    open_files()
    asyncio.run(_serve(_Fleet(*map(int, sys.argv[1:]))))
