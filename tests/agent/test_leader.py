"""Who scrapes: elections by clocks that the tests move, over a shelf with one lease."""

import asyncio
import contextlib
import itertools
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field, replace
from typing import NoReturn

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cwgpu.agent.clock import Clock
from cwgpu.agent.leader import Leader
from cwgpu.agent.observe import Observer
from cwgpu.kube.failure import Failure
from cwgpu.plan.kubernetes import Lease
from cwgpu.telemetry.metrics import Metrics
from tests.agent import stage
from tests.agent.shelf import AWAY, FORBIDDEN, Shelf, Trouble, Way
from tests.agent.stage import Hands, Witness

LEASE = Lease("gpu", "lab", duration_s=15, renew_s=10, retry_s=2)
# Agents take turns so often.
A_WHILE_S = 0.25


def never() -> NoReturn:
    """Be a wall clock that nobody may read: those of two machines differ."""
    raise AssertionError("the wall clock was read")


@dataclass
class Agent:
    """One who contends, with a clock of its own."""

    name: str
    shelf: Shelf
    observer: Observer
    luck: Callable[[], float] = lambda: 0.0
    rate: float = 1.0
    """How fast its clock runs."""
    hands: Hands = field(default_factory=Hands)
    changes: list[tuple[bool, bool]] = field(default_factory=list)
    """Whether it led, and whether others may have since it did."""

    def __post_init__(self) -> None:
        self.way = Way(self.shelf, self.hands.sleep)
        clock = Clock(never, self.hands.read, self.hands.sleep, self.hands.read)
        self.leader = Leader(
            self.way, LEASE, self.name, clock=clock, random=self.luck, observer=self.observer
        )

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Contend while the block lasts."""

        def changed(anew: bool) -> None:  # noqa: FBT001 - as the leader calls it
            self.changes.append((self.leader.leads(), anew))

        task = asyncio.create_task(self.leader.run(changed))
        try:
            await stage.settle()
            yield
            assert not task.done()
        finally:
            task.cancel()
            await asyncio.wait([task])

    async def move(self, seconds: float, *, still: bool = False) -> None:
        """Let time pass; one that stands still does nothing meanwhile, and its clock goes on."""
        if still:
            self.hands.now += seconds * self.rate
        else:
            await self.hands.move(seconds * self.rate)


async def together(seconds: float, *agents: Agent) -> None:
    """Let time pass for all of them."""
    while seconds > 0:
        for agent in agents:
            await agent.move(min(A_WHILE_S, seconds))
        seconds -= A_WHILE_S


@dataclass
class World:
    """Two agents and their lease."""

    witness: Witness
    shelf: Shelf = field(default_factory=Shelf)

    def __post_init__(self) -> None:
        self.b = Agent("b", self.shelf, self.witness.observer)
        self.a = Agent("a", self.shelf, self.witness.observer)

    async def move(self, seconds: float) -> None:
        """Let time pass for both."""
        await together(seconds, self.a, self.b)

    def leaders(self) -> str:
        """Name those who lead."""
        return "".join(each.name for each in (self.a, self.b) if each.leader.leads())


@pytest.fixture
async def world(caplog: pytest.LogCaptureFixture) -> World:
    """Give two agents that do not contend yet; metrics are those of the first."""
    return World(Witness(caplog))


async def test_the_first_one_leads_and_the_second_stands_by(world: World) -> None:
    """Both are ready, and the journal says it once, however long it lasts."""
    assert world.a.leader.unready == "lease gpu has not been read yet"
    async with world.a.running(), world.b.running():
        assert world.leaders() == "a"
        await world.move(100)
        assert world.leaders() == "a"
        assert world.a.leader.unready == world.b.leader.unready == ""
    assert world.witness.said("leader_began") == [{"lease": "gpu", "identity": "a"}]
    assert world.witness.said("standby") == [{"lease": "gpu", "holder": "a"}]
    assert world.a.changes == [(True, True)]
    assert world.b.changes == []


async def test_a_renewal_is_one_question(world: World) -> None:
    """What a leader wrote last it need not read."""
    async with world.a.running():
        await world.a.move(20)
    assert world.a.way.asked == ["read"] + ["write"] * 11


async def test_agents_do_not_ask_together(world: World) -> None:
    """Each round comes a little earlier than it might, by chance."""
    world.a.luck = lambda: 1.0
    world.a.__post_init__()
    async with world.a.running():
        await world.a.move(16)
    assert world.a.hands.naps.count(1.6) == 11


async def test_what_others_write_into_the_lease_costs_nothing(world: World) -> None:
    """An annotation makes a renewal come too late; the next one is on time."""
    async with world.a.running():
        for _ in range(30):
            world.shelf.touch()
            await world.a.move(2)
    assert world.a.changes == [(True, True)]
    assert world.witness.said("lease_failed") == []


@pytest.mark.parametrize(
    "trouble", [Trouble.REFUSED, Trouble.LOST, Trouble.SILENT, FORBIDDEN], ids=str
)
async def test_who_cannot_renew_scrapes_no_more(world: World, trouble: Trouble | Failure) -> None:
    """Ten seconds after the last renewal was sent it is over, whatever is waited for then."""
    async with world.a.running():
        await world.a.move(2)
        world.a.way.trouble = trouble
        await world.a.move(9.9)
        assert world.a.leader.leads()
        assert world.a.leader.unready == ""
        await world.a.move(0.1)
        assert world.a.changes == [(True, True), (False, False)]
        sentence = (trouble if isinstance(trouble, Failure) else AWAY).sentence
        assert world.a.leader.unready == sentence
        said = {"reason": f"the lease was not renewed for 10 s: {sentence}"}
        assert world.witness.said("leader_ended") == [said]
        assert {"lease": "gpu", "reason": sentence} in world.witness.said("lease_failed")


async def test_who_was_not_followed_goes_on_where_it_was(world: World) -> None:
    """What its counters stood at is still good when nobody else has led meanwhile."""
    async with world.a.running():
        world.a.way.trouble = Trouble.REFUSED
        await world.a.move(100)
        assert not world.a.leader.leads()
        world.a.way.trouble = None
        await world.a.move(2)
    assert world.a.changes == [(True, True), (False, False), (True, False)]


async def test_a_lease_that_may_not_be_touched_is_not_held(world: World) -> None:
    """Nothing is scraped, and the agent is not ready and says why, until it may."""
    world.a.way.trouble = FORBIDDEN
    async with world.a.running():
        await world.a.move(60)
        assert world.a.leader.unready == FORBIDDEN.sentence
        assert world.a.changes == []
        assert world.witness.value("cwgpu_lease_failures_total") == 31
        world.a.way.trouble = None
        await world.a.move(2)
        assert world.a.leader.unready == ""
        assert world.leaders() == "a"


async def test_a_server_that_wants_to_be_left_alone(world: World) -> None:
    """It is asked less often, and still often enough to be renewed in time."""
    world.a.way.trouble = replace(AWAY, retry_after_s=4)
    async with world.a.running():
        await world.a.move(3.9)
        assert world.a.way.asked == ["read"]
        world.a.way.trouble = replace(AWAY, retry_after_s=3600)
        await world.a.move(5.2)
        assert world.a.way.asked == ["read"] * 3


@given(
    before_s=st.floats(0, 40),
    crash_s=st.floats(0, 40),
    luck=st.lists(st.floats(0, 1, exclude_max=True), min_size=1),
)
@settings(max_examples=50)
async def test_after_a_crash_the_other_takes_over_in_time(
    before_s: float, crash_s: float, luck: list[float]
) -> None:
    """The gap is no longer than the lease lasts and the time between two looks at it."""
    shelf, observer = Shelf(), Observer(Metrics(lambda: 0.0))
    draw = itertools.cycle(luck).__next__
    a, b = (Agent(name, shelf, observer, draw) for name in "ab")
    async with contextlib.AsyncExitStack() as standing:
        async with a.running():
            await a.move(before_s)
            await standing.enter_async_context(b.running())
            await together(crash_s, a, b)
            assert a.leader.leads()
        # It gave nothing back.
        await b.move(LEASE.duration_s + LEASE.retry_s)
        assert b.leader.leads()


async def test_who_takes_over_begins_anew(world: World) -> None:
    """The one that crashed had scraped; the journal says whom it stood by, and that it leads."""
    async with world.b.running(), world.a.running():
        pass
    world.b.changes.clear()
    async with world.a.running():
        await world.a.move(17)
    assert world.witness.said("standby") == [{"lease": "gpu", "holder": "b"}]
    assert world.a.changes == [(True, True)]
    assert world.shelf.record is not None
    assert world.shelf.record.transitions == 1


async def test_who_stood_still_knows_it_when_it_asks(world: World) -> None:
    """No timer has to fire first: a stopped process that goes on asks before it scrapes."""
    async with world.a.running(), world.b.running():
        await world.a.move(10, still=True)
        assert not world.a.leader.leads()
        await world.b.move(17)
        assert world.leaders() == "b"
        await world.a.move(7, still=True)
        await world.a.move(0)
        assert world.leaders() == "b"
        await world.a.move(2)
    (said,) = world.witness.said("leader_ended")
    assert said["reason"] in {
        "b has the lease now",
        "the lease was not renewed for 10 s: the process or the machine stood still",
    }
    assert world.a.changes == [(True, True), (False, False)]
    assert {"lease": "gpu", "holder": "b"} in world.witness.said("standby")


async def test_who_stood_still_and_was_not_followed_leads_on(world: World) -> None:
    """It renews first; until that is done it does not scrape."""
    async with world.a.running():
        world.a.way.trouble = Trouble.SLOW
        await world.a.move(60, still=True)
        await world.a.move(0)
        assert not world.a.leader.leads()
        await world.a.move(3)
        assert world.a.leader.leads()
    assert {anew for _, anew in world.a.changes[1:]} <= {False}


async def test_who_stood_still_while_the_answer_came_does_not_lead(world: World) -> None:
    """The lease was renewed when that was sent, and not when it is heard of."""
    async with world.a.running(), world.b.running():
        world.a.way.trouble = Trouble.DELAYED
        await together(2.5, world.a, world.b)
        await world.a.move(16, still=True)
        await world.b.move(16)
        assert world.leaders() == "b"
        await world.a.move(0)
        assert world.leaders() == "b"


async def test_the_end_is_told_when_it_comes(world: World) -> None:
    """Also when the answer that is waited for comes later than the lease has to be renewed."""
    async with world.a.running():
        world.a.way.trouble = Trouble.SILENT
        await world.a.move(2 + 4)
        world.a.way.trouble = Trouble.SLOW
        await world.a.move(4)
        assert world.a.changes[-1] == (False, False)


async def test_a_leader_that_was_followed_ends(world: World) -> None:
    """Another holder stands in the lease: it is believed at the next renewal, and told again."""
    assert world.shelf.put(None, "c", 15.0, 1)
    async with world.a.running():
        await world.a.move(15)
        assert world.leaders() == "a"
        assert world.shelf.put("2", "c", 15.0, 1)
        await world.a.move(4)
        assert world.leaders() == ""
        assert world.a.leader.unready == ""
    assert world.witness.said("leader_ended") == [{"reason": "c has the lease now"}]
    assert world.witness.said("standby") == [{"lease": "gpu", "holder": "c"}] * 2


async def test_who_took_over_ends_in_time_too(world: World) -> None:
    """Its end is minded from when it begins to lead."""
    assert world.shelf.put(None, "c", 15.0, 1)
    async with world.a.running():
        await world.a.move(15)
        world.a.way.trouble = Trouble.SILENT
        await world.a.move(10)
        assert world.a.changes == [(True, True), (False, False)]


async def test_a_lease_that_was_given_away_is_taken_again(world: World) -> None:
    """In between others might have led, so it is a new beginning."""
    async with world.a.running():
        assert world.shelf.put("1", "", 1.0, 1)
        await world.a.move(4)
        assert world.a.leader.leads()
    assert world.witness.said("leader_ended") == [{"reason": "nobody has the lease now"}]
    assert world.a.changes == [(True, True), (False, False), (True, True)]


async def test_a_deleted_lease_is_made_anew_by_its_holder(world: World) -> None:
    """The other waits, so there is no second leader and no gap."""
    async with world.a.running(), world.b.running():
        await world.move(2)
        world.shelf.delete()
        await world.b.move(14)
        assert world.leaders() == "a"
        await world.a.move(4)
        await world.b.move(15)
        assert world.leaders() == "a"
    assert world.a.changes == [(True, True)]
    assert world.shelf.record is not None
    assert world.witness.said("lease_failed") == []


async def test_a_release_hands_over_at_once(world: World) -> None:
    """The other one leads at its next look, and not when the lease would have ended."""
    async with world.b.running():
        async with world.a.running():
            pass
        # It was b that came first.
        assert world.leaders() == "b"
    await world.b.leader.release()
    assert not world.b.leader.leads()
    assert world.b.changes == [(True, True), (False, False)]
    assert world.witness.said("leader_ended") == [{"reason": "this agent ends"}]
    async with world.a.running():
        assert world.leaders() == "a"


async def test_a_release_leaves_what_is_not_ours(world: World) -> None:
    """Who stands by has nothing to give back."""
    async with world.a.running(), world.b.running():
        await world.b.leader.release()
        assert world.b.way.asked[-1] == "read"
        assert world.leaders() == "a"


@pytest.mark.parametrize(("renewals", "holder"), [(1, ""), (2, "a")])
async def test_a_release_meets_a_renewal(world: World, renewals: int, holder: str) -> None:
    """What was on its way when the end came may arrive in between; it is tried once more."""
    async with world.a.running():
        pass
    world.a.way.crossing = renewals
    await world.a.leader.release()
    assert world.shelf.record is not None
    assert world.shelf.record.holder == holder


@pytest.mark.parametrize("trouble", [Trouble.REFUSED, FORBIDDEN], ids=str)
async def test_a_release_that_fails_is_told(world: World, trouble: Trouble | Failure) -> None:
    """It is not tried for long: what was scraped has yet to be delivered."""
    async with world.a.running():
        pass
    world.a.way.trouble = trouble
    await world.a.leader.release()
    assert len(world.witness.said("lease_failed")) == 1
    assert not world.a.leader.leads()


async def test_metrics_tell_who_leads(world: World) -> None:
    """By the clock, at the moment they are asked for."""
    value = world.witness.value
    async with world.a.running():
        assert value("cwgpu_leader") == 1
        assert value("cwgpu_lease_transitions_total", to="leader") == 1
        await world.a.move(12, still=True)
        assert value("cwgpu_leader") == 0
        world.a.way.trouble = Trouble.REFUSED
        await world.a.move(0)
        assert value("cwgpu_lease_transitions_total", to="standby") == 1


Happening = tuple[int, float, Trouble | None, bool]


@given(
    rates=st.lists(st.floats(0.9, 1.1), min_size=2, max_size=3),
    happenings=st.lists(
        st.tuples(
            st.integers(0, 2),
            st.sampled_from([0.3, 1, 2, 5, 9, 16]),
            st.none() | st.sampled_from(Trouble),
            st.booleans(),
        ),
        max_size=15,
    ),
)
@settings(max_examples=50)
async def test_there_are_never_two(rates: list[float], happenings: list[Happening]) -> None:
    """Questions are lost and late, processes stand still, and clocks run 10 % apart."""
    shelf, observer = Shelf(), Observer(Metrics(lambda: 0.0))
    agents = [Agent(str(n), shelf, observer, rate=rate) for n, rate in enumerate(rates)]
    async with contextlib.AsyncExitStack() as stack:
        for agent in agents:
            agent.hands.now += 1e6 * agent.rate
            await stack.enter_async_context(agent.running())
        for index, lasts_s, trouble, still in happenings:
            chosen = agents[index % len(agents)]
            chosen.way.trouble = trouble
            for _ in range(round(lasts_s / A_WHILE_S)):
                for agent in agents:
                    await agent.move(A_WHILE_S, still=still and agent is chosen)
                assert sum(agent.leader.leads() for agent in agents) <= 1
