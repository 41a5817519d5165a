"""Targets that tell of the same GPUs, scraped from real servers by a moved clock."""

from collections.abc import AsyncIterator
from dataclasses import replace

import pytest

from cwgpu.agent.chorus import Chorus
from cwgpu.model.reading import Reading
from cwgpu.model.target import Target
from cwgpu.plan.plan import Dcgm, Plan, Prefer
from tests.agent.stage import Witness
from tests.agent.test_intake import A_TURN_S, INTERVAL_S, World, job, plan, world
from tests.fakes.exporter import Answer, FakeExporter

__all__ = ["world"]  # a fixture

UTIL, PROF = "DCGM_FI_DEV_GPU_UTIL", "DCGM_FI_PROF_DRAM_ACTIVE"
TWICE, ONCE = "gpus_told_twice", "gpus_told_once"
A_FIRST = Prefer(("a",))


def page(*names: str, gpus: str = "01") -> bytes:
    """Write these metrics of some GPUs that a pod has."""
    return "".join(
        f'# TYPE {name} gauge\n{name}{{gpu="{gpu}",UUID="GPU-{gpu}",pod="p"}} 5\n'
        for name in names
        for gpu in gpus
    ).encode()


@pytest.fixture
async def other() -> AsyncIterator[FakeExporter]:
    """Give a second exporter of the same node."""
    async with FakeExporter(page(UTIL, PROF)) as exporter:
        yield exporter


def both(world: World, other: FakeExporter, prefer: Prefer | None = None) -> Plan:
    """A plan that finds both, by two jobs."""
    jobs = job(world.exporter.address, name="a"), job(other.address, name="b")
    return replace(plan(*jobs), dcgm=Dcgm(prefer=prefer or Prefer()))


async def begin(world: World, other: FakeExporter, prefer: Prefer | None = None) -> None:
    """Scrape both once."""
    world.exporter.answer(page(UTIL))
    world.intake.follow(both(world, other, prefer))
    await world.intake.discover()
    await scrape(world, 2)


async def scrape(world: World, count: int = 2, step_s: float = 2 * A_TURN_S) -> None:
    """Have so many more scrapes."""
    before = world.scrapes()
    await world.hands.move(step_s)
    await world.scraped(before + count)


async def again(world: World, times: int = 1) -> None:
    """Have both scraped again."""
    for _ in range(times):
        await scrape(world, step_s=INTERVAL_S)


def said(world: World, other: FakeExporter) -> dict[str, str]:
    """Give the names of both, as the journal has them."""
    first, second = world.exporter.url, other.url
    return {"target": first, "job": "a", "other": second, "other_job": "b"}


async def test_two_targets_are_named_once(world: World, other: FakeExporter) -> None:
    """Both with their jobs, the number of GPUs, and what to do; everything is sent."""
    await begin(world, other)
    await again(world, 2)
    (warning,) = world.witness.said(TWICE)
    advice = str(warning.pop("advice"))
    assert warning == {**said(world, other), "gpus": 2}
    assert "cwgpu.dcgm.prefer" in advice
    assert world.witness.value("cwgpu_gpus_told_twice") == 2
    assert world.witness.lost("less_preferred") == 0


async def test_a_target_that_goes_is_told_of(world: World, other: FakeExporter) -> None:
    """With one of them the doubling is over; when it comes again, it is said again."""
    await begin(world, other)
    world.intake.follow(plan(job(world.exporter.address, name="a")))
    await world.intake.discover()
    assert world.witness.said(ONCE) == [said(world, other)]
    assert world.witness.value("cwgpu_gpus_told_twice") == 0
    world.intake.follow(both(world, other))
    await world.intake.discover()
    await again(world)
    assert len(world.witness.said(TWICE)) == 2


