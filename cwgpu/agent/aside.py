"""Work beside the event loop, in threads that the end does not wait for.

A file may be a pipe that nobody writes to, or lie on a file system that has gone; a page may be so
large that reading it takes seconds. asyncio's own threads have to finish before the process may
end; these do not.
"""

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import TypeVar

T = TypeVar("T")


async def run(work: Callable[[], T]) -> T:
    """Do it in a thread of its own, and give or raise what came of it."""
    done: Future[T] = Future()
    done.set_running_or_notify_cancel()  # so that a late answer to nobody is no error

    def thread() -> None:
        try:
            done.set_result(work())
        except Exception as error:  # noqa: BLE001 - it is raised by whoever waits
            done.set_exception(error)

    threading.Thread(target=thread, name="aside", daemon=True).start()
    return await asyncio.wrap_future(done)
