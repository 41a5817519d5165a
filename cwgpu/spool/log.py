"""Writing the write-ahead log: what was rendered is on its way to the disk before it is in a batch.

The kernel has what was written: it survives the end of the process, in whatever way, but not that
of the machine. Only batches are synced.
"""

import errno
import os
import threading
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from cwgpu.model.event import EmfEvent
from cwgpu.spool import disk, wal
from cwgpu.spool.found import Segment, taken
from cwgpu.spool.names import Names


class Log:
    """The segment that is being written. Two threads may use it."""

    def __init__(self, folder: Path, names: Names) -> None:
        """``folder`` is there when the first event comes."""
        self._folder = folder
        self._names = names
        self._file: _File | None = None
        self._lock = threading.Lock()

    def note(self, events: Iterable[EmfEvent]) -> None:
        """Append events; OSError leaves the log as it was."""
        noted = list(events)
        data = b"".join(map(wal.line, noted))
        if not noted:
            return
        with self._lock:
            if self._file is None:
                self._file = _File(self._folder / self._names.segment(noted[0].at_ms))
            self._file.append(data)

    def seal(self, *, sync: bool = False) -> Segment | None:
        """Close the segment, if it has anything; the next event begins another."""
        with self._lock:
            file, self._file = self._file, None
        if file is None:
            return None
        file.close(sync=sync)
        return Segment(file.path.name, taken(file.size_bytes)) if file.size_bytes else None


class _File:
    """A segment that grows by whole notes only."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._descriptor = disk.create(path, os.O_APPEND)
        self.size_bytes = 0
        self._torn = False

    def append(self, data: bytes) -> None:
        self._mend()
        whole = data if self.size_bytes else wal.FIRST + data
        self._torn = True
        try:
            _write(self._descriptor, whole)
        except OSError:
            with suppress(OSError):
                self._mend()
            raise
        self._torn = False
        self.size_bytes += len(whole)

    def close(self, *, sync: bool) -> None:
        with suppress(OSError):  # what is torn is told from what is whole when it is read
            self._mend()
            if sync:
                os.fsync(self._descriptor)
        with suppress(OSError):
            os.close(self._descriptor)
        if not self.size_bytes:
            with suppress(OSError):
                disk.remove(self.path)

    def _mend(self) -> None:
        """Cut off what the last write left behind when it failed."""
        if self._torn:
            os.ftruncate(self._descriptor, self.size_bytes)
            self._torn = False


def _write(descriptor: int, data: bytes) -> None:
    """Write in one call, all of it or not at all."""
    written = os.write(descriptor, data)
    if written < len(data):
        # The kernel says why only to the next call; of a file it is nothing else.
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
