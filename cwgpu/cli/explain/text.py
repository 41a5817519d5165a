"""Explanations for a person: the verdict first, then every rule with what it looked at and did."""

import json
from collections.abc import Iterator, Sequence

from cwgpu.cli.explain.value import Places
from cwgpu.model.labels import Labels
from cwgpu.model.target import Target
from cwgpu.prom import relabel
from cwgpu.prom.hint import hint
from cwgpu.prom.outcome import Outcome
from cwgpu.prom.rule import Action, Rule
from cwgpu.prom.trace import BY_NAME, Change, Step, Trace

_CHANGED, _SAME, _DROPPED = "[+]", "[ ]", "[x]"
"""What stands before a rule: it changed something, it did not, it dropped all."""
_SHOWN = 3
"""How many names are told where there are many; what became of all of them stands below."""


def rules(trace: Trace, places: Places, before: Labels) -> str:
    """Tell what rules made of a label set, and how."""
    if isinstance(trace.result, relabel.Dropped):
        head = [*_dropped(trace, places)]
    else:
        head = ["KEPT", *_labels("labels after the rules", trace.result)]
    return "\n".join([*head, *_labels("labels before", before), *_steps(trace, places)])


def target(outcome: Outcome, places: Places) -> str:
    """Tell what became of a discovered target, and how."""
    head = [*_verdict(outcome, places)]
    found = _labels("discovered, with what the job adds", outcome.discovered)
    return "\n".join([*head, *found, *_steps(outcome.trace, places)])


def _verdict(outcome: Outcome, places: Places) -> Iterator[str]:
    found = outcome.target
    if isinstance(found, Target):
        yield f"ACTIVE {found.url}, every {outcome.interval}, timeout {outcome.timeout}"
        yield from _labels("labels of its samples", found.labels)
    elif found.rejected:
        yield f"REJECTED: {found.reason}"
        yield "  The rules kept it, but it cannot be scraped."
    else:
        yield from _dropped(outcome.trace, places)


def _dropped(trace: Trace, places: Places) -> Iterator[str]:
    step = trace.steps[-1]
    yield f"DROPPED by {_rule(step, places)}"
    yield f"  {_compared(step)}"
    yield from (f"  hint: {each}" for each in [hint(step)] if each)


def _labels(title: str, labels: Labels) -> Iterator[str]:
    yield f"  {title}:" + ("" if labels else " none")
    yield from (f"      {name} = {_quoted(labels[name])}" for name in sorted(labels))


def _steps(trace: Trace, places: Places) -> Iterator[str]:
    for step in trace.steps:
        mark = _DROPPED if step.after is None else _CHANGED if step.changed else _SAME
        yield f"  {mark} {_rule(step, places)}"
        yield f"      {_compared(step)}"
        yield from (f"      {_change(name, change)}" for name, change in step.changed.items())
        if step.after is not None and (near := hint(step)):
            yield f"      hint: {near}"
    more = len(places) - len(trace.steps)
    if more:
        yield f"  {more} more rule{'s were' if more > 1 else ' was'} not run"


def _rule(step: Step, places: Places) -> str:
    place = places[step.index]
    where = f", {place}" if place else ""
    return f"rule {step.index + 1} ({step.rule.action.value}){where}"


def _compared(step: Step) -> str:
    rule = step.rule
    if rule.action in BY_NAME:
        return _matched(step.names, rule)
    value = step.value or ""
    if step.matched is not None:
        return relabel.comparison(rule, value, step.other or "", matched=step.matched)
    of = f" (of {', '.join(rule.source_labels)})"
    does = f"hashed modulo {rule.modulus}" if rule.action is Action.HASH_MOD else "rewritten"
    return f"{_quoted(value)}{of if rule.source_labels else ''} is {does}"


def _matched(names: Sequence[str], rule: Rule) -> str:
    shown = ", ".join(names[:_SHOWN]) + (" ..." if len(names) > _SHOWN else "")
    count = f"{len(names)} label{'' if len(names) == 1 else 's'}"
    found = f"the names of {count}: {shown}" if names else "the name of no label"
    return f"the regex {rule.regex.pattern} matches {found}"


def _change(name: str, change: Change) -> str:
    old, new = change
    if new is None:
        return f"- {name} = {_quoted(old)}"
    return f"{'+' if old is None else '~'} {name} = {_quoted(new)}" + (
        "" if old is None else f", was {_quoted(old)}"
    )


def _quoted(text: str | None) -> str:
    return json.dumps(text, ensure_ascii=False)
