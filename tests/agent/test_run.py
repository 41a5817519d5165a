"""The agent put together: how it begins, and every way in which it ends."""

import asyncio
import contextlib
import json
import os
import secrets
import signal
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from unittest import mock

import aiohttp
import pytest

from cwgpu.agent import run
from cwgpu.agent.clock import Clock
from cwgpu.agent.orders import Ending, Orders
from cwgpu.agent.outflow import Outflow
from cwgpu.agent.stock import Rest
from cwgpu.logs.verdict import Answer
from cwgpu.model.errors import UnavailableError
from cwgpu.model.event import StreamKey
from cwgpu.model.target import TargetGroup
from cwgpu.plan.plan import Job, Plan, Spool
from cwgpu.sinks import stdout
from cwgpu.spool import directory
from tests.agent import stage
from tests.agent.stage import Hands, Script, Witness
from tests.digest import kitchen
from tests.fakes.exporter import FakeExporter

PAGE = b'# TYPE util gauge\nutil{pod="train-0"} 87\n'
KEY = StreamKey("/lab/lab", "dcgm")


@dataclass
class World:
    """What a run is between; time stands still until the test moves it."""

    witness: Witness
    exporter: FakeExporter
    hands: Hands = field(default_factory=Hands)
    sink: Script = field(default_factory=Script)
    loads: int = 0
    flush_s: float = 5.0
    grace_s: float = 25.0
    directory: Path | None = None
    """Of the spool."""
    most_bytes: int = 1 << 28

    def plan(self) -> Plan:
        """Make a plan that scrapes the exporter."""
        labels = {"Service": "dcgm", "Namespace": "gpu"}
        group = TargetGroup("", ({"__address__": self.exporter.address},), labels)
        jobs = (Job("dcgm", 60.0, 10.0, static=(group,)),)
        directory = str(self.directory) if self.directory else None
        return replace(
            kitchen.plan(),
            jobs=jobs,
            flush_interval_s=self.flush_s,
            shutdown_grace_s=self.grace_s,
            spool=Spool(directory, most_bytes=self.most_bytes),
        )

    def load(self) -> Plan:
        """Count."""
        self.loads += 1
        return self.plan()

    async def run(self, clock: Clock | None = None, **orders: Any) -> Ending:  # noqa: ANN401 - Orders' fields
        """Run to the end."""
        spool = directory.Spool(self.directory, secrets.token_hex(4)) if self.directory else None
        told = Orders(self.plan(), self.load, self.sink, spool, **orders)
        return await run.run(told, self.witness.observer, clock or self.hands.clock)

    @contextlib.asynccontextmanager
    async def running(self, **orders: Any) -> AsyncIterator[asyncio.Task[Ending]]:  # noqa: ANN401 - as above
        """Run beside the block, which begins when the first page has been read."""
        task = asyncio.create_task(self.run(**orders))
        await stage.eventually(lambda: self.witness.summary.up or task.done())
        yield task
        await task

    def values(self) -> set[float]:
        """Give what was delivered. When the next scrape is due, the exporter's port decides."""
        return {json.loads(message)["util"] for message in self.sink.stored.get(KEY, [])}


@pytest.fixture
async def world(caplog: pytest.LogCaptureFixture) -> AsyncIterator[World]:
    """Give an exporter and a sink."""
    async with FakeExporter(PAGE) as exporter:
        yield World(Witness(caplog), exporter)


async def test_once_delivers_and_ends(world: World) -> None:
    """No flush interval is waited for: the end delivers what is held."""
    assert await world.run(scrapes=1) == Ending()
    assert world.values() == {87}
    assert len(world.sink.stored[KEY]) == 1
    assert world.sink.closed


async def test_a_duration_is_an_end(world: World) -> None:
    """Until then it scrapes and flushes at the intervals."""
    async with world.running(duration_s=70.0) as task:
        await world.hands.move(10)
        assert world.values() == {87}
        assert not task.done()
        await world.hands.move(60)
    assert task.result() == Ending()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
