"""From a batch to the body of its PutLogEvents request, and back.

The body is made without boto3's slow general serialiser, once: what waits, in memory or on disk,
and what is tried again is ready to be sent.
https://docs.aws.amazon.com/AmazonCloudWatchLogs/latest/APIReference/API_PutLogEvents.html
CloudWatch Logs takes gzip although its model does not say so; AWS' own agents send nothing else.
"""

import gzip
from collections.abc import Sequence
from itertools import groupby
from operator import attrgetter

import orjson

from cwgpu.model.event import EmfEvent, LogBatch, Parcel, Run, Waybill

LEVEL = 1
"""Five times smaller for 10 ms a megabyte; level 6 takes 25 ms for six times."""

_alike = attrgetter("samples", "datapoints")


def pack(batch: LogBatch) -> Parcel:
    """Make a batch ready to be sent; 10 ms for a full one."""
    return Parcel(waybill(batch), gzip.compress(document(batch), LEVEL, mtime=0))


def document(batch: LogBatch) -> bytes:
    """Give the request's JSON document as it is before it is compressed."""
    return orjson.dumps(
        {
            "logGroupName": batch.stream.group,
            "logStreamName": batch.stream.stream,
            "logEvents": [
                {"timestamp": event.at_ms, "message": event.message.decode(errors="replace")}
                for event in batch.events
            ],
        }
    )


def waybill(batch: LogBatch) -> Waybill:
    """Give what is to be known of a batch; it has at least one event."""
    events = batch.events
    return Waybill(
        batch.stream, events[0].at_ms, events[-1].at_ms, tuple(_runs(events)), batch.size_bytes
    )


def unpack(parcel: Parcel) -> LogBatch:
    """Give the batch that was packed; ValueError when the body is not one of ours."""
    stream = parcel.waybill.stream
    try:
        written = orjson.loads(gzip.decompress(parcel.body))["logEvents"]
        events = [(each["timestamp"], each["message"].encode()) for each in written]
    except (OSError, EOFError, ValueError, LookupError, TypeError, AttributeError) as error:
        raise ValueError(f"no body of a PutLogEvents request: {error}") from error
    counts = [
        (samples, points) for many, samples, points in parcel.waybill.runs for _ in range(many)
    ]
    return LogBatch(
        stream,
        tuple(
            EmfEvent(stream, at_ms, message, samples, points)
            for (at_ms, message), (samples, points) in zip(events, counts, strict=True)
        ),
    )


def halve(parcel: Parcel) -> tuple[Parcel, Parcel]:
    """Split a batch of two events or more, to find the one that is refused."""
    batch = unpack(parcel)
    middle = len(batch.events) // 2
    if not middle:
        raise ValueError("a batch of one event cannot be halved")
    first, second = batch.events[:middle], batch.events[middle:]
    return pack(LogBatch(batch.stream, first)), pack(LogBatch(batch.stream, second))


def _runs(events: Sequence[EmfEvent]) -> list[Run]:
    return [(len(list(some)), *alike) for alike, some in groupby(events, _alike)]
