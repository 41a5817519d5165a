"""The labels that a page's series get from their target, as far as they can be known here.

A declaration mostly looks at them: without ``Service`` the article's selects nothing. Discovery is
not asked, so they are those of the job's static targets, and what the command line adds.
"""

from cwgpu.cli.explain.source import Source
from cwgpu.model.errors import UsageError
from cwgpu.model.labels import Labels
from cwgpu.model.target import Target
from cwgpu.plan.plan import Job
from cwgpu.prom import targeting
from cwgpu.prom.relabel import Action


def given(pairs: tuple[str, ...]) -> Labels:
    """Read NAME=VALUE."""
    for pair in pairs:
        name, equal, _ = pair.partition("=")
        if not name or not equal:
            raise UsageError(f"--label {pair!r} is no label: write NAME=VALUE")
    return {name: value for name, _, value in (pair.partition("=") for pair in pairs)}


def labels(job: Job, source: Source, more: Labels) -> Labels:
    """Give the target's labels: of the static target with this URL, or those that all have.

    ``more`` comes on top; an empty value takes a label away.
    """
    targets = _static(job)
    same = [one.labels for one in targets if one.url == source.url]
    if same:
        found = dict(same[0])
    else:
        found = {**_common([one.labels for one in targets])}
        if source.url is not None or "instance" not in found:
            found["instance"] = source.instance
        found.setdefault("job", job.name)
    return {name: value for name, value in {**found, **more}.items() if value}


def absent(job: Job, source: Source, more: Labels) -> str:
    """Say that labels are absent which discovery gives a target; empty where none can be.

    The job's rules name some of them; which of those it has been given is ``more``.
    """
    known = any(one.url == source.url for one in _static(job))
    if known or not (job.files or job.http or job.kubernetes):
        return ""
    rules = (rule for rule in job.relabel if rule.action is Action.REPLACE)
    named = dict.fromkeys(rule.target_label for rule in rules)
    names = [name for name in named if not name.startswith("__") and name not in more]
    if not names and more:
        return ""
    such = f", such as {', '.join(names)}" if names else ""
    return f"without labels that discovery gives{such}: --label NAME=VALUE gives them"


def _static(job: Job) -> list[Target]:
    return [
        found
        for group in job.static
        for found in targeting.targets(job, group)
        if isinstance(found, Target)
    ]


def _common(several: list[Labels]) -> Labels:
    if not several:
        return {}
    first, *rest = several
    return {
        name: value
        for name, value in first.items()
        if all(each.get(name) == value for each in rest)
    }
