"""Reports that no test runs, or not to the end, each with the reason."""

from collections.abc import Mapping

_NVML = "about NVML, which nothing here speaks yet: all numbers come from an exporter's page"

NOT_OURS: Mapping[str, str] = {
    "ISS-036": "which pod uses which GPU under MPS is what the exporter says; its page has no sign "
    "by which it could be doubted",
    "ISS-047": _NVML,
    "ISS-092": _NVML,
    "ISS-093": _NVML,
    "ISS-094": _NVML,
    "ISS-095": _NVML,
    "ISS-097": _NVML,
    "ISS-098": _NVML,
    "ISS-136": _NVML,
    "ISS-123": "tags of log groups are set where groups are made, and need rights of their own; "
    "log_group_name can hold {ClusterName}, so that each cluster has a group that can be tagged",
}
"""Reports about something that is not here."""

GAPS: Mapping[str, str] = {}
"""What is right, and is not done, or only in part."""
