"""Where and how often a job scrapes."""

import re

from cwgpu.config.lint import dcgm, reach
from cwgpu.config.lint.subject import Job, Subject, spelled
from cwgpu.config.nearest import nearest
from cwgpu.config.node import short
from cwgpu.prom import duration

_FOREIGN = {
    "/": "the exporter's page for people",
    "/health": "the exporter's health check",
    "/api/v1/metrics/prometheus": "Fluent Bit's",
    "/stats/prometheus": "Envoy's",
    "/actuator/prometheus": "Spring Boot's",
    "/metrics/cadvisor": "the kubelet's",
}
"""Paths that have no metrics page of the exporter, and whose they are."""
_TYPO = 0.85

_VARIABLE = re.compile(r"\$\{[A-Za-z_][A-Za-z0-9_]*\}")
_WITHOUT_PORT = re.compile(r"[^\s:/\[\]$]+|\[[^\s/\[\]$]+\]")

_STANDARD_S = 60
"""CloudWatch's standard resolution; its high resolution is 1 second."""
# CloudWatch draws and alarms at 1, 5, 10 and 30 seconds; who scrapes more often than every quarter
# of a minute wants to see seconds.
_SECONDS_WANTED_MS = 10_000


def path_not_served(job: Job) -> None:
    """Find paths at which the exporter has no metrics page."""
    path = job.written.metrics_path
    if not dcgm.is_job(job) or reach.sets_hidden(job, "__metrics_path__"):
        return
    whose = _FOREIGN.get(path)
    typo = not path.endswith(dcgm.PATH) and nearest(path, [dcgm.PATH], _TYPO)
    if not whose and not typo:
        return
    loc = (*job.loc, "metrics_path")
    message = f"dcgm-exporter has no metrics at {path}" + (f", which is {whose}" if whose else "")
    advice = f"write {dcgm.PATH}, or leave the key out: that is the default"
    job.report.warning(loc, "path-not-served", message, advice)


def target_without_port(job: Job) -> None:
    """Find static targets that are asked at port 80 or 443, because no port is written."""
    if reach.sets_hidden(job, "__address__"):
        return
    is_dcgm = dcgm.is_job(job)
    port = 443 if job.written.scheme == "https" else 80
    for group, static in enumerate(job.written.static_configs):
        for index, target in enumerate(static.targets):
            if not _WITHOUT_PORT.fullmatch(target):
                continue
            loc = (*job.loc, "static_configs", group, "targets", index)
            message = f"{short(target)} has no port, so that it is asked at {port}"
            tell = job.report.warning if is_dcgm else job.report.note
            meant = spelled(job.report, loc, f"{target}:{dcgm.PORT}")
            tell(loc, "target-without-port", message, f"write {meant}" if is_dcgm else "")


def variable_not_filled_in(job: Job) -> None:
    """Find ``${NAME}`` among the static targets of a prometheus.yml, where it stays as it is."""
    if job.inline:
        return
    for group, static in enumerate(job.written.static_configs):
        for index, target in enumerate(static.targets):
            if found := _VARIABLE.search(target):
                loc = (*job.loc, "static_configs", group, "targets", index)
                message = f"{found[0]} stays as it is: prometheus.yml knows no variables"
                advice = "jobs in cwgpu.scrape_configs of the agent's JSON do"
                job.report.warning(loc, "variable-not-filled-in", message, advice)


def interval_vs_resolution(subject: Subject) -> None:
    """Find scrapes at seconds whose metrics are kept by the minute, and the other way round."""
    if subject.report is None or not subject.jobs:
        return
    if 1 in subject.own.storage_resolution.values():
        fastest_ms = min(job.interval_ms for job in subject.jobs)
        if fastest_ms >= _STANDARD_S * 1000:
            interval = duration.format(fastest_ms)
            message = f"no job is scraped more often than every {interval}, so this changes nothing"
            advice = "write a scrape_interval below a minute too"
            here = ("cwgpu", "storage_resolution")
            subject.report.note(here, "interval-vs-resolution", message, advice)
        return
    told = set()
    for job in subject.jobs:
        if job.interval_ms <= _SECONDS_WANTED_MS and job.interval_loc not in told:
            told.add(job.interval_loc)
            interval = duration.format(job.interval_ms)
            message = f"scraped every {interval}, but CloudWatch keeps these metrics by the minute"
            advice = 'to see seconds write "cwgpu": {"storage_resolution": {"^DCGM_": 1}}'
            if dcgm.is_job(job):
                advice += "; the exporter measures every 30s unless told otherwise"
            job.report.note(job.interval_loc, "interval-vs-resolution", message, advice)


def high_resolution_cost(subject: Subject) -> None:
    """Say what a resolution of seconds costs."""
    if subject.report is None:
        return
    for selector, seconds in subject.own.storage_resolution.items():
        if seconds == 1:
            message = (
                "stored by the second: alarms at 10 or 30 seconds cost three times as much, and "
                "after 3 hours only minutes are left"
            )
            here = ("cwgpu", "storage_resolution", selector)
            subject.report.note(here, "high-resolution-cost", message)
            return


def events_per_scrape(subject: Subject) -> None:
    """Say what a resolution of seconds costs where events are for minutes."""
    window_ms = subject.own.events.emit
    if subject.report is None or not window_ms or not subject.jobs:
        return
    scrapes = window_ms // min(job.interval_ms for job in subject.jobs)
    for selector, seconds in subject.own.storage_resolution.items():
        if seconds == 1 and scrapes > 1:
            emit = duration.format(window_ms)
            message = (
                f"stored by the second, so that these metrics have an event at every scrape: "
                f"{scrapes} in {emit} in place of one, with labels and names in each"
            )
            here = ("cwgpu", "storage_resolution", selector)
            advice = "select those metrics only that need seconds; cwgpu cost says what they cost"
            subject.report.note(here, "events-per-scrape", message, advice)
            return
