"""From files to a plan: the one way in."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from cwgpu.config import further, metrics, translate, where
from cwgpu.config.agent import AgentFile
from cwgpu.config.complaint import Complaint, InvalidError, errors_in, ordered
from cwgpu.config.node import Loc
from cwgpu.config.prometheus import FurtherFile, Global, PrometheusFile
from cwgpu.config.report import Report
from cwgpu.config.targets import Setting
from cwgpu.config.validate import validate
from cwgpu.config.where import Found
from cwgpu.plan.plan import Job, Plan

_PATH: Loc = (*metrics.PROMETHEUS, "prometheus_config_path")


@dataclass(frozen=True, slots=True)
class Examined:
    """All that was read and made of it, right or wrong; the trees are for further checks."""

    plan: Plan | None
    """None when there are errors."""
    complaints: tuple[Complaint, ...]
    agent: Found
    prometheus: Found | None = None
    """None when the jobs stand in the agent's file, or when that could not be read."""
    draft: Plan | None = None
    """The plan also when there are errors, which are in it; None when nothing could be read."""


@dataclass(frozen=True, slots=True)
class Loaded:
    """A configuration that can be used."""

    plan: Plan
    complaints: tuple[Complaint, ...]
    """Warnings and notes."""


def load(config: Path | None, prometheus: Path | None, environ: Mapping[str, str]) -> Loaded:
    """Read the configuration and make the plan.

    ``config`` is the agent's JSON, a file or a directory; without it $CWGPU_CONFIG and then
    /etc/cwagentconfig. ``prometheus`` takes the place of what the configuration says about jobs.
    Raises InvalidError, which holds every complaint about all files.
    """
    examined = examine(config, prometheus, environ)
    if examined.plan is None:
        raise InvalidError(examined.complaints)
    return Loaded(examined.plan, examined.complaints)


def draft(config: Path | None, environ: Mapping[str, str]) -> Plan:
    """Make the plan as far as the agent's JSON tells it, for what the jobs do not matter to.

    Their file may be missing or faulty. Raises InvalidError, as ``load`` does.
    """
    examined = examine(config, None, environ)
    agent = examined.agent
    names = {agent.root.place.source.name, *map(str, agent.files)}
    complaints = tuple(each for each in examined.complaints if each.file in names)
    if examined.draft is None or errors_in(complaints):
        raise InvalidError(complaints)
    return examined.draft


def examine(config: Path | None, prometheus: Path | None, environ: Mapping[str, str]) -> Examined:
    """Do the same without raising."""
    return translated(where.agent(config, environ), prometheus, environ)


def translated(
    agent: Found, prometheus: Path | Found | None, environ: Mapping[str, str]
) -> Examined:
    """Do the same with an agent's file that was read already, perhaps from within a manifest."""
    if agent.broken:
        return Examined(None, ordered(agent.complaints), agent)
    report = Report(agent.root, list(agent.complaints))
    written = validate(AgentFile, report)
    found = _prometheus(written, agent, prometheus, environ=environ, report=report)
    others: tuple[Complaint, ...] = ()
    files = agent.files
    if found is None:
        jobs = translate.inline_jobs(written, report, agent.directory, environ)
    else:
        jobs, others, more = _read_jobs(found)
        files += more
    plan = translate.agent(written, jobs, report, environ, directory=agent.directory)
    complaints = ordered((*report.complaints, *others))
    if errors_in(complaints):
        return Examined(None, complaints, agent, found, plan)
    plan = replace(
        plan, warnings=translate.warnings(complaints), files=tuple(str(each) for each in files)
    )
    return Examined(plan, complaints, agent, found, plan)


def prometheus_file(found: Found) -> tuple[tuple[Job, ...], tuple[Complaint, ...]]:
    """Make the jobs of a prometheus.yml that was read, and of the files of jobs that it names."""
    jobs, complaints, _ = _read_jobs(found)
    return jobs, complaints


def _read_jobs(found: Found) -> tuple[tuple[Job, ...], tuple[Complaint, ...], tuple[Path, ...]]:
    """Do so, and tell which files were looked at or may come to be looked at."""
    if found.broken:
        return (), found.complaints, found.files
    report = Report(found.root, list(found.complaints))
    written = validate(PrometheusFile, report)
    setting = Setting(report, found.directory)
    jobs = translate.prometheus_jobs(written, setting)
    patterns = further.patterns(written.scrape_config_files, report, found.directory)
    files, complaints = (*found.files, *patterns), tuple(report.complaints)
    for each in further.read(patterns):
        files += each.files
        if each.broken:
            complaints += each.complaints
            continue
        report = Report(each.root, list(each.complaints))
        inner = validate(FurtherFile, report)
        there = replace(setting, report=report, directory=each.directory)
        jobs += translate.further_jobs(inner, written.global_ or Global(), there)
        complaints += tuple(report.complaints)
    return jobs, complaints, files


def _prometheus(
    written: AgentFile,
    agent: Found,
    override: Path | Found | None,
    *,
    environ: Mapping[str, str],
    report: Report,
) -> Found | None:
    """Decide where the jobs stand, and read them; None when they stand in the agent's file."""
    inline = agent.root.find(translate.INLINE) is not None
    if override is not None:
        if inline:
            message = "these jobs are not used: another file of jobs was given instead"
            report.note(translate.INLINE, "overridden", message)
        return override if isinstance(override, Found) else where.prometheus(override)
    path = metrics.prometheus_of(written).prometheus_config_path
    if inline:
        if path is not None:
            message = "prometheus_config_path and cwgpu.scrape_configs exclude each other"
            report.error(_PATH, "conflicting-keys", message, "keep the one that holds the jobs")
        return None
    if report.said(_PATH) or agent.root.find(metrics.PROMETHEUS) is None:
        return None  # that was complained about
    return _named(path or where.DEFAULT_PROMETHEUS, agent, environ)


def _named(path: str, agent: Found, environ: Mapping[str, str]) -> Found:
    found = where.named(path, agent.directory, environ)
    advice = (
        "name another with prometheus_config_path or --prometheus-config, or write the jobs into "
        "cwgpu.scrape_configs"
    )
    complaints = tuple(
        replace(each, help=advice) if each.code == "file-not-readable" else each
        for each in found.complaints
    )
    return replace(found, complaints=complaints)
