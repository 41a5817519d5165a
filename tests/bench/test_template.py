"""What it costs to write a log event, beside orjson, which is given the same event as a dictionary.

A template takes values as JSON texts, the exporter's own; orjson takes numbers. Making the
dictionary is not counted.
"""

from collections.abc import Callable, Sequence

import orjson
import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from cwgpu.emf import template
from cwgpu.emf.template import EventTemplate, Metric
from cwgpu.model import quoting
from cwgpu.model.labels import pairs
from cwgpu.prom import exposition
from cwgpu.prom.exposition import Format, SeriesItem
from tests.bench import pages
from tests.bench.ledger import Ledger, in_cpu_time
from tests.golden import plans

PAGE = "02-h100x8-pods-4.8.1"
METRICS = {14: plans.ARTICLE_METRICS.__contains__, 25: bool}
"""How many, and which fields they are."""
NAMESPACE = "ContainerInsights/Prometheus"
DIMENSIONS = (("ClusterName", "Namespace", "Service", "job", "pod"),)
MINUTE = 12
"""Values of each metric, at a scrape in 5 seconds."""
EVENTS = 100
"""Of one measurement: asking for the time takes as long as an event."""
ORJSON = "orjson"

Texts = Sequence[Sequence[bytes]]
"""Values of each metric."""

each_event = pytest.mark.parametrize(
    ("metrics", "values"), [(14, 1), (14, MINUTE), (25, 1), (25, MINUTE)]
)


def scraped(metrics: int, values: int) -> tuple[list[SeriesItem], Texts]:
    """Give the series of one GPU, and what was found of each at so many scrapes."""
    scrapes = [
        [
            item
            for item in exposition.scan(body, Format.TEXT)
            if isinstance(item, SeriesItem)
            and METRICS[metrics](item.name)
            and ("gpu", "0") in item.labels
        ]
        for body in pages.scrapes(PAGE, values)
    ]
    assert len(scrapes[0]) == metrics
    return scrapes[0], [[item.value for item in each] for each in zip(*scrapes, strict=True)]


def laid_out(series: Sequence[SeriesItem], values: int) -> template.Layout:
    """Lay out the event of a GPU."""
    labels = pairs({**dict(series[0].labels), **plans.TARGET, "ClusterName": "lab"})
    metrics = [Metric(item.name, (DIMENSIONS,)) for item in series]
    return template.layout(NAMESPACE, labels, metrics, most=values)


def rendered(one: EventTemplate, texts: Texts) -> bytes:
    """Write the event, quoted, with its values, in arrays where they are several."""
    values = [b"[%b]" % b",".join(each) if len(each) > 1 else each[0] for each in texts]
    return one.render(pages.START_MS, values)


def often(act: Callable[[], bytes]) -> Callable[[], bytes]:
    """Do it for so many events, one after the other."""

    def acts() -> bytes:
        for _ in range(EVENTS - 1):
            act()
        return act()

    return acts


def name(metrics: int, values: int) -> str:
    """Say what is written."""
    return f"{metrics} metrics, {values} {'value' if values == 1 else 'values'} of each"


@in_cpu_time
@each_event
def test_orjson(benchmark: BenchmarkFixture, ledger: Ledger, metrics: int, values: int) -> None:
    """What orjson takes for the event when all of it is a dictionary."""
    series, texts = scraped(metrics, values)
    message = quoting.read(rendered(laid_out(series, values).templates[0], texts))
    document = orjson.loads(message)
    assert orjson.loads(benchmark(often(lambda: orjson.dumps(document)))) == document
    ledger.neighbour(benchmark, f"{name(metrics, values)}, {ORJSON}", EVENTS, "event")


@in_cpu_time
@each_event
def test_render(benchmark: BenchmarkFixture, ledger: Ledger, metrics: int, values: int) -> None:
    """What it takes to fill in time and values."""
    series, texts = scraped(metrics, values)
    (one,) = laid_out(series, values).templates
    document = orjson.loads(quoting.read(benchmark(often(lambda: rendered(one, texts)))))
    assert document["_aws"]["Timestamp"] == pages.START_MS
    for item, found in zip(series, texts, strict=True):
        numbers = [float(each) for each in found]
        assert document[item.name] == (numbers if values > 1 else numbers[0])
    what, beside = f"{name(metrics, values)}, rendered", f"{name(metrics, values)}, {ORJSON}"
    ledger.beside(benchmark, what, EVENTS, "event", neighbour=beside)


@in_cpu_time
@each_event
def test_layout(benchmark: BenchmarkFixture, ledger: Ledger, metrics: int, values: int) -> None:
    """What it takes to make the template, once in the life of a label set."""
    series, _ = scraped(metrics, values)
    layout = benchmark(lambda: laid_out(series, values))
    assert [one.metrics for one in layout.templates] == [tuple(range(metrics))]
    what, beside = f"{name(metrics, values)}, laid out", f"{name(metrics, values)}, {ORJSON}"
    ledger.beside(benchmark, what, 1, "event", neighbour=beside)
