"""Exporters that give old numbers, scraped from a real server by a moved clock."""

import re
from dataclasses import replace

import pytest

from cwgpu.plan.plan import Dcgm
from tests.agent.test_intake import INTERVAL_S, World, job, plan, world
from tests.fakes.exporter import Answer

__all__ = ["world"]  # a fixture

ENERGY, UTIL = "DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION", "DCGM_FI_DEV_GPU_UTIL"
FROZEN, MOVES = "target_frozen", "target_moves"


def page(*energies: int, util: int = 5) -> bytes:
    """Write utilisation and, where it is given, the energy counter of some GPUs."""
    rows = [f'{ENERGY}{{UUID="GPU-{gpu}"}} {value}\n' for gpu, value in enumerate(energies)]
    head = f"# TYPE {ENERGY} counter\n" if rows else ""
    return f'# TYPE {UTIL} gauge\n{UTIL}{{UUID="GPU-0"}} {util}\n{head}{"".join(rows)}'.encode()


async def scrape(world: World, *answers: Answer | bytes, after: int = 3) -> None:
    """Have each of these answers scraped once, by a plan that is the same all the time."""
    begins = not world.scrapes()
    if begins:
        world.intake.follow(
            replace(plan(job(world.exporter.address)), dcgm=Dcgm(frozen_after=after))
        )
    for answer in answers:
        before = world.scrapes()
        world.exporter.answer(answer)
        if begins:
            await world.intake.discover()
            begins = False
        else:
            await world.hands.move(INTERVAL_S)
        await world.scraped(before + 1)


def said(world: World) -> tuple[int, int]:
    """Count what was said of it: that it began, and that it is over."""
    return len(world.witness.said(FROZEN)), len(world.witness.said(MOVES))


def frozen(world: World) -> float:
    """Give the self metric, which is not there while nothing is frozen."""
    page = world.witness.metrics.render()[0].decode()
    found = re.findall(r'(?m)^cwgpu_targets_frozen\{job="dcgm"\} (.+)$', page)
    return sum(map(float, found))


async def test_a_page_that_stands_still(world: World) -> None:
    """It is said once, with since when; everything is sent; and when it moves again."""
    await scrape(world, *[page(7)] * 2)
    assert (said(world), frozen(world)) == ((0, 0), 0)
    await scrape(world, *[page(7)] * 4)
    (told,) = world.witness.said(FROZEN)
    assert "nv-hostengine" in str(told.pop("advice"))
    assert told == {
        "target": world.exporter.url,
        "job": "dcgm",
        "scrapes": 3,
        "since": "2023-11-14T22:13:20Z",
    }
    assert frozen(world) == 1
    assert world.witness.summary.selected == 0  # no pod, no dimension set: said all the same
    await scrape(world, page(8))
    assert (said(world), frozen(world)) == ((1, 1), 0)
    assert world.witness.said(MOVES) == [{"target": world.exporter.url, "job": "dcgm"}]


async def test_gpus_that_stand_still_are_named(world: World) -> None:
    """Each when it does; it is over when all of them move."""
    pages = [page(step, min(step, 1), min(step, 2), util=step) for step in range(1, 6)]
    await scrape(world, *pages)
    assert [each["gpus"] for each in world.witness.said(FROZEN)] == [["GPU-1"], ["GPU-2"]]
    assert frozen(world) == 1
    await scrape(world, page(6, 9, 2, util=6))
    assert said(world) == (2, 0)
    await scrape(world, page(7, 10, 3, util=7))
    assert (said(world), frozen(world)) == ((2, 1), 0)


@pytest.mark.parametrize(
    "between",
    [Answer(status=500), Answer(body=b""), Answer(body=b"<html>")],
    ids=["fails", "empty", "html"],
)
async def test_scrapes_that_gave_nothing_say_nothing(world: World, between: Answer) -> None:
    """They neither count nor end what stands still, however many there are."""
    await scrape(world, page(7), *[between] * 4, page(7))
    assert said(world) == (0, 0)
    await scrape(world, between, page(7), between)
    assert (said(world), frozen(world)) == ((1, 0), 1)


async def test_nobody_looks_unless_told(world: World) -> None:
    """A page may be the same for ever."""
    await scrape(world, *[page(7)] * 5, after=0)
    assert said(world) == (0, 0)


async def test_a_reload_keeps_what_was_felt(world: World) -> None:
    """Another number of scrapes begins anew, and what is frozen is so until it is felt again."""
    await scrape(world, *[page(7)] * 2)
    same = replace(plan(job(world.exporter.address)), dcgm=Dcgm(frozen_after=3))
    world.intake.follow(same)
    await world.intake.discover()
    await scrape(world, page(7))
    assert (said(world), frozen(world)) == ((1, 0), 1)
    world.intake.follow(replace(same, dcgm=Dcgm(frozen_after=2)))
    await world.intake.discover()
    assert frozen(world) == 0
    await scrape(world, *[page(7)] * 2)
    assert (said(world), frozen(world)) == ((2, 0), 1)


async def test_a_target_that_goes_is_frozen_no_more(world: World) -> None:
    """Nor is any while another agent scrapes."""
    await scrape(world, *[page(7)] * 3)
    assert frozen(world) == 1
    world.end()
    assert frozen(world) == 0
    world.lead(anew=False)
    await scrape(world, *[page(7)] * 2)
    assert frozen(world) == 1
    world.intake.follow(plan())
    await world.intake.discover()
    assert (said(world), frozen(world)) == ((2, 0), 0)
