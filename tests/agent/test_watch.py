"""Sources of targets by the agent's clock: real files, real services, none waits for another."""

import asyncio
import contextlib
import dataclasses
import json
import math
import threading
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from cwgpu.agent.intake import Intake
from cwgpu.discovery.file import FileSource
from cwgpu.discovery.findings import Findings
from cwgpu.model.event import EmfEvent
from cwgpu.model.target import TargetGroup
from cwgpu.plan.plan import FileDiscovery, HttpDiscovery, Job, Plan
from cwgpu.scrape.fetch import Fetcher
from tests.agent import stage
from tests.agent.stage import Hands, Witness
from tests.digest import kitchen
from tests.fakes.exporter import Answer, FakeExporter

REFRESH_S = 45.0
PAGE = b'# TYPE util gauge\nutil{pod="train-0"} 1\n'
LABELS = {"Service": "dcgm", "Namespace": "gpu"}


def naming(*targets: str) -> Answer:
    """Make a service's answer that names these targets."""
    body = json.dumps([{"targets": targets, "labels": LABELS}]).encode()
    return Answer(body=body, content_type="application/json")


def plan(*targets: str, name: str = "dcgm", **more: Any) -> Plan:  # noqa: ANN401 - fields of Job
    """Make a plan of one job with these static targets."""
    static = TargetGroup("", tuple({"__address__": target} for target in targets), LABELS)
    job = Job(name, 3600.0, 10.0, static=(static,), **more)
    return dataclasses.replace(kitchen.plan(), jobs=(job,))


class World:
    """An intake at work, with an exporter and a discovery service beside it."""

    def __init__(self, intake: Intake, witness: Witness, hands: Hands) -> None:
        self.intake, self.witness, self.hands = intake, witness, hands
        self.exporter = FakeExporter(PAGE)
        self.service = FakeExporter(naming(), path="/targets")

    @property
    def http(self) -> tuple[HttpDiscovery, ...]:
        """The service, as a job names it."""
        return (HttpDiscovery(self.service.url, REFRESH_S),)

    @property
    def wanted(self) -> list[str]:
        """The URLs of the targets that are wanted."""
        return [target.url for target in self.intake.wanted.values()]

    @contextlib.asynccontextmanager
    async def working(self) -> AsyncIterator[None]:
        """Have the intake run."""
        task = asyncio.create_task(self.intake.run())
        try:
            yield
            assert not task.done()
        finally:
            task.cancel()
            await asyncio.wait([task])


@pytest.fixture
async def world(caplog: pytest.LogCaptureFixture) -> AsyncIterator[World]:
    """Give an intake without a plan."""
    hands, witness = Hands(), Witness(caplog)
    events: list[EmfEvent] = []
    async with Fetcher(hands.read, hands.read) as fetcher:
        made = World(Intake(fetcher, events.extend, witness.observer, hands.clock), witness, hands)
        async with made.exporter, made.service:
            yield made
            await made.intake.stop()


async def test_a_service_is_asked_at_its_own_pace(world: World) -> None:
    """Its first answer is taken up at once, the next is asked for when its interval is over."""
    world.service.answer(naming("10.0.0.1:9400"), naming("10.0.0.2:9400"))
    world.intake.follow(plan(http=world.http))
    async with world.working():
        await stage.eventually(lambda: world.wanted == ["http://10.0.0.1:9400/metrics"])
        await stage.eventually(lambda: REFRESH_S in world.hands.naps)
        await world.hands.move(REFRESH_S - 1)
        assert len(world.service.requests) == 1
        await world.hands.move(1)
        await stage.eventually(lambda: world.wanted == ["http://10.0.0.2:9400/metrics"])
    assert len(world.service.requests) == 2


