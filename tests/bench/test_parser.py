"""What it costs to read a sample that was never seen before, beside the client's parsers.

``cwgpu.prom.exposition`` is the cold path: a line that is known is not read again (test_page.py).
"""

from collections.abc import Callable, Iterable, Iterator

import pytest
from prometheus_client import Metric
from prometheus_client import parser as text
from prometheus_client.openmetrics import parser as openmetrics
from pytest_benchmark.fixture import BenchmarkFixture

from cwgpu.prom import exposition
from cwgpu.prom.exposition import Format, SeriesItem
from tests.bench import pages
from tests.bench.ledger import Ledger, in_cpu_time

PAGES = {"12-h100x8-60-fields-4.8.2": 496, "02-h100x8-pods-4.8.1": 200}
"""Samples on each page."""
KINDS = ("text", "OpenMetrics", "OpenMetrics with timestamps")
"""The lines of the last have no common shape (``cwgpu.prom.quick``): the lexer reads them."""
CLIENT = "prometheus_client's parser"

each_page = pytest.mark.parametrize("name", PAGES)
each_kind = pytest.mark.parametrize("kind", KINDS)

Read = tuple[str, dict[str, str], float]


def page(name: str, kind: str) -> bytes:
    """Give a page in one of the languages."""
    body = pages.scrapes(name, 1)[0]
    if kind == "text":
        return body
    return pages.openmetrics(body, "1765000000.123" if "timestamps" in kind else "")


def client(kind: str) -> Callable[[str], Iterable[Metric]]:
    """Give the client's parser of a language."""
    parse: Callable[[str], Iterable[Metric]] = (
        text if kind == "text" else openmetrics
    ).text_string_to_metric_families
    return parse


def theirs(families: Iterable[Metric]) -> Iterator[Read]:
    """Give what the client read. It calls every counter ``_total``, however it is written."""
    for family in families:
        for sample in family.samples:
            yield sample.name.removesuffix("_total"), dict(sample.labels), sample.value


def ours(items: Iterable[exposition.Item]) -> Iterator[Read]:
    """Give what was read."""
    for item in items:
        if isinstance(item, SeriesItem):
            yield item.name.removesuffix("_total"), dict(item.labels), float(item.value)


@in_cpu_time
@each_page
@each_kind
def test_parser_of_the_client(
    benchmark: BenchmarkFixture, ledger: Ledger, name: str, kind: str
) -> None:
    """What the client's parser takes, which makes families of the samples."""
    body, parse = page(name, kind).decode(), client(kind)
    families = benchmark(lambda: list(parse(body)))
    assert sum(len(family.samples) for family in families) == PAGES[name]
    ledger.neighbour(benchmark, f"{name}, {kind}, {CLIENT}", PAGES[name], "sample")


@in_cpu_time
@each_page
@each_kind
def test_parser(benchmark: BenchmarkFixture, ledger: Ledger, name: str, kind: str) -> None:
    """What ours takes, which reads the same."""
    body = page(name, kind)
    items = benchmark(
        lambda: list(exposition.scan(body, Format.TEXT if kind == "text" else Format.OPENMETRICS))
    )
    assert list(ours(items)) == list(theirs(client(kind)(body.decode())))
    what, beside = f"{name}, {kind}", f"{name}, {kind}, {CLIENT}"
    ledger.beside(benchmark, what, PAGES[name], "sample", neighbour=beside)
