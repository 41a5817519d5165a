"""Waiting that ends, by a clock that comes in as an argument."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import TypeAlias

Sleep: TypeAlias = Callable[[float], Awaitable[None]]


@contextlib.asynccontextmanager
async def within(seconds: float, sleep: Sleep) -> AsyncIterator[None]:
    """Raise TimeoutError when what is done inside takes longer than that."""
    async with asyncio.timeout(None) as scope:

        async def ring() -> None:
            await sleep(seconds)
            scope.reschedule(0.0)  # long ago: now

        timer = asyncio.create_task(ring())
        try:
            yield
        finally:
            timer.cancel()