async def test_a_service_that_does_not_answer_delays_nobody(world: World, tmp_path: Path) -> None:
    """Static targets and files are scraped meanwhile; readiness says what is waited for."""
    path = tmp_path / "targets.json"
    path.write_bytes(naming(world.exporter.address).body)
    world.service.answer(Answer(delay_s=math.inf))
    files = (FileDiscovery((str(path),), 300.0),)
    world.intake.follow(plan("127.0.0.1:1", files=files, http=world.http))
    world.intake.limit(1)
    async with world.working():
        await stage.eventually(lambda: world.exporter.requests)
        waits = "waiting for the first answer of http_sd_configs[0] of job dcgm"
        await stage.eventually(lambda: world.intake.unready == waits)
        assert world.wanted == ["http://127.0.0.1:1/metrics", world.exporter.url]
        assert not world.intake.done.is_set()
        await world.service.stop()
        await world.intake.done.wait()
        assert world.intake.unready == ""
    (said,) = world.witness.said("discovery_failed")
    assert said["job"] == "dcgm"
    assert str(said["reason"]).startswith(world.service.address)


async def test_all_that_is_waited_for_is_counted(world: World, tmp_path: Path) -> None:
    """One is named, the others are a number."""
    files = tuple(FileDiscovery((str(tmp_path / name),), 300.0) for name in ("a.json", "b.json"))
    world.intake.follow(plan(files=files, http=world.http))
    await world.intake.discover()
    assert world.intake.unready == (
        "waiting for the first answer of file_sd_configs[0] of job dcgm and 2 more"
    )
    assert world.witness.said("targets_changed") == []


async def test_a_limit_counts_the_targets_of_a_service(world: World) -> None:
    """What its first answer names has been scraped when all is done."""
    world.service.answer(naming(world.exporter.address))
    world.intake.follow(plan(http=world.http))
    world.intake.limit(1)
    async with world.working():
        await world.intake.done.wait()
    assert len(world.exporter.requests) == 1


async def test_the_targets_of_all_sources_are_united(world: World, tmp_path: Path) -> None:
    """Two files, a service and the configuration name the same target: it is scraped once."""
    address = world.exporter.address
    paths = [tmp_path / "a.json", tmp_path / "b.json"]
    for path in paths:
        path.write_bytes(naming(address, f"{path.stem}:9400").body)
    world.service.answer(naming("c:9400", address))
    files = tuple(FileDiscovery((str(path),), 300.0) for path in paths)
    world.intake.follow(plan(address, address, files=files, http=world.http))
    async with world.working():
        await stage.eventually(lambda: len(world.wanted) == 4)
        names = {target.labels["instance"] for target in world.intake.wanted.values()}
        assert names == {address, "a:9400", "b:9400", "c:9400"}
        await stage.eventually(lambda: world.exporter.requests)
    assert len(world.exporter.requests) == 1


async def test_a_reload_keeps_the_sources_that_stay(world: World) -> None:
    """They are not asked anew, and what they named stays; one that changed is asked at once."""
    world.service.answer(naming("10.0.0.1:9400"))
    world.intake.follow(plan(http=world.http))
    async with world.working():
        await stage.eventually(lambda: REFRESH_S in world.hands.naps)
        world.service.answer(Answer(status=503))
        world.intake.follow(plan("127.0.0.1:1", http=world.http))
        await stage.eventually(lambda: len(world.wanted) == 2)
        assert len(world.service.requests) == 1
        changed = (HttpDiscovery(world.service.url, REFRESH_S + 1),)
        world.intake.follow(plan("127.0.0.1:1", http=changed))
        await stage.eventually(lambda: len(world.wanted) == 1)
        await stage.eventually(lambda: REFRESH_S + 1 in world.hands.naps)
        await world.hands.move(REFRESH_S)
    assert len(world.service.requests) == 2


async def test_a_source_that_goes_is_asked_no_more(world: World) -> None:
    """Not even an answer that is under way is waited for."""
    world.service.answer(Answer(delay_s=math.inf))
    world.intake.follow(plan(http=world.http))
    async with world.working():
        await stage.eventually(lambda: world.service.requests)
        world.intake.follow(plan(name="other"))
        await stage.eventually(lambda: world.intake.unready == "")
        world.service.answer(naming("10.0.0.1:9400"))
        world.service.release()
        await world.hands.move(REFRESH_S)
    assert world.wanted == []
    assert len(world.service.requests) == 1


