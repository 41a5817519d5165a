"""Who uses a GPU, and what is left of that by the time a metric is sent."""

from collections.abc import Iterator

from cwgpu.config.lint import dcgm, kubernetes, reach
from cwgpu.config.lint.kubernetes import PREFIX
from cwgpu.config.lint.subject import Declared, Job, Step, Subject
from cwgpu.prom.relabel import Action

_MOVED = "exported_"
_OF_PODS = (*dcgm.WORKLOAD, "pod_uid")


def workload_label_taken(subject: Subject) -> None:
    """Find rules that call the exporter's own pod ``pod``, as the page calls the workload's."""
    for job, step, name in _taken(subject):
        if job.written.honor_labels or job.lacks("honor_labels") or _moves_back(job, name):
            continue
        message = (
            f"this makes {name} the exporter's own; what the page says of the workload becomes "
            f"{_MOVED}{name}"
        )
        advice = "leave the rule out, or write honor_labels: true, or another target_label"
        job.report.warning((*step.loc, "target_label"), "workload-label-taken", message, advice)


def idle_gpus_mixed_up(subject: Subject) -> None:
    """Find rules that give GPUs without a workload the exporter's own pod."""
    for job, step, name in _taken(subject):
        if job.written.honor_labels:
            message = f"a GPU that no pod uses gets the exporter's own {name} through this rule"
            advice = (
                f"leave the rule out, or write another target_label: the page has {name} itself"
            )
            job.report.note((*step.loc, "target_label"), "idle-gpus-mixed-up", message, advice)


def _taken(subject: Subject) -> Iterator[tuple[Job, Step, str]]:
    """Yield the rules that write one of the workload's labels from what discovery tells."""
    used = {name for each in subject.declared if dcgm.is_declared(each) for name in _names(each)}
    meant = [job for job in subject.jobs if dcgm.is_job(job)]
    for job in meant or (subject.jobs if used else ()):
        for step in job.steps:
            name, sources = step.rule.target_label, step.rule.source_labels
            is_meta = bool(sources) and all(each.startswith(PREFIX) for each in sources)
            if name not in dcgm.WORKLOAD or step.rule.action is not Action.REPLACE or not is_meta:
                continue
            if _is_there(job, step) and (not subject.declared or name in used):
                yield job, step, name


def _names(declared: Declared) -> set[str]:
    return {*declared.sources, *(name for names in declared.sets for name in names)}


def _is_there(job: Job, step: Step) -> bool:
    """Tell whether the rule has anything to write; what there is not is told elsewhere."""
    known = kubernetes.labels(job.written.kubernetes_sd_configs)
    return known is not None and any(map(known.has, step.rule.source_labels))


def _moves_back(job: Job, name: str) -> bool:
    """Tell whether the rules for samples do something about the label that was moved."""
    moved = f"{_MOVED}{name}"
    return any(
        moved in step.rule.source_labels
        or (step.rule.action is Action.LABEL_MAP and step.rule.regex.matches(moved))
        for step in job.sample_steps
    )


def idle_gpus_unseen(subject: Subject) -> None:
    """Find declarations all of whose dimension sets need a workload."""
    if subject.report is None or any(job.is_partial for job in subject.jobs):
        return
    about = [each for each in subject.declared if dcgm.is_declared(each) and each.sets]
    needy = [each for each in about if all(_needed(subject, names) for names in each.sets)]
    if len(needy) < len(about):
        return
    for each in needy:
        name = _needed(subject, each.sets[0])
        message = f"GPUs that no pod uses have no label {name}: nothing is sent about them"
        advice = f"add a dimension set without {name}"
        here = (*each.loc, "dimensions")
        subject.report.note(here, "idle-gpus-unseen", message, advice)


def _needed(subject: Subject, names: tuple[str, ...]) -> str | None:
    """Give the label of the workload that a set needs and no target has."""
    return next(
        (
            name
            for name in names
            if name in _OF_PODS and not any(_fills(job, name) for job in subject.jobs)
        ),
        None,
    )


def _fills(job: Job, name: str) -> bool:
    """Tell whether a job's targets have the label, those of GPUs without a workload too."""
    if any(name in group.labels for group in job.written.static_configs):
        return True
    return any(reach.sets(step, name) and _is_there(job, step) for step in job.steps)