async def test_the_preferred_one_is_heard(world: World, other: FakeExporter) -> None:
    """What both tell is taken of it alone, once it has been scraped; the rest stays."""
    await begin(world, other, A_FIRST)
    await again(world)
    before = world.witness.lost("less_preferred")
    await again(world)
    assert world.witness.lost("less_preferred") - before == 2
    assert world.witness.value("cwgpu_gpus_told_twice") == 0
    (told,) = world.witness.said(TWICE)
    assert told == {
        **said(world, other),
        "gpus": 2,
        "advice": "what both tell is taken of job a alone: it is preferred",
    }
    lost = world.witness.summary.lost
    assert [list(lost[reason].names) for reason in lost if reason.value == "less_preferred"] == [
        [UTIL]
    ]


@pytest.mark.parametrize("answer", [Answer(status=500), Answer(body=b"")], ids=["fails", "empty"])
async def test_one_that_dies_hands_over(world: World, other: FakeExporter, answer: Answer) -> None:
    """After three scrapes that gave nothing; when it is back, its word counts again."""
    await begin(world, other, A_FIRST)
    await again(world)
    world.exporter.answer(answer)
    await again(world, 2)
    before = world.witness.lost("less_preferred")
    await again(world)  # the third; whoever is first
    await again(world, 2)
    assert world.witness.lost("less_preferred") - before <= 2
    assert world.witness.said(ONCE) == [said(world, other)]
    world.exporter.answer(page(UTIL))
    await again(world, 2)
    assert len(world.witness.said(TWICE)) == 2
    before = world.witness.lost("less_preferred")
    await again(world)
    assert world.witness.lost("less_preferred") - before == 2


async def test_a_scrape_that_fails_hands_nothing_over(world: World, other: FakeExporter) -> None:
    """Two may be lost to a restart."""
    await begin(world, other, A_FIRST)
    await again(world)
    for answer in (Answer(status=500), page(UTIL), Answer(status=500)):
        world.exporter.answer(answer)
        before = world.witness.lost("less_preferred")
        await again(world, 2)
        assert world.witness.lost("less_preferred") - before == 4
    assert world.witness.said(ONCE) == []


async def test_a_reload_keeps_who_is_heard(world: World, other: FakeExporter) -> None:
    """Nothing is doubled by it; another order is obeyed at once, and said."""
    await begin(world, other, A_FIRST)
    await again(world)
    before = world.witness.lost("less_preferred")
    world.intake.follow(both(world, other, A_FIRST))
    await world.intake.discover()
    await again(world)
    assert world.witness.lost("less_preferred") - before == 2
    assert len(world.witness.said(TWICE)) == 1
    world.intake.follow(both(world, other))
    await world.intake.discover()
    await again(world)
    assert world.witness.value("cwgpu_gpus_told_twice") == 2
    assert len(world.witness.said(TWICE)) == 2


async def test_who_leads_no_more_knows_nothing(world: World, other: FakeExporter) -> None:
    """What is told while another scrapes is not known; afterwards it is found out anew."""
    await begin(world, other)
    world.end()
    assert world.witness.value("cwgpu_gpus_told_twice") == 0
    world.lead(anew=False)
    await again(world)
    assert world.witness.value("cwgpu_gpus_told_twice") == 2
    assert world.witness.said(ONCE) == []


def test_ten_pairs_are_named(caplog: pytest.LogCaptureFixture) -> None:
    """A fleet with two exporters on each node makes no flood; the self metric counts all."""
    witness = Witness(caplog)
    chorus = Chorus(witness.observer)
    for number in range(24):
        target = Target("a", f"http://{number}", {}, 60.0, 10.0)
        chorus.voice(target)
        told = {(f"GPU-{number // 2}", ""): frozenset((UTIL,))}
        chorus.heard(target, Reading((), 1, 1, (), (), told=told))
    assert len(witness.said(TWICE)) == 10
    assert witness.value("cwgpu_gpus_told_twice") == 12
    chorus.keep(())
    assert len(witness.said(ONCE)) == 10
