"""A spool on a small disk: run by ``unshare``, in a mount namespace of its own.

    python -m tests.spool.full SCENE DIRECTORY

mounts a file system of 256 kB on the directory, plays the scene, and prints what it saw as JSON.
"""

import errno
import json
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from cwgpu.logs import parcel
from cwgpu.model.errors import CwgpuError
from cwgpu.model.event import EmfEvent
from cwgpu.spool.directory import Spool, look
from tests.spool import samples

Seen: TypeAlias = dict[str, Any]

_SIZE = "256k"


@dataclass(frozen=True, slots=True)
class Disk:
    """A file system that can be filled."""

    path: Path

    @property
    def directory(self) -> Path:
        """Where the spool is."""
        return self.path / "spool"

    def fill(self, leave_bytes: int = 0) -> None:
        """Take all the space there is but this."""
        filler = self.path / "filler"
        with filler.open("wb") as file:
            try:
                while True:
                    os.write(file.fileno(), bytes(4096))
            except OSError as error:
                assert error.errno == errno.ENOSPC  # noqa: PT017 - the test is elsewhere
            os.ftruncate(file.fileno(), file.seek(0, os.SEEK_END) - leave_bytes)

    def free(self) -> None:
        """Give it back."""
        (self.path / "filler").unlink()

    def remount(self, how: str) -> None:
        """Make it read-only, or not."""
        subprocess.run(["mount", "-o", f"remount,{how}", str(self.path)], check=True)


def _try(deed: Callable[[], object]) -> str:
    """Name the error that comes of it."""
    try:
        deed()
    except OSError as error:
        return errno.errorcode[error.errno or 0]
    except CwgpuError as error:
        return f"{type(error).__name__}: {error}"
    return ""


def _messages(some: Sequence[EmfEvent]) -> list[str]:
    return [event.message.decode() for event in some]


def _large(first: int, end: int) -> list[EmfEvent]:
    """Make events of 10 kB each."""
    return [
        EmfEvent.of(
            event.stream, event.at_ms, b'{"event":%d,"of":"%s"}' % (number, b"x" * 10_000), 1, 1
        )
        for number, event in enumerate(samples.events(first, end), start=first)
    ]


def _note(disk: Disk) -> Seen:
    """Note while the disk fills up in the middle of a write, and when there is space again."""
    spool, _ = samples.opened(disk.directory)
    spool.note(samples.events(0, 2))
    (log,) = (disk.directory / "wal").iterdir()
    before = log.read_bytes()
    disk.fill(leave_bytes=3 * 4096)
    failed = _try(lambda: spool.note(_large(2, 6)))
    after = log.read_bytes()
    small = _try(lambda: spool.note(samples.events(6, 7)))
    disk.free()
    spool.note(samples.events(7, 8))
    spool.close()
    return {
        "failed": failed,
        "as_before": before == after,
        "small": small,
        "events": _messages(samples.recovered(disk.directory)),
    }


def _commit(disk: Disk) -> Seen:
    """Commit to a full disk, and when there is space again."""
    spool, _ = samples.opened(disk.directory)
    spool.note(samples.events(0, 4))
    segment = spool.seal()
    assert segment is not None
    parcels = [samples.packed(samples.events(0, 2)), samples.packed(samples.events(2, 4))]
    seen: Seen = {}
    for blocks in range(4):
        disk.fill(leave_bytes=blocks * 4096)
        seen[f"with {blocks}"] = _try(lambda: spool.commit(parcels, [segment]))
        seen[f"left {blocks}"] = _files(disk.directory)
        disk.free()
    spool.close()
    return seen | {"events": _messages(samples.recovered(disk.directory))}


def _replace(disk: Disk) -> Seen:
    """Cut a batch in two on a full disk, and when there is space again."""
    spool, _ = samples.opened(disk.directory)
    whole = samples.packed(samples.events(0, 4))
    (slip,) = spool.commit([whole])
    first, second = parcel.halve(whole)
    disk.fill(leave_bytes=2 * 4096)
    failed = _try(lambda: spool.replace(slip, (first, second)))
    left = _files(disk.directory)
    read = spool.read(slip) == whole
    disk.free()
    spool.replace(slip, (first, second))
    spool.close()
    events = _messages(samples.recovered(disk.directory))
    return {"failed": failed, "left": left, "read": read, "events": events}


def _work(disk: Disk) -> Seen:
    """Do what needs no space, and what nobody can do without, on a full disk."""
    spool, _ = samples.opened(disk.directory)
    taken, bad, kept = spool.commit([samples.packed([event]) for event in samples.events(0, 3)])
    spool.note(samples.events(3, 4))
    spool.close()
    log = next((disk.directory / "wal").iterdir())
    log.write_bytes(log.read_bytes() + b"damaged\n")
    disk.fill()
    spool, found = samples.opened(disk.directory, "ffffffff")
    events = _messages(samples.held(spool, found))
    spool.remove(taken)
    spool.quarantine(bad, "nobody wants it")
    disk.fill()
    aside = spool.set_aside(samples.packed(samples.events(4, 5)), "nobody wants it")
    quarantined = len(look(disk.directory).quarantined)
    left = [slip.name for slip in look(disk.directory).slips] == [kept.name]
    named = [each.reason for each in found.quarantined]
    return {"events": events, "aside": aside.file, "n": quarantined, "left": left, "named": named}


def _make(disk: Disk) -> Seen:
    """Make a spool where there is no space for its folders."""
    disk.path.joinpath("taken").mkdir()
    return {"opened": _try(Spool(disk.directory, samples.TOKEN).open)}


def _read_only(disk: Disk) -> Seen:
    """Open and look at what is read-only."""
    spool, _ = samples.opened(disk.directory)
    spool.commit([samples.packed(samples.events(0, 2))])
    spool.close()
    disk.remount("ro")
    opened = _try(Spool(disk.directory, samples.TOKEN).open)
    found = look(disk.directory)
    disk.remount("rw")
    events = _messages(samples.recovered(disk.directory))
    return {"opened": opened, "seen": len(found.slips), "events": events}


def _files(directory: Path) -> list[str]:
    """List what is in new/ and tmp/ and wal/, by the ends of the names."""
    folders = ("new", "tmp", "wal")
    return sorted(path.suffix for name in folders for path in (directory / name).iterdir())


_SCENES = {
    scene.__name__.removeprefix("_"): scene
    for scene in (_note, _commit, _replace, _work, _make, _read_only)
}


def main(scene: str, folder: str) -> None:
    """Play a scene."""
    # A file system with as many files as the scene leaves room for: folders take files, too.
    files = 4 if scene == "make" else 1000
    options = f"size={_SIZE},nr_inodes={files}"
    subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", folder], check=True)
    json.dump(_SCENES[scene](Disk(Path(folder))), sys.stdout)


if __name__ == "__main__":
    main(*sys.argv[1:])
