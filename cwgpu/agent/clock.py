"""Time as the agent sees it, so that tests can give it another one."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

_BOOT = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)


def boottime() -> float:
    """Give seconds since the machine began; those count in which it was suspended."""
    return time.clock_gettime(_BOOT)


@dataclass(frozen=True, slots=True)
class Clock:
    """What anybody here asks of time."""

    wall: Callable[[], float] = time.time
    """Seconds since 1970; may jump."""
    monotonic: Callable[[], float] = time.monotonic
    """Seconds since some moment; never goes back."""
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    boottime: Callable[[], float] = boottime
    """As ``monotonic``, and it goes on while the machine sleeps: for what others rely on."""

    def wall_ms(self) -> int:
        """Milliseconds since 1970."""
        return int(self.wall() * 1000)
