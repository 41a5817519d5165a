"""The loops, by a clock that only moves when the test says so."""

import asyncio
import dataclasses
import heapq
import itertools
from collections import Counter
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cwgpu.model.target import Target
from cwgpu.pace import cadence
from cwgpu.scrape.pool import Pool
from tests import leftovers

START = 1_700_000_000.0


class Time:
    """Wakes sleepers in their order when it is moved on."""

    def __init__(self) -> None:
        self.now = START
        self.early = 0.0
        """How much before its time a sleeper wakes."""
        self._sleepers: list[tuple[float, int, asyncio.Future[None]]] = []
        self._count = itertools.count()

    def read(self) -> float:
        """Give the time."""
        return self.now

    async def sleep(self, seconds: float) -> None:
        """Sleep until the time has been moved on so far."""
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        entry = (self.now + seconds - self.early, next(self._count), future)
        heapq.heappush(self._sleepers, entry)
        await future

    async def advance(self, seconds: float) -> None:
        """Move the time on, sleeper by sleeper."""
        end = self.now + seconds
        await settle()
        while self._sleepers and self._sleepers[0][0] <= end:
            at, _, future = heapq.heappop(self._sleepers)
            self.now = max(self.now, at)
            if not future.cancelled():
                future.set_result(None)
            await settle()
        self.now = end


async def settle() -> None:
    """Let every task run until it waits."""
    for _ in range(10):
        await asyncio.sleep(0)


@dataclasses.dataclass
class World:
    """A pool with its visits written down."""

    time: Time = dataclasses.field(default_factory=Time)
    visits: list[tuple[float, str]] = dataclasses.field(default_factory=list)
    slow_s: dict[str, float] = dataclasses.field(default_factory=dict)
    """How long a visit of a URL takes."""

    def pool(self, **more: Any) -> Pool:  # noqa: ANN401 - whatever Pool takes
        """Make a pool that lives by our time."""
        return Pool(self.visit, self.time.read, self.time.sleep, **more)

    async def visit(self, target: Target) -> None:
        """Write the visit down and take as long as was said."""
        self.visits.append((self.time.now, target.url))
        if seconds := self.slow_s.get(target.url):
            await self.time.sleep(seconds)

    def times(self, url: str) -> list[float]:
        """Give the times at which a URL was visited."""
        return [at for at, visited in self.visits if visited == url]


def aim(url: str = "http://a/", **more: Any) -> Target:  # noqa: ANN401 - whatever Target takes
    """Make a target."""
    return Target(
        **{"job": "j", "url": url, "labels": {}, "interval_s": 60, "timeout_s": 9, **more}
    )


async def test_each_target_has_its_own_moment() -> None:
    """Every target is visited once in each interval, at its offset, which differs from others'."""
    world = World()
    pool = world.pool()
    targets = [aim(f"http://{name}/") for name in "abcdef"]
    pool.reconcile(targets)
    await world.time.advance(180)
    await pool.stop()
    offsets = set()
    for target in targets:
        times = world.times(target.url)
        assert len(times) == 3
        assert times[1] - times[0] == pytest.approx(60)
        offset = cadence.offset_s(repr(target.identity).encode(), 60)
        assert times[0] % 60 == pytest.approx(offset)
        offsets.add(times[0] % 60)
    assert len(offsets) == len(targets)


async def test_a_slow_target_delays_nobody_and_skips_its_moments() -> None:
    """A visit of two and a half intervals skips two moments of its target and none of another."""
    world = World(slow_s={"http://a/": 150})
    pool = world.pool()
    pool.reconcile([aim("http://a/"), aim("http://b/")])
    await world.time.advance(600)
    await pool.stop()
    assert len(world.times("http://b/")) == 10
    slow = world.times("http://a/")
    assert [later - earlier for earlier, later in itertools.pairwise(slow)] == pytest.approx(
        [180] * (len(slow) - 1)
    )


async def test_a_new_target_can_be_visited_at_once() -> None:
    """A prompt pool visits first and then keeps to the offset."""
    world = World()
    pool = world.pool(prompt=True)
    pool.reconcile([aim()])
    await settle()
    assert world.times("http://a/") == [START]
    await world.time.advance(60)
    assert len(world.times("http://a/")) == 2
    pool.reconcile([aim(interval_s=30)])
    await settle()
    assert len(world.times("http://a/")) == 2
    await pool.stop()


