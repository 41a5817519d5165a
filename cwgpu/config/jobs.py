"""Scrape configurations: from their models to the plan's jobs."""

from cwgpu.config import exclusive, rules, targets
from cwgpu.config.node import Loc, short
from cwgpu.config.prometheus import Global, Limits, ScrapeConfig
from cwgpu.config.targets import Setting
from cwgpu.plan.plan import Job
from cwgpu.prom import duration
from cwgpu.prom.exposition import Format

# Prometheus' defaults, config/config.go.
_INTERVAL_MS = 60_000
_TIMEOUT_MS = 10_000


def jobs(
    written: list[ScrapeConfig], defaults: Global, setting: Setting, loc: Loc
) -> tuple[Job, ...]:
    """Make the jobs of a list of scrape configurations at ``loc``."""
    check_global(defaults, setting)
    _check_formats(defaults, setting, ("global",))
    seen: set[str] = set()
    made = []
    for index, each in enumerate(written):
        here = (*loc, index)
        _check_name(each, seen, setting, here)
        _check_formats(each, setting, here)
        exclusive.check(each, setting.report, here)
        made.append(_job(each, defaults, setting, here))
    return tuple(made)


def _job(written: ScrapeConfig, defaults: Global, setting: Setting, loc: Loc) -> Job:
    interval_ms, timeout_ms = _times(written, defaults, setting, loc)
    report = setting.report
    body_limit = written.body_size_limit or defaults.body_size_limit
    made = Job(
        name=written.job_name,
        interval_s=interval_ms / 1000,
        timeout_s=timeout_ms / 1000,
        metrics_path=written.metrics_path,
        scheme=written.scheme,
        params={name: tuple(values) for name, values in written.params.items()},
        honor_labels=written.honor_labels,
        honor_timestamps=written.honor_timestamps,
        enable_compression=written.enable_compression,
        relabel=rules.rules(written.relabel_configs, report, (*loc, "relabel_configs")),
        metric_relabel=rules.rules(
            written.metric_relabel_configs, report, (*loc, "metric_relabel_configs")
        ),
        sample_limit=written.sample_limit or defaults.sample_limit,
        # Prometheus takes a negative limit as none.
        body_size_limit_bytes=max(body_limit, 0),
        strict=written.strict,
        fallback_format=_format(written, setting, loc),
        static=targets.static(written, setting, loc),
        files=targets.files(written, setting, loc),
        unsupported=targets.check_others(written, report, loc),
    )
    if not (made.static or made.files or made.unsupported):
        message = f"the job {short(made.name)} says nowhere where its targets are"
        report.warning((*loc, "static_configs"), "no-targets", message, "add static_configs")
    return made


def _check_name(written: ScrapeConfig, seen: set[str], setting: Setting, loc: Loc) -> None:
    name = written.job_name
    here = (*loc, "job_name")
    if not name:
        setting.report.error(here, "missing-key", "a job needs a job_name")
    elif name in seen:
        message = f"a second job is called {short(name)}"
        setting.report.error(here, "duplicate-job", message, "give each job a name of its own")
    seen.add(name)


def check_global(defaults: Global, setting: Setting) -> None:
    """Complain about a global timeout that is longer than the global interval."""
    interval_ms = defaults.scrape_interval or _INTERVAL_MS
    if defaults.scrape_timeout > interval_ms:
        _too_long(defaults.scrape_timeout, interval_ms, setting, ("global", "scrape_timeout"))


def _check_formats(written: Limits, setting: Setting, loc: Loc) -> None:
    protocols, here = written.scrape_protocols, (*loc, "scrape_protocols")
    if protocols is None:
        return
    if not protocols:
        message = "scrape_protocols is empty"
        setting.report.error(here, "empty-list", message, "leave the key out for the default")
    if len(set(protocols)) < len(protocols):
        setting.report.error(here, "wrong-value", "a format stands twice in scrape_protocols")


def _times(written: ScrapeConfig, defaults: Global, setting: Setting, loc: Loc) -> tuple[int, int]:
    interval_ms = written.scrape_interval or defaults.scrape_interval or _INTERVAL_MS
    timeout_ms = written.scrape_timeout
    if timeout_ms > interval_ms:
        _too_long(timeout_ms, interval_ms, setting, (*loc, "scrape_timeout"))
    return interval_ms, timeout_ms or min(defaults.scrape_timeout or _TIMEOUT_MS, interval_ms)


def _too_long(timeout_ms: int, interval_ms: int, setting: Setting, loc: Loc) -> None:
    timeout, interval = duration.format(timeout_ms), duration.format(interval_ms)
    message = f"scrape_timeout {timeout} is longer than scrape_interval {interval}"
    setting.report.error(loc, "timeout-too-long", message, f"write {interval} or less")


def _format(written: ScrapeConfig, setting: Setting, loc: Loc) -> Format:
    protocol = written.fallback_scrape_protocol
    if protocol == "PrometheusProto":
        message = "the protobuf format is not read here; such pages are read as text"
        here = (*loc, "fallback_scrape_protocol")
        setting.report.warning(here, "not-yet-supported", message)
    is_open = protocol is not None and protocol.startswith("OpenMetrics")
    return Format.OPENMETRICS if is_open else Format.TEXT
