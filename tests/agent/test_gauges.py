"""Gauges about GPUs, made of real scrapes by a moved clock."""

from dataclasses import replace

import pytest

from cwgpu.plan.plan import Dcgm, Idle, Plan
from cwgpu.prom import relabel
from tests.agent import stage
from tests.agent.test_reports import Stored, World, job, plan, world

__all__ = ["world"]

FATAL, IDLE = "cwgpu_xid_fatal", "cwgpu_gpu_idle"
BOTH = Dcgm(xid_fatal=True, idle=Idle(5.0, 1.001))
"""The second scrape comes at the target's place in the interval, which follows from its port: after
a second at most, and the third after more than that."""


def page(utilisation: float, xid: int = 0, pod: str = "p") -> bytes:
    """Write what an exporter shows of one GPU."""
    row = f'gpu="0",UUID="GPU-1",hostname="n",pod="{pod}"'
    util = f"# TYPE DCGM_FI_DEV_GPU_UTIL gauge\nDCGM_FI_DEV_GPU_UTIL{{{row}}} {utilisation}\n"
    last = f'DCGM_FI_DEV_XID_ERRORS{{{row},err_code="{xid}",err_msg="words"}} {xid}\n'
    return f"{util}# TYPE DCGM_FI_DEV_XID_ERRORS gauge\n{last}".encode()


def with_gauges(found: Plan, dcgm: Dcgm = BOTH) -> Plan:
    """Give a plan that asks for them."""
    return replace(found, dcgm=dcgm)


async def begin(
    world: World, *, dcgm: Dcgm = BOTH, selects: str = "^cwgpu_", **of: object
) -> Stored:
    """Take up a plan, and give what its first scrape stored."""
    jobs = job(world.exporter.address, **{"report_series": False, **of})
    world.intake.follow(with_gauges(plan(jobs, selects=selects), dcgm))
    await world.intake.discover()
    return await world.scraped()


def values(stored: Stored) -> dict[str, float]:
    """Give the values of the two gauges, whose pod is that of the row."""
    assert {pod for _, pod in stored} <= {"p"}
    return {name: value for (name, _), value in stored.items()}


async def test_gauges_are_sent_with_the_labels_of_the_row(world: World) -> None:
    """The GPU's own: those of its target, those of its page, and none that come with an XID."""
    world.exporter.answer(page(50, 79))
    jobs = job(world.exporter.address, report_series=False)
    world.intake.follow(with_gauges(plan(jobs, selects="^cwgpu_")))
    await world.intake.discover()
    await stage.eventually(lambda: bool(world.events))
    (event,) = world.events
    for part in (b'"cwgpu_xid_fatal":1', b'"cwgpu_gpu_idle":0', b'"pod":"p"', b'"Hostname":"n"'):
        assert part in event.message
    assert b"err_" not in event.message
    assert b"exported_" not in event.message


async def test_a_gpu_becomes_idle_and_busy_again(world: World) -> None:
    """After the whole window, and from the first scrape on that finds it busy."""
    world.exporter.answer(*[page(0)] * 4, page(99))
    first = values(await begin(world))[IDLE]
    later = [values(await world.second())[IDLE] for _ in range(4)]
    assert [first, *later] == [0, 0, 1, 1, 0]


async def test_a_reload_keeps_the_time(world: World) -> None:
    """What is known of GPUs stays, unless another time is asked for."""
    world.exporter.answer(page(0))
    await begin(world)
    await world.second()
    same = with_gauges(plan(job(world.exporter.address, report_series=False), selects="^cwgpu_"))
    world.intake.follow(same)
    assert values(await world.second()) == {FATAL: 0, IDLE: 1}
    world.intake.follow(replace(same, dcgm=Dcgm(idle=Idle(5.0, 0.9))))
    assert values(await world.second()) == {IDLE: 0}
    assert values(await world.second()) == {IDLE: 1}
    world.intake.follow(replace(same, dcgm=Dcgm()))
    assert await world.second() == {}


async def test_gauges_stand_beside_reports(world: World) -> None:
    """Both are series of ours, and each is selected by itself; what is not is accounted for."""
    world.exporter.answer(page(1, 13))
    stored = await begin(world, report_series=True, selects="^(up|cwgpu_xid_fatal)$")
    assert stored == {("up", ""): 1, (FATAL, "p"): 0}
    assert world.witness.lost("unselected") == 2 + 4 + 1


async def test_rules_of_the_job_are_for_rows_and_not_for_gauges(world: World) -> None:
    """What they do to the labels of a row is done once."""
    rule = relabel.rule(
        source_labels=["pod"], regex="(.*)", target_label="pod", replacement="x-${1}"
    )
    world.exporter.answer(page(1, 79))
    stored = await begin(world, metric_relabel=(rule,), honor_labels=True)
    assert stored == {(FATAL, "x-p"): 1, (IDLE, "x-p"): 0}


@pytest.mark.parametrize("answer", [b"", b"<html>"])
async def test_without_rows_there_are_no_gauges(world: World, answer: bytes) -> None:
    """An empty page and a failure say nothing about GPUs."""
    world.exporter.answer(answer)
    assert await begin(world) == {}


async def test_a_target_that_is_gone_is_forgotten(world: World) -> None:
    """When it comes back, its GPUs begin anew."""
    world.exporter.answer(page(0))
    await begin(world)
    await world.second()
    there = with_gauges(plan(job(world.exporter.address, report_series=False), selects="^cwgpu_"))
    world.intake.follow(with_gauges(plan(job())))
    await world.intake.discover()
    await world.hands.move(1)
    world.stored()
    world.intake.follow(there)
    await world.intake.discover()
    await stage.eventually(lambda: bool(world.events))
    assert values(world.stored())[IDLE] == 0
