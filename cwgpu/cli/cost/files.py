"""Pages from files, each as a target's answer; which target is said as for ``explain page``."""

import os
from collections.abc import Sequence
from typing import Any

from cwgpu.cli.cost.subject import Subject
from cwgpu.cli.explain import public, source
from cwgpu.config import ruleset
from cwgpu.plan.plan import Plan


def subjects(plan: Plan, names: Sequence[str], flags: dict[str, Any]) -> tuple[Subject, ...]:
    """Read the pages as the command line says; UsageError when one cannot be read."""
    file = flags["prometheus_config"] or flags["config"] or "the configuration"
    chosen = ruleset.pick(plan.jobs, flags["job"], str(file))
    job = source.reading(chosen, flags["form"], strict=None)
    more = public.given(flags["pairs"])
    made = []
    for name in names:
        page = source.read(name, flags["form"], job)
        labels = dict(public.labels(job, page, more))
        if len(names) > 1 and page.url is None and "instance" not in more:
            # What the job's static target is called would make one target of all of them.
            labels["instance"] = os.fspath(name)
        made.append(Subject(page.name, job, labels, page.body, page.content_type))
    return tuple(made)
