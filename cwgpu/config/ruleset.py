"""One job or its relabelling rules, out of the file that somebody names to have it explained.

The file may hold a list of rules, one job, or a whole configuration. Whatever it holds is checked
as it would be where it is used.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from cwgpu.config import rules, where
from cwgpu.config.complaint import Complaint, InvalidError, errors_in, ordered
from cwgpu.config.nearest import nearest
from cwgpu.config.node import Kind, Loc, Member, Node, mapping, short
from cwgpu.config.prometheus import ScrapeConfig
from cwgpu.config.report import Report
from cwgpu.config.validate import validate
from cwgpu.config.where import Found
from cwgpu.model.errors import UsageError
from cwgpu.prom.relabel import Rule

if TYPE_CHECKING:
    from cwgpu.plan.kubernetes import Shard
    from cwgpu.plan.plan import Job

TARGETS, SAMPLES = "relabel_configs", "metric_relabel_configs"
"""The two lists of rules that a job has."""
_OF_A_JOB = frozenset((TARGETS, SAMPLES, "job_name"))
_OF_AN_AGENT = frozenset(("agent", "logs", "metrics", "traces", "cwgpu"))
_JOBS: tuple[Loc, ...] = (("scrape_configs",), ("cwgpu", "scrape_configs"))
_YAML = (".yml", ".yaml")
_BY_FLAG = "with --job"
_OF_THE_PLACE = frozenset(("no-log-group",))
"""Errors that are not about jobs, and may be none where the configuration is used."""


@dataclass(frozen=True, slots=True)
class Ruleset:
    """Rules, and where each of them is written: ``file:line``, None where that is not known."""

    rules: tuple[Rule, ...]
    places: tuple[str | None, ...]


@dataclass(frozen=True, slots=True)
class Chosen:
    """A job, and the tree that it stands in."""

    job: "Job"
    found: Found

    def ruleset(self, key: str) -> Ruleset:
        """Give one of its two lists of rules."""
        made = self.job.relabel if key == TARGETS else self.job.metric_relabel
        return _placed(made, _written(self.found.root, self.job.name, key))


@dataclass(frozen=True, slots=True)
class Jobs:
    """All jobs of a configuration, and the tree that they stand in."""

    jobs: tuple["Job", ...]
    found: Found
    shard: "Shard | None" = None
    """Which part of their targets an agent of this configuration has; None: all."""

    def places(self) -> dict[str, tuple[str | None, ...]]:
        """Give where each job's rules for targets are written."""
        return {job.name: Chosen(job, self.found).ruleset(TARGETS).places for job in self.jobs}


def rules_of(path: Path, job: str | None, environ: Mapping[str, str], *, key: str) -> Ruleset:
    """Read the rules below ``key`` in a file; if that is a whole configuration, those of a job.

    InvalidError holds every complaint; UsageError says what there is to choose from.
    """
    found = where.agent(path, environ) if _is_agents(path) else where.prometheus(path)
    _refuse(found.complaints)
    names = _names(found.root)
    if found.root.kind is not Kind.SEQUENCE and not names & _OF_A_JOB:
        return _pick(_jobs(found, None, environ), job, "as --rules FILE:JOB").ruleset(key)
    if job is not None:
        raise UsageError(f"{path} holds rules, not jobs to choose from: leave :{job} out")
    if key == TARGETS and SAMPLES in names and TARGETS not in names:
        raise UsageError(f"{path} holds {SAMPLES} alone: give --metric")
    return _listed(found, key)


def job_of(
    config: Path | None, prometheus: Path | None, job: str | None, environ: Mapping[str, str]
) -> Chosen:
    """Read a configuration as ``load`` does, or a prometheus.yml alone, and choose a job of it."""
    return _pick(jobs_of(config, prometheus, environ), job)


def jobs_of(config: Path | None, prometheus: Path | None, environ: Mapping[str, str]) -> Jobs:
    """Read a configuration as ``load`` does, or a prometheus.yml alone."""
    if config is None or _is_agents(config):
        return _jobs(where.agent(config, environ), prometheus, environ)
    if prometheus is not None:
        raise UsageError(f"{config} and {prometheus} both hold jobs: give one of them")
    return _jobs(where.prometheus(config), None, environ)


def _is_agents(path: Path) -> bool:
    """Tell the agent's files, which are JSON, from YAML; where the name does not, the content."""
    if path.is_dir() or path.suffix in (".json", *_YAML):
        return path.suffix not in _YAML
    try:
        # What comes through a pipe can be read only once, by whoever reads it in earnest.
        return path.is_file() and path.read_bytes().lstrip().startswith(b"{")
    except OSError:
        return False


def _names(root: Node) -> set[str]:
    return {member.name for member in root.members}


def _refuse(complaints: Iterable[Complaint]) -> None:
    """Raise if there is an error among them; the others may explain it."""
    said = ordered(each for each in complaints if each.code not in _OF_THE_PLACE)
    if errors_in(said):
        raise InvalidError(said)


def _listed(found: Found, key: str) -> Ruleset:
    """Make the rules of a list of them, or of one job."""
    root = found.root
    if root.kind is Kind.SEQUENCE:
        root = mapping(root.place, (Member(key, root.place, root),))
    report = Report(root, list(found.complaints))
    written = validate(ScrapeConfig, report)
    made = rules.rules(getattr(written, key), report, (key,))
    _refuse(report.complaints)
    return _placed(made, root.get(key))


def _placed(made: tuple[Rule, ...], node: Node | None) -> Ruleset:
    places = [each.place for each in node.items] if node else []
    texts = tuple(f"{place.source.name}:{place.line}" for place in places)
    return Ruleset(made, texts if len(texts) == len(made) else (None,) * len(made))


def _written(root: Node, job: str, key: str) -> Node | None:
    """Find the list of rules of a job."""
    for loc in _JOBS:
        node = root.find(loc)
        for each in node.items if node else ():
            name = each.get("job_name")
            if name and name.text == job:
                return each.get(key)
    return None


def _pick(read: Jobs, job: str | None, how: str = _BY_FLAG) -> Chosen:
    return Chosen(pick(read.jobs, job, read.found.root.place.source.name, how), read.found)


def pick(jobs: Sequence["Job"], job: str | None, file: str, how: str = _BY_FLAG) -> "Job":
    """Choose by name; without one, the only job. UsageError says what there is to choose from.

    ``how`` is what the command has to name a job by.
    """
    names = [each.name for each in jobs]
    if not names:
        raise UsageError(f"{file} has no jobs")
    if job is None and len(names) > 1:
        raise UsageError(f"{file} has several jobs; name one {how}: {', '.join(names)}")
    if job is not None and job not in names:
        meant = nearest(job, names)
        advice = f"did you mean {short(meant)}?" if meant else f"it has: {', '.join(names)}"
        raise UsageError(f"{file} has no job {short(job)}; {advice}")
    return jobs[0 if job is None else names.index(job)]


def _jobs(found: Found, prometheus: Path | None, environ: Mapping[str, str]) -> Jobs:
    _refuse(found.complaints)
    # The models of a whole configuration are for whole configurations: they take a while to load.
    from cwgpu.config import load  # noqa: PLC0415

    if prometheus is None and not _names(found.root) & _OF_AN_AGENT:
        jobs, complaints = load.prometheus_file(found)
        _refuse(complaints)
        return Jobs(jobs, found)
    examined = load.translated(found, prometheus, environ)
    _refuse(examined.complaints)
    plan = examined.draft
    if plan is None:
        raise RuntimeError("what cannot be read has an error that says so")
    return Jobs(plan.jobs, examined.prometheus or found, plan.shard)
