"""The CloudWatch agent's recorded delivery cases, and what is the same or better here.

The sink is the real one, and CloudWatch Logs is on loopback; no wait between two tries takes time.
"""

import asyncio
import json
import math
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from cwgpu.agent.clock import Clock
from cwgpu.agent.outflow import Outflow
from cwgpu.agent.stock import Stock
from cwgpu.model.event import EmfEvent, StreamKey
from cwgpu.plan import plan
from cwgpu.sinks.access import Access
from cwgpu.sinks.cloudwatch import CloudWatchSink
from tests.agent import stage
from tests.agent.stage import A, B, Witness
from tests.fakes import faults
from tests.fakes.cloudwatch import FakeCloudWatch
from tests.fakes.refusal import Refusal
from tests.sinks.stage import serving

_DATA = Path(__file__).parents[1] / "data/agent-delivery.jsonl"
CASES = {row["id"][:3]: row for row in map(json.loads, _DATA.read_text("utf-8").splitlines())}

DAY_MS = 86_400_000
MISSING = Refusal("ResourceNotFoundException", "The specified log stream does not exist.")


def event(text: str = "{}", stream: StreamKey = A, *, after_ms: int = 0) -> EmfEvent:
    """Make an event of one sample, scraped so long after now."""
    return EmfEvent.of(stream, int(time.time() * 1000) + after_ms, text.encode(), 1, 1)


@dataclass
class World:
    """The delivering half of the agent, before a service that is not always well."""

    witness: Witness
    url: str
    retention_days: int | None = None
    outflows: list[Outflow] = field(default_factory=list)
    sinks: list[CloudWatchSink] = field(default_factory=list)

    def outflow(self, sleep: Callable[[float], Awaitable[None]]) -> Outflow:
        """Give it, with nothing to send yet."""
        sink = CloudWatchSink(Access(endpoint_url=self.url), retention_days=self.retention_days)
        clock = Clock(sleep=sleep)
        stock = Stock(None, plan.Spool(), self.witness.observer, clock)
        outflow = Outflow(
            sink, stock, self.witness.observer, clock, random=lambda: 0.5, flush_interval_s=5.0
        )
        self.outflows.append(outflow)
        self.sinks.append(sink)
        return outflow

    async def send(self, events: Iterable[EmfEvent]) -> None:
        """Have events sent to the end."""
        outflow = self.outflow(at_once)
        outflow.put(list(events))
        await outflow.flush()
        await outflow.finish(math.inf)

    async def close(self) -> None:
        """End what is under way."""
        for outflow in self.outflows:
            await outflow.finish(0)
        for sink in self.sinks:
            await sink.close()


async def at_once(seconds: float) -> None:
    """Sleep for no time at all."""
    del seconds
    await asyncio.sleep(0)


async def for_ever(seconds: float) -> None:
    """Sleep and do not come back."""
    del seconds
    await asyncio.get_running_loop().create_future()


