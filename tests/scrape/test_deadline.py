"""One timer, and every wait ends at its own time."""

import asyncio

import pytest

from cwgpu.scrape.deadline import Deadlines


class Somebody:
    """Waits until it is late."""

    def __init__(self) -> None:
        """Be in time."""
        self.end = asyncio.Event()

    def late(self) -> None:
        """Wait no more."""
        self.end.set()


def in_s(seconds: float) -> float:
    """Give a time of the loop's."""
    return asyncio.get_running_loop().time() + seconds


@pytest.mark.parametrize("after_s", [(0.0,), (0.01, 0.02), (0.02, 0.01), (0.01, 3600.0, 0.02)])
async def test_a_wait_ends_when_its_time_is_over(after_s: tuple[float, ...]) -> None:
    """In whatever order they began; those whose time is not over go on."""
    deadlines = Deadlines()
    waiting = [(Somebody(), each) for each in after_s]
    for who, each in waiting:
        deadlines.watch(who, in_s(each))
    for who, each in waiting:
        if each < 1.0:
            await who.end.wait()
            deadlines.forget(who)
    assert [each for who, each in waiting if not who.end.is_set()] == [
        each for each in after_s if each > 1.0
    ]


async def test_who_is_forgotten_is_left_alone() -> None:
    """Also when its time is over at the same moment as another's."""
    deadlines = Deadlines()
    forgotten, late = Somebody(), Somebody()
    until_s = in_s(0.0)
    for who in (forgotten, late):
        deadlines.watch(who, until_s)
    deadlines.forget(forgotten)
    await late.end.wait()
    assert not forgotten.end.is_set()


async def test_there_may_be_nobody_left() -> None:
    """And then there is somebody again."""
    deadlines = Deadlines()
    for _ in range(2):
        forgotten, late = Somebody(), Somebody()
        deadlines.watch(forgotten, in_s(0.0))
        deadlines.forget(forgotten)
        await asyncio.sleep(0)
        deadlines.watch(late, in_s(0.0))
        await late.end.wait()
        deadlines.forget(late)
        assert not forgotten.end.is_set()
