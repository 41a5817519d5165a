"""Work in threads that nobody waits for at the end."""

import asyncio
import threading

import pytest

from cwgpu.agent import aside


async def test_what_came_of_it_comes_back() -> None:
    """The result, or the error; the loop's own thread is not the one that worked."""
    assert await aside.run(threading.get_ident) != threading.get_ident()
    with pytest.raises(ValueError, match="no number"):
        await aside.run(lambda: int("no number"))


def test_work_that_hangs_does_not_hold_up_the_end() -> None:
    """Who gives up waiting is free, and so is the loop; a late answer goes nowhere."""
    answer = threading.Event()
    threads: list[threading.Thread] = []

    def hang() -> None:
        threads.append(threading.current_thread())
        answer.wait()

    async def give_up() -> None:
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(aside.run(hang), 0.01)

    asyncio.run(give_up())
    assert [thread.is_alive() for thread in threads] == [True]
    answer.set()
    threads[0].join()


async def test_a_late_answer_to_nobody() -> None:
    """The loop still runs, but whoever asked has gone."""
    answer = threading.Event()
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(aside.run(answer.wait), 0.01)
    answer.set()
    await aside.run(lambda: None)
