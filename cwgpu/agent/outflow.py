"""Events in, batches out: what waits between the pages and the sink."""

import asyncio
from collections.abc import Callable, Iterable, Sequence
from itertools import groupby
from operator import attrgetter

from cwgpu.agent import pause
from cwgpu.agent.clock import Clock
from cwgpu.agent.gate import Gate
from cwgpu.agent.lane import Lane, Trouble, Way
from cwgpu.agent.observe import Observer
from cwgpu.agent.ports import Sink
from cwgpu.agent.shelf import Held
from cwgpu.agent.stock import Rest, Stock
from cwgpu.logs import batch, verdict
from cwgpu.logs.verdict import Answer
from cwgpu.model.drop import DropReason
from cwgpu.model.event import EmfEvent, LogBatch, Outcome, StreamKey
from cwgpu.spool.found import Found

GATHER_BYTES = 16 << 20
"""Quoted messages that wait for the flush at most: an interval of hours must not hold hours in
memory, nor in the log."""

# The events of targets that are scraped at start come within this time and make one batch.
_GATHER_S = 0.25


class Outflow:
    """Gathers events, makes batches of them at the flush interval, and sends these."""

    def __init__(
        self,
        sink: Sink,
        stock: Stock,
        observer: Observer,
        clock: Clock,
        *,
        random: Callable[[], float],
        flush_interval_s: float,
    ) -> None:
        """``random`` gives numbers from 0 to 1."""
        self.broken: Answer | None = None
        """The answer of a sink through which nothing can be delivered any more."""
        self.ended = asyncio.Event()
        """Set together with ``broken``."""
        self._gate = Gate(clock)
        self._stock = stock
        self._observer = observer
        self._clock = clock
        self._way = Way(sink, stock, self._gate, observer, clock, random, self._break)
        self._lanes: dict[StreamKey, Lane] = {}
        self._pending: dict[StreamKey, list[EmfEvent]] = {}
        self._pending_bytes = 0
        self._any = asyncio.Event()
        self._much = asyncio.Event()
        self._flushing = asyncio.Lock()
        self.flush_interval_s = flush_interval_s

    @property
    def unready(self) -> str:
        """Why what is scraped now may be lost, or needs somebody; empty when all is well."""
        for stream, lane in self._lanes.items():
            if isinstance(lane.trouble, verdict.Denied | verdict.Credentials):
                return (
                    f"CloudWatch Logs refuses {stream.group}, stream {stream.stream}: {lane.said}"
                )
        if self._gate.shut and not self._stock.spools:
            said = next((lane.said for lane in self._lanes.values() if lane.said), "no answer")
            return f"events are neither delivered nor spooled: {said}"
        return ""

    def put(self, events: Sequence[EmfEvent]) -> None:
        """Take events; never waits for the sink."""
        if not events:
            return
        self._stock.note(events)
        _sort(events, self._pending)
        self._pending_bytes += sum([len(event.quoted) for event in events])
        self._any.set()
        if self._pending_bytes > GATHER_BYTES:
            self._much.set()

    async def inherit(self, found: Found) -> None:
        """Send what a former process left in the spool, after what comes now."""
        self._stock.quarantined(found.quarantined)
        self._send(self._stock.inherit(found.slips), late=True)
        for segment, events in found.segments:
            batches = self._batches(_sort(events, {}).values())
            self._send(await self._stock.take(batches, [segment]), late=True)
        if found.slips or found.segments:
            self._any.set()  # what is held is minded at each flush, also while there are no events

    async def run(self) -> None:
        """Flush for ever: soon after the first events, then once an interval."""
        await self._any.wait()
        await self._clock.sleep(min(_GATHER_S, self.flush_interval_s))
        while True:
            # What is begun is done: its events are nowhere else.
            await asyncio.shield(asyncio.create_task(self.flush()))
            await pause.until(self._much, self._clock.sleep(self.flush_interval_s))

    async def flush(self) -> None:
        """Make batches of all that is pending and set them on their way."""
        async with self._flushing:
            pending, self._pending, self._pending_bytes = self._pending, {}, 0
            self._much.clear()
            segments = self._stock.seal() if pending else ()
            batches = self._batches(pending.values())
            if batches or segments:
                self._send(await self._stock.take(batches, segments))
            await self._stock.tidy()
            for lane in self._lanes.values():
                lane.again()
            self._lanes = {
                key: lane for key, lane in self._lanes.items() if lane.waits or not lane.idle
            }

    async def finish(self, grace_s: float) -> tuple[tuple[Trouble | None, ...], Rest]:
        """Send what is held, for so long at most; the rest is left in the spool, or lost.

        Gives why it could not be sent, for each stream that had something left; None: no answer
        came.
        """
        await self.flush()
        self._gate.hurry()
        lanes = list(self._lanes.values())
        ways_out = [asyncio.create_task(lane.finish()) for lane in lanes]
        if ways_out:
            await asyncio.wait(ways_out, timeout=grace_s)
        left = [lane for lane in lanes if lane.waits]
        for lane in lanes:
            await lane.stop()
        if self.broken is not None:
            return (), Rest()  # where nobody reads any more, nobody misses anything
        said = {stream: lane.said for stream, lane in self._lanes.items()}
        return tuple(lane.trouble for lane in left), await self._stock.settle(said)

    def _send(self, batches: Iterable[Held], *, late: bool = False) -> None:
        streams: dict[StreamKey, list[Held]] = {}
        for held in batches:
            streams.setdefault(held.waybill.stream, []).append(held)
        for stream, those in streams.items():
            lane = self._lanes.setdefault(stream, Lane(stream, self._way))
            lane.put(those, late=late)

    def _batches(self, streams: Iterable[Sequence[EmfEvent]]) -> list[LogBatch]:
        batches: list[LogBatch] = []
        for events in streams:
            cut = batch.cut(events, self._clock.wall_ms())
            for event, reason in cut.dropped:
                self._lose(event, reason)
            batches += cut.batches
        return batches

    def _break(self, answer: Answer) -> None:
        self.broken = answer
        self.ended.set()

    def _lose(self, event: EmfEvent, reason: DropReason) -> None:
        lost = ((reason, event.samples),)
        outcome = Outcome(event.stream, 0, 0, 0, lost, f"its time is {event.at_ms} ms since 1970")
        self._observer.outcome(outcome, event.size_bytes)


def _sort(
    events: Iterable[EmfEvent], streams: dict[StreamKey, list[EmfEvent]]
) -> dict[StreamKey, list[EmfEvent]]:
    """Put events to those of their streams; neighbours mostly have the same."""
    for stream, those in groupby(events, attrgetter("stream")):
        streams.setdefault(stream, []).extend(those)
    return streams