async def test_a_service_that_fails_keeps_its_targets(world: World) -> None:
    """It is told at each question; a reload of the same does not forget them."""
    world.service.answer(naming("10.0.0.1:9400"), Answer(status=500))
    world.intake.follow(plan(http=world.http))
    async with world.working():
        await stage.eventually(lambda: REFRESH_S in world.hands.naps)
        await world.hands.move(REFRESH_S)
        await stage.eventually(lambda: world.witness.said("discovery_failed"))
        assert world.wanted == ["http://10.0.0.1:9400/metrics"]
    (said,) = world.witness.said("discovery_failed")
    assert "answered with HTTP status 500" in str(said["reason"])
    assert str(said["reason"]).endswith("its last good answer stay in use")


async def test_a_bug_in_a_source_ends_nothing(
    world: World, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """What no source should raise is told, and what the source knew stays; it is asked again."""
    path = tmp_path / "a.json"
    path.write_bytes(naming(world.exporter.address).body)
    read, broken = FileSource.read, threading.Event()

    def breaking(source: FileSource) -> Findings:
        if broken.is_set():
            raise RuntimeError("nobody thought of this")
        return read(source)

    monkeypatch.setattr(FileSource, "read", breaking)
    world.intake.follow(plan(files=(FileDiscovery((str(path),), 300.0),)))
    async with world.working():
        await stage.eventually(lambda: world.wanted)
        broken.set()
        await stage.eventually(lambda: world.hands.sleeping)
        await world.hands.move(5)
        await stage.eventually(lambda: world.witness.said("bug"))
        assert world.wanted == [world.exporter.url]
        path.write_bytes(naming("127.0.0.1:1").body)
        broken.clear()
        await stage.eventually(lambda: world.hands.sleeping)
        await world.hands.move(5)
        await stage.eventually(lambda: world.wanted == ["http://127.0.0.1:1/metrics"])
    assert world.witness.said("bug") == [{"job": "dcgm"}]


async def test_a_source_that_never_answers_but_with_a_bug(
    world: World, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """It gives no targets, and nobody waits for it."""

    def broken(_: object) -> None:
        raise RuntimeError("nobody thought of this")

    monkeypatch.setattr(FileSource, "read", broken)
    world.intake.follow(plan(files=(FileDiscovery((str(tmp_path / "a.json"),), 300.0),)))
    async with world.working():
        await stage.eventually(lambda: not world.intake.unready)
    assert world.witness.said("bug") == [{"job": "dcgm"}]


async def test_addresses_of_ipv6_are_scraped(world: World) -> None:
    """On loopback, for real: with its port in brackets it is host and port."""
    site = web.Application()

    async def answer(_: web.Request) -> web.Response:
        return web.Response(body=PAGE, content_type="text/plain")

    site.router.add_get("/metrics", answer)
    runner = web.AppRunner(site)
    await runner.setup()
    try:
        await web.TCPSite(runner, "::1", 0).start()
        address = f"[::1]:{runner.addresses[0][1]}"
        world.intake.follow(plan(address))
        await world.intake.discover()
        assert world.wanted == [f"http://{address}/metrics"]
        await stage.eventually(lambda: world.witness.summary.up)
    finally:
        await runner.cleanup()


@pytest.mark.parametrize("address", ["::1", "[::1]"])
async def test_an_ipv6_address_alone_is_a_host(world: World, address: str) -> None:
    """It is asked at the port of its scheme, and not taken for host and port."""
    world.intake.follow(plan(address, scheme="https"))
    await world.intake.discover()
    await stage.eventually(lambda: world.witness.said("scrape_failed"))
    (said,) = world.witness.said("scrape_failed")
    assert str(said["detail"]).startswith("[::1]:443: ")