@pytest.fixture
async def cloudwatch(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[FakeCloudWatch]:
    """Serve, and lead the SDK there."""
    async with FakeCloudWatch() as fake:
        for name in ("AWS_REGION", "AWS_PROFILE", "AWS_ROLE_ARN", "AWS_SESSION_TOKEN"):
            monkeypatch.delenv(name, raising=False)
        for name, value in fake.environ.items():
            monkeypatch.setenv(name, value)
        yield fake


@pytest.fixture
async def world(
    cloudwatch: FakeCloudWatch, caplog: pytest.LogCaptureFixture
) -> AsyncIterator[World]:
    """Lead to the fake."""
    made = World(Witness(caplog), cloudwatch.url)
    yield made
    await made.close()


def case(name: str) -> pytest.MarkDecorator:
    """Run a test for this row, which it gets."""
    return pytest.mark.parametrize("row", [CASES[name]], ids=[name])


def calls(cloudwatch: FakeCloudWatch) -> list[str]:
    """Give what was called, but for the question for the group's class."""
    return [action for action in cloudwatch.actions if action != "DescribeLogGroups"]


def texts(cloudwatch: FakeCloudWatch, stream: StreamKey = A) -> list[str]:
    """Give the messages that a stream holds."""
    return [one.message for one in cloudwatch.events(stream.group, stream.stream)]


def batches(cloudwatch: FakeCloudWatch) -> list[list[Any]]:
    """Give the events of each PutLogEvents."""
    bodies = [one.body for one in cloudwatch.calls if one.action == "PutLogEvents"]
    return [json.loads(body)["logEvents"] for body in bodies]


def test_no_case_is_forgotten() -> None:
    """Every recorded delivery case is the parameter of a test here."""
    text = Path(__file__).read_text("utf-8")
    assert [name for name in CASES if text.count(f'"{name}"') == 0] == []


@case("D01")
async def test_a_stream_that_is_missing(
    row: dict[str, Any], world: World, cloudwatch: FakeCloudWatch
) -> None:
    """Same: it is made, and the same batch is sent again."""
    cloudwatch.add(A.group, "another")
    await world.send([event("x")])
    assert calls(cloudwatch) == [step.partition(" ")[0] for step in row["expected"]]
    assert texts(cloudwatch) == ["x"]


@case("D02")
async def test_a_group_that_is_missing(
    row: dict[str, Any], world: World, cloudwatch: FakeCloudWatch
) -> None:
    """Same: stream, group and stream again, then the same batch."""
    await world.send([event("x")])
    assert calls(cloudwatch) == row["expected"]
    assert texts(cloudwatch) == ["x"]


@case("D03")
async def test_retention_of_a_group_that_we_make(
    row: dict[str, Any], world: World, cloudwatch: FakeCloudWatch
) -> None:
    """Better: it can be configured; the same calls, in an order in which a refusal stops less."""
    world.retention_days = 7
    await world.send([event("x")])
    assert sorted(calls(cloudwatch)) == sorted(row["expected"])
    assert cloudwatch.groups[A.group].retention_days == 7
    assert texts(cloudwatch) == ["x"]


@case("D04")
async def test_missing_again_and_again(
    row: dict[str, Any], world: World, cloudwatch: FakeCloudWatch
) -> None:
    """Better: after as many answers as make the agent lose the batch, it is delivered."""
    assert row["expected"][-1] == "batch lost"
    cloudwatch.add(A.group, "another")
    cloudwatch.fail(MISSING, action="PutLogEvents", times=row["expected"].count("PutLogEvents"))
    await world.send([event("x")])
    assert texts(cloudwatch) == ["x"]
    assert world.witness.said("samples_lost") == []


@case("D05")
async def test_throttling(row: dict[str, Any], world: World, cloudwatch: FakeCloudWatch) -> None:
    """Better: kept and retried, once stored."""
    assert row["expected"][0] == "PutLogEvents"
    cloudwatch.add(A.group, A.stream)
    cloudwatch.fail(faults.throttled(), action="PutLogEvents", times=3)
    await world.send([event("x")])
    assert calls(cloudwatch) == ["PutLogEvents"] * 4
    assert texts(cloudwatch) == ["x"]


@pytest.mark.parametrize(
    "refusal",
    [
        faults.server_error(503),
        Refusal("OperationAbortedException", "Multiple requests conflict."),
        Refusal("InvalidParameterException", "Log event is invalid."),
    ],
    ids=lambda refusal: refusal.code,
)
@case("D06")
async def test_an_error_that_passes(
    row: dict[str, Any], refusal: Refusal, world: World, cloudwatch: FakeCloudWatch
) -> None:
    """Better: the agent loses the batch; here it is sent again, or in halves if it was refused."""
    assert row["expected"] == ["PutLogEvents", "batch lost"]
    cloudwatch.add(A.group, A.stream)
    cloudwatch.fail(refusal, action="PutLogEvents")
    await world.send([event("x"), event("y", after_ms=1)])
    assert texts(cloudwatch) == ["x", "y"]
    assert world.witness.said("samples_lost") == []


@case("D07")
async def test_an_answer_without_a_sequence_token(row: dict[str, Any], world: World) -> None:
    """Better: it is a success as any other, so the batch is sent once and not three times."""
    assert len(row["expected"]) == 3
    async with serving({"/": "{}"}) as (url, came):
        world.url = url
        await world.send([event("x")])
    assert len([one for one in came if one.headers["X-Amz-Target"].endswith("PutLogEvents")]) == 1


@case("D08")
async def test_as_many_events_as_a_batch_may_hold(
    row: dict[str, Any], world: World, cloudwatch: FakeCloudWatch
) -> None:
    """Same as the newer agent: the service's own limits, 10,000 events and 1 MiB."""
    cloudwatch.add(A.group, A.stream)
    await world.send(event("x") for _ in range(10_001))
    expected = [one["events"] for one in row["expected"]["newer_fork_350de91"]]
    assert [len(each) for each in batches(cloudwatch)] == expected


@case("D10")
async def test_a_large_event(row: dict[str, Any], world: World, cloudwatch: FakeCloudWatch) -> None:
    """Same as the newer agent: up to 1 MiB an event is sent whole, and is JSON."""
    assert row["expected"]["newer_fork_350de91"].startswith("sent whole")
    text = json.dumps({"x": "y" * 307_199})
    assert len(text) == 307_208
    cloudwatch.add(A.group, A.stream)
    await world.send([event(text)])
    assert texts(cloudwatch) == [text]


@pytest.mark.parametrize(
    ("row", "after_ms", "reason"),
    [(CASES["D11"], -15 * DAY_MS, "too_old"), (CASES["D12"], DAY_MS // 8, "too_new")],
    ids=["D11", "D12"],
)
async def test_a_time_that_cloudwatch_does_not_take(
    row: dict[str, Any], after_ms: int, reason: str, world: World, cloudwatch: FakeCloudWatch
) -> None:
    """Better: only that event is lost, and counted; the rest of the flush is sent."""
    assert row["title"].startswith("Event ")
    cloudwatch.add(A.group, A.stream)
    await world.send([event("odd", after_ms=after_ms), event("x"), event("y", B)])
    assert texts(cloudwatch) == ["x"]
    assert texts(cloudwatch, B) == ["y"]
    assert world.witness.lost(reason) == 1


@case("D14")
async def test_the_order_of_events(
    row: dict[str, Any], world: World, cloudwatch: FakeCloudWatch
) -> None:
    """Same: by time, and those of one time as they came."""
    cloudwatch.add(A.group, A.stream)
    now = time.time_ns() // 1_000_000

    def at(number: int, text: str) -> EmfEvent:
        return EmfEvent.of(A, now + number, text.encode(), 1, 1)

    await world.send([at(30, "30"), at(10, "10"), at(20, "first"), at(20, "second")])
    (batch,) = batches(cloudwatch)
    assert sorted({one["timestamp"] - now for one in batch}) == row["expected"]
    assert [one["message"] for one in batch] == ["10", "first", "second", "30"]


@case("D15")
async def test_a_stream_that_fails(
    row: dict[str, Any], world: World, cloudwatch: FakeCloudWatch
) -> None:
    """Better: the other stream does not wait, not even while the first waits for its next try."""
    assert row["expected"][0] == "A's batch lost"
    for stream in (A, B):
        cloudwatch.add(stream.group, stream.stream)
    cloudwatch.fail(faults.throttled(), action="PutLogEvents")
    outflow = world.outflow(for_ever)
    await _put(outflow, [event("x", A)])
    await stage.eventually(lambda: world.witness.said("delivery_retried"))
    await _put(outflow, [event("y", B)])
    await stage.eventually(lambda: texts(cloudwatch, B))
    assert texts(cloudwatch, A) == []


async def _put(outflow: Outflow, events: Sequence[EmfEvent]) -> None:
    outflow.put(events)
    await outflow.flush()
