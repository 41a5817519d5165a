"""Pages of all shapes that exporters have served, with the configuration that is shipped.

What CloudWatch stores of two scrapes is committed and was read by a person: for each metric the
values of a minute, in order of size. That is all that statistics are made of, so it does not matter
in which events the values came. After a change that is meant to change something:
``pytest tests/golden --update-golden``, and read the diff.
"""

import json
import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from cwgpu.config import load
from cwgpu.digest.page import Page
from cwgpu.digest.recipe import Recipe
from cwgpu.model.event import EmfEvent
from cwgpu.model.reading import Reading
from tests.fakes import emf
from tests.fakes.emf import Datapoint
from tests.golden.test_samples import SAMPLES, SECOND_MS, START_MS, TYPES

GOLDEN = Path(__file__).parent / "shipped"
FILE = Path(__file__).parents[2] / "config/cwagent.json"
JOB = "kubernetes-pod-dcgm-exporter"
TARGET = {
    "job": JOB,
    "instance": "10.0.12.34:9400",
    "Service": "nvidia-dcgm-exporter",
    "Namespace": "gpu-operator",
    "NodeName": "ip-10-0-12-34.ec2.internal",
}
"""What the job's rules make of an exporter's pod of the GPU Operator."""
MINUTE_MS = 60_000
UTIL = "DCGM_FI_DEV_GPU_UTIL"
ENGINE = "DCGM_FI_PROF_GR_ENGINE_ACTIVE"

Json = dict[str, Any]

each_sample = pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.name)


def scraped(path: Path) -> tuple[list[Reading], list[Datapoint]]:
    """Read a page twice, 15 seconds apart, and give what CloudWatch stores of both."""
    plan = load.load(FILE, None, {"CLUSTER_NAME": "lab"}).plan
    (job,) = [one for one in plan.jobs if one.name == JOB]
    page, body = Page(Recipe(plan, job), TARGET), path.read_bytes()
    found = [page.read(body, at_ms, TYPES[path.suffix]) for at_ms in (START_MS, SECOND_MS)]
    readings = [one for one in found if isinstance(one, Reading)]
    assert len(readings) == 2
    return readings, datapoints([*(e for one in readings for e in one.events), *page.close()])


def datapoints(events: Sequence[EmfEvent]) -> list[Datapoint]:
    """Give what CloudWatch makes of the events, which it must take without complaint."""
    found: list[Datapoint] = []
    for event in events:
        extracted = emf.extract(event.message.decode(), SECOND_MS, declared=True)
        assert extracted.error is None, extracted.error
        found += extracted.datapoints
    return found


def value(labels: frozenset[tuple[str, str]], name: str) -> str:
    """Give a dimension's value; empty where it has none."""
    return dict(labels).get(name, "")


def tabulated(found: Sequence[Datapoint]) -> Json:
    """By dimensions, then by metric: the values of its minute, the smallest first."""
    table: dict[str, dict[str, list[float]]] = {}
    for one in found:
        dimensions = ", ".join(f"{key}={text}" for key, text in sorted(one.dimensions))
        minute = "" if one.at_ms // MINUTE_MS == START_MS // MINUTE_MS else f" at {one.at_ms}"
        values = table.setdefault(dimensions, {}).setdefault(one.name + minute, [])
        values.append(one.value)
    return {
        dimensions: {name: " ".join(map(_text, sorted(of))) for name, of in sorted(metrics.items())}
        for dimensions, metrics in sorted(table.items())
    }


def _text(number: float) -> str:
    return repr(number).removesuffix(".0")


def drops(reading: Reading) -> Json:
    """Say what became of the rest."""
    return {each.reason.value: f"{each.count}: {' '.join(each.names)}" for each in reading.dropped}


@each_sample
def test_what_cloudwatch_stores_of_a_page(path: Path, request: pytest.FixtureRequest) -> None:
    """The datapoints of two scrapes, and what became of the other samples, are as committed."""
    golden = GOLDEN / f"{path.stem}.json"
    (first, _), points = scraped(path)
    found = {"dropped": drops(first), "datapoints": tabulated(points)}
    if request.config.getoption("--update-golden"):
        golden.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n", "utf-8")
    assert found == json.loads(golden.read_text("utf-8"))


def test_every_expectation_has_its_page() -> None:
    """No expectation is left behind by a sample that is gone."""
    assert {path.stem for path in GOLDEN.iterdir()} == {path.stem for path in SAMPLES}


@each_sample
def test_no_value_is_blank(path: Path) -> None:
    """What DCGM prints for "no value" is no datapoint, nor is what no GPU can have."""
    _, points = scraped(path)
    for point in points:
        assert 0 <= point.value < 2.0**31 or point.name.endswith("_BYTES")
        assert point.name != UTIL or point.value <= 100


@each_sample
def test_no_utilisation_is_doubled(path: Path) -> None:
    """Each row of the page counts once for the fleet and once for its pod, at each scrape."""
    text = path.read_text("utf-8")
    _, points = scraped(path)
    for name in (UTIL, ENGINE):
        rows = len(re.findall(rf"(?m)^{name}(?:_RATIO)?\{{", text))
        renamed = len(re.findall(r"(?m)^DCGM_FI_PROF_GR_ENGINE_UTIL_RATIO\{", text))
        expected = rows + (renamed if name == ENGINE else 0)
        fleet = [one for one in points if one.name == name and not value(one.dimensions, "pod")]
        assert len(fleet) <= 2 * expected
        pods = [one for one in points if one.name == name and value(one.dimensions, "pod")]
        assert len(pods) <= len(fleet)


@each_sample
def test_the_pod_is_the_workload(path: Path) -> None:
    """It is what the page says, and never the exporter's own."""
    exposed = set(re.findall(r'[{,](?:pod|pod_name)="([^"]+)"', path.read_text("utf-8")))
    _, points = scraped(path)
    sent = {value(one.dimensions, "pod") for one in points} - {""}
    assert sent <= exposed
    assert not any("dcgm-exporter" in pod for pod in sent)


def test_no_idle_gpu_is_lost() -> None:
    """Whether their labels are missing or empty, they count for the fleet, and for no pod."""
    for name, gpus, idle in (("02-", 8, 2), ("05-", 4, 4), ("05b-", 2, 1)):
        (path,) = [one for one in SAMPLES if one.name.startswith(name)]
        _, points = scraped(path)
        counted = Counter(bool(value(one.dimensions, "pod")) for one in points if one.name == UTIL)
        assert counted == {False: 2 * gpus, **({True: 2 * (gpus - idle)} if gpus > idle else {})}


def test_slices_stay_apart() -> None:
    """Each MIG slice with a pod has its own activity; the GPU beside it is not mixed in."""
    (path,) = [one for one in SAMPLES if one.name.startswith("03-")]
    _, points = scraped(path)
    found = {
        (value(one.dimensions, "pod"), one.value)
        for one in points
        if one.name == ENGINE and value(one.dimensions, "pod")
    }
    assert found == {("mig-train-0", 0.7421), ("jupyter-ana", 0.1033), ("ddp-1", 0.771205)}
