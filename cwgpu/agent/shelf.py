"""The batches that are held, what they take, and which of them is the oldest."""

import heapq
import itertools
from collections.abc import Iterator
from dataclasses import dataclass

from cwgpu.model.event import Parcel, Waybill
from cwgpu.spool.found import Slip

# What a run of a waybill takes in memory: a tuple of three small numbers.
_RUN_BYTES = 96
# Entries of batches that went which are left where they are, so that to take away costs nothing.
_MOST_STALE = 64


@dataclass(slots=True, eq=False)
class Held:
    """One batch, from the flush until it is decided on."""

    waybill: Waybill
    born_s: float
    """When its newest event was scraped, by the clock that does not jump."""
    parcel: Parcel | None = None
    """None: it is in the spool."""
    slip: Slip | None = None
    """None: it is in memory alone."""
    busy: bool = False
    """It is being sent, so it cannot be dropped."""
    moving: bool = False
    """It is being written to the disk, so it cannot be dropped either; it may be sent."""
    gone: bool = False
    """It was dropped, split or found to be damaged while it waited to be sent."""
    twin: "Held | None" = None
    """The second half, if this is the first."""
    bad: bool = False
    """It is known to hold what CloudWatch refuses: there is no use in sending it as a whole."""

    @property
    def size_bytes(self) -> int:
        """What it takes where it is."""
        if self.slip is not None:
            return self.slip.size_bytes
        body = len(self.parcel.body) if self.parcel else 0
        return body + _RUN_BYTES * len(self.waybill.runs)


class Shelf:
    """Adding, taking away and finding the oldest cost no more when there are thousands."""

    def __init__(self) -> None:
        """Nothing is held."""
        self.memory: dict[Held, int] = {}
        """Those in memory alone, and the bytes of each."""
        self.disk: dict[Held, int] = {}
        """Those in the spool, and the bytes of each."""
        self.memory_bytes = 0
        self.disk_bytes = 0
        self._ages: list[tuple[float, int, Held]] = []  # a heap; those that went stay a while
        self._numbers = itertools.count()

    def __len__(self) -> int:
        return len(self.memory) + len(self.disk)

    def __contains__(self, held: Held) -> bool:
        return held in self.memory or held in self.disk

    @property
    def size_bytes(self) -> int:
        """What all of it takes."""
        return self.memory_bytes + self.disk_bytes

    def add(self, held: Held) -> Held:
        """Hold a batch from now on."""
        self._place(held)
        if len(self._ages) > 2 * len(self) + _MOST_STALE:
            # One that stays for a day must not keep all that passed by in memory.
            self._ages = [entry for entry in self._ages if entry[2] in self]
            heapq.heapify(self._ages)
        heapq.heappush(self._ages, (held.born_s, next(self._numbers), held))
        return held

    def remove(self, held: Held) -> None:
        """Hold it no more; that it is not held is fine."""
        self.memory_bytes -= self.memory.pop(held, 0)
        self.disk_bytes -= self.disk.pop(held, 0)

    def moved(self, held: Held, slip: Slip) -> None:
        """Take a batch that was in memory for one in the spool."""
        self.remove(held)
        held.slip, held.parcel = slip, None
        self._place(held)

    def oldest(self) -> Held | None:
        """Give the oldest of all."""
        while self._ages and self._ages[0][2] not in self:
            heapq.heappop(self._ages)
        return self._ages[0][2] if self._ages else None

    def idle(self, *, memory: bool = False) -> Iterator[Held]:
        """Give those that can be dropped, the oldest first; each may be removed at once.

        ``memory``: only those that are in memory alone.
        """
        others: list[tuple[float, int, Held]] = []
        try:
            while self.oldest() is not None:
                entry = self._ages[0]
                held = entry[2]
                if held.busy or held.moving or (memory and held.slip is not None):
                    others.append(heapq.heappop(self._ages))
                    continue
                yield held
                if held in self:
                    return  # whoever asked was content with what is left
        finally:
            for each in others:
                heapq.heappush(self._ages, each)

    def _place(self, held: Held) -> None:
        size_bytes = held.size_bytes
        if held.slip is None:
            self.memory[held] = size_bytes
            self.memory_bytes += size_bytes
        else:
            self.disk[held] = size_bytes
            self.disk_bytes += size_bytes
