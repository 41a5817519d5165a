"""By how many shards targets are divided: shards with clocks that the tests move, and one lease."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import NoReturn

import pytest

from cwgpu.agent.clock import Clock
from cwgpu.agent.contend import sharing
from cwgpu.agent.shards import Settled, Shards
from cwgpu.kube.failure import Failure
from cwgpu.model.errors import ConfigurationError
from cwgpu.pace.election import Record, Write
from cwgpu.plan.kubernetes import Shard, ShardLease
from cwgpu.plan.plan import Plan
from tests.agent import stage
from tests.agent.shelf import AWAY, FORBIDDEN, Shelf, Trouble, Way
from tests.agent.stage import Hands, Witness
from tests.digest import kitchen
from tests.fakes.kubernetes import FakeKubernetes

LEASE = ShardLease("gpu", "lab")
LOOK_S = 2.0
VERBS = {"leases": ("get", "create", "update")}


def never() -> NoReturn:
    """Be a wall clock that nobody may read: those of two machines differ."""
    raise AssertionError("the wall clock was read")


def configured(count: int, index: int, lease: ShardLease | None = LEASE) -> Plan:
    """Be a configuration."""
    return replace(kitchen.plan(), shard=Shard(count, index, lease))


@dataclass
class Gated(Way):
    """A way to the lease on which something may happen before a write."""

    gate: Callable[[], Failure | None] = lambda: None

    async def write(
        self, write: Write, holder: str, duration_s: float, limit_s: float
    ) -> Record | Failure:
        """Write the lease."""
        return self.gate() or await super().write(write, holder, duration_s, limit_s)


@dataclass
class Agent:
    """One shard, with a clock of its own."""

    shelf: Shelf
    witness: Witness
    index: int
    count: int
    luck: float = 0.0
    hands: Hands = field(default_factory=Hands)
    parts: list[int] = field(default_factory=list)
    """The counts that it was told to work by."""

    def __post_init__(self) -> None:
        self.way = Gated(self.shelf, self.hands.sleep)
        self.shards = Shards(
            self.way,
            Shard(self.count, self.index, LEASE),
            LEASE,
            clock=Clock(never, self.hands.read, self.hands.sleep, self.hands.read),
            random=lambda: self.luck,
            observer=self.witness.observer,
        )

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Look at the lease while the block lasts."""

        def changed(part: Shard) -> None:
            assert part == self.shards.part
            self.parts.append(part.count)

        task = asyncio.create_task(self.shards.run(changed))
        try:
            await stage.settle()
            yield
            assert not task.done()
        finally:
            task.cancel()
            await asyncio.wait([task])

    def reload(self, count: int) -> None:
        """Have another count configured."""
        self.shards.follow(configured(count, self.index))


@dataclass
class World:
    """Shards and their lease."""

    witness: Witness
    shelf: Shelf = field(default_factory=Shelf)

    def agent(self, index: int, count: int, luck: float = 0.0) -> Agent:
        """Give a shard that does not look yet."""
        return Agent(self.shelf, self.witness, index, count, luck)

    def write(self, holder: str) -> None:
        """Be somebody who writes into the lease."""
        version = None if self.shelf.record is None else self.shelf.record.version
        assert self.shelf.put(version, holder, 60.0, 1)

    def holder(self) -> str:
        """Read the lease."""
        assert self.shelf.record is not None
        return self.shelf.record.holder


@pytest.fixture
def world(caplog: pytest.LogCaptureFixture) -> World:
    """Give a lease that is not there yet."""
    return World(Witness(caplog))


async def test_the_first_start(world: World) -> None:
    """Shard 0 makes the lease; the others have no part before they read it."""
    one, zero = world.agent(1, 3), world.agent(0, 3)
    assert zero.shards.unready == "lease gpu has not been read yet"
    assert zero.shards.part == Shard(0, 0, LEASE)
    async with one.running():
        assert one.parts == []
        assert one.shards.part.count == 0
        async with zero.running():
            assert zero.parts == [3]
            assert world.holder() == "3 shards"
            await one.hands.move(LOOK_S)
            assert one.parts == [3]
            await one.hands.move(60)
            await zero.hands.move(60)
    assert one.parts == zero.parts == [3]
    assert world.shelf.versions == 1
    assert world.witness.said("shards_changed") == [
        {"count": 3, "index": 0, "part": "0 of 3"},
        {"count": 3, "index": 1, "part": "1 of 3"},
    ]
    assert world.witness.value("cwgpu_shards") == 3


