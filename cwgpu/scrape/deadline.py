"""One timer for all that is waited for.

``asyncio.timeout`` makes a timer for each wait, and a scrape's is hardly ever needed: it is made,
taken back after some milliseconds, and stays among the event loop's timers until those are cleared.
"""

import asyncio
from typing import Protocol


class Waiting(Protocol):
    """Somebody who waits."""

    def late(self) -> None:
        """Wait no more; but what has come, has come."""


class Deadlines:
    """Ends waits when their time is over. All methods are for the one event loop it is used in."""

    def __init__(self) -> None:
        """Watch nobody."""
        self._until_s: dict[Waiting, float] = {}
        self._timer: asyncio.TimerHandle | None = None

    def watch(self, who: Waiting, until_s: float) -> None:
        """Tell it that it is late at this time of the loop's, unless it is forgotten before."""
        self._until_s[who] = until_s
        if self._timer is None or until_s < self._timer.when():
            self._set(until_s)

    def forget(self, who: Waiting) -> None:
        """Leave alone whom we watch."""
        del self._until_s[who]

    def _set(self, at_s: float) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = asyncio.get_running_loop().call_at(at_s, self._look)

    def _look(self) -> None:
        """Most often nobody is late: those who are watched began long after the timer was set."""
        self._timer = None
        now_s = asyncio.get_running_loop().time()
        left_s = []
        for who, until_s in self._until_s.items():
            if until_s > now_s:
                left_s.append(until_s)
            else:
                who.late()
        if left_s:
            self._set(min(left_s))
