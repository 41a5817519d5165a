"""Windows of pages: when what waits is put out, if no scrape of the target does it."""

import asyncio
import json
import threading
from collections.abc import AsyncIterator
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from cwgpu.agent.intake import Intake
from cwgpu.model.event import EmfEvent
from cwgpu.model.target import TargetGroup
from cwgpu.plan.kubernetes import Shard
from cwgpu.plan.plan import Events, GroupBy, Job, Plan
from cwgpu.scrape.fetch import Fetcher
from tests.agent import stage
from tests.agent.stage import Hands, Witness
from tests.digest import kitchen
from tests.fakes.exporter import Answer, FakeExporter

INTERVAL_S, TIMEOUT_S, WINDOW_S = 15.0, 10.0, 60.0
LOOK_S = 5.0
LEFT_S = WINDOW_S - stage.START_S % WINDOW_S
"""What is left of the window when a test begins."""
LARGE = b"# padding\n" * 200_000


def page(value: int) -> bytes:
    """Give a page with two GPUs of one pod."""
    series = "".join(f'util{{pod="p",gpu="{gpu}"}} {value}\n' for gpu in range(2))
    return f"# TYPE util gauge\n{series}".encode()


def plan(address: str, *, selects: str = "util|up", **more: Any) -> Plan:  # noqa: ANN401 - of Job
    """Make a plan for one target that packs a minute by dimensions."""
    groups = (TargetGroup("", ({"__address__": address},), {"Service": "dcgm"}),)
    events = Events(GroupBy.DIMENSIONS, WINDOW_S)
    whole = kitchen.plan(kitchen.declared(selects, sets=kitchen.JOB), events=events)
    return replace(whole, jobs=(Job("dcgm", INTERVAL_S, TIMEOUT_S, static=groups, **more),))


@dataclass
class World:
    """An intake, the exporter that it scrapes, and what it puts out."""

    intake: Intake
    exporter: FakeExporter
    witness: Witness
    hands: Hands
    events: list[EmfEvent] = field(default_factory=list)
    leads: threading.Event = field(default_factory=threading.Event)

    async def begin(self, **more: Any) -> None:  # noqa: ANN401 - fields of Job
        """Take up the plan, and wait for the first scrape."""
        self.intake.follow(plan(self.exporter.address, **more))
        await self.intake.discover()
        await self.scraped(1)

    async def scraped(self, times: int) -> None:
        """Wait for so many scrapes, good or bad."""
        summary = self.witness.summary
        await stage.eventually(lambda: sum(s.scrapes for s in summary.seen.values()) >= times)

    def sent(self, name: str = "util") -> list[object]:
        """Give the values of a metric of each event that has it."""
        read = [json.loads(event.message) for event in self.events]
        return [each[name] for each in read if name in each]


@pytest.fixture
async def world(caplog: pytest.LogCaptureFixture) -> AsyncIterator[World]:
    """Give an intake without a plan, at the end of which everything is accounted for."""
    hands, witness = Hands(), Witness(caplog)
    events: list[EmfEvent] = []
    leads = threading.Event()
    leads.set()
    async with (
        FakeExporter(*map(page, range(1, 9))) as exporter,
        Fetcher(hands.read, hands.read) as fetcher,
    ):
        intake = Intake(fetcher, events.extend, witness.observer, hands.clock, leads=leads.is_set)
        yield World(intake, exporter, witness, hands, events, leads)
        await intake.stop()
    summary = witness.summary
    assert (summary.events, summary.selected) == (len(events), sum(one.samples for one in events))
    assert summary.datapoints == sum(one.datapoints for one in events)


async def test_what_waits_comes_with_the_last_scrape_of_the_window(world: World) -> None:
    """No look at the clock is needed for that."""
    await world.begin()
    for scrapes in range(2, 6):
        await world.hands.move(INTERVAL_S)
        await world.scraped(scrapes)
    (first, *_) = world.sent()
    assert isinstance(first, list)
    assert first[:4] == [1, 1, 2, 2]


async def test_the_end_puts_out_what_waits(world: World) -> None:
    """SIGTERM, or a dry run that was to scrape once: nothing that was scraped is lost."""
    await world.begin(report_series=True)
    assert world.events == []
    await world.intake.stop()
    assert (world.sent(), world.sent("up")) == ([[1, 1]], [1])


async def test_a_target_that_another_has_now_leaves_its_last_window(world: World) -> None:
    """It is another shard's: what was scraped here is sent from here."""
    await world.begin(report_series=True)
    world.intake.rescale(Shard(count=1, index=1))
    await world.intake.discover()
    assert (world.sent(), world.sent("up")) == ([[1, 1]], [1])


async def test_a_reload_puts_out_what_waits(world: World) -> None:
    """It is packed as the former plan says."""
    await world.begin(report_series=True)
    world.intake.follow(plan(world.exporter.address))
    assert (world.sent(), world.sent("up")) == ([[1, 1]], [1])


async def test_the_end_of_the_lead_puts_out_what_waits(world: World) -> None:
    """Others scrape from now on, and what was ours is sent by us."""
    await world.begin(report_series=True)
    world.leads.clear()
    world.intake.lead_changed(False)  # noqa: FBT003 - as the leader says it
    assert (world.sent(), world.sent("up")) == ([[1, 1]], [1])


async def test_a_target_that_goes_down_leaves_its_last_window(world: World) -> None:
    """When no scrape of the window can come any more, and not before."""
    world.exporter.answer(page(7), Answer(status=500))
    task = asyncio.create_task(world.intake.run())
    world.intake.follow(plan(world.exporter.address))
    await world.scraped(1)
    await world.hands.move(LEFT_S + TIMEOUT_S - 1)
    assert world.events == []
    await world.hands.move(LOOK_S)
    await stage.eventually(lambda: world.events)
    assert world.sent() == [[7, 7]]
    assert world.events[0].at_ms == stage.START_MS
    task.cancel()
    await asyncio.wait([task])


async def test_nothing_waits_on_a_large_page(world: World) -> None:
    """Another thread reads it, which nobody may ask for what waits."""
    world.exporter.answer(page(1), page(2) + LARGE, page(3) + LARGE, page(4))
    await world.begin()
    for scrapes, expected in ((2, [[1, 1], [2, 2]]), (3, [[1, 1], [2, 2], [3, 3]])):
        await world.hands.move(INTERVAL_S)
        await world.scraped(scrapes)
        assert world.sent() == expected


async def test_a_large_page_that_is_refused(world: World) -> None:
    """What waited before was put out, and nothing comes after it."""
    world.exporter.answer(page(1), b"<html>" + LARGE)
    await world.begin()
    await world.hands.move(INTERVAL_S)
    await world.scraped(2)
    assert world.sent() == [[1, 1]]
