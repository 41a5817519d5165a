"""What it costs to send a full batch, beside what plain boto3 takes for the same call.

    python -m tests.bench.sink

The fake CloudWatch Logs is a process of its own; CPU time is that of the client's process, from the
events to the answer. The ways take turns, so that whatever else the machine does meets them alike.
"""

import argparse
import gc
import itertools
import json
import os
import random
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any
from unittest import mock

import boto3

from cwgpu.logs import batch as batches
from cwgpu.logs import parcel as parcels
from cwgpu.model.event import EmfEvent, LogBatch, Parcel, StreamKey
from cwgpu.model.reading import Reading
from cwgpu.sinks import session
from cwgpu.sinks.access import Access
from cwgpu.sinks.caller import Caller
from cwgpu.sinks.session import Session
from tests.bench import pages
from tests.fakes.cloudwatch import FakeCloudWatch
from tests.golden import plans

ROOT = Path(__file__).parents[2]
KEY = StreamKey("/gpu/lab", "node-1")
PAGE = "12-h100x8-60-fields-4.8.2"
NODES = 120
"""More than one call can take, in either shape."""
MINUTE = 12
"""Values of each metric, where an event has those of a minute: at a scrape in 5 seconds."""
WARM = 3
"""Rounds that are not counted: connections are opened, and what is loaded late is loaded."""
BAR = 3
"""How many times as much plain boto3 shall take as we do without compression."""

Way = Callable[[], None]


# ---- what is sent


def full(values: int, now_ms: int) -> LogBatch:
    """Give as many events as one call may carry, each with so many values of its metrics.

    Real ones, of the article's metrics, but for the names of the nodes that they are said to be of.
    """
    page, readings = plans.page("article"), []
    for body in pages.scrapes(PAGE, values):
        reading = page.read(body, now_ms, "text/plain; version=0.0.4")
        assert isinstance(reading, Reading)
        readings.append(reading.events)
    scrapes = [[json.loads(event.message) for event in events] for events in readings]
    nodes = (_node(number, scrapes, now_ms) for number in range(NODES))
    return batches.cut(tuple(itertools.chain.from_iterable(nodes)), now_ms).batches[0]


def _node(number: int, scrapes: Sequence[Sequence[Any]], now_ms: int) -> Iterator[EmfEvent]:
    noise = random.Random(number)  # noqa: S311 - the same each time
    for documents in zip(*scrapes, strict=True):
        joined, samples = _joined(documents, noise)
        message = json.dumps(joined, separators=(",", ":")).encode()
        message = message.replace(b"ip-10-0-41-17", b"ip-10-0-41-%d" % number)
        message = message.replace(b'"GPU-', b'"GPU-%04x' % (number * 97))
        yield EmfEvent.of(KEY, now_ms, message, samples, samples)


def _joined(documents: Sequence[Any], noise: random.Random) -> tuple[dict[str, Any], int]:
    """Make one event of several: each metric has the values of them all; no two GPUs are alike."""
    joined = dict(documents[0])
    names = [each["Name"] for each in joined["_aws"]["CloudWatchMetrics"][0]["Metrics"]]
    for name in names:
        shaken = [_shaken(document[name], noise) for document in documents]
        joined[name] = shaken if len(shaken) > 1 else shaken[0]
    return joined, len(names) * len(documents)


def _shaken(value: float, noise: random.Random) -> float:
    shaken = value * (1 + noise.random() / 10)
    return round(shaken) if isinstance(value, int) else round(shaken, 6)


# ---- ways to send it


def plain(batch: LogBatch) -> Way:
    """Call boto3 as its documentation does."""
    client = boto3.client("logs")
    messages = [(event.at_ms, event.message) for event in batch.events]

    def send() -> None:
        client.put_log_events(
            logGroupName=KEY.group,
            logStreamName=KEY.stream,
            logEvents=[
                {"timestamp": at_ms, "message": message.decode()} for at_ms, message in messages
            ],
        )

    return send


