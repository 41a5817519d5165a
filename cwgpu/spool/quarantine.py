"""Where that goes which cannot be used or is not taken: for people, and bounded.

Beside each file lies another, ``*.why``, which says in words why it is here.
"""

import os
import stat
from contextlib import suppress
from pathlib import Path

from cwgpu.model.event import Waybill
from cwgpu.spool import disk, survey
from cwgpu.spool.found import Damaged, Quarantined, taken

MOST_BYTES = 16 << 20
"""More than that is not for people to look at."""
MOST_FILES = 100
_WHY = ".why"

_MOST_WHY_BYTES = 1000


class Quarantine:
    """A folder."""

    def __init__(self, folder: Path) -> None:
        """``folder`` is there when the first file comes."""
        self._folder = folder

    def move(self, path: Path, reason: str, waybill: Waybill | None) -> Quarantined:
        """Move a file here. What is larger than all that may be here stays where it is."""
        try:
            found = os.lstat(path)
            if stat.S_ISREG(found.st_mode) and taken(found.st_size) > MOST_BYTES:
                most = MOST_BYTES >> 20
                return _left(path, f"{reason} (over {most} MiB: it stays where it is)", waybill)
            target = self._free(path.name)
            path.rename(target)
        except OSError as error:
            return _left(path, f"{reason} (it cannot be moved: {error.strerror})", waybill)
        return self._explained(target, reason, waybill)

    def keep(self, name: str, data: bytes, reason: str, waybill: Waybill | None) -> Quarantined:
        """Write a file here."""
        target = self._folder / name
        try:
            disk.remove(target)
            disk.write(target, data)
        except OSError as error:
            with suppress(OSError):
                disk.remove(target)
            return Quarantined("", f"{reason} (it cannot be kept: {error.strerror})", waybill)
        return self._explained(target, reason, waybill)

    def bound(self) -> None:
        """Remove the oldest of what is too much."""
        with suppress(OSError):
            files = sorted(self._files(), key=lambda file: (file[1], file[0]), reverse=True)
            size_bytes = 0
            for number, (path, _, file_bytes) in enumerate(files, start=1):
                size_bytes += file_bytes
                if number > MOST_FILES or size_bytes > MOST_BYTES:
                    _forget(path)

    def listed(self) -> tuple[Quarantined, ...]:
        """Tell what is here."""
        return tuple(_listed(path) for path in self._paths())

    def _files(self) -> list[tuple[Path, int, int]]:
        """Give path, time of arrival and size of each file."""
        why = taken(_MOST_WHY_BYTES)
        found = [(path, os.lstat(path)) for path in self._paths()]
        return [(path, each.st_ctime_ns, taken(each.st_size) + why) for path, each in found]

    def _paths(self) -> list[Path]:
        """List the files without those that say why."""
        every = set(disk.entries(self._folder))
        return sorted(every - {_why(each) for each in every})

    def _free(self, name: str) -> Path:
        target, number = self._folder / name, 0
        while os.path.lexists(target):
            number += 1
            target = self._folder / f"{name}.{number}"
        return target

    def _explained(self, target: Path, reason: str, waybill: Waybill | None) -> Quarantined:
        why = _why(target)
        with suppress(OSError):
            disk.remove(why)
            disk.write(why, shown(reason)[:_MOST_WHY_BYTES].encode() + b"\n")
        return Quarantined(shown(target), reason, waybill)


def shown(text: str | Path) -> str:
    """Write a name or a reason so that it is one line of text."""
    plain = os.fsencode(str(text)).decode(errors="backslashreplace")
    return "".join(
        char if char.isprintable() else char.encode("unicode_escape").decode() for char in plain
    )


def _left(path: Path, reason: str, waybill: Waybill | None) -> Quarantined:
    return Quarantined(shown(path), reason, waybill)


def _forget(path: Path) -> None:
    with suppress(OSError):  # a folder that has something is not ours to empty
        disk.remove(path)
    with suppress(OSError):
        disk.remove(_why(path))


def _why(path: Path) -> Path:
    return path.with_name(path.name + _WHY)


def _listed(path: Path) -> Quarantined:
    reason, waybill = "", None
    try:
        with disk.regular(path) as (descriptor, size_bytes):
            waybill = survey.slip(path.name, descriptor, size_bytes).waybill
    except Damaged as damage:
        reason, waybill = damage.reason, damage.waybill
    except OSError as error:
        reason = f"it cannot be read: {error.strerror}"
    with suppress(OSError, Damaged), disk.regular(_why(path)) as (descriptor, _):
        told = disk.read(descriptor, 0, _MOST_WHY_BYTES)
        reason = shown(told.decode(errors="backslashreplace").strip()) or reason
    return Quarantined(shown(path), reason, waybill)
