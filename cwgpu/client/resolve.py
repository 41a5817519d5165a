"""Host names to addresses, without standing in anybody's way.

asyncio looks names up in a small shared thread pool that must be empty before the process may
end. When the cluster's DNS is gone a look-up blocks for tens of seconds: a handful of them would
hold up every other use of that pool, and the exit. So look-ups have threads of their own, which
the interpreter does not wait for.
"""

import asyncio
import contextlib
import socket
import threading
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from aiohttp import abc

AddressInfo: TypeAlias = tuple[int, int, int, str, tuple[Any, ...]]
"""One line of ``socket.getaddrinfo``: family, type, protocol, name, address."""

# Far more than a working DNS ever needs, and still few threads when it does not work.
_AT_ONCE = 32
_NUMERIC = socket.AI_NUMERICHOST | socket.AI_NUMERICSERV


class Resolver(abc.AbstractResolver):
    """What aiohttp asks for addresses; it remembers answers and asks once for each host."""

    def __init__(self, look_up: Callable[..., Sequence[AddressInfo]] = socket.getaddrinfo) -> None:
        """``look_up`` is ``socket.getaddrinfo`` or something that behaves like it."""
        self._look_up = look_up
        self._turns = asyncio.Semaphore(_AT_ONCE)

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
    ) -> list[abc.ResolveResult]:
        """Give the addresses of a host; OSError when there is none."""
        async with self._turns:
            infos = await self._ask(host, port, family)
        return [
            abc.ResolveResult(
                hostname=host,
                host=_numeric(address),
                port=address[1],
                family=kind,
                proto=protocol,
                flags=_NUMERIC,
            )
            for kind, _, protocol, _, address in infos
        ]

    async def close(self) -> None:
        """Do nothing: threads that still wait for an answer end with the process."""

    async def _ask(self, host: str, port: int, family: int) -> Sequence[AddressInfo]:
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[Sequence[AddressInfo]] = loop.create_future()

        def work() -> None:
            result: Sequence[AddressInfo] | Exception
            try:
                # AI_ADDRCONFIG: no IPv6 addresses for a machine that has no IPv6.
                result = self._look_up(
                    host, port, family, socket.SOCK_STREAM, 0, socket.AI_ADDRCONFIG
                )
            except (OSError, UnicodeError) as error:
                result = error
            with contextlib.suppress(RuntimeError):  # the loop has ended meanwhile
                loop.call_soon_threadsafe(_settle, answer, result)

        threading.Thread(target=work, name=f"look up {host}", daemon=True).start()
        return await answer


def _settle(
    answer: asyncio.Future[Sequence[AddressInfo]], result: Sequence[AddressInfo] | Exception
) -> None:
    if answer.cancelled():
        return
    if isinstance(result, Exception):
        answer.set_exception(result)
    else:
        answer.set_result(result)


def _numeric(address: tuple[Any, ...]) -> str:
    # An IPv6 address has four parts; the last is the interface that a link-local one needs.
    scope = address[3] if len(address) == 4 else 0  # noqa: PLR2004 - (host, port, flow, scope)
    return f"{address[0]}%{scope}" if scope else str(address[0])
