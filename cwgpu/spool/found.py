"""What a spool holds, as values."""

from dataclasses import dataclass

from cwgpu.model.errors import CwgpuError
from cwgpu.model.event import EmfEvent, Waybill

_BLOCK_BYTES = 4096
"""Of ext4, XFS and tmpfs: a file takes whole ones."""


@dataclass(frozen=True, slots=True)
class Slip:
    """A batch that lies in the spool."""

    name: str
    waybill: Waybill
    size_bytes: int
    """What it takes on the disk."""


@dataclass(frozen=True, slots=True)
class Segment:
    """A closed part of the write-ahead log."""

    name: str
    size_bytes: int
    """What it takes on the disk."""


@dataclass(frozen=True, slots=True)
class Quarantined:
    """Something that the spool cannot use, or that CloudWatch does not take."""

    file: str
    """Where it lies, for people; empty when the disk did not take it."""
    reason: str
    waybill: Waybill | None
    """What it carries, as far as that can still be told."""


@dataclass(frozen=True, slots=True)
class Found:
    """What a spool holds when it is opened, or looked at."""

    slips: tuple[Slip, ...]
    """The oldest first."""
    segments: tuple[tuple[Segment, tuple[EmfEvent, ...]], ...]
    """What was noted and is in no batch yet, the oldest first."""
    quarantined: tuple[Quarantined, ...]


class Damaged(CwgpuError):  # noqa: N818 - says what the file is, as its siblings' names do
    """A file is not what it should be; the text says in which way, but not which file."""

    def __init__(self, reason: str, waybill: Waybill | None = None) -> None:
        """``waybill``: what the file carries, where that can still be told."""
        super().__init__(reason)
        self.reason = reason
        self.waybill = waybill


def taken(size_bytes: int) -> int:
    """Give what a file of this size takes on the disk."""
    return -(-size_bytes // _BLOCK_BYTES) * _BLOCK_BYTES
