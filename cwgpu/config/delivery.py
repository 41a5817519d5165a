"""Where log events go: from the models to the plan's ``CloudWatch``."""

import re
from urllib.parse import urlsplit

from cwgpu.config import naming, unfilled
from cwgpu.config.agent import AgentFile, Credentials, Logs
from cwgpu.config.metrics import PROMETHEUS, prometheus_of
from cwgpu.config.node import Loc, short
from cwgpu.config.own import Own
from cwgpu.config.report import Report
from cwgpu.logs import names
from cwgpu.plan.plan import CloudWatch

_CLUSTER = "{ClusterName}"
PLACEHOLDERS = (
    _CLUSTER,
    "{TaskId}",
    "{NodeName}",
    "{PodName}",
    "{ServiceName}",
    "{ContainerInstanceId}",
    "{TaskDefinitionFamily}",
    "{JobName}",
)
"""What a log event's labels are put in place of; the CloudWatch agent's."""

_PLACEHOLDER = re.compile(r"\{[^{}]*\}")
_STREAM = "{JobName}"


def cloudwatch(
    written: AgentFile, default: str | None, namespace: str, report: Report
) -> CloudWatch:
    """Make the plan's part about delivery.

    ``default`` is the log group where none is written; None: it takes a cluster's name.
    """
    own, logs = written.cwgpu or Own(), written.logs or Logs()
    agent = written.agent
    stream = _STREAM if own.log_stream_name is None else own.log_stream_name
    _check_stream(stream, report)
    return CloudWatch(
        log_group=_group(written, default, namespace, report),
        log_stream=stream,
        region=agent.region if agent else None,
        role_arn=_role(logs.credentials) or _role(agent.credentials if agent else None),
        endpoint_url=_endpoint(logs.endpoint_override, report),
        retention_days=_retention(own.log_retention_days, report),
    )


def _role(credentials: Credentials | None) -> str | None:
    return credentials.role_arn if credentials else None


def _group(written: AgentFile, default: str | None, namespace: str, report: Report) -> str:
    here = (*PROMETHEUS, "log_group_name")
    name = prometheus_of(written).log_group_name
    if name == "":
        name = f"/metrics/{namespace}"
        message = f"log_group_name is empty, which makes it {name}, as in the CloudWatch agent"
        report.warning(here, "empty-log-group", message, "leave the key out for the default")
    if name is None and default is None and not report.said((*PROMETHEUS, "cluster_name")):
        message = "no log group: neither log_group_name nor the cluster's name is known"
        advice = (
            f'write "log_group_name" or "cluster_name" under {".".join(map(str, PROMETHEUS))}, '
            f"or set {' or '.join(naming.VARIABLES)} in the environment"
        )
        report.error(here, "no-log-group", message, advice)
        return ""
    if name is None:
        return _default_group(default or "", report)
    if not _has_unresolved(name, report, here) and (
        fault := names.group_fault(_PLACEHOLDER.sub("x", name))
    ):
        report.error(here, "bad-log-group", f"the log group {short(name)} {fault}")
    return name


def _default_group(group: str, report: Report) -> str:
    here = (*PROMETHEUS, "cluster_name")
    if _has_unfilled(group, report, here, unfilled.ADVICE):
        return group
    if group and (fault := names.group_fault(group)):
        message = f"no log group can be made of the cluster's name: {group} {fault}"
        advice = "write the real name, or log_group_name"
        report.error(here, "bad-log-group", message, advice)
    return group


def _has_unfilled(text: str, report: Report, loc: Loc, advice: str) -> bool:
    """Refuse a name that is not there yet: CloudWatch would, after everything was started."""
    if message := unfilled.said_of(text):
        report.error(loc, unfilled.CODE, message, advice)
    return bool(message)


def _check_stream(stream: str, report: Report) -> None:
    here: Loc = ("cwgpu", "log_stream_name")
    if not _has_unresolved(stream, report, here) and (
        fault := names.stream_fault(_PLACEHOLDER.sub("x", stream))
    ):
        report.error(here, "bad-log-stream", f"the log stream {short(stream)} {fault}")


def _has_unresolved(text: str, report: Report, loc: Loc) -> bool:
    """Refuse a name with braces in it that nothing is put in place of."""
    if _has_unfilled(text, report, loc, f"{unfilled.ADVICE}, or {_CLUSTER} in single braces"):
        return True
    unknown = [found for found in _PLACEHOLDER.findall(text) if found not in PLACEHOLDERS]
    for found in unknown:
        message = f"{found} is no placeholder"
        report.error(loc, "unknown-placeholder", message, f"known: {', '.join(PLACEHOLDERS)}")
    return bool(unknown)


def _endpoint(written: str | None, report: Report) -> str | None:
    if written is None:
        return None
    url = written if "://" in written else f"https://{written}"
    try:
        valid = urlsplit(url).hostname is not None and url.startswith(("http://", "https://"))
    except ValueError:
        valid = False
    if not valid:
        message = f"{short(written)} is no endpoint"
        advice = "such as https://logs.eu-central-1.amazonaws.com"
        report.error(("logs", "endpoint_override"), "bad-url", message, advice)
    return url


def _retention(days: int | None, report: Report) -> int | None:
    if days is not None and days not in names.RETENTION_DAYS:
        close = min(names.RETENTION_DAYS, key=lambda allowed: abs(allowed - days))
        message = f"CloudWatch Logs cannot keep events for {days} days"
        known = ", ".join(map(str, names.RETENTION_DAYS))
        advice = f"write {close}; it knows {known}"
        report.error(("cwgpu", "log_retention_days"), "wrong-value", message, advice)
    return days
