"""The rules in turn."""

from collections.abc import Callable
from dataclasses import replace
from typing import TypeVar

from cwgpu.config import further
from cwgpu.config.agent import AgentFile
from cwgpu.config.complaint import Complaint
from cwgpu.config.lint import (
    declaring,
    dropping,
    inline,
    matching,
    meta,
    removal,
    scraping,
    selecting,
    spelling,
    subject,
    workload,
)
from cwgpu.config.lint.subject import Job, Subject
from cwgpu.config.own import Own
from cwgpu.config.prometheus import FurtherFile, Global, PrometheusFile
from cwgpu.config.report import Report
from cwgpu.config.translate import INLINE
from cwgpu.config.validate import validate
from cwgpu.config.where import Found

_JOBS = ("scrape_configs",)

M = TypeVar("M", AgentFile, PrometheusFile, FurtherFile)

OF_JOBS: tuple[Callable[[Job], None], ...] = (
    matching.never_matches,
    dropping.static_targets_dropped,
    meta.unknown_meta_label,
    spelling.unknown_group,
    spelling.literal_dollar,
    scraping.path_not_served,
    scraping.target_without_port,
    scraping.variable_not_filled_in,
    inline.inline_secret,
)
OF_ALL: tuple[Callable[[Subject], None], ...] = (
    spelling.lost_backslash,
    spelling.template_left,
    meta.variable_not_listed,
    declaring.label_never_set,
    declaring.matcher_never_matches,
    workload.workload_label_taken,
    workload.idle_gpus_mixed_up,
    workload.idle_gpus_unseen,
    removal.needed_label_dropped,
    selecting.no_gpu_metric,
    selecting.selector_too_wide,
    selecting.renamed_field,
    selecting.gauge_unselected,
    selecting.unknown_field,
    selecting.high_churn_dimension,
    scraping.interval_vs_resolution,
    scraping.high_resolution_cost,
    scraping.events_per_scrape,
)


def complaints(agent: Found | None, prometheus: Found | None) -> tuple[Complaint, ...]:
    """Say what will not do what was meant; what cannot be read is passed over.

    Without ``prometheus`` the jobs are those in the agent's file, if any.
    """
    half = _agent(agent) if agent and not agent.broken else Subject()
    whole = _with_jobs(half, prometheus) if prometheus and not prometheus.broken else half
    for job in whole.jobs:
        for of_job in OF_JOBS:
            of_job(job)
    for of_all in OF_ALL:
        of_all(whole)
    reports = {id(each): each for each in (whole.report, *(job.report for job in whole.jobs))}
    return tuple(said for report in reports.values() if report for said in report.complaints)


def _read(model: type[M], found: Found) -> tuple[M, Report]:
    """Read a file a second time: what does not fit was complained about the first time."""
    report = Report(found.root)
    written = validate(model, report)
    report.complaints.clear()
    return written, report


def _agent(found: Found) -> Subject:
    written, report = _read(AgentFile, found)
    own = written.cwgpu or Own()
    jobs = subject.jobs(own.scrape_configs or (), Global(), report, INLINE)
    return Subject(jobs, own, tuple(subject.declared(written)), report)


def _with_jobs(half: Subject, found: Found) -> Subject:
    written, report = _read(PrometheusFile, found)
    defaults = written.global_ or Global()
    jobs = subject.jobs(written.scrape_configs, defaults, report, _JOBS)
    patterns = further.patterns(written.scrape_config_files, Report(found.root), found.directory)
    others = [each for each in further.read(patterns) if not each.broken]
    for each in others:
        inner, report = _read(FurtherFile, each)
        jobs += subject.jobs(inner.scrape_configs, defaults, report, _JOBS)
    # Of those that are named and not here nobody knows which labels they give.
    return replace(
        half,
        jobs=jobs,
        has_more_jobs=len(others) < len(patterns),
        jobs_file=found.root.place.source.name if half.jobs else "",
    )