async def test_a_signal_is_an_end(world: World, number: signal.Signals) -> None:
    """What is held is delivered first."""
    async with world.running() as task:
        assert world.values() == set()
        os.kill(os.getpid(), number)
    assert task.result() == Ending()
    assert world.values() == {87}


async def test_a_hangup_reads_the_configuration_again(world: World) -> None:
    """SIGHUP does not end it."""
    async with world.running() as task:
        os.kill(os.getpid(), signal.SIGHUP)
        await stage.eventually(lambda: world.witness.said("config_loaded"))
        assert world.loads == 1
        assert not task.done()
        os.kill(os.getpid(), signal.SIGTERM)
    assert task.result() == Ending()


@pytest.mark.parametrize(("own_s", "expected_s"), [(None, 7.0), (2.0, 2.0)])
async def test_a_reload_changes_the_flush_interval(
    world: World, own_s: float | None, expected_s: float
) -> None:
    """Unless the run has one of its own, which goes before the plan's."""
    async with world.running(flush_interval_s=own_s):
        world.flush_s = 7.0
        os.kill(os.getpid(), signal.SIGHUP)
        await stage.eventually(lambda: world.witness.said("config_loaded"))
        await world.hands.move(0.25)
        await stage.eventually(lambda: expected_s in world.hands.naps)
        os.kill(os.getpid(), signal.SIGTERM)
    assert world.values() == {87}


async def test_a_broken_sink_is_an_end(world: World) -> None:
    """Nobody reads any more: the answer says so."""
    world.sink.tell(KEY, Answer(stdout.CLOSED))
    async with world.running() as task:
        await world.hands.move(1)
    assert task.result() == Ending(broken=Answer(stdout.CLOSED))


async def test_what_cannot_be_delivered_at_the_end(world: World) -> None:
    """The grace is kept, and the ending says that something was lost."""
    world.sink.silent = True
    world.grace_s = 5.0
    assert await world.run(scrapes=1) == Ending(troubles=(None,), rest=Rest(0, 0, 1))
    assert world.witness.lost("shutdown") == 1
    assert world.sink.closed


async def test_what_cannot_be_delivered_is_spooled(world: World, tmp_path: Path) -> None:
    """The ending says so; the next run tells what it finds, and delivers it."""
    world.sink.silent = True
    world.grace_s, world.directory = 5.0, tmp_path / "spool"
    assert await world.run(scrapes=1) == Ending(troubles=(None,), rest=Rest(1, 1, 0))
    assert world.witness.said("samples_lost") == []
    world.sink.silent, world.grace_s = False, 25.0
    assert await world.run(scrapes=1) == Ending()
    assert len(world.sink.stored[KEY]) == 2
    empty, left = world.witness.said("spool_opened")
    assert empty["directory"] == left["directory"] == str(world.directory)
    assert (empty["batches"], left["batches"], left["events"]) == (0, 1, 1)


async def test_a_spool_has_one_owner(world: World, tmp_path: Path) -> None:
    """The second run does not begin; it says whose the directory is, and holds nothing open."""
    world.directory = tmp_path / "spool"
    async with world.running():
        with pytest.raises(UnavailableError, match=f"{world.directory}.*process {os.getpid()}"):
            await world.run()
        assert world.sink.closed
        os.kill(os.getpid(), signal.SIGTERM)
    assert await world.run(scrapes=1) == Ending()


@pytest.mark.parametrize(("grace_s", "expected_s"), [(25.0, 20.0), (5.0, 0.0), (3.0, 0.0)])
async def test_the_grace_is_the_plan_s(world: World, grace_s: float, expected_s: float) -> None:
    """But for what else there is to do before the end and after it."""
    with mock.patch.object(Outflow, "finish", autospec=True, side_effect=Outflow.finish) as finish:
        world.grace_s = grace_s
        await world.run(scrapes=1)
    assert finish.call_args.args[1] == expected_s


