"""Looking for targets without scraping any."""

import asyncio
import json
import math
from pathlib import Path

import pytest

from cwgpu.agent import survey
from cwgpu.agent.survey import Sight
from cwgpu.discovery.http import HttpSource
from cwgpu.model.target import TargetGroup
from cwgpu.plan.plan import FileDiscovery, HttpDiscovery, Job
from tests.agent.stage import Hands
from tests.fakes.exporter import Answer, FakeExporter

WITHIN_S = 10.0
JSON = "application/json"


def job(name: str = "gpu", *discoveries: FileDiscovery | HttpDiscovery) -> Job:
    """Make a job with a static target and these discoveries."""
    static = TargetGroup("", ({"__address__": "10.0.0.1:9400"},), {})
    files = tuple(each for each in discoveries if isinstance(each, FileDiscovery))
    http = tuple(each for each in discoveries if isinstance(each, HttpDiscovery))
    return Job(name, 60.0, 10.0, static=(static,), files=files, http=http)


def addresses(sight: Sight) -> list[str]:
    """Name what is known."""
    return [each["__address__"] for group in sight.groups for each in group.targets]


def naming(*targets: str) -> Answer:
    """Make a discovery service's answer."""
    return Answer(body=json.dumps([{"targets": targets}]).encode(), content_type=JSON)


async def test_every_source_is_waited_for(tmp_path: Path) -> None:
    """Jobs in their order, each with what all its sources know, and with what is wrong."""
    gone = FileDiscovery((str(tmp_path / "gone.json"),), 60.0)
    async with FakeExporter(naming("10.0.0.2:9400"), path="/targets") as service:
        jobs = [job("a", HttpDiscovery(service.url, 60.0)), job("b", gone)]
        async with survey.surveying(jobs, Hands().clock) as looked:
            one, two = await looked.first(WITHIN_S)
    assert [one.job.name, two.job.name] == ["a", "b"]
    assert addresses(one) == ["10.0.0.1:9400", "10.0.0.2:9400"]
    assert (one.faults, one.silent, one.denied, one.notes) == ((), (), False, ())
    assert addresses(two) == ["10.0.0.1:9400"]
    (fault,) = two.faults
    assert "gone.json" in fault


async def test_nobody_is_waited_for_for_ever() -> None:
    """What is known is given, and who has not answered is named."""
    hands = Hands()
    async with FakeExporter(Answer(delay_s=math.inf), path="/targets") as service:
        jobs = [job("a", HttpDiscovery(service.url, 60.0))]
        async with survey.surveying(jobs, hands.clock) as looked:
            asked = asyncio.create_task(looked.first(WITHIN_S))
            await asyncio.to_thread(service.wait, lambda: service.requests)
            assert not asked.done()
            await hands.move(WITHIN_S)
            (sight,) = await asked
        service.release()
    assert addresses(sight) == ["10.0.0.1:9400"]
    assert sight.silent == ("http_sd_configs[0]",)


async def test_changes_are_seen(tmp_path: Path) -> None:
    """As soon as they are known; where there are none, when the time is over."""
    hands, path = Hands(), tmp_path / "targets.json"
    path.write_bytes(naming("10.0.0.2:9400").body)
    jobs = [job("a", FileDiscovery((str(path),), 60.0))]
    async with survey.surveying(jobs, hands.clock) as looked:
        first = await looked.first(WITHIN_S)
        same = asyncio.create_task(looked.next(1.0))
        await hands.move(1.0)
        assert await same == first
        path.write_bytes(naming("10.0.0.3:9400").body)
        news = asyncio.create_task(looked.next(3600.0))
        while not news.done():
            await hands.move(5.0)
            await asyncio.to_thread(lambda: None)
        (sight,) = await news
    assert addresses(sight) == ["10.0.0.1:9400", "10.0.0.3:9400"]


async def test_a_bug_is_no_empty_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    """What no source should raise ends the look."""

    async def broken(_: HttpSource) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(HttpSource, "read", broken)
    jobs = [job("a", HttpDiscovery("http://127.0.0.1:1", 60.0))]
    async with survey.surveying(jobs, Hands().clock) as looked:
        with pytest.raises(ExceptionGroup) as raised:
            await looked.first(WITHIN_S)
    assert raised.group_contains(ZeroDivisionError)
