"""The series that Prometheus adds to each scrape: ``up`` and what it counted.

Follows Prometheus 3.0.1, ``scrape/scrape.go`` (``report``, ``mutateReportSampleLabels``). They are
written as a page of their own and read as any other, so selectors and declarations see nothing
special in them. Rules and limits of the job are for what targets expose, and not for these.
"""

from collections.abc import Collection
from dataclasses import replace
from typing import NamedTuple

from cwgpu.digest.recipe import Labelled
from cwgpu.model.labels import Labels
from cwgpu.model.reading import Counts
from cwgpu.plan.plan import Dcgm, Job, Plan
from cwgpu.prom.exposition import Format

_EXPORTED = "exported_"
_AS_THEY_ARE = Dcgm(labels=False, blanks=False, aliases=False, rates=False)
"""Labels of our gauges are those that a GPU's row got: nothing is to be done about them again."""


class Report(NamedTuple):
    """What one scrape came to."""

    up: bool
    """False for every failure, also of a page that came and was refused."""
    duration_s: float
    counts: Counts

    def page(self, without: Collection[str] = ()) -> bytes:
        """Write it as text exposition; ``without`` names series to leave out."""
        values = {
            "up": int(self.up),
            "scrape_duration_seconds": float(self.duration_s),
            "scrape_samples_scraped": self.counts.scraped,
            "scrape_samples_post_metric_relabeling": self.counts.passed,
            "scrape_series_added": self.counts.added,
        }
        return "".join(
            f"# TYPE {name} gauge\n{name} {value!r}\n"
            for name, value in values.items()
            if name not in without
        ).encode()


NAMES = frozenset(
    {
        "up",
        "scrape_duration_seconds",
        "scrape_samples_scraped",
        "scrape_samples_post_metric_relabeling",
        "scrape_series_added",
    }
)


def labels(target: Labels) -> Labels:
    """Give the labels of a target's report series.

    A target label named ``exported_x`` is lost to a label ``x`` that comes after it in order of
    name, as in Prometheus.
    """
    kept: dict[str, str] = {}
    for name, value in sorted(target.items()):
        kept.pop(_EXPORTED + name, None)
        if name:  # a labelmap may leave a label without a name, which no series can have
            kept[name] = value
    return kept


def job(of: Job) -> Job:
    """Give the job whose rules read the reports of this one, and other pages of ours."""
    return replace(
        of,
        metric_relabel=(),
        honor_labels=True,  # reports have no labels, and gauges of GPUs those that they are to have
        sample_limit=0,
        label_limit=0,
        label_name_length_limit=0,
        label_value_length_limit=0,
        legacy_names=False,
        strict=False,
        fallback_format=Format.TEXT,
        report_series=False,
    )


def plan(of: Plan) -> Plan:
    """Give the plan by which the reports and the gauges of our own are read."""
    return replace(of, dcgm=_AS_THEY_ARE)


def shadowed(exposed: Labelled, target: Labels) -> str:
    """Name the report series that a page exposes itself, which then counts; else give ""."""
    taken = exposed.name in NAMES and exposed.labels == labels(target)
    return exposed.name if taken else ""
