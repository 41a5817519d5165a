"""Delivery to a CloudWatch Logs that has its bad days: nothing is lost, and twice is counted."""

import asyncio
import json
import time
from collections import Counter
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from cwgpu.agent.clock import Clock
from cwgpu.agent.outflow import Outflow
from cwgpu.agent.stock import Stock
from cwgpu.model.event import EmfEvent, StreamKey
from cwgpu.plan import plan
from cwgpu.sinks.access import Access
from cwgpu.sinks.cloudwatch import CloudWatchSink
from cwgpu.spool.directory import Spool
from tests.agent import stage
from tests.agent.stage import A, B, Witness
from tests.fakes import faults
from tests.fakes.cloudwatch import FakeCloudWatch
from tests.fakes.faults import Fault

EVENTS = 20


@dataclass
class World:
    """An outflow through the real sink to a real server; no wait between tries takes time."""

    cloudwatch: FakeCloudWatch
    outflow: Outflow
    witness: Witness

    def put(self, number: int, stream: StreamKey = A) -> None:
        """Put an event with one datapoint."""
        at_ms = int(time.time() * 1000)
        directive = {"Namespace": "GPU", "Dimensions": [["pod"]], "Metrics": [{"Name": "util"}]}
        aws = {"Timestamp": at_ms, "CloudWatchMetrics": [directive]}
        message = json.dumps({"_aws": aws, "pod": stream.stream, "util": number}).encode()
        self.outflow.put([EmfEvent.of(stream, at_ms, message, 1, 1)])

    async def delivered(self, events: int) -> None:
        """Wait until so many are said to be delivered."""
        name = "cwgpu_delivered_events_total"
        await stage.eventually(lambda: self.witness.value(name) >= events)

    def values(self, stream: StreamKey = A) -> Counter[float]:
        """Count the datapoints of each value."""
        pod = ("pod", stream.stream)
        return Counter(
            point.value for point in self.cloudwatch.datapoints if pod in point.dimensions
        )


class Impatient:
    """A clock by which every sleep is over at once, and has taken its time all the same."""

    def __init__(self) -> None:
        self._slept_s = 0.0
        self.clock = Clock(monotonic=self.read, sleep=self.sleep)

    def read(self) -> float:
        """Give the time."""
        return time.monotonic() + self._slept_s

    async def sleep(self, seconds: float) -> None:
        """Say that it is later."""
        self._slept_s += seconds
        await asyncio.sleep(0)


@pytest.fixture
async def world(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> AsyncIterator[World]:
    """Connect all of them, with a real spool; the streams are not there yet."""
    async with FakeCloudWatch() as cloudwatch:
        for name in ("AWS_REGION", "AWS_PROFILE", "AWS_ROLE_ARN", "AWS_SESSION_TOKEN"):
            monkeypatch.delenv(name, raising=False)
        for name, value in cloudwatch.environ.items():
            monkeypatch.setenv(name, value)
        witness = Witness(caplog)
        sink = CloudWatchSink(Access(endpoint_url=cloudwatch.url))
        spool = Spool(tmp_path / "spool", "0a1b2c3d")
        spool.open()
        clock = Impatient().clock
        stock = Stock(spool, plan.Spool(str(tmp_path / "spool")), witness.observer, clock)
        outflow = Outflow(
            sink,
            stock,
            witness.observer,
            clock,
            random=lambda: 0.5,
            flush_interval_s=5.0,
        )
        yield World(cloudwatch, outflow, witness)
        await outflow.finish(0)
        await stock.close()
        await sink.close()


@pytest.mark.parametrize(
    ("fault", "action"),
    [
        (faults.throttled(), "PutLogEvents"),
        (faults.throttled(retry_after_ms=1500), "PutLogEvents"),
        (faults.server_error(), "PutLogEvents"),
        (faults.server_error(503), "CreateLogGroup"),
        (faults.Reset(), "PutLogEvents"),
        (faults.Reset(), "CreateLogStream"),
        (faults.expired_token(), "PutLogEvents"),
        (faults.access_denied(), "PutLogEvents"),
        (faults.access_denied(), "CreateLogStream"),
        (faults.GroupDeleted(), "PutLogEvents"),
    ],
    ids=str,
)
async def test_trouble_that_passes(world: World, fault: Fault, action: str) -> None:
    """Every datapoint is there once, whatever went wrong before, and in whichever call."""
    world.cloudwatch.fail(fault, action=action, times=3)
    for number in range(EVENTS):
        world.put(number)
        await world.outflow.flush()
    await world.delivered(EVENTS)
    assert world.values() == Counter(range(EVENTS))
    assert world.cloudwatch.emf_errors == []
    assert world.witness.said("samples_lost") == []


async def test_an_answer_that_gets_lost_counts_twice(world: World) -> None:
    """The service cannot tell the second from the first; what can be said is that it happened."""
    world.cloudwatch.add(A.group, A.stream)
    world.cloudwatch.fail(faults.AcceptThenDrop(), action="PutLogEvents")
    world.put(1)
    await world.outflow.flush()
    await world.delivered(1)
    world.put(2)
    await world.outflow.flush()
    await world.delivered(2)
    assert world.values() == Counter({1: 2, 2: 1})
    assert world.witness.value("cwgpu_ambiguous_batches_total") == 1


async def test_a_stream_in_trouble_stops_no_other(world: World) -> None:
    """While one is refused for good, the other has all its datapoints."""
    world.cloudwatch.add(B.group, B.stream)
    world.cloudwatch.fail(faults.access_denied(), action="CreateLogStream", times=10_000)
    for number in range(EVENTS):
        world.put(number, A)
        world.put(number, B)
        await world.outflow.flush()
    await world.delivered(EVENTS)
    assert world.values(B) == Counter(range(EVENTS))
    assert world.values(A) == Counter()
    world.cloudwatch.heal()
    await world.delivered(2 * EVENTS)
    assert world.values(A) == Counter(range(EVENTS))


async def test_one_event_that_cannot_be_stored(world: World) -> None:
    """It alone is lost: an empty message, which the service refuses with its whole call."""
    for number in range(EVENTS):
        world.put(number)
    world.outflow.put([EmfEvent.of(A, int(time.time() * 1000), b"", 1, 1)])
    await world.outflow.flush()
    await world.delivered(EVENTS)
    await stage.eventually(lambda: world.witness.lost("rejected"))
    assert world.values() == Counter(range(EVENTS))


async def test_a_burst_is_cut_into_calls(world: World) -> None:
    """More than one call may hold, all at once: each datapoint is there, once."""
    many = 12_000
    for number in range(many):
        world.put(number)
    await world.outflow.flush()
    await world.delivered(many)
    assert world.values() == Counter(range(many))
    assert world.cloudwatch.actions.count("PutLogEvents") >= 3