async def test_who_waits_for_shard_0_stands_by(world: World) -> None:
    """It is ready: a rolling update must get as far as shard 0. The journal says what it is."""
    one = world.agent(1, 3)
    async with one.running():
        assert one.shards.unready == ""
        assert one.parts == []
    (said,) = world.witness.said("lease_failed")
    assert said["reason"] == "there is no such lease; shard 0 makes it when it begins"


async def test_all_switch_when_shard_0_does(world: World) -> None:
    """New configurations come one after the other, and shard 0's is the last."""
    zero, one, two = (world.agent(index, 2) for index in range(3))
    async with zero.running(), one.running(), two.running():
        for agent in (zero, one, two):
            await agent.hands.move(LOOK_S)
        for agent in (two, one):
            agent.reload(3)
            await agent.hands.move(LOOK_S)
        assert zero.parts == one.parts == two.parts == [2]
        zero.reload(3)
        await zero.hands.move(LOOK_S)
        assert world.holder() == "3 shards"
        await one.hands.move(LOOK_S)
        await two.hands.move(LOOK_S)
        assert zero.parts == one.parts == two.parts == [2, 3]
    assert {"count": 2, "index": 2, "part": "none"} in world.witness.said("shards_changed")
    assert world.shelf.record is not None
    assert world.shelf.record.transitions == 1


async def test_looks_are_apart(world: World) -> None:
    """Each comes a little earlier than it might, by chance."""
    zero = world.agent(0, 2, luck=1.0)
    async with zero.running():
        await zero.hands.move(16)
    assert zero.hands.naps == [1.6] * 11


@pytest.mark.parametrize(
    "trouble", [Trouble.REFUSED, Trouble.LOST, Trouble.SILENT, FORBIDDEN], ids=str
)
@pytest.mark.parametrize("index", [0, 1])
async def test_what_was_known_last_stays(
    world: World, index: int, trouble: Trouble | Failure
) -> None:
    """Who cannot read the lease goes on, is ready, and says why; then it catches up."""
    agent = world.agent(index, 2)
    world.write("2 shards")
    async with agent.running():
        agent.way.trouble = trouble
        await agent.hands.move(60)
        agent.reload(3)
        await agent.hands.move(60)
        assert agent.parts == [2]
        assert agent.shards.unready == ""
        world.write("3 shards")
        agent.way.trouble = None
        await agent.hands.move(3 * LOOK_S)
        assert agent.parts == [2, 3]
    sentence = (trouble if isinstance(trouble, Failure) else AWAY).sentence
    assert {"lease": "gpu", "reason": sentence} in world.witness.said("lease_failed")


@pytest.mark.parametrize("index", [0, 1])
async def test_who_may_not_read_the_lease_has_no_part(world: World, index: int) -> None:
    """It is not ready and says which rule is missing, until it may."""
    agent = world.agent(index, 2)
    world.write("2 shards")
    agent.way.trouble = FORBIDDEN
    async with agent.running():
        await agent.hands.move(60)
        assert agent.shards.unready == FORBIDDEN.sentence
        assert agent.parts == []
        agent.way.trouble = None
        await agent.hands.move(LOOK_S)
        assert agent.shards.unready == ""
        assert agent.parts == [2]


async def test_a_write_that_fails_changes_nothing(world: World) -> None:
    """Shard 0 goes by what it read; it tries again, and a server may ask for some patience."""
    zero = world.agent(0, 3)
    world.write("2 shards")
    zero.way.gate = lambda: replace(FORBIDDEN, retry_after_s=4.0)
    async with zero.running():
        await zero.hands.move(60)
        assert zero.parts == [2]
        assert zero.hands.naps == [4.0] * 16
        zero.way.gate = lambda: None
        await zero.hands.move(4)
        assert zero.parts == [2, 3]


@pytest.mark.parametrize("deleted", [True, False], ids=["deleted", "changed"])
async def test_a_write_that_came_too_late(world: World, *, deleted: bool) -> None:
    """Somebody was there between reading and writing: it is read again, and no fault is told."""
    zero = world.agent(0, 3)
    world.write("2 shards")

    def cross() -> None:
        zero.way.gate = lambda: None
        if deleted:
            world.shelf.delete()
        else:
            world.shelf.touch()

    zero.way.gate = cross
    async with zero.running():
        assert zero.parts == [2]
        await zero.hands.move(LOOK_S)
        assert zero.parts == [2, 3]
    assert world.witness.said("lease_failed") == []


