"""The format of a batch's file (docs/spool.md).

Three parts: a line with two checksums and two sizes; a line of JSON, which is the waybill; and the
body, as it is sent. The first checksum covers the rest of the first line and the second line, the
other one the body: what a file carries can be told when its body is damaged.
"""

import re
import zlib
from dataclasses import dataclass

import msgspec

from cwgpu.logs import limits
from cwgpu.model.event import Parcel, Run, StreamKey, Waybill
from cwgpu.spool.found import Damaged

VERSION = 1
"""Of the format; another layout of the file is another version."""
MOST_BYTES = 4 << 20
"""No file is larger: a request has 1 MiB of messages, and even what gzip cannot make smaller grows
to no more than the double when it is quoted."""
MOST_HEADER_BYTES = 1 << 20
"""10,000 events that all differ take 200 kB of it."""
FRONT_BYTES = 80
"""The first line is not longer."""

_FRONT = re.compile(rb"cwgpu-batch 1 ([0-9a-f]{8})( ([0-9a-f]{8}) ([0-9]{1,9}) ([0-9]{1,9})\n)")
_OTHER = re.compile(rb"cwgpu-batch ([0-9]{1,9}) ")
_BROKEN = (msgspec.MsgspecError, RecursionError)


class _Header(msgspec.Struct, frozen=True):
    """The second line."""

    group: str
    stream: str
    first_ms: int
    last_ms: int
    runs: tuple[Run, ...]
    size_bytes: int


@dataclass(frozen=True, slots=True)
class Front:
    """What the first line says."""

    covered: bytes
    """The part of the line that the header's checksum covers."""
    header_crc: int
    body_crc: int
    header_at: int
    body_at: int
    size_bytes: int
    """Of the whole file."""


def encode(parcel: Parcel) -> bytes:
    """Give the file's content."""
    waybill = parcel.waybill
    header = _Header(
        waybill.stream.group,
        waybill.stream.stream,
        waybill.first_ms,
        waybill.last_ms,
        waybill.runs,
        waybill.size_bytes,
    )
    line = msgspec.json.encode(header) + b"\n"
    body = parcel.body
    covered = b" %08x %d %d\n" % (zlib.crc32(body), len(line), len(body))
    crc = zlib.crc32(line, zlib.crc32(covered))
    return b"cwgpu-batch %d %08x%s%s%s" % (VERSION, crc, covered, line, body)


def decode(data: bytes) -> Parcel:
    """Give the batch of a whole file; raises Damaged."""
    first = front(data)
    found = waybill(first, data[first.header_at : first.body_at])
    whole(first, found, len(data))
    body = data[first.body_at :]
    if zlib.crc32(body) != first.body_crc:
        raise Damaged("its body is damaged", found)
    return Parcel(found, body)


def front(data: bytes) -> Front:
    """Read the first line; ``data`` is the file's beginning."""
    line = _FRONT.match(data)
    if line is None:
        raise Damaged(_strange(data))
    header_crc, covered, body_crc, header_bytes, body_bytes = line.groups()
    body_at = line.end() + int(header_bytes)
    return Front(
        covered,
        int(header_crc, 16),
        int(body_crc, 16),
        line.end(),
        body_at,
        body_at + int(body_bytes),
    )


def waybill(first: Front, header: bytes) -> Waybill:
    """Read the second line; ``header`` is all of it, or what the file has of it."""
    if len(header) < first.body_at - first.header_at:
        raise Damaged("it was cut off")
    if zlib.crc32(header, zlib.crc32(first.covered)) != first.header_crc:
        raise Damaged("its header is damaged")
    try:
        found = msgspec.json.decode(header, type=_Header)
    except _BROKEN as error:
        raise Damaged(f"its header is none of ours: {error}") from error
    if not found.runs or min(map(min, found.runs)) < 0:
        raise Damaged("its header is none of ours: no events, or fewer than none")
    key = StreamKey(found.group, found.stream)
    told = Waybill(key, found.first_ms, found.last_ms, found.runs, found.size_bytes)
    if not 0 < told.events <= limits.BATCH_EVENTS:
        raise Damaged(f"its header is none of ours: it tells of {told.events} events")
    return told


def whole(first: Front, found: Waybill, size_bytes: int) -> None:
    """See that the file has the size that its first line says; raises Damaged."""
    if size_bytes < first.size_bytes:
        raise Damaged(f"it was cut off: {size_bytes} bytes of {first.size_bytes}", found)
    if size_bytes > first.size_bytes:
        more = size_bytes - first.size_bytes
        raise Damaged(f"it goes on for {more} bytes after its end", found)


def _strange(data: bytes) -> str:
    """Say what a file is that does not begin as it should."""
    if not data:
        return "it is empty"
    other = _OTHER.match(data)
    if other and int(other[1]) > VERSION:
        return (
            f"it has format {int(other[1])} and this cwgpu reads {VERSION}: "
            "a newer cwgpu wrote it and can read it, or its first line is damaged"
        )
    if other or data.startswith(b"cwgpu-batch"):
        return "its first line is damaged or cut off"
    return "it is no batch of cwgpu"