async def test_a_new_target_that_another_visited_keeps_to_its_offset() -> None:
    """A prompt pool that is patient visits it as if it always had."""
    world, other = World(), World()
    pool, former = world.pool(prompt=True), other.pool()
    pool.reconcile([aim()], patient=True)
    former.reconcile([aim()])
    await world.time.advance(600)
    await other.time.advance(600)
    assert world.times("http://a/") == other.times("http://a/")
    assert len(world.times("http://a/")) == 10
    for each in (pool, former):
        await each.stop()


async def test_reconcile_starts_stops_and_leaves_alone() -> None:
    """Targets that stay keep their rhythm; those that go are visited no more."""
    world = World()
    pool = world.pool()
    pool.reconcile([aim("http://a/"), aim("http://b/")])
    await world.time.advance(60)
    pool.reconcile([aim("http://b/"), aim("http://c/")])
    await world.time.advance(60)
    await pool.stop()
    assert len(world.times("http://a/")) == 1
    assert len(world.times("http://c/")) == 1
    first, second = world.times("http://b/")
    assert second - first == pytest.approx(60)


async def test_how_late_a_visit_begins() -> None:
    """Each visit that waited for its offset says how late it is; a prompt one did not wait."""
    world, late = World(), list[float]()
    pool = world.pool(prompt=True, late=late.append)
    pool.reconcile([aim()])
    await world.time.advance(60)
    assert late == [0.0]
    world.time.early = -0.25
    await world.time.advance(120)
    await pool.stop()
    assert late == pytest.approx([0.0, 0.0, 0.25])
    assert len(world.visits) == 4


async def test_equal_targets_are_one() -> None:
    """A target that is found twice is visited once."""
    world = World()
    pool = world.pool()
    pool.reconcile([aim(), aim(labels={"empty": ""})])
    await world.time.advance(60)
    await pool.stop()
    assert len(world.visits) == 1


async def test_a_target_that_goes_leaves_nothing_behind() -> None:
    """Nor does one that is visited at another interval from now on."""
    with leftovers.looked_for() as found:
        world = World()
        pool = world.pool()
        pool.reconcile([aim("http://a/"), aim("http://b/")])
        await world.time.advance(60)
        pool.reconcile([aim("http://b/", interval_s=30)])
        await world.time.advance(60)
        await pool.stop()
        del pool
        await settle()
    assert len(world.visits) == 4
    assert found == []


async def test_a_target_that_goes_is_broken_off() -> None:
    """Stopping a loop cancels the visit under way, and stop waits for its end."""
    world = World(slow_s={"http://a/": 1000})
    ended: list[str] = []

    async def visit(target: Target) -> None:
        try:
            await world.visit(target)
        finally:
            await asyncio.sleep(0)
            ended.append(target.url)

    pool = Pool(visit, world.time.read, world.time.sleep)
    pool.reconcile([aim()])
    await world.time.advance(60)
    assert not ended
    await pool.stop()
    assert ended == ["http://a/"]


async def test_a_new_interval_is_followed_at_once() -> None:
    """A sleeping loop whose target gets a shorter interval does not sleep out the old one."""
    world = World()
    pool = world.pool()
    pool.reconcile([aim(interval_s=86_400)])
    await settle()
    pool.reconcile([aim(interval_s=10)])
    await world.time.advance(100)
    await pool.stop()
    assert len(world.times("http://a/")) == 10


async def test_a_new_interval_does_not_break_off_a_visit() -> None:
    """A visit under way is finished; the next one keeps to the new interval."""
    world = World(slow_s={"http://a/": 5})
    pool = world.pool(prompt=True)
    pool.reconcile([aim(interval_s=1000)])
    await world.time.advance(1)
    pool.reconcile([aim(interval_s=10, timeout_s=3)])
    await world.time.advance(29)
    await pool.stop()
    assert len(world.times("http://a/")) in {3, 4}
    assert world.times("http://a/")[0] == START


