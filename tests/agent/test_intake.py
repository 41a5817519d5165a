"""Targets in, events out: real pages from a real server, by a clock that the test moves."""

import asyncio
import contextlib
import json
import math
import threading
from collections.abc import AsyncIterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from cwgpu.agent.intake import Intake
from cwgpu.model.event import EmfEvent
from cwgpu.model.target import TargetGroup
from cwgpu.plan.plan import FileDiscovery, Job, Plan
from cwgpu.prom import relabel
from cwgpu.scrape.fetch import Fetcher
from tests import leftovers
from tests.agent import stage
from tests.agent.stage import Hands, Witness
from tests.digest import kitchen
from tests.fakes.exporter import Answer, FakeExporter
from tests.scrape import raw

INTERVAL_S = 60.0
# More than the pool leaves between the first visits of two targets.
A_TURN_S = 0.05


def page(value: int) -> bytes:
    """Give a page with a gauge and a counter, both of this value."""
    labels = '{pod="train-0"}'
    return (
        f"# TYPE util gauge\nutil{labels} {value}\n# TYPE energy counter\nenergy{labels} {value}\n"
    ).encode()


def job(*addresses: str, name: str = "dcgm", **more: Any) -> Job:  # noqa: ANN401 - fields of Job
    """Make a job with these static targets."""
    groups = [
        TargetGroup("", ({"__address__": address},), {"Service": "dcgm", "Namespace": "gpu"})
        for address in addresses
    ]
    return Job(name, INTERVAL_S, 10.0, static=tuple(groups), **more)


def plan(*jobs: Job) -> Plan:
    """Make a plan of these jobs that selects everything."""
    return replace(kitchen.plan(), jobs=jobs)


@dataclass
class World:
    """An intake, the exporter that it scrapes, and what it puts out."""

    intake: Intake
    exporter: FakeExporter
    witness: Witness
    hands: Hands
    events: list[EmfEvent] = field(default_factory=list)
    leads: threading.Event = field(default_factory=threading.Event)

    def lead(self, *, anew: bool) -> None:
        """Begin to lead."""
        self.leads.set()
        self.intake.lead_changed(anew)

    def end(self) -> None:
        """Lead no more."""
        self.leads.clear()
        self.intake.lead_changed(False)  # noqa: FBT003 - as the leader says it

    async def scraped(self, times: int) -> None:
        """Wait for so many scrapes in all, good or bad."""
        await stage.eventually(lambda: self.scrapes() >= times)

    def scrapes(self) -> int:
        """Count the scrapes of the targets that there are."""
        return sum(one.scrapes for one in self.witness.summary.seen.values())

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
        leads = threading.Event()
        leads.set()
        intake = Intake(fetcher, events.extend, witness.observer, hands.clock, leads=leads.is_set)
        yield World(intake, exporter, witness, hands, events, leads)
        await intake.stop()


@contextlib.asynccontextmanager
async def running(intake: Intake) -> AsyncIterator[None]:
    """Run an intake, and end it."""
    task = asyncio.create_task(intake.run())
    try:
        yield
        assert not task.done()
    finally:
        task.cancel()
        await asyncio.wait([task])


async def test_a_new_target_is_scraped_at_once(world: World) -> None:
    """Its gauges are there in the first second, its counters with the second scrape."""
    assert world.intake.unready == "targets have not been looked for yet"
    world.intake.follow(plan(job(world.exporter.address)))
    await world.intake.discover()
    assert world.intake.unready == ""
    await world.scraped(1)
    assert world.values() == [{"util": 1}]
    await world.hands.move(INTERVAL_S)
    await world.scraped(2)
    assert world.values() == [{"util": 1}, {"util": 4, "energy": 3}]


