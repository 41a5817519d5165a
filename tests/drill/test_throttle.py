"""CloudWatch says that it is asked too often: it is asked less often, and nothing is lost."""

import asyncio
import time
from pathlib import Path

import pytest

from cwgpu.model.event import EmfEvent, StreamKey
from cwgpu.plan import plan
from cwgpu.sinks.access import Access
from cwgpu.sinks.cloudwatch import CloudWatchSink
from tests.drill import flow, swift
from tests.drill.flow import Counted
from tests.fakes import faults
from tests.fakes.cloudwatch import FakeCloudWatch

TIMES = 20
MINUTE_S = 60.0
FLUSHES = 3
MOST_CALLS = 25
"""In the first minute."""


def _streams(service: FakeCloudWatch, count: int) -> list[StreamKey]:
    """Give streams that are there."""
    keys = [StreamKey("/gpu/lab", f"node-{number}") for number in range(count)]
    for key in keys:
        service.add(key.group, key.stream)
    return keys


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("count", [1, 50])
def test_a_throttled_agent_asks_seldom(
    count: int, seed: int, service: FakeCloudWatch, tmp_path: Path
) -> None:
    """Twenty refusals are at most 25 calls in the first minute, however many streams wait."""
    keys = _streams(service, count)
    service.fail(faults.throttled(), action="PutLogEvents", times=TIMES)

    async def drill() -> list[float]:
        sink = Counted(CloudWatchSink(Access(endpoint_url=service.url)))
        rules = plan.Spool(f"{tmp_path / 'spool'}")
        async with flow.flowing(sink, rules, wall=time.time, seed=seed, flush_s=5.0) as agent:
            for number in range(FLUSHES):
                at_ms = agent.clock.wall_ms()
                agent.outflow.put([EmfEvent.of(key, at_ms, b"%d" % number, 1, 1) for key in keys])
                await asyncio.sleep(5.0)
            await agent.rests(3600.0)
            assert agent.lost() == 0
        return sink.at_s

    at_s = swift.run(drill())
    early = sum(each < at_s[0] + MINUTE_S for each in at_s)
    for key in keys:
        assert sorted(int(each.message) for each in service.events(key.group, key.stream)) == [
            *range(FLUSHES)
        ]
    assert early <= MOST_CALLS
