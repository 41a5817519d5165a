"""Slips of the pen in regexes, replacements and texts."""

import re
from collections.abc import Iterator

from cwgpu.config import unfilled
from cwgpu.config.lint import pattern
from cwgpu.config.lint.subject import Job, Step, Subject, spelled
from cwgpu.config.node import Kind, Loc, short, walk
from cwgpu.config.report import Report
from cwgpu.prom import template
from cwgpu.prom.relabel import Action
from cwgpu.prom.template import Group

_MEANT = {"d": "a digit", "w": "a letter, a digit or _", "s": "a blank"}
_BACKREFERENCE = re.compile(r"\\(\d)")
_NUMBERED = re.compile(r"([0-9]+)(\w+)", re.ASCII)
# What configurations of OpenTelemetry's collector have in the place of $1 and of variables.
_ESCAPED = re.compile(r"\$\$(?=[0-9]|\{[0-9]+\})")
_VARIABLE = re.compile(r"\$\{env:[^{}]*\}")


def lost_backslash(subject: Subject) -> None:
    r"""Find regexes in which ``d+`` stands where ``\d+`` is meant."""
    for report, loc, text, sources in _regexes(subject):
        restored = pattern.restored(text)
        if restored is None:
            continue
        letter = next(one for one, other in zip(text, restored, strict=False) if other == "\\")
        message = (
            f"{short(text)} seems to have lost a backslash: {letter} alone is the letter "
            f"{letter}, \\{letter} is {_MEANT[letter]}"
        )
        effect = "; as it is, an address with a port does not match"
        advice = f"write {spelled(report, loc, restored)}"
        advice += effect if "__address__" in sources else ""
        report.warning(loc, "lost-backslash", message, advice)


def _regexes(subject: Subject) -> Iterator[tuple[Report, Loc, str, tuple[str, ...]]]:
    """Yield every regex with its place, and the labels that it is compared with if these count."""
    for job in subject.jobs:
        for step in job.every_step:
            loc = (*step.loc, "regex")
            yield job.report, loc, step.written.regex, step.rule.source_labels
    if subject.report is None:
        return
    for declared in subject.declared:
        yield subject.report, (*declared.loc, "label_matcher"), declared.written.label_matcher, ()
        for index, text in enumerate(declared.written.metric_selectors or ()):
            yield subject.report, (*declared.loc, "metric_selectors", index), text, ()


def unknown_group(job: Job) -> None:
    """Find ``$2`` and ``$name`` that the rule's regex has no group for: they give nothing."""
    for step in job.every_step:
        if step.rule.action in (Action.REPLACE, Action.LABEL_MAP):
            _check_groups(job, step, "replacement")
        if step.rule.action is Action.REPLACE:
            _check_groups(job, step, "target_label")


def _check_groups(job: Job, step: Step, key: str) -> None:
    text: str = getattr(step.written, key)
    loc = (*step.loc, key)
    count, names = pattern.groups(step.rule.regex.pattern)
    for part in template.parse(text).parts:
        if isinstance(part, Group) and part.key not in names and part.key not in range(count + 1):
            message = f"the regex has no group {part.key}, so ${{{part.key}}} gives nothing"
            job.report.warning(loc, "unknown-group", message, _group_advice(part.key, count))
    if found := _BACKREFERENCE.search(text):
        meant = spelled(job.report, loc, _BACKREFERENCE.sub(r"${\1}", text))
        message = f"{found[0]} is no group here, but a backslash and a digit"
        job.report.warning(loc, "unknown-group", message, f"write {meant}")


def literal_dollar(job: Job) -> None:
    """Find ``$$1`` and ``${env:NAME}``, which get into the label as they stand here."""
    for step in job.every_step:
        text, loc = step.written.replacement, (*step.loc, "replacement")
        if step.rule.action is not Action.REPLACE:
            continue
        if found := _ESCAPED.search(text):
            meant = spelled(job.report, loc, _ESCAPED.sub("$", text))
            message = f"{short(text)} holds no group: $$ is a dollar sign, which the label then has"
            job.report.warning(loc, "literal-dollar", message, f"for the group write {meant}")
        elif found := _VARIABLE.search(text):
            message = f"{found[0]} gets into the label as it is: no variables are filled in here"
            advice = "write the value; cwgpu.meta_env makes labels of the agent's environment"
            job.report.warning(loc, "literal-dollar", message, advice)


def _group_advice(key: int | str, count: int) -> str:
    numbered = _NUMBERED.fullmatch(str(key)) if isinstance(key, str) else None
    if numbered:
        return f"a group's name goes as far as it can: write ${{{numbered[1]}}}{numbered[2]}"
    if isinstance(key, str) and key.isupper():
        return "variables of the environment are not filled in here"
    if count:
        return f"it has {count}, counted from 1; $$ is a dollar itself"
    return "put (brackets) around the part of the regex that is wanted; $$ is a dollar itself"


def template_left(subject: Subject) -> None:
    """Find ``{{region_name}}`` and the like, which somebody was to replace."""
    if subject.report is None:
        return
    for loc, node in walk(subject.report.root):
        if node.kind is Kind.STR and (message := unfilled.said_of(node.text)):
            subject.report.warning(loc, unfilled.CODE, message, unfilled.ADVICE)
