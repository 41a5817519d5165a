"""What relabelling costs: targets by the shipped rules, samples by rules as people write them.

RE2 is slow to call from Python, so what it said is remembered (``cwgpu.prom.relabel``): "new" is
without anything remembered, as at the start.
"""

from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from cwgpu.config import load
from cwgpu.discovery.join import Join
from cwgpu.kube.view import View
from cwgpu.model.labels import Labels
from cwgpu.model.objects import Pod
from cwgpu.model.target import DroppedTarget, Target, TargetGroup
from cwgpu.plan.plan import Job
from cwgpu.prom import exposition, merge, regex, relabel, targeting
from cwgpu.prom.exposition import Format, SeriesItem
from cwgpu.prom.kubernetes.role import Role
from tests.bench import pages, pods
from tests.bench.ledger import Ledger, in_cpu_time
from tests.fakes import cluster
from tests.golden import plans

SHIPPED = Path(__file__).parents[2] / "config/cwagent.json"
JOB = "kubernetes-pod-dcgm-exporter"
PODS, EXPORTERS = 1_000, 50
FOUND = (PODS - EXPORTERS) * 3 + EXPORTERS * 2
"""A workload's pod has three ports; an exporter's has one, and a container before it."""
PAGE, SAMPLES = "12-h100x8-60-fields-4.8.2", 496
ROUNDS = 20

RULES = (
    relabel.rule(action="keep", source_labels=["__name__"], regex="DCGM_FI_(?:DEV|PROF)_.*"),
    relabel.rule(action="drop", source_labels=["__name__"], regex="DCGM_FI_DEV_(?:ENC|DEC)_UTIL"),
    relabel.rule(source_labels=["Hostname"], regex=r"([^.]+)\..*", target_label="node"),
    relabel.rule(action="labeldrop", regex="Hostname|pci_bus_id|DCGM_FI_DRIVER_.*"),
)
"""What people write: keep and drop by name, shorten a label, leave others out."""
LOST = 16
"""Two fields of eight GPUs."""

JOINING = "joining their labels"
READING = "reading the line"

each_time = pytest.mark.parametrize("time", ["new", "known"])

_T = TypeVar("_T")
Outcome = Target | DroppedTarget


@pytest.fixture(scope="module")
def job() -> Job:
    """The shipped job for Kubernetes."""
    plan = load.load(SHIPPED, None, {"CLUSTER_NAME": "lab"}).plan
    return next(job for job in plan.jobs if job.name == JOB)


@pytest.fixture(scope="module")
def groups() -> list[TargetGroup]:
    """The pods, of which each twentieth is an exporter's."""
    exporters = map(pods.read, cluster.DEPLOYERS["operator"].pods(EXPORTERS))
    workloads = map(pods.pod, range(PODS - EXPORTERS))
    view: View[Pod] = View()
    for pod in (*exporters, *workloads):
        view.put(pod)
    view.complete(view.objects.keys())
    return list(Join(Role.POD, "", {}).groups([{"pod": view}]))


@pytest.fixture(scope="module")
def series() -> list[Labels]:
    """The samples of a page, with their target's labels and their names."""
    items = exposition.scan(pages.scrapes(PAGE, 1)[0], Format.TEXT)
    return [
        {**merge.merge(dict(item.labels), plans.TARGET, honor=True), "__name__": item.name}
        for item in items
        if isinstance(item, SeriesItem)
    ]


def forget() -> None:
    """Be as at the start."""
    for remembers in (*vars(relabel).values(), *vars(regex).values()):
        if hasattr(remembers, "cache_clear"):
            remembers.cache_clear()


def measured(benchmark: BenchmarkFixture, act: Callable[[], list[_T]], time: str) -> list[_T]:
    """Measure what is done with all forgotten before, or all known."""
    if time == "known":
        return list(benchmark(act))
    return list(
        benchmark.pedantic(act, setup=forget, rounds=ROUNDS)  # type: ignore[no-untyped-call]
    )


@in_cpu_time
def test_joining_labels(
    benchmark: BenchmarkFixture, ledger: Ledger, groups: list[TargetGroup]
) -> None:
    """What it costs to put the labels of pod and port together, and look at no rule."""
    joined = benchmark(
        lambda: [{**group.labels, **found} for group in groups for found in group.targets]
    )
    assert len(joined) == FOUND
    ledger.neighbour(benchmark, f"{PODS} pods, {JOINING}", FOUND, "target")


@in_cpu_time
@each_time
def test_targets(
    benchmark: BenchmarkFixture, ledger: Ledger, job: Job, groups: list[TargetGroup], time: str
) -> None:
    """What it costs to tell which ports of a cluster are exporters', and why others are not."""

    def judge() -> list[Outcome]:
        return [outcome for group in groups for outcome in targeting.targets(job, group)]

    outcomes = measured(benchmark, judge, time)
    assert len(outcomes) == FOUND
    assert [each.labels["NodeName"] for each in outcomes if isinstance(each, Target)] == [
        f"node-{number + 1}" for number in range(EXPORTERS)
    ]
    what, beside = f"{PODS} pods by the shipped rules, {time}", f"{PODS} pods, {JOINING}"
    ledger.beside(benchmark, what, FOUND, "target", neighbour=beside)


@in_cpu_time
def test_reading_series(benchmark: BenchmarkFixture, ledger: Ledger) -> None:
    """What it costs to read the samples, before any rule sees them."""
    body = pages.scrapes(PAGE, 1)[0]
    items = benchmark(lambda: list(exposition.scan(body, Format.TEXT)))
    assert sum(isinstance(item, SeriesItem) for item in items) == SAMPLES
    ledger.neighbour(benchmark, f"{PAGE}, {READING}", SAMPLES, "series")


@in_cpu_time
@each_time
def test_series(
    benchmark: BenchmarkFixture, ledger: Ledger, series: list[Labels], time: str
) -> None:
    """What rules for samples cost, once for each that was never seen."""
    outcomes = measured(benchmark, lambda: [relabel.apply(each, RULES) for each in series], time)
    kept = [each for each in outcomes if not isinstance(each, relabel.Dropped)]
    assert len(outcomes) - len(kept) == LOST
    assert {each["node"] for each in kept} == {"ip-10-0-41-17"}
    assert not {"Hostname", "pci_bus_id", "DCGM_FI_DRIVER_VERSION"}.intersection(*kept)
    what, beside = f"{PAGE}, four rules, {time}", f"{PAGE}, {READING}"
    ledger.beside(benchmark, what, SAMPLES, "series", neighbour=beside)
