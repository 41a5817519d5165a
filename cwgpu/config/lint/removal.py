"""Rules that take away a label that is needed afterwards."""

from collections.abc import Iterator

from cwgpu.config.lint import dcgm, reach
from cwgpu.config.lint.subject import Job, Step, Subject
from cwgpu.prom.relabel import Action

_CODE = "needed-label-dropped"
_FOR_TARGETS = {
    "__address__": "no target has an address any more",
    "__scheme__": "no URL has a scheme any more",
    "__metrics_path__": "the page is asked for at / then",
    "__scrape_interval__": "every target is rejected",
    "__scrape_timeout__": "every target is rejected",
}
"""Labels that make a target, and what comes of their absence."""
_NAME = "__name__"
_LATER = frozenset(("ClusterName", "prom_metric_type"))
"""Labels that samples get after all rules."""


def needed_label_dropped(subject: Subject) -> None:
    """Find ``labeldrop`` and ``labelkeep`` that leave nothing to scrape, or to declare."""
    for job in subject.jobs:
        for step in _removing(job.steps):
            _check_target(job, step)
        for step in _removing(job.sample_steps):
            if _removes(step, _NAME):
                message = "this removes __name__, and with it every sample"
                _warn(job, step, message, [_NAME])
    if len(subject.jobs) == 1:
        _check_declared(subject, subject.jobs[0])


def _removing(steps: tuple[Step, ...]) -> Iterator[Step]:
    actions = (Action.LABEL_DROP, Action.LABEL_KEEP)
    return (step for step in steps if step.rule.action in actions)


def _removes(step: Step, name: str) -> bool:
    return step.rule.regex.matches(name) is (step.rule.action is Action.LABEL_DROP)


def _check_target(job: Job, step: Step) -> None:
    later = job.steps[job.steps.index(step) + 1 :]
    lost = [
        name
        for name in _FOR_TARGETS
        if _removes(step, name) and not any(reach.sets(each, name) for each in later)
    ]
    if lost:
        _warn(job, step, f"this removes {lost[0]}: {_FOR_TARGETS[lost[0]]}", lost)


def _check_declared(subject: Subject, job: Job) -> None:
    """Look for what declarations use. With several jobs another one may give it."""
    about = [each for each in subject.declared if dcgm.is_declared(each)]
    used = {name for each in about for names in (each.sources, *each.sets) for name in names}
    wanted = sorted(used - _LATER)
    for step in _removing(job.sample_steps):
        later = job.sample_steps[job.sample_steps.index(step) + 1 :]
        lost = [
            name
            for name in wanted
            if _removes(step, name) and not any(reach.sets(each, name) for each in later)
        ]
        if lost and not _removes(step, _NAME):
            _warn(job, step, f"this removes {', '.join(lost)}, which a declaration uses", lost)


def _warn(job: Job, step: Step, message: str, lost: list[str]) -> None:
    keeps = step.rule.action is Action.LABEL_KEEP
    names = "|".join(lost)
    advice = (
        f"keep them too: (?:{step.rule.regex.pattern})|{names}" if keeps else "narrow the regex"
    )
    job.report.warning((*step.loc, "regex"), _CODE, message, advice)
