"""Explanations as JSON: the members that docs/explain.md lists."""

from collections.abc import Sequence
from typing import Any, TypeAlias

from cwgpu.model.target import DroppedTarget, Target
from cwgpu.prom import relabel
from cwgpu.prom.hint import hint
from cwgpu.prom.outcome import Outcome
from cwgpu.prom.trace import Step, Trace

Value: TypeAlias = dict[str, Any]
Places: TypeAlias = Sequence[str | None]
"""Where each rule is written."""


def rules(trace: Trace, places: Places) -> Value:
    """Tell what rules made of a label set, and how."""
    dropped = isinstance(trace.result, relabel.Dropped)
    return {
        "labels": None if dropped else trace.result,
        "dropped_by": _dropped_by(trace, places),
        "steps": [_step(each, places) for each in trace.steps],
    }


def target(outcome: Outcome, places: Places) -> Value:
    """Tell what became of a discovered target, and how."""
    found, told = outcome.target, rules(outcome.trace, places)
    active = found if isinstance(found, Target) else None
    return {
        "outcome": outcome.fate.value,
        "url": active and active.url,
        "labels": active and active.labels,
        "interval": outcome.interval,
        "timeout": outcome.timeout,
        "reason": found.reason if isinstance(found, DroppedTarget) else None,
        "dropped_by": told["dropped_by"],
        "discovered": outcome.discovered,
        "relabeled": told["labels"],
        "steps": told["steps"],
    }


def _dropped_by(trace: Trace, places: Places) -> Value | None:
    if not isinstance(trace.result, relabel.Dropped):
        return None
    step = trace.steps[-1]
    return {**_compared(step, places), "reason": relabel.sentence(trace.result)}


def _step(step: Step, places: Places) -> Value:
    return {
        **_compared(step, places),
        "before": step.before,
        "changed": step.changed,
        "after": step.after,
    }


def _compared(step: Step, places: Places) -> Value:
    return {
        "index": step.index,
        "place": places[step.index],
        "action": step.rule.action.value,
        "value": step.value,
        "other": step.other,
        "regex": step.regex,
        "matched": step.matched,
        "hint": hint(step) or None,
    }
