"""What it costs to cut events into batches, beside the least that anybody does with them."""

from collections.abc import Sequence
from itertools import cycle, islice
from operator import attrgetter

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from cwgpu.logs import batch, limits
from cwgpu.model.event import EmfEvent
from tests.bench import batches, pages
from tests.bench.ledger import Ledger, in_cpu_time

EVENTS = 10_000
INTERVAL_MS = 5_000
SHORT, SCRAPE = "short events, one batch", "events of a scrape, full batches"
MINUTE = "events of a minute, full batches"
LEAST = "sorting them and adding up their bytes"

each_kind = pytest.mark.parametrize("kind", [SHORT, SCRAPE, MINUTE])


@pytest.fixture(scope="module")
def events() -> dict[str, tuple[EmfEvent, ...]]:
    """Events of each kind: a batch is full of short ones by number, of others by bytes."""
    scraped = {SCRAPE: batches.SCRAPE, MINUTE: batches.MINUTE}
    made = {kind: later(batches.full(values).events) for kind, values in scraped.items()}
    short = [small(one) for one in made[SCRAPE]]
    return {SHORT: tuple(short), **made}


def small(event: EmfEvent) -> EmfEvent:
    """Give the event another message."""
    message, load = b'{"gpu":"0","temperature":41}', (event.samples, event.datapoints)
    return EmfEvent.of(event.stream, event.at_ms, message, *load)


def later(events: Sequence[EmfEvent]) -> tuple[EmfEvent, ...]:
    """Give so many events, a scrape of them after the other."""
    return tuple(
        one._replace(at_ms=one.at_ms + number // len(events) * INTERVAL_MS)
        for number, one in enumerate(islice(cycle(events), EVENTS))
    )


def least(events: Sequence[EmfEvent]) -> tuple[list[EmfEvent], int]:
    """Bring events in order and see how large they are."""
    ordered = sorted(events, key=attrgetter("at_ms"))
    return ordered, sum([event.size_bytes for event in ordered])


@in_cpu_time
@each_kind
def test_the_least(
    benchmark: BenchmarkFixture, ledger: Ledger, events: dict[str, Sequence[EmfEvent]], kind: str
) -> None:
    """What it takes to sort events by time, and to know their bytes."""
    ordered, _ = benchmark(lambda: least(events[kind]))
    assert len(ordered) == EVENTS
    ledger.neighbour(benchmark, f"{EVENTS} {kind}, {LEAST}", EVENTS, "event")


@in_cpu_time
@each_kind
def test_cut(
    benchmark: BenchmarkFixture, ledger: Ledger, events: dict[str, Sequence[EmfEvent]], kind: str
) -> None:
    """What it takes to cut them as PutLogEvents wants them."""
    cut = benchmark(lambda: batch.cut(events[kind], pages.START_MS))
    assert not cut.dropped
    assert [event for one in cut.batches for event in one.events] == list(events[kind])
    for one, following in zip(cut.batches, cut.batches[1:], strict=False):
        size_bytes = one.size_bytes + len(one.events) * limits.EVENT_OVERHEAD_BYTES
        after = len(following.events[0].message) + limits.EVENT_OVERHEAD_BYTES
        assert size_bytes <= limits.BATCH_BYTES < size_bytes + after
    assert (len(cut.batches) == 1) == (kind == SHORT)
    what, beside = f"{EVENTS} {kind}", f"{EVENTS} {kind}, {LEAST}"
    ledger.beside(benchmark, what, EVENTS, "event", neighbour=beside)
