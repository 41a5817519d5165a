"""Scrape configurations: from their models to the plan's jobs."""

from collections.abc import Callable
from operator import attrgetter

from cwgpu.config import access, exclusive, formats, kubernetes, rules, targets
from cwgpu.config.discovery import Discoveries
from cwgpu.config.node import Loc, short
from cwgpu.config.prometheus import Global, ScrapeConfig
from cwgpu.config.targets import Setting
from cwgpu.plan.plan import Job
from cwgpu.prom import duration

# Prometheus' defaults, config/config.go.
_INTERVAL_MS = 60_000
_TIMEOUT_MS = 10_000


_SCHEMES = ("", "legacy", "utf8")


def jobs(
    written: list[ScrapeConfig], defaults: Global, setting: Setting, loc: Loc
) -> tuple[Job, ...]:
    """Make the jobs of a list of scrape configurations at ``loc``."""
    made = []
    for index, each in enumerate(written):
        here = (*loc, index)
        _check_name(each, setting, here)
        exclusive.check(each, setting.report, here)
        made.append(_job(each, defaults, setting, here))
    return tuple(made)


def _job(written: ScrapeConfig, defaults: Global, setting: Setting, loc: Loc) -> Job:
    interval_ms, timeout_ms = _times(written, defaults, setting, loc)
    report = setting.report
    limit = _limits(written, defaults)
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
        client=access.client(written, setting.directory),
        formats=formats.wanted(written, defaults, report, loc),
        relabel=rules.rules(written.relabel_configs, report, (*loc, "relabel_configs")),
        metric_relabel=rules.rules(
            written.metric_relabel_configs, report, (*loc, "metric_relabel_configs")
        ),
        sample_limit=limit("sample_limit"),
        # Prometheus takes a negative limit as none.
        body_size_limit_bytes=max(limit("body_size_limit"), 0),
        target_limit=limit("target_limit"),
        label_limit=limit("label_limit"),
        label_name_length_limit=limit("label_name_length_limit"),
        label_value_length_limit=limit("label_value_length_limit"),
        keep_dropped_targets=limit("keep_dropped_targets"),
        legacy_names=_legacy(written, defaults, setting, loc),
        strict=written.strict,
        fallback_format=formats.fallback(written, report, loc),
        static=targets.static(written, setting, loc),
        unset=targets.unset(written, setting),
        files=targets.files(written, setting, loc),
        http=targets.web(written, setting, loc),
        kubernetes=kubernetes.discoveries(written, setting, loc),
        unsupported=targets.others(written),
    )
    found = made.static or made.files or made.http or made.unsupported
    refused = report.lacks(loc, Discoveries.model_fields)
    if not (found or written.kubernetes_sd_configs or refused):
        message = f"the job {short(made.name)} says nowhere where its targets are"
        report.warning((*loc, "static_configs"), "no-targets", message, "add static_configs")
    return made


def _limits(written: ScrapeConfig, defaults: Global) -> Callable[[str], int]:
    """Give a job's limits by name: its own or, where that is 0, the global one."""

    def limit(name: str) -> int:
        own: int = attrgetter(name)(written)
        common: int = attrgetter(name)(defaults)
        return own or common

    return limit


def _legacy(written: ScrapeConfig, defaults: Global, setting: Setting, loc: Loc) -> bool:
    scheme = written.metric_name_validation_scheme
    if scheme not in _SCHEMES:
        message = f"{short(scheme)} is no scheme, and means utf8, as in Prometheus"
        here = (*loc, "metric_name_validation_scheme")
        setting.report.warning(here, "unknown-scheme", message, "write legacy or utf8")
    return (scheme or defaults.metric_name_validation_scheme) == "legacy"


def _check_name(written: ScrapeConfig, setting: Setting, loc: Loc) -> None:
    name, file = written.job_name, setting.report.root.place.source.name
    here, first = (*loc, "job_name"), setting.taken.get(written.job_name)
    if not name:
        setting.report.error(here, "missing-key", "a job needs a job_name")
    elif first:
        where = "" if first == file else f"; the first is in {first}"
        message = f"a second job is called {short(name)}{where}"
        setting.report.error(here, "duplicate-job", message, "give each job a name of its own")
    setting.taken.setdefault(name, file)


def check_global(defaults: Global, setting: Setting, *, has_jobs: bool) -> None:
    """Complain about what ``global`` says, as far as it matters to any job."""
    interval_ms = defaults.scrape_interval or _INTERVAL_MS
    if defaults.scrape_timeout > interval_ms:
        _too_long(defaults.scrape_timeout, interval_ms, setting, ("global", "scrape_timeout"))
    formats.check(defaults, setting.report, ("global",))
    if "" in defaults.external_labels:
        nameless = ("global", "external_labels", "")
        setting.report.refuse(nameless, "bad-label-name", "a label without a name")
    scheme = defaults.metric_name_validation_scheme
    if has_jobs and scheme not in _SCHEMES:
        message = f"{short(scheme)} is no scheme of names"
        here = ("global", "metric_name_validation_scheme")
        setting.report.error(here, "wrong-value", message, "write legacy or utf8")


def _times(written: ScrapeConfig, defaults: Global, setting: Setting, loc: Loc) -> tuple[int, int]:
    common_ms = defaults.scrape_interval or _INTERVAL_MS
    interval_ms = written.scrape_interval or common_ms
    timeout_ms = written.scrape_timeout
    if timeout_ms > interval_ms:
        _too_long(timeout_ms, interval_ms, setting, (*loc, "scrape_timeout"))
    # The global timeout is cut by the global interval before a job's own interval comes in.
    usual_ms = defaults.scrape_timeout or min(_TIMEOUT_MS, common_ms)
    return interval_ms, timeout_ms or min(usual_ms, interval_ms)


def _too_long(timeout_ms: int, interval_ms: int, setting: Setting, loc: Loc) -> None:
    timeout, interval = duration.format(timeout_ms), duration.format(interval_ms)
    message = f"scrape_timeout {timeout} is longer than scrape_interval {interval}"
    setting.report.error(loc, "timeout-too-long", message, f"write {interval} or less")
