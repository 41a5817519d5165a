"""From a batch to the body of its PutLogEvents request, and back.

The body is made without boto3's slow general serialiser, once: what waits, in memory or on disk,
and what is tried again is ready to be sent.
https://docs.aws.amazon.com/AmazonCloudWatchLogs/latest/APIReference/API_PutLogEvents.html
CloudWatch Logs takes gzip although its model does not say so; AWS' own agents send nothing else.
"""

import zlib
from collections.abc import Iterator, Sequence
from itertools import chain, groupby, repeat
from operator import attrgetter

import orjson
from isal import isal_zlib

from cwgpu.model.event import EmfEvent, LogBatch, Parcel, Run, Waybill

LEVEL = 2
"""Of ISA-L, which takes a sixth of zlib's time and gives as little as zlib's level 3. Its level 0
gives a third more in the same time, its level 3 takes ten times as long and gives no less."""
MOST_BYTES = 8 << 20
"""A document that is larger is none of ours: the largest is a batch of control characters, each of
which takes six bytes in JSON, and 10,000 events with 40 bytes around each."""

_GZIP = 16 + zlib.MAX_WBITS  # how zlib's "wbits" says gzip

_alike = attrgetter("samples", "datapoints")


def pack(batch: LogBatch) -> Parcel:
    """Make a batch ready to be sent; some milliseconds for a full one."""
    return Parcel(waybill(batch), isal_zlib.compress(document(batch), LEVEL, _GZIP))


def document(batch: LogBatch) -> bytes:
    """Give the request's JSON document as it is before it is compressed.

    Messages are quoted already, so it is one join of what is there.
    """
    where = (orjson.dumps(batch.stream.group), orjson.dumps(batch.stream.stream))
    pieces = [b'{"logGroupName":%b,"logStreamName":%b,"logEvents":[' % where]
    for event in batch.events:
        pieces += (b'{"timestamp":%d,"message":"' % event.at_ms, event.quoted, b'"},')
    pieces[-1] = b'"}]}'
    return b"".join(pieces)


def waybill(batch: LogBatch) -> Waybill:
    """Give what is to be known of a batch; it has at least one event."""
    events = batch.events
    return Waybill(
        batch.stream, events[0].at_ms, events[-1].at_ms, tuple(_runs(events)), batch.size_bytes
    )


def unpack(parcel: Parcel) -> LogBatch:
    """Give the batch that was packed; ValueError when body and waybill are not those of one."""
    waybill, events = parcel.waybill, list(_written(parcel))
    if len(events) != waybill.events:
        raise ValueError(f"the body holds {len(events)} events, its waybill {waybill.events}")
    loads = chain.from_iterable(
        repeat((samples, datapoints), count) for count, samples, datapoints in waybill.runs
    )
    return LogBatch(
        waybill.stream,
        tuple(
            EmfEvent.of(waybill.stream, at_ms, message, *load)
            for (at_ms, message), load in zip(events, loads, strict=True)
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


def _written(parcel: Parcel) -> Iterator[tuple[int, bytes]]:
    """Read the times and messages of a body."""
    try:
        document = orjson.loads(_inflated(parcel.body))
    except orjson.JSONDecodeError as error:
        raise ValueError(f"the body is no JSON: {error}") from error
    match document:
        case {"logGroupName": group, "logStreamName": name, "logEvents": [*events]}:
            pass
        case _:
            raise ValueError("the body is no PutLogEvents request")
    if (group, name) != (parcel.waybill.stream.group, parcel.waybill.stream.stream):
        raise ValueError("the body is for another log stream than its waybill says")
    for event in events:
        match event:
            case {"timestamp": int(at_ms), "message": str(message)}:
                yield at_ms, message.encode()
            case _:
                raise ValueError("the body holds something that is no log event")


def _inflated(body: bytes) -> bytes:
    """Take gzip off: one member, whole, and no larger than ``MOST_BYTES``."""
    gzip = zlib.decompressobj(_GZIP)
    try:
        document = gzip.decompress(body, MOST_BYTES + 1)
    except zlib.error as error:
        raise ValueError(f"the body is not gzipped: {error}") from error
    if len(document) > MOST_BYTES:
        raise ValueError(f"the body inflates to more than {MOST_BYTES} bytes")
    if not gzip.eof or gzip.unused_data:
        raise ValueError("the body does not end where its gzip does")
    return document
