"""Pages of all shapes that exporters have served, read twice; what comes of them is committed.

After a change that is meant to change something: ``pytest tests/golden --update-golden``, and read
the diff.
"""

import json
from pathlib import Path
from typing import Any

import pytest
from prometheus_client import parser
from prometheus_client.openmetrics import parser as openmetrics_parser

from cwgpu.model.drop import DropReason
from cwgpu.model.reading import Reading
from tests.fakes import emf
from tests.fakes.emf import Datapoint
from tests.golden import plans

START_MS = 1_779_800_000_000
SECOND_MS = START_MS + 15_000

GOLDEN = Path(__file__).parent / "samples"
SAMPLES = sorted((Path(__file__).parents[1] / "data/samples").iterdir())
TYPES = {".prom": "text/plain; version=0.0.4", ".om": "application/openmetrics-text"}
"""Content-Type by the sample's ending."""

Json = dict[str, Any]

each_sample = pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.name)
each_plan = pytest.mark.parametrize("plan", plans.PLANS)


def readings(path: Path, plan: str) -> list[Reading]:
    """Read a page cold and, 15 seconds later, hot."""
    page, body = plans.page(plan), path.read_bytes()
    found = [page.read(body, at_ms, TYPES[path.suffix]) for at_ms in (START_MS, SECOND_MS)]
    assert all(isinstance(one, Reading) for one in found)
    return [one for one in found if isinstance(one, Reading)]


def datapoints(reading: Reading) -> list[Datapoint]:
    """Give what CloudWatch makes of the events, which it must take without complaint."""
    found: list[Datapoint] = []
    for event in reading.events:
        extracted = emf.extract(event.message.decode(), SECOND_MS, declared=True)
        assert extracted.error is None, extracted.error
        found += extracted.datapoints
    return found


def _account(reading: Reading, at_ms: int) -> Json:
    return {
        "samples": reading.samples,
        "selected": reading.selected,
        "dropped": {d.reason.value: f"{d.count}: {' '.join(d.names)}" for d in reading.dropped},
        "bad_lines": [f"line {bad.number}: {bad.fault}" for bad in reading.bad_lines],
        "events": len(reading.events),
        "bytes": sum(len(event.message) for event in reading.events),
        "datapoints": _tabulated(datapoints(reading), at_ms),
    }


def _tabulated(found: list[Datapoint], at_ms: int) -> Json:
    """By dimensions, then by metric: its values, in the order in which they were sent."""
    table: dict[str, dict[str, list[str]]] = {}
    for one in found:
        dimensions = ", ".join(f"{name}={value}" for name, value in sorted(one.dimensions))
        name = one.name if one.at_ms == at_ms else f"{one.name} at {one.at_ms}"
        table.setdefault(dimensions, {}).setdefault(name, []).append(
            repr(one.value).removesuffix(".0")
        )
    return {
        dimensions: {name: " ".join(values) for name, values in sorted(metrics.items())}
        for dimensions, metrics in sorted(table.items())
    }


def _found(path: Path) -> Json:
    """Both plans, cold and hot."""
    found = {}
    for plan in plans.PLANS:
        first, second = readings(path, plan)
        cold, hot = _account(first, START_MS), _account(second, SECOND_MS)
        found[plan] = {"cold": cold, "hot": "the same" if hot == cold else hot}
    return found


@each_sample
def test_what_comes_of_a_page(path: Path, request: pytest.FixtureRequest) -> None:
    """Samples, drops with their reasons, bad lines, events and datapoints are as committed."""
    golden = GOLDEN / f"{path.stem}.json"
    found = _found(path)
    if request.config.getoption("--update-golden"):
        golden.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n", "utf-8")
    assert found == json.loads(golden.read_text("utf-8"))


def test_every_expectation_has_its_page() -> None:
    """No expectation is left behind by a sample that is gone."""
    assert {path.stem for path in GOLDEN.iterdir()} == {path.stem for path in SAMPLES}


@each_plan
@each_sample
def test_no_line_is_lost(path: Path, plan: str) -> None:
    """Each line that is no comment is a sample; it is in an event or has a reason not to be."""
    lines = [line for line in path.read_text("utf-8").splitlines() if line.strip()]
    expected = sum(not line.startswith("#") for line in lines)
    for reading in readings(path, plan):
        assert reading.samples == expected
        assert reading.samples == reading.selected + sum(d.count for d in reading.dropped)
        assert reading.selected == sum(event.samples for event in reading.events)


@each_sample
def test_good_lines_are_those_of_another_parser(path: Path) -> None:
    """Prometheus' own client finds the same samples, or refuses the page that has bad lines."""
    (reading, _) = readings(path, "everything")
    text = path.read_text("utf-8")
    read = openmetrics_parser if path.suffix == ".om" else parser
    if reading.bad_lines:
        with pytest.raises(ValueError, match="ERROR"):
            list(read.text_string_to_metric_families(text))
        return
    families = read.text_string_to_metric_families(text)
    assert sum(len(family.samples) for family in families) == reading.samples


@each_sample
def test_everything_is_sent_but_for_a_reason(path: Path) -> None:
    """When all is selected, only what has no number to send stays behind."""
    (_, hot) = readings(path, "everything")
    allowed = {
        DropReason.BAD_LINE,
        DropReason.BLANK,
        DropReason.NOT_FINITE,
        DropReason.DUPLICATE,
        DropReason.UNTYPED,
    }
    assert {drop.reason for drop in hot.dropped} <= allowed


def test_the_article_s_page_gives_the_article_s_metrics() -> None:
    """One GPU with one pod: one event, 14 metrics, five dimensions."""
    (path,) = [path for path in SAMPLES if path.name.startswith("00-")]
    (cold, _) = readings(path, "article")
    (event,) = cold.events
    found = datapoints(cold)
    assert event.datapoints == len(found) == 14
    assert {point.name for point in found} == set(plans.ARTICLE_METRICS)
    (dimensions,) = {point.dimensions for point in found}
    assert {name for name, _ in dimensions} == set(plans.ARTICLE_SET)


def test_bad_lines_are_explained() -> None:
    """The page of an exporter that failed to convert a value: that line is named, the rest read."""
    (path,) = [path for path in SAMPLES if path.name.startswith("17-")]
    lines = path.read_text("utf-8").splitlines()
    for reading in readings(path, "everything"):
        (bad,) = reading.bad_lines
        assert "ERROR" in lines[bad.number - 1]
        assert lines[bad.number - 1].startswith(bad.text)
        assert 'found "ERROR"' in bad.fault
        assert len(datapoints(reading)) == reading.samples - 1 - 4
