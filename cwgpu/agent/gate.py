"""Where all calls to one account and region pass: not too many at a service that is not well."""

import asyncio
import math

from cwgpu.agent import pause
from cwgpu.agent.clock import Clock
from cwgpu.pace.breaker import Breaker
from cwgpu.pace.bucket import Bucket

BACKLOG_PER_S = 5.0
"""Calls a second for what could not be delivered in its time. A day of a thousand GPUs, cut to the
spool's bound, is some 1,200 calls: four minutes. A thousand agents that come back together make as
many calls as an account may by default, 5,000 a second:
https://docs.aws.amazon.com/AmazonCloudWatch/latest/logs/cloudwatch_limits_cwl.html"""
_BURST = 5

AT_ONCE = 4
"""Calls that have begun at a time, of all streams together: what has begun cannot be called back
when the service says that it is too much. The sink makes two at a time; with twice as many it never
waits for a file to be read."""

HURRIED_S = 1.0
"""The longest wait between two tries when the process has to end: it has seconds, not minutes."""


class Gate:
    """Shared by all lanes."""

    def __init__(self, clock: Clock) -> None:
        """Open: the service is taken to be well."""
        self._clock = clock
        self._breaker = Breaker()
        self._bucket = Bucket(BACKLOG_PER_S, _BURST)
        self._room = asyncio.Semaphore(AT_ONCE)
        self._moved = asyncio.Event()
        self.hurried = asyncio.Event()
        """Set when the process has to end: no more long waits between tries."""
        self._throttled = False
        self._was_away = False

    @property
    def failures(self) -> int:
        """Calls in a row that failed for a reason which others would meet, too."""
        return self._breaker.failures

    @property
    def shut(self) -> bool:
        """Whether only one call at a time may go, to see if the service is back."""
        return self._breaker.open

    @property
    def away(self) -> bool:
        """Whether the service was away when the hurry began, and still is."""
        return self._was_away and self.shut

    def late_wait_s(self) -> float:
        """Give how long what is late has to wait for its turn."""
        return 0.0 if self.hurried.is_set() else self._bucket.wait_s(self._clock.monotonic())

    def take_late(self) -> None:
        """Use the turn of what is late."""
        self._bucket.take(self._clock.monotonic())

    def hurry(self) -> None:
        """Make the most of the seconds that are left."""
        self._was_away = self.shut and not self._throttled
        self.hurried.set()
        self._wake()

    async def turn(self) -> None:
        """Wait until a call may go. It has begun then, and one of the three below must follow."""
        await self._room.acquire()
        try:
            await self._well()
        except asyncio.CancelledError:
            self._room.release()
            raise
        self._breaker.begin()

    async def _well(self) -> None:
        """Wait until the service is well, or may be."""
        while (wait_s := self._breaker.wait_s(self._clock.monotonic())) > 0:
            moved = self._moved
            if math.isinf(wait_s):
                await moved.wait()
            elif self.hurried.is_set():
                await self._clock.sleep(min(wait_s, HURRIED_S))
                if math.isfinite(self._breaker.wait_s(self._clock.monotonic())):
                    break
            else:
                await pause.until(moved, self._clock.sleep(wait_s))

    def succeeded(self) -> None:
        """Say that the service is well, though it may have refused this very call."""
        self._breaker.succeeded()
        self._ended()

    def failed(self, wait_s: float, *, throttled: bool = False) -> None:
        """Say that the service, or the way to it, is not well. Throttled: it is, and has enough."""
        self._throttled = throttled
        self._breaker.failed(self._clock.monotonic(), wait_s)
        self._ended()

    def abandoned(self) -> None:
        """Say that there was no call after all, or none that was answered."""
        self._breaker.abandoned()
        self._ended()

    def _ended(self) -> None:
        self._room.release()
        self._wake()

    def _wake(self) -> None:
        former, self._moved = self._moved, asyncio.Event()
        former.set()
