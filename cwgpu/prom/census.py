"""All targets of a job, and those that are not scraped put together by what keeps them from it.

A cluster has thousands of containers that are no exporters. What a person looks for among them is
the one that was meant: so of what a rule compared, values that are nearly right are told first.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from cwgpu.model.labels import Labels
from cwgpu.model.target import DroppedTarget, Target, TargetGroup
from cwgpu.prom import hint, relabel, targeting
from cwgpu.prom.relabel import Dropped
from cwgpu.prom.rule import EQUAL, Action, Rule
from cwgpu.prom.targeting import Job
from cwgpu.prom.trace import trace

# Most label sets for which what is nearly so is looked for, of each rule: half a second's work.
# Those of five thousand pods are a few hundred, unless a rule compares their names.
_LOOKS = 256

REJECTED = "the rules kept them, but they cannot be scraped"


@dataclass(frozen=True, slots=True)
class Judged:
    """One discovered target, and what becomes of it."""

    source: str
    """Of its group."""
    discovered: Labels
    """What the rules saw."""
    target: Target | DroppedTarget
    by: Dropped | None = None
    """The rule that dropped it, if one did."""

    @property
    def value(self) -> str:
        """What decided, in so far as it differs from target to target."""
        if self.by is not None:
            return self.by.value
        return self.target.reason if isinstance(self.target, DroppedTarget) else ""


@dataclass(frozen=True, slots=True)
class Seen:
    """A value that kept targets from being scraped."""

    value: str
    other: str
    """What ``keepequal`` and ``dropequal`` compared it with."""
    count: int
    hint: str
    """What is nearly so; empty if nothing is."""


@dataclass(slots=True)
class Lot:
    """Targets that the same thing keeps from being scraped."""

    reason: str
    rejected: bool
    by: Dropped | None
    """As the first of them was dropped."""
    members: list[Judged] = field(default_factory=list)
    seen: Sequence[Seen] = ()
    """What is nearly right first, then what is frequent. Empty where the reason says it all."""

    @property
    def hint(self) -> str:
        """What is nearly so with the value that comes first; empty if nothing is."""
        return self.seen[0].hint if self.seen else ""


_Cause: TypeAlias = tuple[int, int, str]
"""Rules in their order, then what they kept and cannot be scraped, then what others say."""
_Compared: TypeAlias = tuple[str, str]


def judged(job: Job, group: TargetGroup) -> Iterator[Judged]:
    """Give what becomes of each target of a group, as ``targeting.targets`` does."""
    for own in group.targets:
        discovered = targeting.discovered(job, {**group.labels, **own})
        if rejected := targeting.unreadable(job, discovered):
            yield Judged(group.source, discovered, rejected)
            continue
        made = relabel.apply(discovered, job.relabel)
        by = made if isinstance(made, Dropped) else None
        yield Judged(group.source, discovered, targeting.settled(job, discovered, made), by)


def lots(job: Job, found: Iterable[Judged]) -> list[Lot]:
    """Put those together that are not scraped: by rule in their order, then for other reasons."""
    made: dict[_Cause, Lot] = {}
    for one in found:
        if not isinstance(one.target, DroppedTarget):
            continue
        cause = _cause(one, one.target)
        lot = made.get(cause)
        if lot is None:
            lot = made[cause] = Lot(_reason(one, one.target), one.target.rejected, one.by)
        lot.members.append(one)
    for lot in made.values():
        if lot.rejected or lot.by is not None:
            lot.seen = _seen(job, lot)
    return [made[cause] for cause in sorted(made)]


def _cause(one: Judged, target: DroppedTarget) -> _Cause:
    if one.by is not None:
        return 0, one.by.rule_index, ""
    return (1, 0, "") if target.rejected else (2, 0, target.reason)


def _reason(one: Judged, target: DroppedTarget) -> str:
    if one.by is not None:
        return f"rule {one.by.rule_index + 1} ({one.by.rule.action.value}): {_law(one.by.rule)}"
    return REJECTED if target.rejected else target.reason


def _law(rule: Rule) -> str:
    """Say what a rule drops, whatever the values are."""
    of = ", ".join(rule.source_labels) or "nothing"
    on_match = rule.action in {Action.DROP, Action.DROP_EQUAL}
    if rule.action in EQUAL:
        return f"{of} {'equals' if on_match else 'differs from'} {rule.target_label}"
    verb = "matches" if on_match else "does not match"
    return f"{of} {verb} the regex {rule.regex.pattern}"


def _seen(job: Job, lot: Lot) -> list[Seen]:
    counts: Counter[_Compared] = Counter()
    looked: set[tuple[_Compared, frozenset[str]]] = set()
    hints: dict[_Compared, str] = {}
    for one in lot.members:
        compared = one.value, one.by.other if one.by else ""
        counts[compared] += 1
        # What is nearly so depends on the value, and on the names of the labels beside it.
        look = compared, frozenset(one.discovered)
        if one.by is None or hints.get(compared) or look in looked or len(looked) >= _LOOKS:
            continue
        looked.add(look)
        hints[compared] = hint.near(trace(one.discovered, job.relabel).steps[-1])
    meant = lot.by.rule.regex.pattern if lot.by and lot.by.rule.action is Action.KEEP else ""

    def order(seen: Seen) -> tuple[bool, int, int, str, str]:
        known = (seen.value, seen.other) in hints
        likeness = hint.likeness(meant, seen.value) if known else 0
        return not seen.hint, -likeness, -seen.count, seen.value, seen.other

    return sorted((Seen(*at, count, hints.get(at, "")) for at, count in counts.items()), key=order)
