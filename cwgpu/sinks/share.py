"""One task for all who want the same thing at the same time."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, Generic, TypeVar

K = TypeVar("K")
T = TypeVar("T")


class Share(Generic[K, T]):
    """Tasks that are under way, by what they are for."""

    def __init__(self) -> None:
        self._tasks: dict[K, asyncio.Task[T]] = {}

    async def get(self, key: K, make: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """Give what the task gives that is under way, or that of a new one."""
        task = self._tasks.get(key)
        if task is None:
            task = asyncio.create_task(make())
            self._tasks[key] = task
            task.add_done_callback(lambda _: self._tasks.pop(key, None))
        # One who gives up waiting must not take the answer from the others.
        return await asyncio.shield(task)

    def cancel(self) -> None:
        """End what is under way."""
        for task in self._tasks.values():
            task.cancel()
