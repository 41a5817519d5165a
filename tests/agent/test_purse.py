"""The budget at work: what is counted, said and refused while targets are scraped."""

from dataclasses import replace

from cwgpu.plan.plan import Budget, Plan
from tests.agent.test_intake import A_TURN_S, INTERVAL_S, World, job, page, plan, world

__all__ = ["world"]  # a fixture


def limited(one: World, most: int | None, *, drops: bool = False) -> Plan:
    """A plan for two targets, both of which have a metric for one pod."""
    budget = None if most is None else Budget(most, drops)
    jobs = (job(one.exporter.address, name="a"), job(one.exporter.address, name="b"))
    return replace(plan(*jobs), budget=budget)


async def scraped(one: World, times: int) -> None:
    """Have each target scraped so often in all."""
    while one.scrapes() < 2 * times:
        before = one.scrapes()
        await one.hands.move(INTERVAL_S if before else 2 * A_TURN_S)
        await one.scraped(before + 2)


async def test_nothing_is_counted_without_a_budget(world: World) -> None:
    """The self metric is 0, and nothing is said."""
    world.intake.follow(limited(world, None))
    await world.intake.discover()
    await scraped(world, 2)
    assert world.witness.value("cwgpu_custom_metrics") == 0
    assert world.witness.said("budget_exceeded") == []


async def test_a_warning_is_said_once(world: World) -> None:
    """The count is that of all targets; beyond the budget all is sent, and the journal says so."""
    world.exporter.answer(page(1))
    world.intake.follow(limited(world, 3))
    await world.intake.discover()
    await scraped(world, 3)
    assert world.witness.value("cwgpu_custom_metrics") == 4
    assert world.witness.said("budget_exceeded") == [{"metrics": 4, "budget": 3}]
    assert world.witness.lost("over_budget") == 0


async def test_what_is_refused_is_counted_and_named(world: World) -> None:
    """What is there stays; the first metric without a place is in the journal, once."""
    world.exporter.answer(page(1))
    world.intake.follow(limited(world, 3, drops=True))
    await world.intake.discover()
    await scraped(world, 3)
    assert world.witness.value("cwgpu_custom_metrics") == 3
    (said,) = world.witness.said("budget_exceeded")
    assert (said["metrics"], said["budget"]) == (3, 3)
    assert "energy of ClusterName=lab, Namespace=gpu, Service=dcgm, job=" in str(said["refused"])
    assert world.witness.lost("over_budget") == 3
    assert world.witness.value("cwgpu_custom_metrics_refused") == 1


async def test_a_larger_budget_lets_in_what_was_refused(world: World) -> None:
    """After a reload the count goes on, and pages that have not changed are asked anew."""
    world.exporter.answer(page(1))
    world.intake.follow(limited(world, 3, drops=True))
    await world.intake.discover()
    await scraped(world, 1)
    world.intake.follow(limited(world, 4, drops=True))
    await world.intake.discover()
    await scraped(world, 2)
    assert world.witness.value("cwgpu_custom_metrics") == 4
    assert world.witness.lost("over_budget") == 1
