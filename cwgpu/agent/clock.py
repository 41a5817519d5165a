"""Time as the agent sees it, so that tests can give it another one."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Clock:
    """The three things anybody here asks of time."""

    wall: Callable[[], float] = time.time
    """Seconds since 1970; may jump."""
    monotonic: Callable[[], float] = time.monotonic
    """Seconds since some moment; never goes back."""
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep

    def wall_ms(self) -> int:
        """Milliseconds since 1970."""
        return int(self.wall() * 1000)
