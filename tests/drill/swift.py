"""An event loop whose time passes as soon as nobody has anything to do: a day takes seconds.

Real threads and servers can take part. While a call to one of them is under way, which has to be
told by ``outside``, time stands still.
"""

import asyncio
import contextlib
import selectors
from collections.abc import Coroutine, Iterator
from typing import Any, TypeVar

T = TypeVar("T")


class Swift(asyncio.SelectorEventLoop):
    """Begins at second 0."""

    def __init__(self) -> None:
        """Make a loop; it has to be closed."""
        self.now_s = 0.0
        self.calls = 0
        super().__init__(_Selector(self))

    def time(self) -> float:
        """Give the time, to timers and to everybody else."""
        return self.now_s

    @contextlib.contextmanager
    def outside(self) -> Iterator[None]:
        """Wait for something real."""
        self.calls += 1
        try:
            yield
        finally:
            self.calls -= 1


class _Selector(selectors.EpollSelector):
    def __init__(self, loop: Swift) -> None:
        super().__init__()
        self._loop = loop

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        ready = super().select(0)
        if ready or (timeout is not None and timeout <= 0):
            return ready
        if timeout is None or self._loop.calls:
            return super().select(None)
        self._loop.now_s += timeout
        return ready


def run(main: Coroutine[Any, Any, T]) -> T:
    """Run to the end."""
    with asyncio.Runner(loop_factory=Swift) as runner:
        return runner.run(main)


def loop() -> Swift:
    """Give the loop that runs."""
    running = asyncio.get_running_loop()
    assert isinstance(running, Swift)
    return running
