"""The format of the write-ahead log's segments (docs/spool.md).

A first line, and a line for each event: checksum, what is known of the event as JSON, its message
as a JSON string; with tabs between them, which JSON never has unescaped. A line stands on its own:
what damages it costs its event and no other. In the first format a message stood as it is.
"""

import re
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import BinaryIO, TypeAlias

import msgspec

from cwgpu.model import quoting
from cwgpu.model.event import EmfEvent, StreamKey
from cwgpu.spool.found import Damaged

VERSION = 2
"""Of the format."""
MOST_LINE_BYTES = 3 << 20
"""A message has 1 MiB at most, which quoted may be 2, and names of groups and streams have 512
characters each."""
MOST_KEPT_BYTES = 1 << 20
"""So much of the damaged lines is kept for people."""
MOST_FOREIGN_BYTES = 256 << 20
"""What does not begin as a segment does is searched for good lines up to this size."""

_Head: TypeAlias = tuple[int, int, int, str, str]
_head = msgspec.json.Decoder(_Head)
_OTHER = re.compile(rb"cwgpu-log ([0-9]{1,9}) ([0-9a-f]{8})\n")
_BROKEN = (msgspec.MsgspecError, RecursionError)


@dataclass(frozen=True, slots=True)
class Reading:
    """What could be read of a segment."""

    events: tuple[EmfEvent, ...]
    fault: str | None = None
    """What is damaged."""
    rest: bytes = b""
    """The lines that could not be read, or the beginning of them."""


def _first(version: int) -> bytes:
    words = b"cwgpu-log %d" % version
    return b"%s %08x\n" % (words, zlib.crc32(words))


FIRST = _first(VERSION)
"""A segment's first line."""

_FIRSTS = (FIRST, _first(1))


def line(event: EmfEvent) -> bytes:
    """Give an event's line."""
    head = b"[%d,%d,%d,%s" % (event.at_ms, event.samples, event.datapoints, _where(event.stream))
    rest = b'%s\t"%s"' % (head, event.quoted)
    return b"%08x\t%s\n" % (zlib.crc32(rest), rest)


def read(file: BinaryIO, size_bytes: int) -> Reading:
    """Read a segment, one line after the other; raises Damaged where it is none of ours."""
    first = file.readline(MOST_LINE_BYTES)
    other = _OTHER.fullmatch(first)
    if other and int(other[1]) > VERSION and first == _first(int(other[1])):
        raise Damaged(
            f"it has format {int(other[1])} and this cwgpu reads {VERSION}: "
            "a newer cwgpu wrote it and can read it"
        )
    if first not in _FIRSTS and size_bytes > MOST_FOREIGN_BYTES:
        raise Damaged("it is no log of cwgpu")
    events: list[EmfEvent] = []
    streams: dict[StreamKey, StreamKey] = {}
    bad, rest, last = 0, b"", first
    if first not in (*_FIRSTS, b""):
        bad, rest = 1, first[:MOST_KEPT_BYTES]
    for last in _lines(file):
        event = _event(last, streams)
        if event is not None:
            events.append(event)
        else:
            bad += 1
            rest += last[: MOST_KEPT_BYTES - len(rest)]
    if not bad:
        return Reading(tuple(events))
    if not events and not any(known.startswith(first) for known in _FIRSTS):
        raise Damaged("it is no log of cwgpu, or nothing of it can be read")
    return Reading(tuple(events), _fault(bad, rest, last), rest)


def _lines(file: BinaryIO) -> Iterator[bytes]:
    while found := file.readline(MOST_LINE_BYTES):
        yield found


def _event(text: bytes, streams: dict[StreamKey, StreamKey]) -> EmfEvent | None:
    """Read an event's line; None for a damaged one. A last line may lack nothing but its end."""
    crc, _, rest = text.removesuffix(b"\n").partition(b"\t")
    head, tab, said = rest.partition(b"\t")
    if not tab or crc != b"%08x" % zlib.crc32(rest):
        return None
    try:
        at_ms, samples, datapoints, group, stream = _head.decode(head)
        # A message of the first format begins with a brace.
        message = quoting.read(said[1:-1]) if said[:1] == said[-1:] == b'"' else said
    except (*_BROKEN, ValueError):
        return None
    key = StreamKey(group, stream)
    return EmfEvent.of(streams.setdefault(key, key), at_ms, message, samples, datapoints)


def _fault(bad: int, rest: bytes, last: bytes) -> str:
    if bad == 1 and rest == last and not last.endswith(b"\n"):
        return f"its last line was cut off after {len(last)} bytes, when the writer was ended"
    return f"lines that are damaged or cut off: {bad}; each was an event"


@lru_cache(1024)
def _where(stream: StreamKey) -> bytes:
    return msgspec.json.encode((stream.group, stream.stream))[1:]
