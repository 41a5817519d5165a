"""Labels of discovery that there are not."""

import re
from collections.abc import Iterator

from cwgpu.config.kubernetes import ENVIRONMENT
from cwgpu.config.lint import dcgm, kubernetes
from cwgpu.config.lint.kubernetes import PREFIX, Known
from cwgpu.config.lint.subject import Job, Step, Subject
from cwgpu.config.nearest import nearest
from cwgpu.config.node import Loc
from cwgpu.prom.relabel import Action

_CODE = "unknown-meta-label"
_META = "__meta_"
"""What the labels of every discovery begin with."""
_ALIKE = 0.9
"""How like beginnings must be, which all begin alike, to be suggested."""
_NOT_IN_NAMES = re.compile(r"[^a-zA-Z0-9_]")
_HEAD = re.compile(r"\^?([\w-]*)(?![*?{\w-])")
"""What every name that a regex matches begins with: no sign may make the last of it optional."""
_BY_SOURCES = frozenset(Action) - {Action.LABEL_MAP, Action.LABEL_DROP, Action.LABEL_KEEP}
_BY_TARGET = (Action.KEEP_EQUAL, Action.DROP_EQUAL)
"""What reads its target label."""


def unknown_meta_label(job: Job) -> None:
    """Find source labels, and labelmap's names, that no target of the job's roles has."""
    if job.is_open:
        return  # what other discoveries call labels is theirs
    known = kubernetes.labels(job.written.kubernetes_sd_configs)
    if known is None:
        return
    given = {name for group in job.written.static_configs for name in group.labels}
    for step, loc, name in _used(job):
        ours = name.startswith(ENVIRONMENT) and job.written.kubernetes_sd_configs
        if name not in given and not known.has(name) and not ours:
            _tell(job, known, (step, loc, name))
    for step in job.steps:
        head = _head(step)
        if head and not known.continues(head) and not any(each.startswith(head) for each in given):
            message = f"no label that {_who(job)} has begins with {head}"
            meant = nearest(head, known.beginnings, _ALIKE)
            advice = f"did you mean {meant}?" if meant else ""
            job.report.warning((*step.loc, "regex"), _CODE, message, advice)


def variable_not_listed(subject: Subject) -> None:
    """Find labels of our own environment that ``cwgpu.meta_env`` does not list."""
    if subject.report is None:
        return  # the agent's file is not here
    for job in subject.jobs:
        for _, loc, name in _used(job):
            variable = name.removeprefix(ENVIRONMENT)
            listed = name == variable or variable in subject.own.meta_env
            if not listed and job.written.kubernetes_sd_configs:
                message = f"{name} is always empty: cwgpu.meta_env does not list {variable}"
                advice = f'write "meta_env": ["{variable}"] in the object "cwgpu"'
                job.report.warning(loc, _CODE, message, advice)


def _used(job: Job) -> Iterator[tuple[Step, Loc, str]]:
    """Yield each label of a discovery that a rule reads, with its place."""
    for step in job.steps:
        names = step.rule.source_labels if step.rule.action in _BY_SOURCES else ()
        for index, name in enumerate(names):
            if name.startswith(_META):
                yield step, (*step.loc, "source_labels", index), name
        target = step.rule.target_label
        if step.rule.action in _BY_TARGET and target.startswith(_META):
            yield step, (*step.loc, "target_label"), target


def _head(step: Step) -> str:
    """Give the beginning of the names that a labelmap copies, if it is one of Kubernetes'."""
    text = step.rule.regex.pattern
    if step.rule.action is not Action.LABEL_MAP or "|" in text:
        return ""
    found = _HEAD.match(text)
    head = found[1] if found else ""
    return head if head.startswith(PREFIX) and len(head) > len(PREFIX) else ""


def _tell(job: Job, known: Known, place: tuple[Step, Loc, str]) -> None:
    step, loc, name = place
    message = f"{_who(job)} has no label {name}, so its value is always empty"
    job.report.warning(loc, _CODE, message, _advice(job, known, step, name))


def _who(job: Job) -> str:
    roles = list(dict.fromkeys(each.role for each in job.written.kubernetes_sd_configs))
    return f"role {' or '.join(roles)}" if roles else "a job without kubernetes_sd_configs"


def _advice(job: Job, known: Known, step: Step, name: str) -> str:
    valid = _NOT_IN_NAMES.sub("_", name)
    if valid != name and known.has(valid):
        return f"characters other than letters, digits and _ become _: write {valid}"
    if kubernetes.is_attached(name, job.written.kubernetes_sd_configs):
        return "attach_metadata: {node: true} in kubernetes_sd_configs would give it"
    # A name without its last word is the commonest: __meta_kubernetes_pod is ..._pod_name.
    meant = f"{name}_name" if known.has(f"{name}_name") else _nearest(name, known)
    if not meant:
        return ""
    target = step.rule.target_label
    if target in dcgm.WORKLOAD and not job.written.honor_labels and dcgm.is_job(job):
        return (
            f"leave the rule out: {target} is then the one on the exporter's page, that of the "
            f"workload; {meant} would be the exporter's own"
        )
    return f"did you mean {meant}?"


def _nearest(name: str, known: Known) -> str | None:
    """Find the nearest label by what stands behind the beginning that all have."""
    rest = nearest(name.removeprefix(PREFIX), (each.removeprefix(PREFIX) for each in known.names))
    return PREFIX + rest if rest else None