async def test_a_reload_keeps_what_counters_stood_at(world: World) -> None:
    """The first scrape under the newest plan gives the difference to the last under the oldest."""
    world.intake.follow(plan(job(world.exporter.address)))
    await world.intake.discover()
    await world.scraped(1)
    for name in ("other", "new"):
        changed = replace(
            plan(job(world.exporter.address)), emf=kitchen.plan(cluster_name=name).emf
        )
        world.intake.follow(changed)
        await world.intake.discover()
    await world.hands.move(INTERVAL_S)
    await world.scraped(2)
    assert world.values()[-1] == {"util": 4, "energy": 3}
    assert json.loads(world.events[-1].message)["ClusterName"] == "new"


async def answered_at_once(world: World, count: int) -> None:
    """Scrape so many targets, a job each, that all answer at one moment."""
    world.exporter.answer(Answer(body=page(1), delay_s=math.inf))
    names = [f"dcgm-{number}" for number in range(count)]
    world.intake.follow(plan(*(job(world.exporter.address, name=name) for name in names)))
    await world.intake.discover()
    await world.hands.move(count * A_TURN_S)
    await stage.eventually(lambda: len(world.exporter.requests) == count)
    world.exporter.release()


async def test_what_a_reload_puts_an_end_to_leaves_nothing_behind(world: World) -> None:
    """Pages, targets and visits under way go at once, and not when garbage is looked for."""
    there = plan(job(world.exporter.address), job(world.exporter.address, name="other"))
    plans = (there, replace(there, emf=kitchen.plan(cluster_name="new").emf), plan(), there)
    for number, followed in enumerate(plans * 2):
        with leftovers.looked_for() as found:
            world.intake.follow(followed)
            await world.intake.discover()
            await world.hands.move(INTERVAL_S)
            await stage.settle()
        if number >= len(plans):  # what is loaded late leaves cycles of its own, once
            assert found == []
    assert world.events


async def test_new_pages_are_read_one_at_a_time(world: World) -> None:
    """However many answers have come, between two of them all else has its turn."""
    await answered_at_once(world, 8)
    while (before := world.scrapes()) < 8:
        await asyncio.sleep(0)
        assert world.scrapes() - before <= 1


async def test_a_reload_takes_jobs_away_whose_answers_have_come(world: World) -> None:
    """What has not been read by then is not read any more."""
    await answered_at_once(world, 8)
    for _ in iter(world.scrapes, 1):  # until that is one
        await asyncio.sleep(0)
    world.intake.follow(plan())
    await world.intake.discover()
    await stage.settle()
    assert len(world.events) == 1


async def test_a_job_that_a_reload_takes_away(world: World) -> None:
    """It is scraped no more, also not before the targets are looked for again."""
    world.intake.follow(plan(job(world.exporter.address)))
    await world.intake.discover()
    await world.scraped(1)
    world.intake.follow(plan())
    await world.hands.move(INTERVAL_S)
    await world.intake.discover()
    await world.hands.move(INTERVAL_S)
    assert len(world.exporter.requests) == 1
    assert world.intake.wanted == {}


async def test_a_job_that_goes_while_its_page_is_fetched(world: World) -> None:
    """The page comes too late: nothing is made of it, and nothing breaks."""
    world.exporter.answer(Answer(body=page(1), delay_s=math.inf), page(2))
    world.intake.follow(plan(job(world.exporter.address)))
    await world.intake.discover()
    await stage.eventually(lambda: world.exporter.requests)
    world.intake.follow(plan())
    world.exporter.release()
    await stage.eventually(lambda: world.hands.naps)
    assert world.events == []
    world.intake.follow(plan(job(world.exporter.address)))
    await world.hands.move(INTERVAL_S)
    await world.scraped(1)
    assert world.values() == [{"util": 2}]
    assert world.witness.said("bug") == []


def targets(path: Path, *addresses: str) -> None:
    """Write a file of targets."""
    labels = {"Service": "dcgm", "Namespace": "gpu"}
    path.write_text(json.dumps([{"targets": list(addresses), "labels": labels}]), "utf-8")


