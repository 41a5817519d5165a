"""All calls to one service pass one gate, by a clock that the test moves."""

import asyncio

import pytest

from cwgpu.agent.gate import AT_ONCE, BACKLOG_PER_S, HURRIED_S, Gate
from tests.agent import stage
from tests.agent.stage import Hands


class Callers:
    """Who wants to call, and who may."""

    def __init__(self) -> None:
        self.hands = Hands()
        self.gate = Gate(self.hands.clock)
        self.passed: list[int] = []
        self._tasks: list[asyncio.Task[None]] = []

    async def come(self, *callers: int) -> None:
        """Wait for a turn."""
        self._tasks += [asyncio.create_task(self._wait(caller)) for caller in callers]
        await stage.settle()

    async def go(self) -> None:
        """Give up all waiting."""
        for task in self._tasks:
            task.cancel()
        await stage.settle()

    async def shut(self, wait_s: float = 10.0, *, throttled: bool = False) -> None:
        """Have three calls fail."""
        for caller in (-3, -2, -1):
            await self.come(caller)
            self.gate.failed(wait_s, throttled=throttled)
        self.passed.clear()

    async def _wait(self, caller: int) -> None:
        await self.gate.turn()
        self.passed.append(caller)


async def test_all_pass_while_the_service_is_well() -> None:
    """Also after a failure or two, which are everyday."""
    callers = Callers()
    await callers.come(1, 2)
    callers.gate.failed(60.0)
    callers.gate.failed(60.0)
    assert not callers.gate.shut
    await callers.come(3, 4, 5)
    assert callers.passed == [1, 2, 3, 4, 5]
    assert callers.hands.naps == []


async def test_few_calls_begin_at_a_time() -> None:
    """So that fifty streams hear together that it is too much; who gives up takes no place."""
    callers = Callers()
    await callers.come(*range(50))
    assert callers.passed == [*range(AT_ONCE)]
    callers.gate.succeeded()
    await stage.settle()
    assert callers.passed == [*range(AT_ONCE + 1)]
    await callers.go()
    callers.gate.abandoned()
    await callers.come(50)
    assert callers.passed == [*range(AT_ONCE + 1), 50]


async def test_one_probe_at_a_time() -> None:
    """After three failures in a row, whoever else waits, until the answer is there."""
    callers = Callers()
    await callers.shut()
    assert callers.gate.shut
    await callers.come(*range(50))
    await callers.hands.move(9.9)
    assert callers.passed == []
    await callers.hands.move(0.1)
    assert len(callers.passed) == 1
    await callers.hands.move(600)
    assert len(callers.passed) == 1
    callers.gate.failed(20.0)
    await callers.hands.move(19.9)
    assert len(callers.passed) == 1
    await callers.hands.move(0.1)
    assert len(callers.passed) == 2
    await callers.go()


async def test_a_good_probe_lets_all_pass() -> None:
    """At once, and in the order in which they came."""
    callers = Callers()
    await callers.shut()
    await callers.come(0, 1, 2, 3)
    await callers.hands.move(10)
    callers.gate.succeeded()
    await stage.settle()
    assert sorted(callers.passed) == [0, 1, 2, 3]
    assert not callers.gate.shut


async def test_a_probe_that_was_none_is_followed_by_another() -> None:
    """Its batch had gone: somebody else's call has to find out, and does not wait for it."""
    callers = Callers()
    await callers.shut()
    await callers.come(0, 1)
    await callers.hands.move(10)
    callers.gate.abandoned()
    await stage.settle()
    assert len(callers.passed) == 2
    assert callers.gate.shut


async def test_who_gives_up_waiting_leaves_nothing_behind() -> None:
    """A lane that was stopped has begun no call."""
    callers = Callers()
    await callers.shut()
    await callers.come(0)
    await callers.go()
    await callers.come(1)
    await callers.hands.move(10)
    assert callers.passed == [1]


async def test_hurry_shortens_the_waits() -> None:
    """Those that have begun, too; there is one probe at a time all the same."""
    callers = Callers()
    await callers.shut(60.0)
    await callers.come(0, 1, 2)
    callers.gate.hurry()
    await callers.hands.move(HURRIED_S)
    assert len(callers.passed) == 1
    callers.gate.failed(60.0)
    await callers.hands.move(HURRIED_S)
    assert len(callers.passed) == 2
    callers.gate.succeeded()
    await stage.settle()
    assert len(callers.passed) == 3


async def test_what_is_late_has_a_rate() -> None:
    """A few at once, then so many a second; in a hurry as many as there are."""
    hands = Hands()
    gate = Gate(hands.clock)
    calls = 0
    while hands.now < stage.START_S + 10:
        if wait_s := gate.late_wait_s():
            await hands.move(wait_s)
        else:
            gate.take_late()
            calls += 1
    assert calls == pytest.approx(10 * BACKLOG_PER_S + 5, abs=1)
    gate.take_late()
    assert gate.late_wait_s() > 0
    gate.hurry()
    assert gate.late_wait_s() == 0


@pytest.mark.parametrize(
    ("before", "throttled", "away"),
    [(True, False, True), (True, True, False), (False, False, False)],
)
async def test_who_was_away_before_the_hurry(*, before: bool, throttled: bool, away: bool) -> None:
    """Is not worth many tries; who goes away in it, or only has enough, may take more soon."""
    callers = Callers()
    if before:
        await callers.shut(throttled=throttled)
        callers.gate.hurry()
    else:
        callers.gate.hurry()
        await callers.shut(throttled=throttled)
    heard = [callers.gate.away]
    await callers.come(0)
    await callers.hands.move(HURRIED_S)
    callers.gate.succeeded()
    heard.append(callers.gate.away)
    assert heard == [away, False]
