"""From a page to events: what a sample costs.

``make bench`` measures CPU time; among the other tests each of these runs once. The parser of
Prometheus' Python client, which only parses, is measured on the same page in the same run, so that
the machine does not matter. Figures: docs/performance.md.
"""

import itertools
from collections.abc import Callable

import pytest
from prometheus_client import parser
from pytest_benchmark.fixture import BenchmarkFixture

from cwgpu.digest.page import Page
from cwgpu.digest.recipe import Recipe
from cwgpu.model.reading import Reading
from cwgpu.plan.plan import Events, GroupBy
from tests.bench import pages
from tests.bench.ledger import Ledger, in_cpu_time
from tests.golden import plans

PAGES = {"12-h100x8-60-fields-4.8.2": 496, "02-h100x8-pods-4.8.1": 200}
"""Samples on each page."""
INTERVAL_MS = 15_000

each_page = pytest.mark.parametrize("name", PAGES)
each_plan = pytest.mark.parametrize("plan", plans.PLANS)


def reader(
    page: Page, bodies: list[bytes], start_ms: int = pages.START_MS
) -> Callable[[], Reading]:
    """Read the next of these pages, one interval later than the last."""
    turn, at_ms = itertools.cycle(bodies), itertools.count(start_ms, INTERVAL_MS)

    def read() -> Reading:
        reading = page.read(next(turn), next(at_ms), pages.TYPE)
        assert isinstance(reading, Reading)
        return reading

    return read


def client(name: str) -> str:
    """Say whose time it is that a page's is compared with."""
    return f"{name}, prometheus_client's parser"


@in_cpu_time
@each_page
def test_parser_of_the_client_alone(benchmark: BenchmarkFixture, ledger: Ledger, name: str) -> None:
    """What it costs to parse the page with prometheus_client, and do nothing more."""
    text = pages.scrapes(name)[0].decode()
    families = benchmark(lambda: list(parser.text_string_to_metric_families(text)))
    assert sum(len(family.samples) for family in families) == PAGES[name]
    ledger.neighbour(benchmark, client(name), PAGES[name], "sample")


@in_cpu_time
@each_plan
@each_page
def test_hot(benchmark: BenchmarkFixture, ledger: Ledger, name: str, plan: str) -> None:
    """What a scrape costs once the page is known, from the answer's bytes to log events."""
    read = reader(plans.page(plan), pages.scrapes(name))
    read()
    reading = benchmark(read)
    assert reading.samples == PAGES[name]
    assert reading.selected == sum(event.samples for event in reading.events) > 0
    what, beside = f"{name}, {plan}, hot", client(name)
    ledger.beside(benchmark, what, PAGES[name], "sample", neighbour=beside)


@in_cpu_time
@each_plan
@each_page
def test_cold(benchmark: BenchmarkFixture, ledger: Ledger, name: str, plan: str) -> None:
    """What the first scrape of a target costs."""
    bodies = pages.scrapes(name)

    def first() -> Reading:
        return reader(plans.page(plan), bodies)()

    reading = benchmark(first)
    assert reading.samples == PAGES[name]
    ledger.put(benchmark, f"{name}, {plan}, cold", PAGES[name], "sample")


@in_cpu_time
@each_plan
@each_page
def test_a_minute(benchmark: BenchmarkFixture, ledger: Ledger, name: str, plan: str) -> None:
    """What a scrape costs if those of a minute are one event for each pod, which is made too."""
    packed = plans.packed(plan, Events(GroupBy.DIMENSIONS, 60.0, "dimensions"), INTERVAL_MS / 1000)
    page = Page(Recipe(packed, packed.jobs[0]), plans.TARGET)
    read = reader(page, pages.scrapes(name), pages.START_MS // 60_000 * 60_000)
    for _ in range(4):
        read()

    def minute() -> list[Reading]:
        return [read() for _ in range(4)]

    readings = benchmark(minute)
    assert [len(reading.events) > 0 for reading in readings] == [False, False, False, True]
    assert sum(event.samples for event in readings[-1].events) == 4 * readings[0].selected
    ledger.put(benchmark, f"{name}, {plan}, hot, a minute's arrays", 4 * PAGES[name], "sample")


@in_cpu_time
@each_page
def test_a_pod_changed(benchmark: BenchmarkFixture, ledger: Ledger, name: str) -> None:
    """What a scrape costs when one GPU has another pod than at the scrape before."""
    bodies = [
        body.replace(b'gpu="0",', b'gpu="0",pod_uid="%d",' % turn)
        for turn, body in enumerate(pages.scrapes(name))
    ]
    read = reader(plans.page("everything"), bodies)
    read()
    reading = benchmark(read)
    assert reading.samples == PAGES[name]
    ledger.put(benchmark, f"{name}, everything, a pod changed", PAGES[name], "sample")
