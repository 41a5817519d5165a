"""Rules that drop every target that is written out.

What static targets have for labels stands in the configuration, so that what the rules make of
them can be told without running anything.
"""

import itertools
from collections.abc import Iterator

from cwgpu.config.lint.subject import Job
from cwgpu.config.node import short
from cwgpu.model.labels import Labels
from cwgpu.model.target import DroppedTarget
from cwgpu.plan import plan
from cwgpu.prom.hint import hint
from cwgpu.prom.outcome import Fate, Outcome, outcome

_CODE = "static-targets-dropped"
_VARIABLE = "${"
_TIMEOUT_MS = 10_000
"""Prometheus' default, config/config.go."""


def static_targets_dropped(job: Job) -> None:
    """Find jobs of static targets alone, all of which are dropped by rules."""
    if job.is_open or job.written.kubernetes_sd_configs or _is_unknown(job):
        return
    rules = tuple(step.rule for step in job.steps)
    told = plan.Job(
        job.written.job_name,
        job.interval_ms / 1000,
        _timeout_ms(job) / 1000,
        metrics_path=job.written.metrics_path,
        scheme=job.written.scheme,
        params={name: tuple(values) for name, values in job.written.params.items()},
        relabel=rules,
    )
    outcomes = (outcome(told, labels) for labels in _static(job))
    dropped = list(itertools.takewhile(lambda each: each.fate is Fate.DROPPED, outcomes))
    if dropped and len(dropped) == sum(len(each.targets) for each in job.written.static_configs):
        # The rule that comes last is the one that left none.
        _tell(job, max(dropped, key=lambda each: len(each.trace.steps)), len(dropped))


def _is_unknown(job: Job) -> bool:
    """Tell whether a rule could not be read, or the environment has a say."""
    if job.lacks("relabel_configs") or len(job.steps) < len(job.written.relabel_configs):
        return True
    texts = (text for labels in _static(job) for text in labels.values())
    return job.inline and any(_VARIABLE in text for text in texts)


def _static(job: Job) -> Iterator[Labels]:
    for group in job.written.static_configs:
        for target in group.targets:
            yield {**group.labels, "__address__": target}


def _timeout_ms(job: Job) -> int:
    usual_ms = job.defaults.scrape_timeout or _TIMEOUT_MS
    return job.written.scrape_timeout or min(usual_ms, job.interval_ms)


def _tell(job: Job, last: Outcome, count: int) -> None:
    step = last.trace.steps[-1]
    loc = (*job.loc, "relabel_configs", step.index)
    address = short(last.discovered["__address__"])
    whole = f"its {count} static targets are all" if count > 1 else "its static target is"
    message = f"job {short(job.written.job_name)} scrapes nothing: {whole} dropped"
    reason = last.target.reason if isinstance(last.target, DroppedTarget) else ""
    advice = [f"of {address}, {reason}", *filter(None, [hint(step)])]
    job.report.warning(loc, _CODE, message, "\n".join(advice))
