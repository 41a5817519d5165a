"""One job at work: what becomes of the targets that its sources know."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import TypeAlias

from cwgpu.digest.recipe import Recipe
from cwgpu.model.labels import Labels
from cwgpu.model.target import DroppedTarget, Target, TargetGroup
from cwgpu.pace import shard
from cwgpu.plan.kubernetes import Shard
from cwgpu.plan.plan import Job
from cwgpu.prom import targeting

Found: TypeAlias = tuple[tuple[Target, ...], tuple[DroppedTarget, ...]]
"""The targets that are wanted, and those that are not."""


@dataclass(slots=True)
class Working:
    """A job, and what is known of its targets."""

    job: Job
    recipe: Recipe
    shard: Shard | None = None
    """Which part of the targets is ours; None: all."""
    made: dict[str, tuple[TargetGroup, Found]] = field(default_factory=dict)
    """What became of each group, by its source: rules are run over what is new, and no more."""

    def share(self, shard: Shard | None) -> None:
        """Have another part of the targets from now on."""
        if shard != self.shard:
            self.shard = shard
            self.made = {}

    def found(self, groups: Iterable[TargetGroup]) -> Iterator[Found]:
        """Give what becomes of the targets of each of these groups, which are all there are."""
        known, self.made = self.made, {}
        for group in groups:
            former = known.get(group.source)
            if former is None or (former[0] is not group and former[0] != group):
                former = (group, _sorted(self._judged(group)))
            self.made[group.source] = former
            yield former[1]

    def _judged(self, group: TargetGroup) -> Iterator[Target | DroppedTarget]:
        judged = targeting.targets(self.job, group)
        if self.shard is None:
            return judged
        pairs = zip(judged, group.targets, strict=True)
        return (
            _apportioned(self.job, self.shard, one, {**group.labels, **own}) for one, own in pairs
        )


def _sorted(judged: Iterable[Target | DroppedTarget]) -> Found:
    kept: list[Target] = []
    lost: list[DroppedTarget] = []
    for one in judged:
        if isinstance(one, DroppedTarget):
            lost.append(one)
        else:
            kept.append(one)
    return tuple(kept), tuple(lost)


def _apportioned(
    job: Job, part: Shard, one: Target | DroppedTarget, labels: Labels
) -> Target | DroppedTarget:
    """Drop a target that another agent scrapes."""
    if isinstance(one, DroppedTarget):
        return one
    reason = elsewhere(part, one)
    return DroppedTarget(job.name, targeting.discovered(job, labels), reason) if reason else one


def crowd(job: Job, found: int) -> str:
    """Say why none of so many targets is scraped, if a job has more than it may."""
    if not 0 < job.target_limit < found:
        return ""
    return (
        f"job {job.name} has {found} targets and target_limit is {job.target_limit}, so none of "
        "them is scraped: raise the limit, or drop targets by relabel_configs"
    )


def elsewhere(part: Shard, target: Target) -> str:
    """Say whose a target is, if that is another shard; empty is ours."""
    if not part.count:
        return "nobody's yet: how many shards there are is not known"
    owner = shard.owner(targeting.address(target.url), part.count)
    if owner == part.index:
        return ""
    return f"another shard's: it is of shard {owner} of {part.count}, and this is {part.index}"