async def test_a_target_that_vanishes_leaves_nothing_behind(world: World) -> None:
    """When it comes back its counters begin anew: nothing of it was kept."""
    there, gone = plan(job(world.exporter.address)), plan(job())
    world.intake.follow(there)
    await world.intake.discover()
    await world.scraped(1)
    world.intake.follow(gone)
    await world.intake.discover()
    assert world.intake.wanted == {}
    await world.hands.move(INTERVAL_S)
    assert len(world.exporter.requests) == 1
    world.intake.follow(there)
    await world.intake.discover()
    await world.scraped(1)
    assert world.values() == [{"util": 1}, {"util": 4}]
    changes = world.witness.said("targets_changed")
    assert [one["found"] for one in changes] == [1, 0, 1]


async def test_a_broken_file_of_targets_keeps_them(world: World, tmp_path: Path) -> None:
    """It is told every time; a reload forgets neither the targets nor the fault."""
    path = tmp_path / "targets.json"
    targets(path, world.exporter.address)
    there = plan(job(files=(FileDiscovery((str(path),), 5.0),)))
    world.intake.follow(there)
    async with running(world.intake):
        await stage.eventually(lambda: world.intake.wanted and world.hands.naps)
        path.write_text("[{", "utf-8")
        world.intake.follow(there)
        await world.hands.move(5)
        await stage.eventually(lambda: world.witness.said("discovery_failed"))
        assert len(world.intake.wanted) == 1
    (said,) = world.witness.said("discovery_failed")
    assert said["job"] == "dcgm"
    assert str(path) in str(said["reason"])


async def test_targets_are_looked_for_again_and_again(world: World, tmp_path: Path) -> None:
    """A file that changes is taken up within seconds."""
    path = tmp_path / "targets.json"
    targets(path)
    world.intake.follow(plan(job(files=(FileDiscovery((str(path),), 5.0),))))
    async with running(world.intake):
        await stage.eventually(lambda: world.hands.naps)
        targets(path, world.exporter.address)
        await world.hands.move(5)
        await world.scraped(1)
    assert len(world.intake.wanted) == 1


async def test_rules_run_over_new_groups_only(world: World, tmp_path: Path) -> None:
    """What became of a group that stayed is the same object at the next look."""
    one, other = tmp_path / "a.json", tmp_path / "b.json"
    targets(one, world.exporter.address)
    targets(other, "127.0.0.1:1")
    files = (FileDiscovery((str(one), str(other)), 5.0),)
    world.intake.follow(plan(job(files=files)))
    async with running(world.intake):
        await stage.eventually(lambda: len(world.intake.wanted) == 2 and 5.0 in world.hands.naps)
        first = list(world.intake.wanted.values())
        targets(other, "127.0.0.1:2")
        await world.hands.move(5)
        await stage.eventually(lambda: list(world.intake.wanted.values()) != first)
    second = list(world.intake.wanted.values())
    assert second[0] is first[0]
    assert second[1].url == "http://127.0.0.1:2/metrics"


async def test_equal_targets_are_one(world: World) -> None:
    """Twice in one job it is scraped once; two jobs are two."""
    address = world.exporter.address
    world.intake.follow(plan(job(address, address), job(address, name="other")))
    world.intake.limit(1)
    await world.intake.discover()
    await world.hands.move(A_TURN_S)
    await world.intake.done.wait()
    assert len(world.exporter.requests) == 2
    assert {event.stream.stream for event in world.events} == {"dcgm", "other"}


async def test_a_limit_is_kept(world: World) -> None:
    """Each target is scraped so often, failures included, and then no more."""
    async with FakeExporter(Answer(status=500)) as other:
        world.intake.follow(plan(job(world.exporter.address, other.address)))
        world.intake.limit(2)
        await world.intake.discover()
        await world.hands.move(A_TURN_S)
        await world.scraped(2)
        assert not world.intake.done.is_set()
        await world.hands.move(INTERVAL_S)
        await world.intake.done.wait()
        await world.hands.move(INTERVAL_S * 3)
        assert len(world.exporter.requests) == 2
        assert len(other.requests) == 2
    assert world.values() == [{"util": 1}, {"util": 4, "energy": 3}]


