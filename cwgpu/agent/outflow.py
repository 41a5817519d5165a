"""Events in, batches out: what waits between the pages and the sink."""

import asyncio
from collections.abc import Callable, Iterable

from cwgpu.agent.clock import Clock
from cwgpu.agent.lane import Lane, Trouble, Way
from cwgpu.agent.observe import Observer
from cwgpu.agent.ports import Sink
from cwgpu.logs import batch
from cwgpu.logs.verdict import Answer
from cwgpu.model.drop import DropReason
from cwgpu.model.event import EmfEvent, LogBatch, Outcome, StreamKey

MOST_BYTES = 64 << 20
"""Messages held in memory at most. At 100 KB a flush this is an hour of a node's metrics; what
comes when it is full pushes out the oldest."""

# The events of targets that are scraped at start come within this time and make one batch.
_GATHER_S = 0.25


class Outflow:
    """Gathers events, flushes them at the interval, and holds what the sink does not take yet."""

    def __init__(
        self,
        sink: Sink,
        observer: Observer,
        clock: Clock,
        *,
        random: Callable[[], float],
        flush_interval_s: float,
        most_bytes: int = MOST_BYTES,
    ) -> None:
        """``random`` gives numbers from 0 to 1."""
        self._hurry = asyncio.Event()
        self.broken: Answer | None = None
        """The answer of a sink through which nothing can be delivered any more."""
        self.ended = asyncio.Event()
        """Set together with ``broken``."""
        self._way = Way(sink, observer, clock, random, self._hurry, self._break)
        self._lanes: dict[StreamKey, Lane] = {}
        self._pending: dict[StreamKey, list[EmfEvent]] = {}
        self._pending_bytes = 0
        self._any = asyncio.Event()
        self._most_bytes = most_bytes
        self.flush_interval_s = flush_interval_s

    def put(self, events: Iterable[EmfEvent]) -> None:
        """Take events; never waits."""
        for event in events:
            self._pending.setdefault(event.stream, []).append(event)
            self._pending_bytes += len(event.message)
            self._any.set()
        if self._pending_bytes > self._most_bytes // 4:
            self.flush()  # a flush interval of hours must not hold hours in memory

    async def run(self) -> None:
        """Flush for ever: soon after the first events, then once an interval."""
        await self._any.wait()
        await self._way.clock.sleep(min(_GATHER_S, self.flush_interval_s))
        while True:
            self.flush()
            await self._way.clock.sleep(self.flush_interval_s)

    def flush(self) -> None:
        """Make batches of all that is pending and set them on their way."""
        pending, self._pending, self._pending_bytes = self._pending, {}, 0
        for stream, events in pending.items():
            cut = batch.cut(events, self._way.clock.wall_ms())
            for event, reason in cut.dropped:
                self._lose(event, reason)
            lane = self._lanes.setdefault(stream, Lane(stream, self._way))
            for each in cut.batches:
                lane.put(each)
        self._bound()
        self._lanes = {key: lane for key, lane in self._lanes.items() if lane.batches}
        self._tell()

    async def finish(self, grace_s: float) -> list[Trouble | None]:
        """Send what is held, for so long at most.

        Gives why it failed for each stream that lost something by it; None: no answer came.
        """
        self.flush()
        self._hurry.set()
        lanes = list(self._lanes.values())
        ways_out = [asyncio.create_task(lane.finish()) for lane in lanes]
        if ways_out:
            await asyncio.wait(ways_out, timeout=grace_s)
        if self.broken is not None:
            return []  # where nobody reads any more, nobody misses anything
        troubles = [lane.trouble for lane in lanes if lane.batches]
        for lane in lanes:
            await lane.abandon()
        self._tell()
        return troubles

    def _break(self, answer: Answer) -> None:
        self.broken = answer
        self.ended.set()

    def _bound(self) -> None:
        while self._held_bytes() > self._most_bytes:
            waiting = [lane for lane in self._lanes.values() if lane.oldest_ms is not None]
            min(waiting, key=lambda lane: lane.oldest_ms or 0).drop_oldest()

    def _tell(self) -> None:
        batches = sum(lane.batches for lane in self._lanes.values())
        self._way.observer.queue(batches, self._held_bytes())

    def _held_bytes(self) -> int:
        return sum(lane.size_bytes for lane in self._lanes.values())

    def _lose(self, event: EmfEvent, reason: DropReason) -> None:
        lost = ((reason, event.samples),)
        outcome = Outcome(event.stream, 0, 0, 0, lost, f"its time is {event.at_ms} ms since 1970")
        self._way.observer.outcome(outcome, LogBatch(event.stream, (event,)))
