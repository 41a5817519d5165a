"""What a job asks of each of its samples: valid names, and labels within its limits.

Follows Prometheus 3.0.1, ``scrape/scrape.go`` (``verifyLabelLimits`` and what ``append`` checks
before it): one sample that breaks a bound fails the whole scrape. Bounds see a sample as metric
relabelling leaves it, its metric's name among the labels; a sample that a rule drops is not seen.
"""

import re

from cwgpu.model.labels import Labels
from cwgpu.model.reading import Refused
from cwgpu.model.scrape import FailReason
from cwgpu.plan.plan import Job
from cwgpu.prom.quote import quoted

NAME = "__name__"
"""The label that holds the metric's name."""

# IsValidLegacyMetricName and LabelName.IsValidLegacy, prometheus/common v0.62.0 (model/).
_LEGACY_METRIC = re.compile(r"[a-zA-Z_:][a-zA-Z0-9_:]*")
_LEGACY_LABEL = re.compile(r"[a-zA-Z_][a-zA-Z0-9_]*")


def fault(labels: Labels, job: Job) -> Refused | None:
    """Say how a sample breaks its job's bounds. It has a name, and no empty labels."""
    return _misnamed(labels, job) or _overlong(labels, job)


def unnamed() -> Refused:
    """Say that relabelling left a sample without a name."""
    return Refused(
        FailReason.BAD_NAME,
        "metric_relabel_configs left a sample without a metric name: correct the rule that "
        "writes or drops __name__, or drop the sample",
    )


def _misnamed(labels: Labels, job: Job) -> Refused | None:
    metric = labels[NAME]
    if "" in labels:
        return Refused(
            FailReason.BAD_NAME,
            f"metric {_shown(metric)} has a label without a name: correct the replacement of the "
            "labelmap rule in metric_relabel_configs",
        )
    if not job.legacy_names:
        return None
    if not _LEGACY_METRIC.fullmatch(metric):
        return _not_legacy(f"metric name {_shown(metric)}", "letters, digits, _ and :")
    for name in sorted(labels):
        if not _LEGACY_LABEL.fullmatch(name):
            what = f"label name {_shown(name)} of metric {_shown(metric)}"
            return _not_legacy(what, "letters, digits and _")
    return None


def _not_legacy(what: str, allowed: str) -> Refused:
    return Refused(
        FailReason.BAD_NAME,
        f"{what}: metric_name_validation_scheme legacy allows {allowed}, and no digit at the "
        "beginning; set the scheme to utf8, or rename it by metric_relabel_configs",
    )


def _overlong(labels: Labels, job: Job) -> Refused | None:
    most = job.label_limit
    if most and len(labels) > most:
        return Refused(
            FailReason.LABEL_LIMIT,
            f"metric {_shown(labels[NAME])} has {len(labels)} labels, its name, job and instance "
            f"among them, and label_limit is {most}: raise the limit, or drop labels by "
            "metric_relabel_configs",
        )
    if not job.label_name_length_limit and not job.label_value_length_limit:
        return None
    for name, value in sorted(labels.items()):
        what = f"label {_shown(name)} of metric {_shown(labels[NAME])}"
        found = _too_long(f"the name of {what}", name, "name", job.label_name_length_limit)
        found = found or _too_long(
            f"the value of {what}", value, "value", job.label_value_length_limit
        )
        if found:
            return found
    return None


def _too_long(what: str, text: str, part: str, most: int) -> Refused | None:
    size = len(text.encode())
    if not most or size <= most:
        return None
    return Refused(
        FailReason.LABEL_LIMIT,
        f"{what} has {size} bytes, and label_{part}_length_limit is {most}: raise the limit, or "
        "shorten or drop the label by metric_relabel_configs",
    )


def _shown(name: str) -> str:
    return quoted(name.encode())