async def test_without_a_target_a_limit_is_reached_at_once(world: World) -> None:
    """There is nothing to wait for."""
    world.intake.follow(plan(job()))
    world.intake.limit(3)
    await world.intake.discover()
    assert world.intake.done.is_set()


async def test_a_limit_does_not_wait_for_a_target_that_went(world: World) -> None:
    """The last target that was still to be scraped vanishes: done."""
    world.exporter.answer(Answer(delay_s=math.inf))
    world.intake.follow(plan(job(world.exporter.address)))
    world.intake.limit(1)
    await world.intake.discover()
    assert not world.intake.done.is_set()
    world.intake.follow(plan(job()))
    await world.intake.discover()
    assert world.intake.done.is_set()


async def test_a_limit_is_not_reached_while_targets_are_looked_for(world: World) -> None:
    """The last known target is done just when another is found: it is scraped, too."""
    async with FakeExporter(page(7)) as found:
        world.exporter.answer(Answer(body=page(1), delay_s=math.inf))
        world.intake.follow(plan(job(world.exporter.address)))
        world.intake.limit(1)
        await world.intake.discover()
        world.intake.follow(plan(job(world.exporter.address, found.address)))
        looking = world.intake.discover()
        looking.send(None)  # it lets others have their turn
        await stage.eventually(lambda: world.exporter.requests)
        world.exporter.release()
        await world.scraped(1)
        assert not world.intake.done.is_set()
        with contextlib.suppress(StopIteration):
            while True:
                looking.send(None)
        await world.hands.move(A_TURN_S)
        await world.intake.done.wait()
    assert sorted(each["util"] for each in world.values()) == [1, 7]


async def test_a_limit_waits_for_every_source(world: World, tmp_path: Path) -> None:
    """Before a source has answered nobody knows whether all targets have been scraped."""
    path = tmp_path / "targets.json"
    targets(path)
    world.intake.follow(
        plan(job(world.exporter.address, files=(FileDiscovery((str(path),), 5.0),)))
    )
    world.intake.limit(1)
    await world.intake.discover()
    await world.scraped(1)
    assert not world.intake.done.is_set()
    assert world.intake.unready == (
        "waiting for the first answer of file_sd_configs[0] of job dcgm"
    )
    async with running(world.intake):
        await world.intake.done.wait()
    assert world.intake.unready == ""
    assert len(world.exporter.requests) == 1


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (Answer(status=500, body=b"out of GPUs"), "http_status"),
        (Answer(body=b"<html>hello</html>"), "not_metrics"),
        (Answer(reset=True), "connection_broken"),
    ],
)
async def test_a_scrape_that_gives_nothing(world: World, answer: Answer, reason: str) -> None:
    """It is a failed scrape, whether no page came or the page is none; the next one may succeed."""
    world.exporter.answer(answer, page(5))
    world.intake.follow(plan(job(world.exporter.address)))
    await world.intake.discover()
    await world.scraped(1)
    (said,) = world.witness.said("scrape_failed")
    assert said["reason"] == reason
    assert said["target"] == world.exporter.url
    assert (world.witness.summary.up, world.witness.summary.down) == (0, 1)
    await world.hands.move(INTERVAL_S)
    await world.scraped(2)
    assert world.values() == [{"util": 5}]
    assert (world.witness.summary.up, world.witness.summary.down) == (1, 0)


async def test_a_bug_in_one_target_is_its_own(caplog: pytest.LogCaptureFixture) -> None:
    """It is told with its traceback, and the target is scraped again."""
    hands, witness = Hands(), Witness(caplog)
    calls: list[object] = []

    def put(events: object) -> None:
        calls.append(events)
        if len(calls) == 1:
            raise RuntimeError("nobody thought of this")

    async with FakeExporter(page(1)) as exporter, Fetcher(hands.read, hands.read) as fetcher:
        intake = Intake(fetcher, put, witness.observer, hands.clock)
        intake.follow(plan(job(exporter.address)))
        await intake.discover()
        await stage.eventually(lambda: calls)
        await hands.move(INTERVAL_S)
        await stage.eventually(lambda: len(calls) == 2)
        await intake.stop()
    assert witness.said("bug") == [{"target": exporter.url}]


