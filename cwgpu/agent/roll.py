"""All targets that discovery knows, in one JSON document with the members of docs/kubernetes.md.

``cwgpu targets`` shows it: of a look of its own, or of a running agent's.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, TypeAlias

from cwgpu.agent import working
from cwgpu.agent.survey import Sight
from cwgpu.model.scrape import ScrapeFailed
from cwgpu.model.target import DroppedTarget, Identity, Target
from cwgpu.plan.kubernetes import Shard
from cwgpu.plan.plan import Job
from cwgpu.prom import census, duration
from cwgpu.prom.census import Judged, Lot

Value: TypeAlias = dict[str, Any]

_TWICE = "another target has the same URL and labels, and is scraped for both"


class Visit(NamedTuple):
    """How the last scrape of a target went."""

    at_ms: int
    duration_s: float
    failed: ScrapeFailed | None = None


@dataclass(frozen=True, slots=True)
class Roll:
    """What is told of targets beside what discovery knows."""

    shard: Shard | None = None
    places: Mapping[str, Sequence[str | None]] = field(default_factory=dict)
    """Where each rule of a job is written, as far as that is known."""
    visits: Mapping[Identity, Visit] = field(default_factory=dict)
    """Empty where nobody scrapes."""
    every: bool = False
    """Tell of each target that is not scraped, too."""

    def document(self, sights: Iterable[Sight]) -> Value:
        """Write it all down."""
        return {"jobs": [self._job(each) for each in sights]}

    def _job(self, sight: Sight) -> Value:
        found = sorted(self._judged(sight), key=lambda one: one.source)
        lots = census.lots(sight.job, found)
        active = [self._target(one, one.target) for one in found if isinstance(one.target, Target)]
        crowd = working.crowd(sight.job, len(active))
        return {
            "job": sight.job.name,
            "found": len(found),
            "active": len(active),
            "dropped": sum(len(lot.members) for lot in lots if not lot.rejected),
            "rejected": sum(len(lot.members) for lot in lots if lot.rejected),
            "faults": list(sight.faults),
            "denied": sight.denied,
            "silent": list(sight.silent),
            "notes": [*sight.notes, *([crowd] if crowd else [])],
            "targets": active,
            "groups": [self._lot(sight.job, lot) for lot in lots],
        }

    def _judged(self, sight: Sight) -> Iterator[Judged]:
        """Let the rules decide, and drop what they keep and this agent does not scrape."""
        known: set[Identity] = set()
        for group in sight.groups:
            for one in census.judged(sight.job, group):
                reason = ""
                if isinstance(one.target, Target):
                    reason = working.elsewhere(self.shard, one.target) if self.shard else ""
                    reason = reason or (_TWICE if one.target.identity in known else "")
                    known.add(one.target.identity)
                gone = DroppedTarget(sight.job.name, one.discovered, reason)
                yield replace(one, target=gone) if reason else one

    def _target(self, one: Judged, target: Target) -> Value:
        visit = self.visits.get(target.identity)
        return {
            "source": one.source,
            "url": target.url,
            "labels": target.labels,
            "interval": duration.format(round(target.interval_s * 1000)),
            "timeout": duration.format(round(target.timeout_s * 1000)),
            "health": None if visit is None else _health(visit),
        }

    def _lot(self, job: Job, lot: Lot) -> Value:
        told: Value = {
            "outcome": "rejected" if lot.rejected else "dropped",
            "count": len(lot.members),
            "reason": lot.reason,
            "dropped_by": self._rule(job, lot),
            "values": [
                {"value": each.value, "other": each.other, "count": each.count, "hint": each.hint}
                for each in lot.seen
            ],
            "hint": lot.hint,
        }
        if self.every:
            told["targets"] = [
                {"source": one.source, "value": one.value, "discovered": one.discovered}
                for one in lot.members
            ]
        return told

    def _rule(self, job: Job, lot: Lot) -> Value | None:
        if lot.by is None:
            return None
        index, rule = lot.by.rule_index, lot.by.rule
        places = self.places.get(job.name, ())
        return {
            "index": index,
            "place": places[index] if index < len(places) else None,
            "action": rule.action.value,
            "source_labels": list(rule.source_labels),
            "target_label": rule.target_label,
            "regex": rule.regex.pattern,
        }


def _health(visit: Visit) -> Value:
    failed = visit.failed
    return {
        "up": failed is None,
        "at_ms": visit.at_ms,
        "duration_s": visit.duration_s,
        "reason": failed and failed.reason.value,
        "detail": failed and failed.detail,
    }
