"""What is held until CloudWatch has it: in memory or in the spool, bounded by bytes and age."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, TypeVar

from cwgpu.agent.clock import Clock
from cwgpu.agent.desk import Desk
from cwgpu.agent.observe import Observer
from cwgpu.agent.shelf import Held, Shelf
from cwgpu.logs import parcel as packing
from cwgpu.model.drop import DropReason
from cwgpu.model.event import EmfEvent, LogBatch, Outcome, Parcel, StreamKey, Waybill
from cwgpu.plan import plan
from cwgpu.plan.plan import SpoolMode
from cwgpu.spool.found import Damaged, Quarantined, Segment, Slip

if TYPE_CHECKING:  # whoever has a directory has loaded it
    from cwgpu.spool.directory import Spool

T = TypeVar("T")

SPILL_BYTES = 16 << 20
"""Held in memory at most where batches go to the disk on failure: minutes of a thousand GPUs."""
REFUGE_BYTES = 64 << 20
"""Held in memory at most while the disk does not take what is for it. Containers are small."""

_HOUR_S = 3600.0


@dataclass(frozen=True, slots=True)
class Rest:
    """What was still held at the end."""

    spooled: int = 0
    """Batches that the next process finds."""
    spooled_samples: int = 0
    lost_samples: int = 0


class Stock:
    """Knows every batch that is held. Called from one event loop."""

    def __init__(
        self,
        spool: "Spool | None",
        rules: plan.Spool,
        observer: Observer,
        clock: Clock,
        *,
        desk: Desk | None = None,
    ) -> None:
        """``spool`` is open already; None holds all in memory."""
        self._spool = spool
        self._ahead = spool is not None and rules.mode is SpoolMode.ALWAYS
        self._rules = rules
        self._observer = observer
        self._clock = clock
        self._desk = desk or Desk()
        self._shelf = Shelf()
        self._failing = False
        self.troubled = False
        """Sending fails: what waits in memory had better be on the disk."""

    @property
    def spools(self) -> bool:
        """Whether what comes now can be put on the disk."""
        return self._spool is not None and not self._failing

    def note(self, events: Sequence[EmfEvent]) -> None:
        """Make sure of events that are not in a batch yet.

        That is quick: it is written to the kernel, and synced only as part of a batch.
        """
        if self._spool is not None and self._ahead:
            try:
                self._spool.note(events)
            except OSError as error:
                self._fail(error)

    def seal(self) -> tuple[Segment, ...]:
        """Give where the events that were noted until now are on the disk."""
        if self._spool is None or not self._ahead:
            return ()
        try:
            segment = self._spool.seal()
        except OSError as error:
            self._fail(error)
            return ()
        return (segment,) if segment else ()

    async def take(
        self, batches: Sequence[LogBatch], segments: Sequence[Segment] = ()
    ) -> list[Held]:
        """Hold batches; events that are noted in ``segments`` are in the spool with them."""
        parcels = await self._desk.run(lambda: [packing.pack(batch) for batch in batches])
        # What was noted, also by a former process that had another mode, leaves the log.
        ahead = self._ahead or segments
        slips = await self._commit(parcels, segments) if ahead else None
        if slips is None:
            held = [self._in_memory(parcel) for parcel in parcels]
        else:
            held = [self._on_disk(slip) for slip in slips]
        await self._drop_excess()
        return held

    def inherit(self, slips: Iterable[Slip]) -> list[Held]:
        """Hold what a former process left in the spool."""
        return [self._on_disk(slip) for slip in slips]

    def quarantined(self, found: Iterable[Quarantined]) -> None:
        """Account for files that cannot be used."""
        for each in found:
            known = each.waybill
            samples = known.load.samples if known else None
            self._observer.quarantined(each.file, each.reason, samples)
            if known is not None:
                self._lose(known, DropReason.SPOOL_DAMAGED, each.reason)

    async def open(self, held: Held) -> Parcel | None:
        """Give a batch to be sent; None when its file cannot be read: now, or, if gone, ever."""
        if held.parcel is not None or held.slip is None or self._spool is None:
            return held.parcel
        spool, slip = self._spool, held.slip
        try:
            return await self._desk.run(lambda: spool.read(slip))
        except Damaged as damaged:
            reason = str(damaged)
        except FileNotFoundError:
            reason = "its file was removed from the spool"
        except OSError as error:
            # Nothing is known to be wrong with the file: it is held, and another try may read it.
            self._fail(error)
            return None
        held.gone = True
        self._shelf.remove(held)
        self._lose(held.waybill, DropReason.SPOOL_DAMAGED, reason)
        moved = await self._desk.run(lambda: spool.quarantine(slip, reason))
        self._observer.quarantined(moved.file, moved.reason, held.waybill.load.samples)
        return None

    async def done(self, held: Held) -> None:
        """Forget a batch that is decided on."""
        self._shelf.remove(held)
        await self._unlink([held])
        self.tell()

    async def refused(self, held: Held, parcel: Parcel, reason: str) -> None:
        """Forget a single event that CloudWatch refuses; in the spool people find it."""
        spool = self._spool
        if spool is not None:
            aside = await self._desk.run(lambda: spool.set_aside(parcel, reason))
            self._observer.quarantined(aside.file, aside.reason, held.waybill.load.samples)
        await self.done(held)

    async def split(self, held: Held, parcel: Parcel) -> tuple[Held, Held]:
        """Hold two halves in the place of a batch that CloudWatch refuses."""
        halves = await self._desk.run(lambda: packing.halve(parcel))
        spool, slip = self._spool, held.slip  # it may have come to the disk just now
        slips: tuple[Slip, ...] = ()
        if spool is not None and slip is not None:
            try:
                slips = await self._desk.run(lambda: spool.replace(slip, halves))
            except OSError as error:
                self._fail(error)
                await self._unlink([held])
        self._shelf.remove(held)
        first, second = map(self._on_disk, slips) if slips else map(self._in_memory, halves)
        first.twin = second
        return first, second

    async def aside(self, work: Callable[[], T]) -> T:
        """Do what takes a while with a batch where it stops nobody."""
        return await self._desk.run(work)

    async def tidy(self) -> None:
        """Let what is too old or too much go, and put on the disk what should be there."""
        over = self._shelf.memory_bytes > SPILL_BYTES
        if self._spool is not None and (self._ahead or self.troubled or over):
            await self._spill()
        await self._drop_excess()

    async def settle(self, said: Mapping[StreamKey, str] = MappingProxyType({})) -> Rest:
        """Leave what is held to the next process, or account for it.

        ``said``: what the service said last, by stream.
        """
        if self._spool is not None:
            await self._spill()
        kept = sum(held.waybill.load.samples for held in self._shelf.disk)
        lost = list(self._shelf.memory)
        for held in lost:
            self._shelf.remove(held)
            why = said.get(held.waybill.stream) or "no answer came"
            self._lose(held.waybill, DropReason.SHUTDOWN, f"the process had to end: {why}")
        self.tell()
        return Rest(len(self._shelf.disk), kept, sum(one.waybill.load.samples for one in lost))

    async def close(self) -> None:
        """Give the directory to whoever comes next."""
        if self._spool is not None:
            with suppress(OSError):
                await self._desk.run(self._spool.close)

    def tell(self) -> None:
        """Tell how much is held."""
        shelf, oldest = self._shelf, self._shelf.oldest()
        age_s = 0.0 if oldest is None else self._clock.boottime() - oldest.born_s
        self._observer.held(
            memory_batches=len(shelf.memory),
            memory_bytes=shelf.memory_bytes,
            spool_batches=len(shelf.disk),
            spool_bytes=shelf.disk_bytes,
            oldest_age_s=age_s,
        )

    async def _spill(self) -> None:
        """Put on the disk what is in memory alone, as far as the disk takes it."""
        for held in list(self._shelf.memory):
            if held.busy or held.parcel is None or held not in self._shelf:
                continue
            held.moving = True
            slips = await self._commit([held.parcel], ())
            held.moving = False
            if slips is None:
                return
            known = held in self._shelf
            held.slip = slips[0]
            if known:
                self._shelf.moved(held, slips[0])
            else:  # it was sent, and decided on, while it was written
                await self._unlink([held])

    async def _commit(
        self, parcels: Sequence[Parcel], segments: Sequence[Segment]
    ) -> Sequence[Slip] | None:
        """Write batches; None when the disk does not take them."""
        spool = self._spool
        if spool is None:
            return None
        try:
            slips = await self._desk.run(lambda: spool.commit(parcels, segments))
        except OSError as error:
            self._fail(error)
            with suppress(OSError):
                await self._desk.run(lambda: spool.drop(segments))
            return None
        if parcels and self._failing:
            self._failing = False
            self._observer.spool_recovered()
        return slips

    async def _drop_excess(self) -> None:
        gone = self._drop(self._shelf.idle(), self._excess)
        gone += self._drop(self._shelf.idle(memory=True), self._crowd)
        await self._unlink(gone)
        self.tell()

    def _drop(
        self, some: Iterable[Held], why: Callable[[Held], tuple[DropReason, str] | None]
    ) -> list[Held]:
        """Let batches go until there is one that may stay."""
        gone: list[Held] = []
        for held in some:
            fault = why(held)
            if fault is None:
                break
            held.gone = True
            self._shelf.remove(held)
            self._lose(held.waybill, *fault)
            gone.append(held)
        return gone

    def _excess(self, held: Held) -> tuple[DropReason, str] | None:
        """Say why the oldest batch has to go; None when it may stay."""
        age_s, rules, shelf = self._clock.boottime() - held.born_s, self._rules, self._shelf
        if age_s > rules.most_age_s:
            detail = f"it could not be delivered for {age_s / _HOUR_S:.1f} h"
            return DropReason.QUEUE_AGE, detail
        if shelf.size_bytes > rules.most_bytes:
            detail = f"more than {rules.most_bytes} bytes waited to be delivered"
            return DropReason.QUEUE_FULL, detail
        return None

    def _crowd(self, _: Held) -> tuple[DropReason, str] | None:
        """Say why the oldest batch in memory has to go; None when it may stay."""
        if self._spool is not None and self._shelf.memory_bytes > REFUGE_BYTES:
            detail = f"more than {REFUGE_BYTES} bytes waited in memory, for the disk fails"
            return DropReason.QUEUE_FULL, detail
        return None

    async def _unlink(self, gone: Sequence[Held]) -> None:
        spool, slips = self._spool, [held.slip for held in gone if held.slip is not None]
        if spool is None or not slips:
            return

        def unlink() -> list[OSError]:
            faults = []
            for slip in slips:
                try:
                    spool.remove(slip)
                except OSError as error:
                    faults.append(error)
            return faults

        for error in (await self._desk.run(unlink))[:1]:
            self._fail(error)

    def _in_memory(self, parcel: Parcel) -> Held:
        return self._shelf.add(Held(parcel.waybill, self._born_s(parcel.waybill), parcel))

    def _on_disk(self, slip: Slip) -> Held:
        return self._shelf.add(Held(slip.waybill, self._born_s(slip.waybill), slip=slip))

    def _born_s(self, waybill: Waybill) -> float:
        # Asked of the wall once: a clock that is put right later makes nothing older.
        age_s = max(0.0, self._clock.wall() - waybill.last_ms / 1000)
        return self._clock.boottime() - age_s

    def _lose(self, waybill: Waybill, reason: DropReason, detail: str) -> None:
        lost = ((reason, waybill.load.samples),)
        self._observer.outcome(Outcome(waybill.stream, 0, 0, 0, lost, detail), 0)

    def _fail(self, error: OSError) -> None:
        self._failing = True
        self._observer.spool_failed(error.strerror or str(error))
