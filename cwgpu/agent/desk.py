"""Work with the disk: one piece after the other, beside the event loop, and never half given up."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, TypeAlias, TypeVar

from cwgpu.agent import aside

T = TypeVar("T")
Hand: TypeAlias = Callable[[Callable[[], Any]], Awaitable[Any]]
"""Does a piece of work somewhere, and gives or raises what comes of it."""


class Desk:
    """Does one thing at a time, in the order in which it was asked."""

    def __init__(self, hand: Hand = aside.run) -> None:
        """Work beside the event loop, unless there is another hand."""
        self._hand = hand
        self._free = asyncio.Lock()

    async def run(self, work: Callable[[], T]) -> T:
        """Do it, and give or raise what came of it; it is done even if nobody waits any more."""
        return await asyncio.shield(asyncio.create_task(self._in_turn(work)))

    async def _in_turn(self, work: Callable[[], T]) -> T:
        async with self._free:
            result: T = await self._hand(work)
            return result
