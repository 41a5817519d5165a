"""Regexes of relabelling rules that no target can match."""

import itertools
import math

from cwgpu.config.lint import dcgm, kubernetes, pattern
from cwgpu.config.lint.subject import Job, Step, spelled
from cwgpu.config.nearest import nearest
from cwgpu.config.node import short
from cwgpu.model.errors import RuleError
from cwgpu.prom import regex
from cwgpu.prom.relabel import Action

_EFFECTS = {
    Action.KEEP: "keeps no target",
    Action.DROP: "drops nothing",
    Action.REPLACE: "changes nothing",
}
"""The actions that look at the regex, and what comes of one that never matches."""
# More than the values of any three labels together.
_MOST = 1000


def never_matches(job: Job) -> None:
    """Find regexes that no value can match, as Kubernetes restricts it: names have no capitals."""
    for step in job.steps:
        sources = step.rule.source_labels
        if step.rule.action not in _EFFECTS or not sources:
            continue
        values = _values(step)
        if values and not any(map(step.rule.regex.matches, values)):
            _tell_values(job, step)
        characters = _characters(step)
        if characters and pattern.needs(step.rule.regex.pattern, characters.__contains__):
            _tell_characters(job, step, characters)


def _values(step: Step) -> list[str]:
    """Give all values that the rule can compare; nothing if there is no end to them."""
    each = [kubernetes.values(name) for name in step.rule.source_labels]
    known = [("", *values) for values in each if values is not None]
    if len(known) < len(each) or math.prod(map(len, known)) > _MOST:
        return []
    return [step.rule.separator.join(values) for values in itertools.product(*known)]


def _characters(step: Step) -> frozenset[str] | None:
    """Give the characters that the compared values can hold; None if there may be others."""
    allowed = frozenset(step.rule.separator if len(step.rule.source_labels) > 1 else "")
    for name in step.rule.source_labels:
        found = kubernetes.characters(name)
        if found is None:
            return None
        allowed |= found
    return allowed


def _tell_values(job: Job, step: Step) -> None:
    found = step.rule.regex.pattern
    known = {name: kubernetes.values(name) or () for name in step.rule.source_labels}
    words = next(iter(known.values())) if len(known) == 1 else ()
    meant = nearest(found.strip("^$"), words)
    advice = [f"did you mean {meant}?"] if meant else []
    advice += [f"{name} is one of {', '.join(values)}" for name, values in known.items()]
    message = f"{_effect(job, step)}: {short(found)} matches none of the values that there are"
    _warn(job, step, message, "\n".join(advice))


def _tell_characters(job: Job, step: Step, allowed: frozenset[str]) -> None:
    found, names = step.rule.regex.pattern, " and ".join(step.rule.source_labels)
    has_capitals = pattern.needs(found, lambda character: not character.isupper())
    needed = "capital letters" if has_capitals else "characters that cannot be there"
    known = "digits"
    if "a" in allowed:
        dots = ", - and ." if "." in allowed else " and -"
        known = f"lower-case letters, digits{dots}"
    message = (
        f"{_effect(job, step)}: {short(found)} needs {needed}: Kubernetes allows only {known} "
        f"in {names}"
    )
    _warn(job, step, message, _instead(job, step, allowed))


def _instead(job: Job, step: Step, allowed: frozenset[str]) -> str:
    """Say what to write, if that is clear."""
    lower = pattern.lowered(step.rule.regex.pattern)
    containers = f"{kubernetes.PREFIX}pod_container_name"
    known = ""
    if "dcgm" in lower and step.rule.source_labels == (containers,):
        names = dcgm.CONTAINERS
        known = f"; the exporter's containers are called {', '.join(names[:-1])} or {names[-1]}"
        compiled = _compiled(lower)
        if compiled is None or not compiled.matches(dcgm.CONTAINERS[0]):
            lower = ".*dcgm.*"
    if pattern.needs(lower, allowed.__contains__) or _compiled(lower) is None:
        return ""
    return f"write {spelled(job.report, (*step.loc, 'regex'), lower)}{known}"


def _compiled(text: str) -> regex.Anchored | None:
    try:
        return regex.anchored(text)
    except RuleError:
        return None


def _effect(job: Job, step: Step) -> str:
    who = f"job {short(job.written.job_name)}" if step.rule.action is Action.KEEP else "this rule"
    return f"{who} {_EFFECTS[step.rule.action]}"


def _warn(job: Job, step: Step, message: str, advice: str) -> None:
    job.report.warning((*step.loc, "regex"), "relabel-never-matches", message, advice)
