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
    targets = [
        found
        for group in job.static
        for found in targeting.targets(job, group)
        if isinstance(found, Target)
    ]
    same = [one.labels for one in targets if one.url == source.url]
    if same:
        found = dict(same[0])
    else:
        found = {**_common([one.labels for one in targets])}
        if source.url is not None or "instance" not in found:
            found["instance"] = source.instance
        found.setdefault("job", job.name)
    return {name: value for name, value in {**found, **more}.items() if value}


def _common(several: list[Labels]) -> Labels:
    if not several:
        return {}
    first, *rest = several
    return {
        name: value
        for name, value in first.items()
        if all(each.get(name) == value for each in rest)
    }
