"""The spool: a directory that holds what CloudWatch has not taken yet.

Whatever is killed, full or damaged, an event that was noted is in the log or in one batch, and
what cannot be read is named. docs/spool.md says what lies where.
"""

import errno
import os
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path

from cwgpu.model.event import EmfEvent, Parcel
from cwgpu.spool import batch, disk, intent, names, refuse, survey
from cwgpu.spool.found import Found, Quarantined, Segment, Slip, taken
from cwgpu.spool.lock import Lock
from cwgpu.spool.log import Log
from cwgpu.spool.quarantine import Quarantine, shown
from cwgpu.spool.survey import Fault, Leftover


class Spool:
    """A directory of one owner. Blocking; one thread at a time, but for ``note``."""

    def __init__(self, path: Path, token: str) -> None:
        """``token``: 8 hexadecimal digits that are new at every start."""
        self._path = path
        self._names = names.Names(token)
        self._lock = Lock(path / "lock")
        self._log = Log(path / survey.LOG, self._names)
        self._quarantine = Quarantine(path / survey.QUARANTINE)
        self._leftovers: list[Leftover] = []
        self._revoked: list[tuple[Path, Leftover]] = []
        """Steps that failed and may count: the file that says so, and what is to become of them."""

    def open(self) -> Found:
        """Become the owner, and put in order what the last one left.

        UnavailableError or PermissionError_ when the directory cannot be had.
        """
        try:
            disk.folder(self._path)
            self._lock.take()
            for name in survey.FOLDERS:
                disk.folder(self._path / name)
            return self._recovered()
        except OSError as error:
            self._lock.release()
            raise refuse.opening(self._path, error) from error

    def note(self, events: Iterable[EmfEvent]) -> None:
        """Append events to the write-ahead log, in one write and without waiting for the disk.

        OSError leaves the log as it was.
        """
        self._log.note(events)

    def seal(self) -> Segment | None:
        """Close the log's current segment, if it has anything; the next note begins another."""
        return self._log.seal()

    def commit(
        self, parcels: Sequence[Parcel], segments: Sequence[Segment] = ()
    ) -> tuple[Slip, ...]:
        """Write batches in the place of segments, in one step.

        OSError: nothing of it counts, and the segments still do.
        """
        return self._exchange(parcels, [segment.name for segment in segments])

    def replace(self, slip: Slip, parts: tuple[Parcel, Parcel]) -> tuple[Slip, Slip]:
        """Write the two parts of a batch in its place, in one step; OSError: it still counts."""
        first, second = self._exchange(parts, [slip.name])
        return first, second

    def drop(self, segments: Sequence[Segment]) -> None:
        """Forget segments; OSError: they may come again at the next start."""
        for path in survey.places(self._path, [segment.name for segment in segments]):
            disk.remove(path)

    def read(self, slip: Slip) -> Parcel:
        """Read a batch; Damaged, OSError."""
        with disk.regular(self._place(slip)) as (descriptor, size_bytes):
            most = min(size_bytes, batch.MOST_BYTES + 1)
            return batch.decode(disk.read(descriptor, 0, most))

    def remove(self, slip: Slip) -> None:
        """Forget a batch; OSError: it may come again at the next start."""
        disk.remove(self._place(slip))

    def quarantine(self, slip: Slip, reason: str) -> Quarantined:
        """Take a batch out of the way; never fails: the answer says where it lies."""
        moved = self._quarantine.move(self._place(slip), reason, slip.waybill)
        self._quarantine.bound()
        return moved

    def set_aside(self, parcel: Parcel, reason: str) -> Quarantined:
        """Keep a batch that is not in the spool for people; never fails, as ``quarantine``."""
        name = self._names.batch(parcel.waybill.first_ms)
        kept = self._quarantine.keep(name, batch.encode(parcel), reason, parcel.waybill)
        self._quarantine.bound()
        return kept

    def close(self) -> None:
        """Bring all that was noted to the disk and let others be the owner."""
        self._log.seal(sync=True)
        self._lock.release()

    def _place(self, slip: Slip) -> Path:
        return self._path / survey.BATCHES / slip.name

    def _recovered(self) -> Found:
        found = survey.survey(self._path)
        self._leftovers = found.leftovers
        self._tidy()
        quarantined = tuple(self._isolated(fault) for fault in found.faults)
        self._quarantine.bound()
        segments = []
        for segment, events in found.segments:
            if events:
                segments.append((segment, events))
            else:
                with suppress(OSError):
                    self.drop([segment])
        return Found(tuple(found.slips), tuple(segments), quarantined)

    def _isolated(self, fault: Fault) -> Quarantined:
        if fault.stays:
            return Quarantined(shown(fault.path), fault.reason, fault.waybill)
        if fault.rest is None:
            return self._quarantine.move(fault.path, fault.reason, fault.waybill)
        return self._quarantine.keep(fault.path.name, fault.rest, fault.reason, fault.waybill)

    def _exchange(self, parcels: Sequence[Parcel], gone: list[str]) -> tuple[Slip, ...]:
        """Make batches and forget others and segments, in one step."""
        self._revoke()
        files = [
            (self._names.batch(each.waybill.first_ms), each.waybill, batch.encode(each))
            for each in parcels
        ]
        if any(len(data) > batch.MOST_BYTES for _, _, data in files):
            raise OSError(errno.EFBIG, os.strerror(errno.EFBIG), str(self._path))
        meant = intent.Intent(tuple(name for name, _, _ in files), tuple(gone))
        pending = self._path / survey.PENDING
        begun = pending / f"{self._names.commit()}.begun"
        done = begun.with_suffix(".done")
        new = self._path / survey.BATCHES
        try:
            disk.write(begun, intent.encode(meant))
            disk.sync(pending)
            for name, _, data in files:
                disk.write(new / name, data)
            disk.sync(new)
            begun.rename(done)
            disk.sync(pending)
        except OSError:
            self._revoked.append((done, Leftover(begun, survey.places(self._path, meant.made))))
            with suppress(OSError):
                self._revoke()
            raise
        self._clear(Leftover(done, survey.places(self._path, gone)))
        return tuple(Slip(name, waybill, taken(len(data))) for name, waybill, data in files)

    def _revoke(self) -> None:
        """See that what failed does not count; OSError: nothing else may be done before."""
        while self._revoked:
            done, left = self._revoked[-1]
            with suppress(FileNotFoundError):  # it never counted
                done.rename(left.marker)
            self._leftovers.append(left)
            self._revoked.pop()
        self._tidy()

    def _tidy(self) -> None:
        """Remove what does not count. What cannot be removed does not count, and is tried again."""
        leftovers, self._leftovers = self._leftovers, []
        if not leftovers:
            return
        try:
            disk.sync(self._path / survey.PENDING)  # what says so must outlive a power cut first
        except OSError:
            self._leftovers = leftovers
            return
        for left in leftovers:
            self._clear(left)

    def _clear(self, left: Leftover) -> None:
        try:
            for path in left.files:
                disk.remove(path)
            for folder in dict.fromkeys(path.parent for path in left.files):
                disk.sync(folder)
            disk.remove(left.marker)
        except OSError:
            self._leftovers.append(left)


def seek(path: Path) -> None:
    """See that a spool is there: to open it makes one where there is none.

    UnavailableError or PermissionError_ when there is none, or it cannot be told.
    """
    try:
        for name in survey.FOLDERS:
            (path / name).stat()
    except OSError as error:
        raise refuse.looking(path, error) from error


def look(path: Path) -> Found:
    """Tell what a spool holds, without owning and without changing it.

    UnavailableError or PermissionError_ when it cannot be read.
    """
    try:
        found = survey.survey(path)
        held = Quarantine(path / survey.QUARANTINE).listed()
    except OSError as error:
        raise refuse.looking(path, error) from error
    faults = [Quarantined(shown(each.path), each.reason, each.waybill) for each in found.faults]
    return Found(tuple(found.slips), tuple(found.segments), (*faults, *held))
