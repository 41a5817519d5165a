"""One file of a spool, read as far as it can be."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from cwgpu.cli.spool import contents
from cwgpu.cli.spool.contents import Value
from cwgpu.logs import parcel as packing
from cwgpu.model.errors import PermissionError_, UsageError
from cwgpu.spool import batch, disk, names, survey, wal
from cwgpu.spool.found import Damaged

_FOLDERS = (survey.BATCHES, survey.LOG, survey.QUARANTINE)


@dataclass(frozen=True, slots=True)
class File:
    """What could be read of it."""

    path: str
    header: Value | None = None
    """None: not even that could be read."""
    messages: Sequence[bytes] = ()
    fault: str = ""
    """What is wrong with it."""


def read(directory: Path, name: str) -> File:
    """Read a file of the spool, named as ``ls`` names it."""
    try:
        path = _path(directory, name)
        return _log(path) if names.SEGMENT.match(path.name) else _batch(path)
    except PermissionError as error:
        raise PermissionError_(f"{error.filename}: {error.strerror}") from error


def _path(directory: Path, name: str) -> Path:
    """Find the file; a path that ``ls`` shows is as good as its last part."""
    last = Path(name).name
    for folder in _FOLDERS:
        if last and (directory / folder / last).is_file():
            return directory / folder / last
    raise UsageError(
        f"{directory} has no file {last!r}: `cwgpu spool ls {directory}` names those that are "
        "there; one that was delivered is gone"
    )


def _batch(path: Path) -> File:
    try:
        with disk.regular(path) as (descriptor, _):
            parcel = batch.decode(disk.read(descriptor, 0, batch.MOST_BYTES + 1))
    except Damaged as damaged:
        known = contents.header(path.name, damaged.waybill) if damaged.waybill else None
        return File(str(path), known, fault=damaged.reason)
    header = contents.header(path.name, parcel.waybill)
    try:
        events = packing.unpack(parcel).events
    except ValueError as error:
        return File(str(path), header, fault=str(error))
    return File(str(path), header, [event.message for event in events])


def _log(path: Path) -> File:
    try:
        with (
            disk.regular(path) as (descriptor, size_bytes),
            open(descriptor, "rb", closefd=False) as stream,
        ):
            reading = wal.read(stream, size_bytes)
    except Damaged as damaged:
        return File(str(path), fault=damaged.reason)
    header = contents.segment(path.name, reading.events)
    messages = [event.message for event in reading.events]
    return File(str(path), header, messages, reading.fault or "")
