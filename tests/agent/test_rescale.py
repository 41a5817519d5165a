"""Another part of the targets while agents work: who keeps, gains and loses what."""

import json
from collections.abc import AsyncIterator
from dataclasses import dataclass, field, replace

import pytest

from cwgpu.agent.intake import Intake
from cwgpu.model.event import EmfEvent
from cwgpu.model.target import TargetGroup
from cwgpu.pace import cadence, shard
from cwgpu.plan.kubernetes import Shard
from cwgpu.plan.plan import Job, Plan
from cwgpu.scrape.fetch import Fetcher
from tests.agent import stage
from tests.agent.stage import Hands, Witness
from tests.digest import kitchen
from tests.fakes.exporter import FakeExporter

INTERVAL_S = 60.0


def page(value: int) -> bytes:
    """Give a page with a gauge and a counter, both of this value."""
    labels = '{pod="train-0"}'
    return (
        f"# TYPE util gauge\nutil{labels} {value}\n# TYPE energy counter\nenergy{labels} {value}\n"
    ).encode()


@dataclass
class World:
    """An intake, and the only target."""

    intake: Intake
    exporter: FakeExporter
    witness: Witness
    hands: Hands
    events: list[EmfEvent] = field(default_factory=list)

    def plan(self, part: Shard | None) -> Plan:
        """Make a plan with this part of the targets."""
        labels = {"Service": "dcgm", "Namespace": "gpu"}
        group = TargetGroup("", ({"__address__": self.exporter.address},), labels)
        job = Job("dcgm", INTERVAL_S, 10.0, static=(group,))
        return replace(kitchen.plan(), jobs=(job,), shard=part)

    def ours(self, count: int) -> Shard:
        """Be the shard that has the target."""
        return Shard(count, shard.owner(self.exporter.address, count))

    async def follow(self, part: Shard | None) -> None:
        """Work by a plan with this part."""
        self.intake.follow(self.plan(part))
        await self.intake.discover()

    async def rescale(self, part: Shard) -> None:
        """Have another part."""
        self.intake.rescale(part)
        await self.intake.discover()

    async def scraped(self, times: int) -> None:
        """Wait for so many scrapes in all."""
        await stage.eventually(lambda: len(self.events) >= times)

    def values(self) -> list[dict[str, float]]:
        """Give the numbers of each event."""
        read = [json.loads(event.message) for event in self.events]
        return [{name: each[name] for name in ("util", "energy") if name in each} for each in read]


@pytest.fixture
async def world(caplog: pytest.LogCaptureFixture) -> AsyncIterator[World]:
    """Give an intake without a plan."""
    hands, witness = Hands(), Witness(caplog)
    events: list[EmfEvent] = []
    async with (
        FakeExporter(page(1), page(4), page(9)) as exporter,
        Fetcher(hands.read, hands.read) as fetcher,
    ):
        intake = Intake(fetcher, events.extend, witness.observer, hands.clock)
        yield World(intake, exporter, witness, hands, events)
        await intake.stop()


async def test_nothing_is_scraped_before_the_count_is_known(world: World) -> None:
    """Nothing is told of targets either, but to who asks; then each is visited at once."""
    world.intake.limit(1)
    await world.follow(Shard(0, 1))
    await world.hands.move(INTERVAL_S)
    assert world.exporter.requests == []
    assert world.intake.unready == "targets have not been looked for yet"
    assert not world.intake.done.is_set()
    assert world.witness.said("targets_changed") == []
    (told,) = json.loads(await world.intake.told(False))["jobs"]  # noqa: FBT003 - as it is asked
    (group,) = told["groups"]
    assert group["reason"] == "nobody's yet: how many shards there are is not known"
    await world.rescale(world.ours(2))
    await world.scraped(1)
    assert world.intake.unready == ""
    await stage.eventually(world.intake.done.is_set)


async def test_a_target_that_stays_knows_what_it_stood_at(world: World) -> None:
    """The part is another one, and the rhythm and the counters are the same."""
    await world.follow(world.ours(2))
    await world.scraped(1)
    await world.rescale(world.ours(3))
    await world.hands.move(INTERVAL_S)
    await world.scraped(2)
    assert world.values() == [{"util": 1}, {"util": 4, "energy": 3}]


async def test_a_target_that_comes_back_begins_anew(world: World) -> None:
    """Another had it meanwhile. It is visited at its offset and not before, as the other did it."""
    await world.follow(world.ours(2))
    await world.scraped(1)
    (identity,) = world.intake.wanted
    await world.rescale(Shard(2, 2))
    assert world.intake.wanted == {}
    await world.hands.move(INTERVAL_S)
    assert len(world.exporter.requests) == 1
    now = world.hands.now
    offset_s = cadence.offset_s(repr(identity).encode(), INTERVAL_S)
    due_s = cadence.next_due(now, offset_s, INTERVAL_S) - now
    await world.rescale(world.ours(3))
    await world.hands.move(due_s / 2)
    assert len(world.exporter.requests) == 1
    await world.hands.move(due_s / 2 + 1)
    await world.scraped(2)
    assert world.values() == [{"util": 1}, {"util": 4}]


async def test_who_asks_is_told_by_the_count_in_force(world: World) -> None:
    """Whose a target is, and which count that is."""
    await world.follow(world.ours(2))
    await world.rescale(Shard(3, 3))
    (told,) = json.loads(await world.intake.told(False))["jobs"]  # noqa: FBT003 - as it is asked
    (group,) = told["groups"]
    owner = shard.owner(world.exporter.address, 3)
    assert group["reason"] == f"another shard's: it is of shard {owner} of 3, and this is 3"
