"""Where a job's targets come from: static groups, files and web services; the rest is named."""

import collections
import itertools
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import PurePath

from cwgpu.config import access, exclusive, shape, url
from cwgpu.config.discovery import (
    FILE_REFRESH_MS,
    HTTP_REFRESH_MS,
    Discoveries,
    FileDiscovery,
    HttpDiscovery,
    StaticConfig,
)
from cwgpu.config.node import Loc, short
from cwgpu.config.prometheus import ScrapeConfig
from cwgpu.config.report import Report
from cwgpu.model.labels import Labels
from cwgpu.model.target import TargetGroup
from cwgpu.plan import plan

_FILE = re.compile(r"[^*]*(?:\*[^/]*)?\.(?:json|yml|yaml|JSON|YML|YAML)")
_VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")


@dataclass(frozen=True, slots=True)
class Setting:
    """What surrounds the jobs."""

    report: Report
    directory: PurePath
    """Where relative file names begin."""
    environ: Mapping[str, str] | None = None
    """Where ``${NAME}`` of a static target and its labels is looked up; None leaves it as it is."""
    taken: dict[str, str] = field(default_factory=dict)
    """The names of the jobs so far, and the file of each: several files may hold jobs."""


def static(job: ScrapeConfig, setting: Setting, loc: Loc) -> tuple[TargetGroup, ...]:
    """Make the groups of ``static_configs``."""
    groups = []
    for index, written in enumerate(job.static_configs):
        here = (*loc, "static_configs", index)
        _check_labels(written, setting.report, here)
        found = tuple(_addresses(written, setting, here))
        if not job.relabel_configs:
            _check_addresses(written, found, setting.report, here)
        targets: tuple[Labels, ...] = tuple({"__address__": address} for _, address in found)
        groups.append(TargetGroup(f"static/{index}", targets, _labels(written, setting, here)))
    return tuple(groups)


def _labels(written: StaticConfig, setting: Setting, loc: Loc) -> Labels:
    """Fill in ``${NAME}``; of a variable that is not set nothing remains."""
    environ = setting.environ
    if environ is None:
        return dict(written.labels)
    for label, text in written.labels.items():
        for name in dict.fromkeys(_VARIABLE.findall(text)):
            if name not in environ:
                message = f"{name} is not in the environment, and empty here"
                setting.report.note((*loc, "labels", label), "variable-not-set", message)
    known = collections.defaultdict(str, environ)
    return {label: _filled(text, known) for label, text in written.labels.items()}


def _addresses(written: StaticConfig, setting: Setting, loc: Loc) -> Iterator[tuple[int, str]]:
    """Give each address with the index of the target that it comes from."""
    for index, target in enumerate(written.targets):
        if setting.environ is None:
            yield index, target
            continue
        names = dict.fromkeys(_VARIABLE.findall(target))
        values = {name: _values(setting.environ.get(name, "")) for name in names}
        for name in names:
            if not values[name]:
                message = f"{name} is not in the environment, so this gives no target"
                setting.report.note((*loc, "targets", index), "variable-not-set", message)
        for choice in itertools.product(*values.values()):
            chosen = dict(zip(names, choice, strict=True))
            yield index, _filled(target, chosen)


def unset(job: ScrapeConfig, setting: Setting) -> tuple[str, ...]:
    """Name the variables that are not set, so that static targets come to nothing."""
    environ = setting.environ
    if environ is None:
        return ()
    targets = (target for written in job.static_configs for target in written.targets)
    names = dict.fromkeys(name for target in targets for name in _VARIABLE.findall(target))
    return tuple(name for name in names if not _values(environ.get(name, "")))


def _filled(target: str, values: Mapping[str, str]) -> str:
    return _VARIABLE.sub(lambda match: values[match[1]], target)


def _values(text: str) -> list[str]:
    return [value.strip() for value in text.split(",") if value.strip()]


def _check_labels(written: StaticConfig, report: Report, loc: Loc) -> None:
    if "" in written.labels:
        report.refuse((*loc, "labels", ""), "bad-label-name", "a label without a name")
    if written.labels and not written.targets:
        message = "these labels go to no target: they belong to the targets of the same entry"
        advice = "put targets and labels into one entry, with one dash"
        report.warning((*loc, "labels"), "labels-without-targets", message, advice)


def _check_addresses(
    written: StaticConfig, found: tuple[tuple[int, str], ...], report: Report, loc: Loc
) -> None:
    for index, address in found:
        if "/" in address:
            target = short(written.targets[index])
            advice = "write host:port; scheme and metrics_path are keys of the job"
            message = f"the target {target} holds a /"
            report.error((*loc, "targets", index), "bad-target", message, advice)


def files(job: ScrapeConfig, setting: Setting, loc: Loc) -> tuple[plan.FileDiscovery, ...]:
    """Make the discoveries of ``file_sd_configs``."""
    found = enumerate(job.file_sd_configs)
    return tuple(_file(each, setting, (*loc, "file_sd_configs", index)) for index, each in found)


def _file(written: FileDiscovery, setting: Setting, loc: Loc) -> plan.FileDiscovery:
    if not written.files:
        message = "no file to discover targets from"
        setting.report.error((*loc, "files"), "missing-key", message, "files: ['targets/*.yml']")
    for index, name in enumerate(written.files):
        if not _FILE.fullmatch(name):
            advice = "it must end in .json, .yml or .yaml; only its last part may hold stars"
            message = f"{short(name)} is no file for discovery"
            setting.report.error((*loc, "files", index), "bad-file-name", message, advice)
    patterns = tuple(str(setting.directory / name) for name in written.files)
    return plan.FileDiscovery(patterns, (written.refresh_interval or FILE_REFRESH_MS) / 1000)


def web(job: ScrapeConfig, setting: Setting, loc: Loc) -> tuple[plan.HttpDiscovery, ...]:
    """Make the discoveries of ``http_sd_configs``."""
    found = enumerate(job.http_sd_configs)
    return tuple(_web(each, setting, (*loc, "http_sd_configs", index)) for index, each in found)


def _web(written: HttpDiscovery, setting: Setting, loc: Loc) -> plan.HttpDiscovery:
    exclusive.check(written, setting.report, loc)
    if fault := url.web_fault(written.url):
        message = f"url {fault}" if written.url else "url is missing"
        setting.report.error((*loc, "url"), "bad-url", message)
    refresh_ms = written.refresh_interval or HTTP_REFRESH_MS
    return plan.HttpDiscovery(
        written.url, refresh_ms / 1000, access.client(written, setting.directory)
    )


def others(job: ScrapeConfig) -> tuple[str, ...]:
    """Name the discoveries that are written and that nothing acts on."""
    fields = Discoveries.model_fields
    marked = [name for name, field in fields.items() if shape.use(field)]
    return tuple(name for name in marked if getattr(job, name))
