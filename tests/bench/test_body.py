"""What it costs to make the body of a full batch's request, and to read one back.

Beside json.dumps, by which boto3 would make the document, and zlib's gzip alone. Sending is
measured by ``tests.bench.sink``.
"""

import gzip
import json

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from cwgpu.logs import parcel
from cwgpu.model.event import LogBatch
from tests.bench import batches
from tests.bench.ledger import Ledger, in_cpu_time

KINDS = {"events of a scrape": batches.SCRAPE, "events of a minute": batches.MINUTE}
"""Values of each metric."""
JSON, GZIP, BOTH = "json.dumps", "zlib alone, level 1", "gunzip and json.loads"

each_kind = pytest.mark.parametrize("kind", KINDS)


def request(batch: LogBatch) -> dict[str, object]:
    """Give what boto3 is called with."""
    events = [
        {"timestamp": event.at_ms, "message": event.message.decode()} for event in batch.events
    ]
    stream = batch.stream
    return {"logGroupName": stream.group, "logStreamName": stream.stream, "logEvents": events}


@in_cpu_time
@each_kind
def test_json(benchmark: BenchmarkFixture, ledger: Ledger, kind: str) -> None:
    """What the standard library takes to make the document."""
    batch = batches.full(KINDS[kind])
    asked = request(batch)
    document = benchmark(lambda: json.dumps(asked).encode())
    assert len(json.loads(document)["logEvents"]) == len(batch.events)
    ledger.neighbour(benchmark, f"{kind}, {JSON}", 1, "batch")


@in_cpu_time
@each_kind
def test_document(benchmark: BenchmarkFixture, ledger: Ledger, kind: str) -> None:
    """What it takes to make the document."""
    batch = batches.full(KINDS[kind])
    document = benchmark(lambda: parcel.document(batch))
    assert json.loads(document) == request(batch)
    ledger.beside(benchmark, f"{kind}, document", 1, "batch", neighbour=f"{kind}, {JSON}")


@in_cpu_time
@each_kind
def test_gzip(benchmark: BenchmarkFixture, ledger: Ledger, kind: str) -> None:
    """What zlib takes to compress the document, which is there already."""
    batch = batches.full(KINDS[kind])
    document = parcel.document(batch)
    body = benchmark(lambda: gzip.compress(document, 1))
    assert len(body) < len(document) / 2
    ledger.neighbour(benchmark, f"{kind}, {GZIP}", 1, "batch")


@in_cpu_time
@each_kind
def test_pack(benchmark: BenchmarkFixture, ledger: Ledger, kind: str) -> None:
    """What it takes from events to all that is sent and kept of them."""
    batch = batches.full(KINDS[kind])
    packed = benchmark(lambda: parcel.pack(batch))
    assert gzip.decompress(packed.body) == parcel.document(batch)
    assert packed.waybill.load == (len(batch.events), batch.samples, batch.datapoints)
    ledger.beside(benchmark, f"{kind}, packed", 1, "batch", neighbour=f"{kind}, {GZIP}")


@in_cpu_time
@each_kind
def test_gunzip(benchmark: BenchmarkFixture, ledger: Ledger, kind: str) -> None:
    """What the standard library takes to read the body."""
    batch = batches.full(KINDS[kind])
    body = parcel.pack(batch).body
    document = benchmark(lambda: json.loads(gzip.decompress(body)))
    assert len(document["logEvents"]) == len(batch.events)
    ledger.neighbour(benchmark, f"{kind}, {BOTH}", 1, "batch")


@in_cpu_time
@each_kind
def test_unpack(benchmark: BenchmarkFixture, ledger: Ledger, kind: str) -> None:
    """What it takes to have the events back, to halve a batch that was refused."""
    batch = batches.full(KINDS[kind])
    packed = parcel.pack(batch)
    assert benchmark(lambda: parcel.unpack(packed)) == batch
    ledger.beside(benchmark, f"{kind}, unpacked", 1, "batch", neighbour=f"{kind}, {BOTH}")