async def test_a_lease_that_was_deleted_is_made_anew(world: World) -> None:
    """Nobody works by another count meanwhile."""
    zero, one = world.agent(0, 2), world.agent(1, 2)
    async with zero.running(), one.running():
        await one.hands.move(LOOK_S)
        world.shelf.delete()
        await one.hands.move(LOOK_S)
        await zero.hands.move(LOOK_S)
        assert world.holder() == "2 shards"
        await one.hands.move(LOOK_S)
    assert zero.parts == one.parts == [2]


async def test_nonsense_is_told_and_repaired(world: World) -> None:
    """It changes nothing, and is not told at any length."""
    zero, one = world.agent(0, 2), world.agent(1, 2)
    async with zero.running(), one.running():
        await one.hands.move(LOOK_S)
        world.write("many" * 99)
        await one.hands.move(LOOK_S)
        await zero.hands.move(LOOK_S)
        assert world.holder() == "2 shards"
    assert zero.parts == one.parts == [2]
    reasons = {str(said["reason"]) for said in world.witness.said("lease_failed")[1:]}
    assert reasons == {f"holder '{'many' * 15}' is no number of shards; shard 0 writes it anew"}


async def test_a_plan_gets_the_part_that_is_in_force(world: World) -> None:
    """Whatever count it has itself; one with another lease, or none, waits for a restart."""
    one = world.agent(1, 2)
    world.write("5 shards")
    assert one.shards.follow(configured(2, 1)).shard == Shard(0, 1, LEASE)
    async with one.running():
        for plan in (
            configured(3, 1),
            configured(4, 2, ShardLease("other")),
            configured(4, 2, None),
            kitchen.plan(),
        ):
            assert one.shards.follow(plan) == replace(plan, shard=Shard(5, 1, LEASE))
        assert one.shards.follow(configured(4, 3)).shard == Shard(5, 3, LEASE)


async def test_without_a_lease_the_configuration_says_it_all() -> None:
    """Nobody is asked."""
    settled = Settled()
    plan = configured(4, 2, None)
    assert settled.follow(plan) is plan
    assert settled.unready == ""


async def test_a_pod_shares_by_its_service_account(tmp_path: Path, world: World) -> None:
    """In its own namespace; what it may not do is said by the rule to add."""
    async with FakeKubernetes(tls=True) as api:
        api.put({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "lab"}})
        token = api.grant("system:serviceaccount:lab:cwgpu", {"leases": ("get",)}, "lab")
        api.service_account(tmp_path, token, "lab")
        ours = sharing(
            Shard(3, 0, ShardLease("gpu")),
            ShardLease("gpu"),
            world.witness.observer,
            Clock(),
            environ=api.environ,
            folder=tmp_path,
        )
        async with ours as shards:
            task = asyncio.create_task(shards.run(lambda _: None))
            await stage.eventually(lambda: "not allowed" in shards.unready)
            assert "resources: [leases], verbs: [get, create, update]" in shards.unready
            assert "a Role in namespace lab" in shards.unready
            api.grant("system:serviceaccount:lab:cwgpu", VERBS, "lab")
            await stage.eventually(lambda: not shards.unready)
            task.cancel()
            await asyncio.wait([task])
        written = api.get("leases", "lab", "gpu")
        assert written is not None
        assert written["spec"]["holderIdentity"] == "3 shards"


@pytest.mark.parametrize(
    ("environ", "namespace", "sentence"),
    [
        ({}, "lab", "needs a Kubernetes API, and this is no pod .* lease out of cwgpu.shard"),
        ({"KUBECONFIG": "/nowhere"}, "", "has no namespace, and this is no pod"),
    ],
)
async def test_where_nobody_can_be_asked(
    environ: dict[str, str], namespace: str, sentence: str, world: World
) -> None:
    """It is an error at the start, and says what to write."""
    lease = ShardLease("gpu", namespace)
    shard = Shard(3, 0, lease)
    with pytest.raises(ConfigurationError, match=f"cwgpu.shard.lease {sentence}"):
        async with sharing(shard, lease, world.witness.observer, Clock(), environ=environ):
            pass
