"""Looking at a spool's directory without changing anything: what counts, what does not, and why.

Of a batch no more than its header is read, and of no file more than its format allows.
"""

import os
from collections.abc import Callable, Container, Iterable
from dataclasses import dataclass, field
from pathlib import Path

from cwgpu.model.event import EmfEvent, Waybill
from cwgpu.spool import batch, disk, intent, names, wal
from cwgpu.spool.found import Damaged, Segment, Slip, taken

BATCHES, PENDING, LOG, QUARANTINE = "new", "tmp", "wal", "quarantine"
FOLDERS = (BATCHES, PENDING, LOG, QUARANTINE)

_CHUNK_BYTES = 4096
"""Holds the header of most batches: one read for each file."""
_MOST_INTENT_BYTES = 1 << 20


@dataclass(frozen=True, slots=True)
class Fault:
    """A file that cannot be used, or not wholly."""

    path: Path
    reason: str
    waybill: Waybill | None = None
    rest: bytes | None = None
    """What is damaged, where the file itself is still of use."""
    stays: bool = False
    """It could not be looked at; it may be good, and another start may be luckier."""


@dataclass(frozen=True, slots=True)
class Leftover:
    """Files that do not count, and the file that says so, which has to be removed after them."""

    marker: Path
    files: tuple[Path, ...]


@dataclass(slots=True)
class Survey:
    """What is in a directory."""

    slips: list[Slip] = field(default_factory=list)
    segments: list[tuple[Segment, tuple[EmfEvent, ...]]] = field(default_factory=list)
    faults: list[Fault] = field(default_factory=list)
    leftovers: list[Leftover] = field(default_factory=list)


def survey(directory: Path) -> Survey:
    """Look; OSError when it cannot be told what counts."""
    found = Survey()
    _each(directory / PENDING, found, lambda path: _pending(path, found))
    void = {path for left in found.leftovers for path in left.files}
    _each(directory / BATCHES, found, lambda path: _batch(path, found), void)
    _each(directory / LOG, found, lambda path: _segment(path, found), void)
    found.slips.sort(key=lambda slip: (slip.waybill.first_ms, slip.name))
    return found


def places(directory: Path, files: Iterable[str]) -> tuple[Path, ...]:
    """Give the paths of batches and segments."""
    return tuple(directory / (BATCHES if name.endswith(".batch") else LOG) / name for name in files)


def _each(
    folder: Path, found: Survey, look: Callable[[Path], None], void: Container[Path] = ()
) -> None:
    """Look at each file of a folder; what is wrong with one is no matter of the others."""
    for path in disk.entries(folder):
        if path in void:
            continue
        try:
            look(path)
        except Damaged as damage:
            found.faults.append(Fault(path, damage.reason, damage.waybill))
        except FileNotFoundError:
            continue  # somebody works here while we look
        except OSError as error:
            if folder.name == PENDING:
                raise  # without it nobody knows what counts
            found.faults.append(Fault(path, f"it cannot be read: {error.strerror}", stays=True))


def _pending(path: Path, found: Survey) -> None:
    begun = names.BEGUN.fullmatch(path.name)
    if not begun and not names.DONE.fullmatch(path.name):
        raise Damaged("it is no file of cwgpu")
    directory = path.parent.parent
    try:
        with disk.regular(path) as (descriptor, _):
            meant = intent.decode(disk.read(descriptor, 0, _MOST_INTENT_BYTES))
    except Damaged:
        if not begun:
            raise
        # Nothing is made before this file is whole.
        found.leftovers.append(Leftover(path, ()))
        return
    files = meant.made if begun else meant.gone
    found.leftovers.append(Leftover(path, places(directory, files)))


def _batch(path: Path, found: Survey) -> None:
    if not names.BATCH.fullmatch(path.name):
        raise Damaged("its name is none of a batch")
    with disk.regular(path) as (descriptor, size_bytes):
        found.slips.append(slip(path.name, descriptor, size_bytes))


def slip(name: str, descriptor: int, size_bytes: int) -> Slip:
    """Read the header of a batch."""
    beginning = disk.read(descriptor, 0, _CHUNK_BYTES)
    first = batch.front(beginning)
    if first.size_bytes > batch.MOST_BYTES or first.body_at > batch.MOST_HEADER_BYTES:
        raise Damaged("its first line is damaged: no batch is that large")
    if first.body_at > len(beginning):
        beginning += disk.read(descriptor, len(beginning), first.body_at)
    waybill = batch.waybill(first, beginning[first.header_at : first.body_at])
    batch.whole(first, waybill, size_bytes)
    return Slip(name, waybill, taken(size_bytes))


def _segment(path: Path, found: Survey) -> None:
    if not names.SEGMENT.fullmatch(path.name):
        raise Damaged("its name is none of a log")
    with (
        disk.regular(path) as (descriptor, size_bytes),
        os.fdopen(descriptor, "rb", closefd=False) as file,
    ):
        reading = wal.read(file, size_bytes)
    if reading.fault and not reading.events:
        raise Damaged(reading.fault)
    if reading.fault:
        found.faults.append(Fault(path, reading.fault, rest=reading.rest))
    found.segments.append((Segment(path.name, taken(size_bytes)), reading.events))