async def test_a_reload_changes_the_grace(world: World) -> None:
    """It is asked for at the end, and the spool stays what it was, which is said."""
    with mock.patch.object(Outflow, "finish", autospec=True, side_effect=Outflow.finish) as finish:
        async with world.running():
            world.grace_s, world.most_bytes = 8.0, 1 << 20
            os.kill(os.getpid(), signal.SIGHUP)
            await stage.eventually(lambda: world.witness.said("config_loaded"))
            os.kill(os.getpid(), signal.SIGTERM)
    assert finish.call_args.args[1] == 3.0
    assert world.witness.said("config_warning") == [{"reason": "cwgpu.spool changes at a restart"}]


async def test_an_outage_without_a_spool_is_not_ready(world: World) -> None:
    """Kubernetes hears of it, and who asks by hand reads why."""
    world.sink.tell(KEY, *[stage.UNREACHED] * 99)
    async with world.running(listen=("127.0.0.1", 0)), aiohttp.ClientSession() as client:
        await world.hands.move(30)
        (said,) = world.witness.said("listening")
        async with client.get(f"http://{said['address']}/readyz") as response:
            assert response.status == 503
            assert "neither delivered nor spooled: ConnectionError" in await response.text()
        world.sink.answers.clear()
        os.kill(os.getpid(), signal.SIGTERM)
        await stage.eventually(lambda: world.hands.sleeping)
        await world.hands.move(5)


async def test_a_bug_ends_it_with_a_name(world: World) -> None:
    """A part that should never end did; what is held is delivered all the same."""
    error = RuntimeError("nobody thought of this")

    def tick() -> None:
        raise error

    async with world.running(tick=tick) as task:
        await world.hands.move(1)
    assert task.result() == Ending(bug=error)
    assert world.values() == {87}


async def test_the_tick_comes_every_second(world: World) -> None:
    """Whoever draws or summarises hears it."""
    ticks: list[float] = []
    async with world.running(tick=lambda: ticks.append(world.hands.now)):
        await world.hands.move(3)
        os.kill(os.getpid(), signal.SIGTERM)
    assert len(ticks) == 3


async def test_how_long_the_event_loop_was_held_up(world: World) -> None:
    """A second that lasts four is three too long; one that is a second is not."""
    async with world.running():
        await world.hands.move(2)
        world.hands.now += 4
        world.hands.wake()
        await stage.settle()
        os.kill(os.getpid(), signal.SIGTERM)
    assert world.witness.value("cwgpu_event_loop_lag_seconds_count") == 3
    assert world.witness.value("cwgpu_event_loop_lag_seconds_sum") == pytest.approx(3)


async def test_health_and_metrics_are_served(world: World) -> None:
    """Where the journal says; readiness comes with the first look for targets."""
    async with world.running(listen=("127.0.0.1", 0)), aiohttp.ClientSession() as client:
        (said,) = world.witness.said("listening")
        for path, text in {"readyz": "ready", "metrics": "cwgpu_scrapes_total"}.items():
            async with client.get(f"http://{said['address']}/{path}") as response:
                assert response.status == 200
                assert text in await response.text()
        os.kill(os.getpid(), signal.SIGTERM)


async def test_a_port_that_is_taken_is_an_error(world: World) -> None:
    """Before anything is scraped."""
    with pytest.raises(UnavailableError, match="--listen"):
        await world.run(listen=("127.0.0.1", world.exporter.port))
    assert world.exporter.requests == []


async def test_it_leaves_no_task_behind(world: World) -> None:
    """Everything that was started has ended."""
    before = asyncio.all_tasks()
    await world.run(scrapes=1)
    await stage.settle()
    assert asyncio.all_tasks() == before


async def test_it_works_by_the_real_clock(world: World) -> None:
    """With nothing injected but the sink."""
    assert await world.run(clock=Clock(), scrapes=1) == Ending()
    assert world.values() == {87}


def test_the_clock_counts_milliseconds() -> None:
    """As events have them."""
    wall: Callable[[], float] = lambda: 1.5  # noqa: E731 - a clock that stands
    assert Clock(wall=wall).wall_ms() == 1500
