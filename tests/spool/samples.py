"""Events and batches for the tests of the spool."""

import contextlib
import os
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from cwgpu.logs import parcel
from cwgpu.model.event import EmfEvent, LogBatch, Parcel, StreamKey
from cwgpu.spool.directory import Spool
from cwgpu.spool.found import Found

STREAM = StreamKey("/gpu/metrics", "node-7 é")
AT_MS = 1_700_000_000_000
TOKEN = "0a1b2c3d"  # noqa: S105 - a part of names


def events(first: int, end: int) -> list[EmfEvent]:
    """Make events that are told apart by their message."""
    return [
        EmfEvent.of(STREAM, AT_MS + number, b'{"event":%d}' % number, number % 3, 2 * (number % 3))
        for number in range(first, end)
    ]


def packed(some: Sequence[EmfEvent]) -> Parcel:
    """Make a batch."""
    return parcel.pack(LogBatch(some[0].stream, tuple(some)))


def opened(path: Path, token: str = TOKEN) -> tuple[Spool, Found]:
    """Open a spool."""
    spool = Spool(path, token)
    return spool, spool.open()


def held(spool: Spool, found: Found) -> list[EmfEvent]:
    """Give every event that a spool held when it was opened, in order of time."""
    every = [event for _, some in found.segments for event in some]
    for slip in found.slips:
        every += parcel.unpack(spool.read(slip)).events
    return ordered(every)


def ordered(some: Iterable[EmfEvent]) -> list[EmfEvent]:
    """Sort events by time."""
    return sorted(some, key=lambda event: (event.at_ms, event.message))


def recovered(path: Path, token: str = "ffffffff") -> list[EmfEvent]:  # noqa: S107 - as above
    """Give every event that a spool holds, as its next owner finds them."""
    spool, found = opened(path, token)
    every = held(spool, found)
    spool.close()
    return every


def flips(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Damage one byte, at every place and in several ways; give place and result."""
    for at, byte in enumerate(data):
        for other in {byte ^ 1, byte ^ 0x20, byte ^ 0xFF, ord("\n"), ord("\t"), ord("9")} - {byte}:
            yield at, data[:at] + bytes([other]) + data[at + 1 :]


@contextlib.contextmanager
def folder() -> Iterator[Path]:
    """Give a folder in memory where there is one, as a disk takes its time for each fsync."""
    memory = Path("/dev/shm")  # noqa: S108 - the folder within is ours
    place = memory if os.access(memory, os.W_OK) else None
    with tempfile.TemporaryDirectory(dir=place) as name:
        yield Path(name)