async def test_a_run_with_a_limit_ends_in_spite_of_a_bug(caplog: pytest.LogCaptureFixture) -> None:
    """A scrape that ends by one is a scrape, and the summary knows of it."""
    hands, witness = Hands(), Witness(caplog)

    def put(_: object) -> None:
        raise RuntimeError("nobody thought of this")

    async with FakeExporter(page(1)) as exporter, Fetcher(hands.read, hands.read) as fetcher:
        intake = Intake(fetcher, put, witness.observer, hands.clock)
        intake.follow(plan(job(exporter.address)))
        intake.limit(1)
        await intake.discover()
        await intake.done.wait()
        await intake.stop()
    assert witness.said("bug") == [{"target": exporter.url}]
    assert witness.summary.bugs == 1


async def test_a_dropped_target_is_told_with_its_reason(world: World) -> None:
    """When nothing is left to scrape, the journal says what dropped the first one."""
    drop = relabel.rule(action="drop", source_labels=["Service"], regex="dcgm")
    world.intake.follow(plan(job(world.exporter.address, relabel=(drop,))))
    await world.intake.discover()
    (said,) = world.witness.said("targets_changed")
    assert (said["found"], said["dropped"]) == (0, 1)
    assert '"dcgm" (of Service)' in str(said["reason"])


async def test_a_large_page_holds_nobody_up(world: World) -> None:
    """It is read in a thread of its own; the loop goes on, and may even follow another plan."""
    reading, followed = threading.Event(), threading.Event()

    def slow(name: str) -> bool:
        reading.set()
        return followed.wait(20) and name == "util"

    declaration = replace(kitchen.declared(), selects=slow)
    held = replace(plan(job(world.exporter.address)), emf=kitchen.plan(declaration).emf)
    world.exporter.answer(page(7) + b"# padding\n" * 200_000)
    world.intake.follow(held)
    await world.intake.discover()
    await stage.eventually(reading.is_set)
    world.intake.follow(plan(job(world.exporter.address)))
    followed.set()
    await world.scraped(1)
    assert world.values() == [{"util": 7}]
    world.exporter.answer(page(9))
    await world.hands.move(INTERVAL_S)
    await world.scraped(2)
    assert world.values()[-1] == {"util": 9}


async def test_who_stands_by_looks_for_targets_and_asks_none(world: World) -> None:
    """It is ready; its first scrapes come as soon as it leads."""
    world.leads.clear()
    world.intake.follow(plan(job(world.exporter.address)))
    await world.intake.discover()
    await world.hands.move(INTERVAL_S * 3)
    assert world.intake.unready == ""
    assert world.witness.value("cwgpu_targets", state="unscraped") == 1
    assert world.exporter.requests == []
    world.lead(anew=True)
    await world.scraped(1)
    assert world.values() == [{"util": 1}]


async def test_what_is_found_while_standing_by_is_scraped_then(
    world: World, tmp_path: Path
) -> None:
    """Discovery goes on for whoever may have to take over."""
    path = tmp_path / "targets.json"
    targets(path)
    world.leads.clear()
    world.intake.follow(plan(job(files=(FileDiscovery((str(path),), 5.0),))))
    async with running(world.intake):
        await stage.eventually(lambda: world.hands.naps)
        targets(path, world.exporter.address)
        await world.hands.move(5)
        await stage.eventually(lambda: world.intake.wanted)
        assert world.exporter.requests == []
        world.lead(anew=True)
        await world.scraped(1)


