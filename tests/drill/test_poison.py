"""One event that CloudWatch refuses costs itself and a few calls, not the batch around it."""

import asyncio
import math
import time
from pathlib import Path

import pytest

from cwgpu.logs import parcel
from cwgpu.model.event import EmfEvent, StreamKey
from cwgpu.plan import plan
from cwgpu.plan.plan import SpoolMode
from cwgpu.sinks.access import Access
from cwgpu.sinks.cloudwatch import CloudWatchSink
from cwgpu.spool import batch
from tests.drill import flow, swift
from tests.drill.flow import Counted
from tests.fakes.cloudwatch import FakeCloudWatch

KEY = StreamKey("/gpu/lab", "node-1")
COUNT = 10_000
POISON = b""
"""A log event has at least one character."""


@pytest.mark.parametrize(
    ("place", "mode"),
    [
        (0, SpoolMode.ALWAYS),
        (6_174, SpoolMode.ALWAYS),
        (9_999, SpoolMode.ALWAYS),
        (6_174, SpoolMode.ON_FAILURE),
        (6_174, SpoolMode.OFF),
    ],
)
def test_a_bad_event_costs_itself(
    place: int, mode: SpoolMode, service: FakeCloudWatch, tmp_path: Path
) -> None:
    """It is found with two calls for each time that the batch can be halved, and people get it."""
    service.add(KEY.group, KEY.stream)
    at_ms = round(time.time() * 1000)
    events = [EmfEvent.of(KEY, at_ms, b"%d" % number, 1, 1) for number in range(COUNT)]
    events[place] = EmfEvent.of(KEY, at_ms, POISON, 1, 1)
    spool = None if mode is SpoolMode.OFF else tmp_path / "spool"

    async def drill() -> None:
        sink = Counted(CloudWatchSink(Access(endpoint_url=service.url)))
        rules = plan.Spool(f"{spool}" if spool else None, mode)
        async with flow.flowing(sink, rules, wall=time.time) as agent:
            agent.outflow.put(events)
            await asyncio.sleep(1.0)
            await agent.rests(60.0)
            assert (agent.lost("rejected"), agent.lost()) == (1, 1)

    swift.run(drill())
    calls = service.actions.count("PutLogEvents")
    assert calls <= 1 + 2 * math.log2(COUNT)
    stored = [int(event.message) for event in service.events(KEY.group, KEY.stream)]
    assert stored == [number for number in range(COUNT) if number != place]
    if spool:
        (kept,) = (spool / "quarantine").glob("*.batch")
        (found,) = parcel.unpack(batch.decode(kept.read_bytes())).events
        assert found.message == POISON