async def test_a_bug_in_a_visit_ends_nothing() -> None:
    """What a visit raises is reported, with its target, and the loops go on."""
    world = World()
    bugs: list[tuple[str, str]] = []

    async def visit(target: Target) -> None:
        await world.visit(target)
        if target.url == "http://a/":
            raise ZeroDivisionError("oh")

    pool = Pool(
        visit,
        world.time.read,
        world.time.sleep,
        bug=lambda target, error: bugs.append((target.url, str(error))),
    )
    pool.reconcile([aim("http://a/"), aim("http://b/")])
    await world.time.advance(120)
    await pool.stop()
    assert bugs == [("http://a/", "oh")] * 2
    assert len(world.visits) == 4


async def test_a_bug_is_never_silent() -> None:
    """Without a receiver of its own a bug goes to the event loop's exception handler."""
    reports: list[dict[str, Any]] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, report: reports.append(report))

    async def visit(_: Target) -> None:
        raise ZeroDivisionError

    pool = Pool(visit, Time().read, Time().sleep, prompt=True)
    pool.reconcile([aim()])
    await settle()
    await pool.stop()
    (report,) = reports
    assert isinstance(report["exception"], ZeroDivisionError)
    assert "job j" in report["message"]


async def test_many_new_targets_take_turns() -> None:
    """First visits come one shortly after the other, and none later than at its own moment."""
    world = World()
    urls = [f"http://{number}/" for number in range(200)]
    pool = world.pool(prompt=True)
    pool.reconcile([aim(url, interval_s=2, timeout_s=1) for url in urls])
    await world.time.advance(2)
    await pool.stop()
    firsts = [world.times(url)[0] - START for url in urls]
    assert firsts[0] == 0
    assert max(firsts) <= 2
    assert max(Counter(firsts).values()) <= 20  # what one moment has of 200 targets, and some more
    assert firsts[1] <= 0.02 + 1e-6


async def test_a_sleep_that_ends_early_is_one_visit() -> None:
    """When the clocks disagree a little, no moment is visited twice."""
    world = World()
    world.time.early = 0.01
    pool = world.pool()
    pool.reconcile([aim()])
    await world.time.advance(600)
    await pool.stop()
    assert len(world.visits) == 10


@given(jump=st.floats(-1e7, 1e7), interval=st.integers(1, 600))
@settings(max_examples=100, deadline=None)
async def test_a_clock_that_jumps_costs_at_most_an_interval(jump: float, interval: int) -> None:
    """After the wall clock was set, the next visit comes within one interval."""
    world = World()
    pool = world.pool(prompt=True)
    pool.reconcile([aim(interval_s=float(interval))])
    await settle()
    world.slow_s["http://a/"] = 0
    world.time.now += jump
    before = len(world.visits)
    for sleeper in world.time._sleepers:  # noqa: SLF001 - sleeping is by the other clock
        sleeper[2].set_result(None)
    world.time._sleepers.clear()  # noqa: SLF001
    await settle()
    await world.time.advance(interval)
    await pool.stop()
    assert before + 1 <= len(world.visits) <= before + 3


async def test_a_pool_that_was_stopped_at_once_can_be_used_again() -> None:
    """Who was to sleep for the targets had not begun to."""
    world = World()
    pool = world.pool()
    pool.reconcile([aim()])
    await asyncio.sleep(0)
    await pool.stop()
    pool.reconcile([aim()])
    await world.time.advance(180)
    await pool.stop()
    assert len(world.visits) == 3


async def test_who_is_due_together_is_visited_together() -> None:
    """Targets of one moment come in a row; one of them that goes keeps none of the others."""
    world = World()
    pool = world.pool()
    targets = [aim(f"http://{number}/", interval_s=5) for number in range(60)]
    pool.reconcile(targets)
    await world.time.advance(5)
    moments = Counter(at for at, _ in world.visits)
    assert max(moments.values()) > 1
    assert len(moments) <= 20
    pool.reconcile(targets[1:])
    await world.time.advance(5)
    await pool.stop()
    assert len(world.visits) == 60 + 59


async def test_a_stopped_pool_can_be_used_again() -> None:
    """Stopping is not an end: wanted targets start new loops."""
    world = World()
    pool = world.pool()
    await pool.stop()
    pool.reconcile([aim()])
    await world.time.advance(60)
    await pool.stop()
    assert len(world.visits) == 1