async def test_who_leads_no_more_keeps_no_connection(world: World) -> None:
    """An exporter would keep it for ever, and there are thousands of them."""
    ended = asyncio.Event()

    async def handler(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError, asyncio.IncompleteReadError):
            while await reader.readuntil(b"\r\n\r\n"):
                writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
        ended.set()

    async with raw.serve(handler) as server, asyncio.timeout(30):
        world.intake.follow(plan(job(f"127.0.0.1:{server.port}")))
        await world.intake.discover()
        await world.scraped(1)
        world.end()
        await ended.wait()
        assert server.connections == 1


async def test_the_end_of_the_lead_breaks_scrapes_off(world: World) -> None:
    """What was read before is not lost, and what was broken off is no failure."""
    world.exporter.answer(page(1), Answer(body=page(2), delay_s=math.inf))
    world.intake.follow(plan(job(world.exporter.address)))
    await world.intake.discover()
    await world.scraped(1)
    assert world.witness.value("cwgpu_targets", state="up") == 1
    await world.hands.move(INTERVAL_S)
    await stage.eventually(lambda: len(world.exporter.requests) == 2)
    world.end()
    world.witness.observer.lead_ended("another has the lease")
    world.exporter.release()
    await world.hands.move(INTERVAL_S * 3)
    assert len(world.exporter.requests) == 2
    assert world.values() == [{"util": 1}]
    assert world.witness.said("scrape_failed") == []
    assert world.witness.value("cwgpu_targets", state="unscraped") == 1


async def test_who_stood_still_sends_nothing(world: World) -> None:
    """A visit asks whether it may, even if nobody has said yet that the lead has ended."""
    world.intake.follow(plan(job(world.exporter.address)))
    await world.intake.discover()
    await world.scraped(1)
    world.leads.clear()
    await world.hands.move(INTERVAL_S * 3)
    assert len(world.exporter.requests) == 1


async def test_who_stood_still_reports_no_failures(world: World) -> None:
    """The scrape that was under way came to nothing because nobody was there to take it."""
    world.exporter.answer(Answer(delay_s=math.inf, reset=True))
    world.intake.follow(plan(job(world.exporter.address)))
    await world.intake.discover()
    await stage.eventually(lambda: world.exporter.requests)
    world.leads.clear()
    world.exporter.release()
    await stage.eventually(lambda: world.hands.naps)
    assert world.witness.said("scrape_failed") == []


@pytest.mark.parametrize(
    ("anew", "expected"), [(True, {"util": 4}), (False, {"util": 4, "energy": 3})]
)
async def test_counters_begin_anew_if_others_may_have_led(
    world: World,
    anew: bool,  # noqa: FBT001 - a column of the table
    expected: dict[str, float],
) -> None:
    """Else their increase would be sent twice; if nobody did, it is not lost either."""
    world.intake.follow(plan(job(world.exporter.address)))
    await world.intake.discover()
    await world.scraped(1)
    world.end()
    await world.hands.move(1)
    world.lead(anew=anew)
    await world.scraped(2)
    assert world.values() == [{"util": 1}, expected]


async def test_a_large_page_is_forgotten_when_the_lead_ends(world: World) -> None:
    """Its thread goes on reading; what it makes of the page is nobody's."""
    reading, over = threading.Event(), threading.Event()

    def slow(name: str) -> bool:
        reading.set()
        return over.wait(20) and name == "util"

    declaration = replace(kitchen.declared(), selects=slow)
    held = replace(plan(job(world.exporter.address)), emf=kitchen.plan(declaration).emf)
    world.exporter.answer(page(7) + b"# padding\n" * 200_000, page(9))
    world.intake.follow(held)
    await world.intake.discover()
    await stage.eventually(reading.is_set)
    world.end()
    over.set()
    await stage.eventually(lambda: not _reading())
    assert world.events == []
    world.lead(anew=False)
    await world.scraped(1)
    assert world.values() == [{"util": 9}]


def _reading() -> bool:
    """Tell whether a page is read beside the loop."""
    return any(one.name == "aside" for one in threading.enumerate())
