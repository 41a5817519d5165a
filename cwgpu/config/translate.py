"""From models to the plan."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import PurePath

from cwgpu.config import (
    budget,
    dcgm,
    delivery,
    jobs,
    kubernetes,
    marks,
    metrics,
    naming,
    share,
    spool,
)
from cwgpu.config.agent import AgentFile
from cwgpu.config.complaint import Complaint, Level, errors_in
from cwgpu.config.node import Loc
from cwgpu.config.own import Own
from cwgpu.config.prometheus import FurtherFile, Global, PrometheusFile
from cwgpu.config.report import Report
from cwgpu.config.targets import Setting
from cwgpu.plan import plan

INLINE: Loc = ("cwgpu", "scrape_configs")
_JOBS: Loc = ("scrape_configs",)

_SMALLEST = "scrape_configs: [{job_name: gpu, static_configs: [{targets: ['localhost:9400']}]}]"


def prometheus_jobs(written: PrometheusFile, setting: Setting) -> tuple[plan.Job, ...]:
    """Make the jobs of a prometheus.yml."""
    report = setting.report
    marks.tell(written, report)
    defaults = written.global_ or Global()
    has_jobs = bool(written.scrape_configs or written.scrape_config_files)
    jobs.check_global(defaults, setting, has_jobs=has_jobs)
    if not has_jobs and not errors_in(report.complaints):
        message = "no job: nothing will be scraped"
        report.warning(_JOBS, "no-jobs", message, f"write {_SMALLEST}")
    return jobs.jobs(written.scrape_configs, defaults, setting, _JOBS)


def further_jobs(written: FurtherFile, defaults: Global, setting: Setting) -> tuple[plan.Job, ...]:
    """Make the jobs of a file that ``scrape_config_files`` names."""
    marks.tell(written, setting.report)
    return jobs.jobs(written.scrape_configs, defaults, setting, _JOBS)


def inline_jobs(
    written: AgentFile, report: Report, directory: PurePath, environ: Mapping[str, str]
) -> tuple[plan.Job, ...]:
    """Make the jobs of ``cwgpu.scrape_configs``."""
    setting = Setting(report, directory, environ)
    inline = (written.cwgpu or Own()).scrape_configs or []
    return jobs.jobs(inline, Global(), setting, INLINE)


def agent(
    written: AgentFile,
    found: tuple[plan.Job, ...],
    report: Report,
    environ: Mapping[str, str],
    *,
    directory: PurePath,
) -> plan.Plan:
    """Make the plan of the agent's file and the jobs that were found for it.

    Relative file names begin at ``directory``.
    """
    marks.tell(written, report)
    _check_section(written, report)
    own = written.cwgpu or Own()
    cluster = naming.cluster_name(written, environ)
    naming.check_text(cluster, report)
    platform = naming.platform(cluster, environ)
    emf = metrics.emf(written, cluster, report, namespace=platform.namespace)
    found = kubernetes.with_environment(found, own.meta_env, environ, report)
    default = platform.log_group(cluster) if cluster else None
    cloudwatch = delivery.cloudwatch(written, default, emf.namespace, report)
    if cloudwatch.log_group:  # or the name is asked for already
        naming.check(emf, found, report)
    return plan.Plan(
        jobs=tuple(replace(each, report_series=own.report_series) for each in found),
        emf=emf,
        cloudwatch=cloudwatch,
        dcgm=dcgm.dcgm(own.dcgm, [each.name for each in found], report),
        flush_interval_s=float(written.logs.force_flush_interval if written.logs else 5),
        lease=share.lease(own, report),
        shard=share.shard(own, environ, report),
        budget=budget.budget(own, report),
        spool=spool.spool(own, directory, environ, report),
        shutdown_grace_s=spool.grace_s(own, report),
    )


def _check_section(written: AgentFile, report: Report) -> None:
    collected = written.logs.metrics_collected if written.logs else None
    if collected is None or collected.prometheus is None:
        message = "nothing to do: there is no section for Prometheus metrics"
        advice = f'write "{".".join(map(str, metrics.PROMETHEUS))}" with an emf_processor'
        report.error(metrics.PROMETHEUS, "missing-section", message, advice)
        report.pruned.add(metrics.PROMETHEUS)


def warnings(complaints: tuple[Complaint, ...]) -> tuple[str, ...]:
    """Give the warnings as sentences that name their place."""
    return tuple(
        f"{each.file}:{each.line}: {each.message}"
        for each in complaints
        if each.level is Level.WARNING
    )
