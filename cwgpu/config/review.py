"""All that can be said about configuration files without running anything: ``cwgpu check``.

The files given are one configuration. A manifest is one of its own, or as many as its ConfigMaps
hold.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

from cwgpu.config import content, limits, load, manifest, metrics, translate, unfilled, where
from cwgpu.config.complaint import Complaint, Level, ordered
from cwgpu.config.content import Content
from cwgpu.config.lint import judge
from cwgpu.config.load import Examined
from cwgpu.config.manifest import Jobs
from cwgpu.config.node import Loc
from cwgpu.config.report import Report
from cwgpu.config.where import Found

_JOBS_PATH: Loc = (*metrics.PROMETHEUS, "prometheus_config_path")

_NOT_HERE = frozenset(("file-not-readable", "variable-not-set"))
"""What is said about a file of jobs that only the cluster has."""
_OF_THE_PLACE = frozenset(("no-log-group", "no-shard-index"))
"""Errors that may not be any where the configuration is used: the environment is another."""


@dataclass(frozen=True, slots=True)
class _Group:
    """Files that belong together."""

    agents: tuple[tuple[Found, Mapping[str, str]], ...]
    """Each with what a manifest says about its environment."""
    jobs: tuple[Jobs, ...]
    in_manifest: bool = False


def review(
    files: Sequence[Path],
    environ: Mapping[str, str],
    *,
    kind: Content | None = None,
    prometheus: Path | None = None,
) -> tuple[Complaint, ...]:
    """Say what is wrong with the files, in their order, and what will not do what was meant.

    ``kind`` is that of all files; without it each tells its own. ``prometheus`` holds the jobs, in
    the place of what the agent's file says about that. Never raises.
    """
    override = Jobs(prometheus.name, where.prometheus(prometheus)) if prometheus else None
    said: list[Complaint] = []
    for group in _groups(files, environ, kind, said):
        said += _whole(group, override, environ)
    given = {str(path): index for index, path in enumerate(files)}

    def position(complaint: Complaint) -> int:
        folder = str(Path(complaint.file).parent)
        return given.get(complaint.file, given.get(folder, len(given)))

    return _once(ordered(sorted(said, key=position)))


def _groups(
    files: Sequence[Path], environ: Mapping[str, str], kind: Content | None, said: list[Complaint]
) -> Iterator[_Group]:
    agents: list[Found] = []
    jobs: list[Jobs] = []
    for path in files:
        data = _bytes(path)
        told = kind or content.tell(data or b"", path.name)
        if path.is_dir() or told is Content.AGENT:
            agents.append(where.agent(path, environ))
        elif data is None or told is Content.PROMETHEUS:
            jobs.append(Jobs(path.name, where.prometheus(path)))
        else:
            found = manifest.read(data, path)
            said += found.complaints
            there = tuple(zip(found.agents, found.environments, strict=True))
            yield _Group(there, found.jobs, in_manifest=True)
    if agents or jobs:
        yield _Group(((where.joined(agents), {}),) if agents else (), tuple(jobs))


def _bytes(path: Path) -> bytes | None:
    """Read a file for a first look; what is wrong with it is told by whoever reads it in earnest.

    One byte too many is enough to see that it is too large.
    """
    try:
        with path.open("rb") as file:
            return file.read(limits.SIZE_BYTES + 1)
    except OSError:
        return None


def _whole(group: _Group, override: Jobs | None, environ: Mapping[str, str]) -> Iterator[Complaint]:
    """Examine each agent's file with its jobs, and then the jobs that belong to none."""
    taken: list[Jobs] = []
    for agent, there in group.agents:
        jobs = override or _named(agent, group)
        taken += [jobs] if jobs else []
        yield from _together(agent, jobs.found if jobs else None, {**environ, **there})
        if group.in_manifest and not override:
            yield from _misnamed(agent, jobs)
    wanting = None if group.in_manifest or override else _with_own_jobs(group)
    for jobs in (*group.jobs, *([override] if override else [])):
        if jobs not in taken:
            _, complaints = load.prometheus_file(jobs.found)
            yield from (*complaints, *judge.complaints(wanting, jobs.found))


def _with_own_jobs(group: _Group) -> Found | None:
    """Give the agent's file that has jobs itself: those beside it may take their place.

    Labels are then looked for among its own and, once more, among those of each other file.
    """
    return next((each for each, _ in group.agents if each.root.find(translate.INLINE)), None)


def _named(agent: Found, group: _Group) -> Jobs | None:
    """Choose the jobs that the agent's file names, or those that there are, if it is one."""
    if agent.root.find(translate.INLINE) is not None:
        return None
    name = PurePosixPath(_path(agent)).name
    same = next((each for each in group.jobs if each.name == name), None)
    return same or (group.jobs[0] if len(group.jobs) == 1 else None)


def _path(agent: Found) -> str:
    node = agent.root.find(_JOBS_PATH)
    return node.text if node and node.text else where.DEFAULT_PROMETHEUS


def _misnamed(agent: Found, jobs: Jobs | None) -> Iterator[Complaint]:
    if jobs and jobs.name != PurePosixPath(_path(agent)).name:
        report = Report(agent.root)
        message = f"no ConfigMap here has the file of {_path(agent)}, but one has {jobs.name}"
        advice = "make both names the same, unless the volume gives the file another name"
        report.warning(_JOBS_PATH, "jobs-not-here", message, advice)
        yield from report.complaints


def _together(agent: Found, jobs: Found | None, environ: Mapping[str, str]) -> Iterator[Complaint]:
    examined = load.translated(agent, jobs, environ)
    found = jobs or examined.prometheus
    yield from _softened(examined, found if jobs is None else None)
    if agent.broken and jobs:
        yield from load.prometheus_file(jobs)[1]
    yield from judge.complaints(agent, found)


def _softened(examined: Examined, named: Found | None) -> Iterator[Complaint]:
    """Make less of what may be otherwise where the configuration is used."""
    for each in examined.complaints:
        if named and each in named.complaints and _is_elsewhere(each):
            report = Report(examined.agent.root)
            message = f"the jobs in {_path(examined.agent)} are not checked: it is not here"
            advice = "give that file too, or --prometheus-config FILE"
            report.warning(_JOBS_PATH, "jobs-not-here", message, advice)
            yield from report.complaints
        elif each.code in _OF_THE_PLACE:
            yield replace(each, level=Level.WARNING, message=f"{each.message} here")
        else:
            yield each


def _is_elsewhere(complaint: Complaint) -> bool:
    return complaint.code in _NOT_HERE and not Path(complaint.file).exists()


def _once(complaints: tuple[Complaint, ...]) -> tuple[Complaint, ...]:
    """Leave out placeholders that something else was said about already, or an error is."""
    places = {(c.file, c.line, c.column) for c in complaints if not _is_left(c)}
    return tuple(
        each
        for each in complaints
        if not _is_left(each) or (each.file, each.line, each.column) not in places
    )


def _is_left(complaint: Complaint) -> bool:
    return complaint.code == unfilled.CODE and complaint.level is Level.WARNING
