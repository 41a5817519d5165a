"""Report series, target_limit and what is told of empty pages: real scrapes, by a moved clock."""

import json
from collections.abc import AsyncIterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from cwgpu.agent.intake import Intake
from cwgpu.digest.report import NAMES
from cwgpu.model.event import EmfEvent
from cwgpu.model.target import TargetGroup
from cwgpu.plan.plan import Job, Plan
from cwgpu.prom import relabel
from cwgpu.scrape.fetch import Fetcher
from tests.agent import stage
from tests.agent.stage import Hands, Witness
from tests.digest import kitchen
from tests.fakes.exporter import Answer, FakeExporter

DATA = Path(__file__).parents[1] / "data"
OVER_TIME: dict[str, dict[str, Any]] = json.loads((DATA / "staleness.json").read_text())["cases"]
"""What Prometheus stored of several scrapes, one a second, the last of them for ever."""
LIMITS = {"sample_limit_then_recovers": 3}
"""The jobs' sample_limit, which the file does not say."""
SECONDS = 7
DURATION = "scrape_duration_seconds"

Stored = dict[tuple[str, str], float]
"""The values that CloudWatch gets for a metric and a pod, which may be empty."""


def job(*addresses: str, **more: Any) -> Job:  # noqa: ANN401 - fields of Job
    """Make a job with these static targets that is scraped every second and reported."""
    groups = [TargetGroup("", ({"__address__": one},), {"Service": "dcgm"}) for one in addresses]
    basic = Job("dcgm", 1.0, 1.0, static=tuple(groups), report_series=True)
    return replace(basic, **more)


def plan(*jobs: Job, selects: str = ".") -> Plan:
    """Make a plan of these jobs, with the job for a dimension."""
    whole = kitchen.plan(kitchen.declared(selects, sets=kitchen.JOB), untyped_as_gauge=True)
    return replace(whole, jobs=jobs)


@dataclass
class World:
    """An intake, the exporter that it scrapes, and what it puts out."""

    intake: Intake
    exporter: FakeExporter
    witness: Witness
    hands: Hands
    events: list[EmfEvent] = field(default_factory=list)
    scrapes: int = 0

    async def begin(self, *jobs: Job, selects: str = ".") -> Stored:
        """Take up a plan of these jobs; gives what the first scrape stored."""
        self.intake.follow(plan(*jobs, selects=selects))
        await self.intake.discover()
        return await self.scraped()

    async def second(self) -> Stored:
        """Let a second go by, and give what its scrape stored."""
        await self.hands.move(1)
        return await self.scraped()

    async def scraped(self) -> Stored:
        """Wait for the scrape under way, and give what it stored."""
        self.scrapes += 1
        seen = self.witness.summary.seen
        await stage.eventually(lambda: [one.scrapes for one in seen.values()] == [self.scrapes])
        return self.stored()

    def stored(self) -> Stored:
        """Give what was stored since the last time."""
        messages = [json.loads(event.message) for event in self.events]
        self.events.clear()
        return {
            (metric["Name"], message.get("pod", "")): message[metric["Name"]]
            for message in messages
            for directive in message["_aws"]["CloudWatchMetrics"]
            for metric in directive["Metrics"]
        }


@pytest.fixture
async def world(caplog: pytest.LogCaptureFixture) -> AsyncIterator[World]:
    """Give an intake without a plan."""
    hands, witness = Hands(), Witness(caplog)
    events: list[EmfEvent] = []
    async with FakeExporter() as exporter, Fetcher(hands.read, hands.read) as fetcher:
        intake = Intake(fetcher, events.extend, witness.observer, hands.clock)
        yield World(intake, exporter, witness, hands, events)
        await intake.stop()


def answers(case: dict[str, Any]) -> list[Answer]:
    """Give the scrapes of a case as answers."""
    return [
        Answer(
            status=one["status"],
            body=one["body"].replace("@NOW@", str(stage.START_MS)).encode(),
        )
        for one in case["scrapes"]
    ]


def expected(case: dict[str, Any], second: float) -> Stored:
    """Give what Prometheus stored then; a marker, or NaN, is nothing to us."""
    found: Stored = {}
    for series, samples in case["samples"].items():
        name, _, labels = series.partition("{")
        pod = json.loads("{" + labels)["pod"] if labels else ""
        value = dict(map(tuple, samples)).get(second, "NaN")
        if value != "NaN":
            found[name, pod] = float(value)
    return found


@pytest.mark.parametrize("name", sorted(OVER_TIME.keys() - {"target_removed"}))
async def test_series_over_time_are_those_of_prometheus(world: World, name: str) -> None:
    """One that is gone sends nothing; the report series have the same values at each scrape."""
    case = OVER_TIME[name]
    world.exporter.answer(*answers(case))
    limit = LIMITS.get(name, 0)
    stored = await world.begin(job(world.exporter.address, strict=True, sample_limit=limit))
    for second in range(SECONDS):
        assert stored.pop((DURATION, "")) >= 0
        assert stored == expected(case, float(second))
        stored = await world.second()


async def test_a_target_that_is_gone_sends_nothing(world: World) -> None:
    """Prometheus writes markers for all of its series; there is no such thing here."""
    case = OVER_TIME["target_removed"]
    world.exporter.answer(*answers(case))
    await world.begin(job(world.exporter.address))
    stored = await world.second()
    del stored[DURATION, ""]
    assert stored == expected(case, 7.0)
    assert expected(case, 10.0) == {}
    world.intake.follow(plan(job()))
    await world.intake.discover()
    await world.hands.move(3)
    assert world.stored() == {}


