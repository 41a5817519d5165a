"""Work with the disk is done one after the other, and to its end."""

import asyncio
import threading
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from cwgpu.agent.desk import Desk
from tests.agent import stage


async def test_work_is_done_beside_the_loop() -> None:
    """In a thread, and what came of it is given or raised."""
    assert await Desk().run(threading.current_thread) is not threading.main_thread()

    def fail() -> None:
        raise OSError(28, "No space left on device")

    with pytest.raises(OSError, match="No space"):
        await Desk().run(fail)


class Slow:
    """A hand that works when it is told."""

    def __init__(self) -> None:
        self.began: list[Any] = []
        self.may = asyncio.Event()

    async def __call__(self, work: Callable[[], Any]) -> Any:  # noqa: ANN401 - whatever it gives
        """Begin, wait, and end."""
        done = work()
        self.began.append(done)
        await self.may.wait()
        return done


async def test_one_piece_at_a_time() -> None:
    """In the order in which it was asked for."""
    hand = Slow()
    desk = Desk(hand)
    tasks = [asyncio.create_task(desk.run(partial(int, number))) for number in range(3)]
    await stage.settle()
    assert hand.began == [0]
    hand.may.set()
    assert await asyncio.gather(*tasks) == [0, 1, 2]
    assert hand.began == [0, 1, 2]


async def test_what_nobody_waits_for_is_done_all_the_same() -> None:
    """A file that is half written is no place to stop."""
    hand = Slow()
    desk = Desk(hand)
    tasks = [asyncio.create_task(desk.run(partial(int, number))) for number in range(2)]
    await stage.settle()
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    assert all(task.cancelled() for task in tasks)
    hand.may.set()
    await stage.settle()
    assert hand.began == [0, 1]
