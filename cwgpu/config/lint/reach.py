"""Which labels a sample can have by the time that declarations look at it."""

import enum
import itertools
import re
from collections.abc import Iterable

from cwgpu.config.lint import dcgm, kubernetes
from cwgpu.config.lint.subject import Job, Step, Subject
from cwgpu.prom import relabel, template
from cwgpu.prom.relabel import Action

_OURS = frozenset(("job", "instance", "ClusterName", "prom_metric_type", "JobName"))
"""Given by the target's life-cycle, and by us."""
_OF_SUMMARIES = frozenset(("quantile", "le"))
_MOVED = "exported_"
_LONGEST = 317
"""Characters of the longest key of a Kubernetes label: a prefix of 253, a slash, a name of 63."""
_TARGETING = frozenset((Action.LOWERCASE, Action.UPPERCASE, Action.HASH_MOD))


class Origin(enum.Enum):
    """Where a label comes from."""

    CONFIGURATION = enum.auto()
    """A job gives it."""
    PAGE = enum.auto()
    """The exporter gives it."""
    POD = enum.auto()
    """A labelmap copies it, from pods or services that carry a label of that name."""
    NOWHERE = enum.auto()


def origin(subject: Subject, name: str) -> Origin:
    """Tell where DCGM's samples can have a label from."""
    if name in _OURS or any(gives(job, name) for job in subject.jobs):
        return Origin.CONFIGURATION
    if on_page(subject, name):
        return Origin.PAGE
    return Origin.POD if copying(subject, name) else Origin.NOWHERE


def on_page(subject: Subject, name: str) -> bool:
    """Tell whether the page may have it, or has it and loses the name to the target's."""
    usual = subject.own.dcgm.labels
    if name in _OF_SUMMARIES or dcgm.has_label(name, usual=usual):
        return True
    moved = name.removeprefix(_MOVED)
    return moved != name and any(
        gives(job, moved) and not job.written.honor_labels for job in subject.jobs
    )


def gives(job: Job, name: str) -> bool:
    """Tell whether a job's targets or rules may set a label, pods' own labels aside."""
    if any(name in group.labels for group in job.written.static_configs):
        return True
    if any(sets(step, name) for step in job.every_step):
        return True
    known = kubernetes.labels(job.written.kubernetes_sd_configs)
    return any(_maps(step, known.names if known else (), name) for step in job.steps) or any(
        # What labels of samples are copied to is not followed up.
        step.rule.action is Action.LABEL_MAP
        for step in job.sample_steps
    )


def sets_hidden(job: Job, name: str) -> bool:
    """Tell whether something sets one of the labels that make the URL, such as ``__address__``."""
    if any(name in group.labels for group in job.written.static_configs):
        return True
    return any(sets(step, name) or _maps_to_hidden(step) for step in job.steps)


def _maps_to_hidden(step: Step) -> bool:
    return step.rule.action is Action.LABEL_MAP and step.rule.replacement.startswith("__")


def sets(step: Step, name: str) -> bool:
    """Tell whether a rule may write a label that it names."""
    if step.rule.action in _TARGETING:
        return step.rule.target_label == name
    if step.rule.action is not Action.REPLACE:
        return False
    parts = template.parse(step.rule.target_label).parts
    made = "".join(re.escape(part) if isinstance(part, str) else ".*" for part in parts)
    return re.fullmatch(made, name) is not None


def copying(subject: Subject, name: str) -> Step | None:
    """Give the labelmap through which a pod's or service's own label of that name comes."""
    for job in subject.jobs:
        known = kubernetes.labels(job.written.kubernetes_sd_configs)
        beginnings = known.beginnings if known else ()
        # Whatever the labelmap adds in front, the rest may be the label that the pod carries.
        ends = [name[start:] for start in range(max(len(name) - _LONGEST, 0), len(name))]
        sources = ["".join(pair) for pair in itertools.product(beginnings, ends)]
        for step in job.steps:
            if _maps(step, sources, name):
                return step
    return None


def _maps(step: Step, sources: Iterable[str], name: str) -> bool:
    """Tell whether a labelmap copies one of the sources to this name."""
    if step.rule.action is not Action.LABEL_MAP:
        return False
    copies = (relabel.apply({each: "x"}, (step.rule,)) for each in sources if each != name)
    return any(not isinstance(copy, relabel.Dropped) and name in copy for copy in copies)