def ours(batch: LogBatch, caller: Caller, pack: Callable[[LogBatch], Parcel]) -> Way:
    """Make a parcel, or take one that is there, and send it as the sink does."""

    def send() -> None:
        answer = caller.put(pack(batch))
        assert answer.code == "", answer

    return send


def uncompressed(batch: LogBatch) -> Parcel:
    """Give a parcel whose body is as it is before it is compressed."""
    return Parcel(parcels.waybill(batch), parcels.document(batch))


def plainly(batch: LogBatch) -> Caller:
    """Give a caller that says nothing of compression."""

    def undeclared(params: Mapping[str, Any], **_: object) -> None:
        params["headers"].pop("Content-Encoding")

    def open_session(access: Access, connections: int, real: Any) -> Session:  # noqa: ANN401
        made: Session = real(access, connections)
        at_put = "before-call.cloudwatch-logs.PutLogEvents"
        made.client.meta.events.register_last(at_put, undeclared)
        return made

    caller = Caller(Access(), 1)
    patched = partial(open_session, real=session.open_session)
    with mock.patch.object(session, "open_session", patched):
        ours(batch, caller, uncompressed)()
    return caller


# ---- measuring


def measure(batch: LogBatch, calls: int) -> dict[str, float]:
    """Give the median of CPU milliseconds for each way."""
    ready, document = parcels.pack(batch), uncompressed(batch)

    def but_for_gzip(batch: LogBatch) -> Parcel:
        uncompressed(batch)  # all of packing but the compression, which was done before
        return ready

    caller, bare = Caller(Access(), 1), plainly(batch)
    ways: dict[str, Way] = {
        "plain boto3": plain(batch),
        "ours, not compressed": ours(batch, bare, uncompressed),
        "ours, not compressed, ready": ours(batch, bare, lambda _: document),
        "ours": ours(batch, caller, parcels.pack),
        "ours, but for gzip": ours(batch, caller, but_for_gzip),
        "ours, ready": ours(batch, caller, lambda _: ready),
    }
    took: dict[str, list[float]] = {name: [] for name in ways}
    gc.collect()
    gc.freeze()  # as the agent does with what it has loaded
    turns = random.Random(1)  # noqa: S311 - nothing to be guessed
    for _ in range(WARM + calls):
        # In another order each time: what was before leaves its memory in the caches.
        for name, send in turns.sample(list(ways.items()), len(ways)):
            gc.collect()  # nobody cleans up after the one before
            began_s = time.process_time()
            send()
            took[name].append((time.process_time() - began_s) * 1e3)
    caller.close()
    bare.close()
    return {name: statistics.median(each[WARM:]) for name, each in took.items()}


def report(batch: LogBatch, figures: Mapping[str, float]) -> None:
    """Print what was measured."""
    packed = len(parcels.pack(batch).body)
    say(f"{len(batch.events)} events, {batch.size_bytes} bytes, compressed {packed}")
    plain_ms = figures["plain boto3"]
    for name, each_ms in figures.items():
        say(f"  {name:<30}{each_ms:6.2f} ms of CPU, 1/{plain_ms / each_ms:.1f} of plain boto3")
    for name in ("ours, but for gzip", "ours, not compressed"):
        met = "met" if plain_ms >= BAR * figures[name] else "missed"
        say(f"  {name}, at most 1/{BAR} of plain boto3: {met}")


def serve() -> None:
    """Be CloudWatch Logs until stdin ends."""
    with FakeCloudWatch(texts=False, metrics=False) as service:
        service.add(KEY.group, KEY.stream)
        say(json.dumps(service.environ))
        sys.stdin.read()


def say(line: str) -> None:
    """Print at once."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, and print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else "")
    parser.add_argument("--calls", type=int, default=25, help="of each way")
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args(arguments)
    if given.serve:
        serve()
        return 0
    with subprocess.Popen(
        [sys.executable, "-m", "tests.bench.sink", "--serve"],
        cwd=ROOT,
        text=True,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        os.environ.update(json.loads(server.stdout.readline()))
        for values in (1, MINUTE):
            batch = full(values, int(time.time() * 1000))
            report(batch, measure(batch, given.calls))
        server.stdin.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