async def test_reports_are_selected_like_other_series(world: World) -> None:
    """A selector takes one of them; what it leaves is accounted for."""
    world.exporter.answer(b"# TYPE util gauge\nutil 5\n")
    stored = await world.begin(job(world.exporter.address), selects="^(up|util)$")
    assert stored == {("up", ""): 1, ("util", ""): 5}
    assert world.witness.lost("unselected") == 4
    assert world.witness.value("cwgpu_samples_read_total") == 6
    assert (world.witness.summary.samples, world.witness.summary.selected) == (6, 2)


async def test_without_report_series_there_are_none(world: World) -> None:
    """They are off unless the job asks for them, as in the CloudWatch agent."""
    world.exporter.answer(b"util 5\n")
    stored = await world.begin(job(world.exporter.address, report_series=False))
    assert stored == {("util", ""): 5}


async def test_rules_and_limits_of_the_job_are_not_for_its_reports(world: World) -> None:
    """They are neither relabelled nor counted, and their labels are the target's all the same."""
    drop = relabel.rule(action="drop", source_labels=["__name__"], regex="up|scrape_.*")
    world.exporter.answer(b"util 5\n")
    stored = await world.begin(
        job(
            world.exporter.address,
            metric_relabel=(drop,),
            honor_labels=True,
            sample_limit=1,
            label_limit=4,
            label_value_length_limit=15,
        )
    )
    assert {name for name, _ in stored} == {"util", *NAMES}
    assert stored["up", ""] == 1


async def test_a_page_that_has_up_itself_is_believed(world: World) -> None:
    """Its value is sent in place of ours, as Prometheus keeps the first of two; others are ours."""
    world.exporter.answer(b'up 5\nscrape_samples_scraped{pod="p"} 7\n')
    stored = await world.begin(job(world.exporter.address))
    assert stored["up", ""] == 5
    assert stored["scrape_samples_scraped", "p"] == 7
    assert stored["scrape_samples_scraped", ""] == 2


async def test_a_refused_page_counts_what_it_had(world: World) -> None:
    """``up`` is 0, and the counts say how far Prometheus would have come."""
    world.exporter.answer(b"a 1\nb 2\nbad\nc 3\n")
    stored = await world.begin(job(world.exporter.address, strict=True))
    del stored[DURATION, ""]
    assert stored == {
        ("up", ""): 0,
        ("scrape_samples_scraped", ""): 2,
        ("scrape_samples_post_metric_relabeling", ""): 2,
        ("scrape_series_added", ""): 2,
    }


async def test_a_reload_may_end_reports(world: World) -> None:
    """From the next scrape on there are none; a later reload brings them back."""
    world.exporter.answer(b"util 5\n")
    await world.begin(job(world.exporter.address))
    world.intake.follow(plan(job(world.exporter.address, report_series=False)))
    assert await world.second() == {("util", ""): 5}
    world.intake.follow(plan(job(world.exporter.address)))
    assert ("up", "") in await world.second()


async def test_more_targets_than_the_job_may_have(world: World) -> None:
    """None of them is asked, each of them is down, and the journal hears of it once for the job."""
    addresses = [world.exporter.address, "127.0.0.1:1"]
    world.intake.follow(plan(job(*addresses, addresses[0], target_limit=1), selects="^up$"))
    await world.intake.discover()
    await stage.eventually(lambda: world.witness.summary.down == 1)
    await world.hands.move(1)
    assert world.exporter.requests == []
    assert set(world.stored().values()) == {0}
    said = world.witness.said("scrape_failed")[0]
    assert (said["job"], said["reason"]) == ("dcgm", "target_limit")
    assert "target" not in said
    assert "has 2 targets and target_limit is 1" in str(said["detail"])
    world.intake.follow(plan(job(*addresses, target_limit=2)))
    world.exporter.answer(b"util 5\n")
    await world.hands.move(1)
    await stage.eventually(lambda: world.witness.summary.up == 1)


async def test_equal_targets_count_once(world: World) -> None:
    """Twice the same address is one target, which the limit allows."""
    address = world.exporter.address
    world.exporter.answer(b"util 5\n")
    stored = await world.begin(job(address, address, target_limit=1))
    assert stored["up", ""] == 1


async def test_dropped_targets_are_remembered_up_to_a_bound(world: World) -> None:
    """All of them are counted, in the metrics, the journal and the summary."""
    drop = relabel.rule(action="drop", source_labels=["Service"], regex="dcgm")
    addresses = [f"127.0.0.1:{port}" for port in range(1, 6)]
    few = job(*addresses, relabel=(drop,), keep_dropped_targets=2)
    all_of_them = job(":1", *addresses, name="other", relabel=(drop,))
    world.intake.follow(plan(few, all_of_them))
    await world.intake.discover()
    assert len(world.witness.summary.dropped_targets) == 2 + 6
    assert "11 more discovered and dropped" in world.witness.summary.render()
    assert "3 more, which keep_dropped_targets leaves out" in world.witness.summary.render()
    assert world.witness.value("cwgpu_targets", job="dcgm", state="dropped") == 5
    assert world.witness.said("targets_changed")[0]["dropped"] == 11


async def test_an_empty_page_is_told_when_it_becomes_so(world: World) -> None:
    """It is a good scrape without samples; the journal has it once, until it was filled again."""
    full, empty = Answer(body=b"util 5\n"), Answer(body=b"")
    world.exporter.answer(full, empty, empty, full, Answer(body=b"# nothing\n"), empty)
    await world.begin(job(world.exporter.address))
    told = [0, 1, 1, 1, 2, 2]
    for times in told:
        said = world.witness.said("page_empty")
        assert len(said) == times
        assert world.witness.summary.up == 1
        await world.second()
    assert said[0] == {"target": world.exporter.url, "job": "dcgm"}
    assert "up, but its page is empty" in world.witness.summary.render()
    assert "Does the exporter see a GPU?" in world.witness.summary.render()
