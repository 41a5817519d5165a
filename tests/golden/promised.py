"""What docs/compatibility.md promises of each recorded case: the agent's datapoints, or better."""

from collections.abc import Mapping
from dataclasses import dataclass

from tests.fakes.emf import Datapoint
from tests.golden.recorded import START_MS

UTIL = "DCGM_FI_DEV_GPU_UTIL"
ENERGY = "DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION"

JOB = {"job": "gpu-endpoints"}
CLUSTER = {"ClusterName": "eks-lab"}
ARTICLE = {
    **JOB,
    "Service": "dcgm-exporter-west",
    "Namespace": "gpu-mon",
    "ClusterName": "eks-lab",
    "pod": "train-7f",
}
"""The dimensions of the usual declaration."""


def point(name: str, value: float, after_ms: int = 0, by: Mapping[str, str] = ARTICLE) -> Datapoint:
    """Give a datapoint of the usual namespace and time."""
    return Datapoint(
        "ContainerInsights/Prometheus",
        frozenset(by.items()),
        name,
        float(value),
        START_MS + after_ms,
    )


SAME = (
    *("P01", "P02", "P03", "P05", "P07", "P08", "P12", "P13", "P14", "P16", "P17", "P18", "P20"),
    *("P21", "P26", "P27", "P29", "P34", "P35", "P37", "P38", "P39", "P40", "P47", "P48", "P51"),
    *("P54", "P55", "P56", "P58", "P61", "P64", "P67", "P68", "P73", "P74", "P79"),
)
"""Cases whose datapoints must be the agent's."""


@dataclass(frozen=True, slots=True)
class Better:
    """What we give on purpose where the agent gives something else."""

    sentence: str
    datapoints: tuple[Datapoint, ...] = ()


BETTER = {
    "P09": Better("a counter whose time stands still gives nothing"),
    "P10": Better(
        "a counter whose time goes back gives nothing and keeps its baseline",
        (point(ENERGY, 30, 60_000), point(ENERGY, 40, 180_000)),
    ),
    "P22": Better(
        "an OpenMetrics counter survives a new name",
        (point("batch_jobs", 5, 60_000, JOB),),
    ),
    "P25": Better(
        "a counter x_count is one, whatever x is",
        (
            *(point("gpu", 1, at, JOB) for at in (0, 60_000)),
            point("gpu_count", 20, 60_000, JOB),
        ),
    ),
    "P28": Better(
        "an exemplar changes nothing about its counter", (point("hits_total", 10, 60_000, JOB),)
    ),
    "P32": Better("label_separator is obeyed", (point(UTIL, 1),)),
    "P33": Better("with another label_separator the values are not joined by a semicolon"),
    "P49": Better(
        "a dimension set may have eleven names",
        (
            point(UTIL, 1, 0, CLUSTER),
            point(UTIL, 1, 0, {**dict.fromkeys("abcdefghij", "1"), "pod": "train-7f"}),
        ),
    ),
    "P62": Better("labels called Version and Timestamp do no harm", (point(UTIL, 1),)),
    "P63": Better("a metric called value keeps its name", (point("value", 3, 0, JOB),)),
    "P66": Better(
        "each exposed time has its own event",
        (point(UTIL, 1, -90_000), point("DCGM_FI_DEV_POWER_USAGE", 2, -30_000)),
    ),
    "P69": Better(
        "two targets of equal labels both send in one millisecond",
        (point(UTIL, 1), point(UTIL, 2)),
    ),
    "P75": Better(
        "x_sum and x_count of a counter x have no type",
        (point("w4_total", 10, 30_000, JOB),),
    ),
    "P77": Better(
        "120 metrics of one label set all arrive",
        tuple(point(f"bulk_{n:03}", n, 0, CLUSTER) for n in range(120)),
    ),
}
"""Cases in which docs/compatibility.md says "better", and the datapoints it means."""

REFUSED = {
    "P41": ("bad-regex", "label_matcher"),
    "P43": ("bad-regex", "metric_selectors"),
    "P44": ("empty-list", "source_labels"),
    "P45": ("empty-list", "metric_selectors"),
    "P53": ("unknown-unit", "DCGM_FI_DEV_POWER_USAGE"),
}
"""Better, too: what the agent turns into something else is a configuration error, with a place."""

BY_NAME = ("P70", "P71", "P78", "P80", "P81")
"""Better, too, or not decided by a page: each has a test of its own below."""
