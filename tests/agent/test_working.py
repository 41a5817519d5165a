"""What becomes of a job's targets: once for each group, and of those the part that is ours."""

from dataclasses import replace

import pytest

from cwgpu.agent.working import Working
from cwgpu.digest.recipe import Recipe
from cwgpu.model.target import DroppedTarget, Target, TargetGroup
from cwgpu.plan.kubernetes import Shard
from cwgpu.plan.plan import Job
from cwgpu.prom import relabel, targeting
from tests.digest import kitchen

JOB = Job(
    "dcgm",
    60.0,
    10.0,
    relabel=(
        relabel.rule(source_labels=["drop"], regex="yes", action="drop"),
        relabel.rule(target_label="__address__", source_labels=["to"], regex="(.+)"),
    ),
)


def working(shard: Shard | None = None, job: Job = JOB) -> Working:
    """Set a job to work."""
    return Working(job, Recipe(kitchen.plan(), job), shard)


def group(source: str, *addresses: str, **labels: str) -> TargetGroup:
    """Make a group of these addresses."""
    return TargetGroup(source, tuple({"__address__": each} for each in addresses), labels)


NODES = group("nodes", *(f"10.0.0.{number}:9400" for number in range(40)), rack="7")


def instances(job: Working, *groups: TargetGroup) -> list[str]:
    """Name the targets that are kept."""
    return [each.labels["instance"] for kept, _ in job.found(groups) for each in kept]


def only(job: Working, group: TargetGroup) -> Target | DroppedTarget:
    """Give what becomes of the only target of the only group."""
    ((kept, lost),) = job.found([group])
    both: list[Target | DroppedTarget] = [*kept, *lost]
    (one,) = both
    return one


def test_what_has_not_changed_is_not_judged_again() -> None:
    """A group that is the same, or says the same, gives the targets that it gave before."""
    job = working()
    first = only(job, group("a", "10.0.0.1:9400"))
    again = only(job, group("a", "10.0.0.1:9400"))
    other = only(job, group("a", "10.0.0.2:9400"))
    assert again is first
    assert isinstance(other, Target)
    assert other.url == "http://10.0.0.2:9400/metrics"


def test_what_has_gone_is_forgotten() -> None:
    """A group that comes back is judged anew."""
    job = working()
    first = only(job, group("a", "10.0.0.1:9400"))
    assert list(job.found([])) == []
    again = only(job, group("a", "10.0.0.1:9400"))
    assert again == first
    assert again is not first


@pytest.mark.parametrize("count", [1, 2, 3, 7])
def test_every_target_is_of_one_shard(count: int) -> None:
    """All agents together have all targets, each has its own, and nobody has another's."""
    parts = [instances(working(Shard(count, index)), NODES) for index in range(count)]
    assert sorted(name for part in parts for name in part) == sorted(instances(working(), NODES))
    assert all(parts)


def test_shards_are_those_of_hashmod() -> None:
    """A rule at the end of relabel_configs would keep the same."""
    rules = (
        *JOB.relabel,
        relabel.rule(
            source_labels=["__address__"], action="hashmod", modulus=3, target_label="__tmp"
        ),
        relabel.rule(source_labels=["__tmp"], action="keep", regex="1"),
    )
    ruled = working(job=replace(JOB, relabel=rules))
    assert instances(working(Shard(3, 1)), NODES) == instances(ruled, NODES)


def test_another_part_is_judged_anew() -> None:
    """The groups are those that were known; a part that stays the same costs nothing."""
    job = working()
    for count in (2, 3):
        job.share(Shard(count, 1))
        assert instances(job, NODES) == instances(working(Shard(count, 1)), NODES)
    made = job.made
    job.share(Shard(3, 1))
    assert job.made is made
    job.share(None)
    assert instances(job, NODES) == instances(working(), NODES)


@pytest.mark.parametrize("count", [1, 3])
def test_who_comes_after_the_last_shard_has_no_part(count: int) -> None:
    """A pod that is there before the new count is in force, or after it."""
    assert instances(working(Shard(count, 3)), NODES) == []


def test_without_a_count_a_target_is_nobodys() -> None:
    """Until it is known how many shards there are."""
    dropped = only(working(Shard(0, 0)), group("a", "10.0.0.1:9400"))
    assert isinstance(dropped, DroppedTarget)
    assert dropped.reason == "nobody's yet: how many shards there are is not known"


def test_a_target_of_another_shard_is_seen_to_be() -> None:
    """It is dropped for that reason, with what discovery told; what a rule dropped stays so."""
    moved = group("a", "10.0.0.1:9400", to="10.0.0.9:9400")
    found, other = (only(working(Shard(2, index)), moved) for index in (0, 1))
    dropped = found if isinstance(found, DroppedTarget) else other
    assert isinstance(dropped, DroppedTarget)
    assert dropped.reason.startswith("another shard's: it is of shard ")
    assert not dropped.rejected
    assert dropped.discovered["__address__"] == "10.0.0.1:9400"
    assert dropped.discovered["to"] == "10.0.0.9:9400"
    assert dropped.discovered["job"] == "dcgm"
    ruled = only(working(Shard(2, 0)), group("a", "10.0.0.1:9400", drop="yes"))
    (same,) = targeting.targets(JOB, group("a", "10.0.0.1:9400", drop="yes"))
    assert ruled == same
