"""The agent's delivering half over a real spool, in time that passes at once (``swift``)."""

import asyncio
import contextlib
import logging
import random
from collections import defaultdict, deque
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from prometheus_client.parser import text_string_to_metric_families

from cwgpu.agent.clock import Clock
from cwgpu.agent.desk import Desk
from cwgpu.agent.observe import Observer
from cwgpu.agent.outflow import Outflow
from cwgpu.agent.ports import Sink
from cwgpu.agent.stock import Stock
from cwgpu.logs.verdict import Answer
from cwgpu.model.event import Parcel, StreamKey
from cwgpu.plan import plan
from cwgpu.spool.directory import Spool
from cwgpu.telemetry import lines
from cwgpu.telemetry.metrics import Metrics
from tests.drill import swift

START_S = 1_700_000_000.0
_LOOK_S = 5.0
_LINES = 20
"""Of each kind that are remembered: a day has thousands."""


class Journal(logging.Handler):
    """Remembers the last lines of each kind."""

    def __init__(self) -> None:
        super().__init__()
        self.said: Mapping[str, deque[Mapping[str, object]]]
        self.said = defaultdict(lambda: deque(maxlen=_LINES))

    def emit(self, record: logging.LogRecord) -> None:
        """Remember a line."""
        self.said[lines.event(record)].append(getattr(record, lines.FIELDS, {}))


@dataclass
class Counted:
    """A real sink: it says when it was called, and time stands still until it has answered."""

    sink: Sink
    at_s: list[float] = field(default_factory=list)
    """When a batch was sent."""

    async def send(self, parcel: Parcel) -> Answer:
        """Send."""
        self.at_s.append(swift.loop().now_s)
        with swift.loop().outside():
            return await self.sink.send(parcel)

    async def create(self, stream: StreamKey) -> Answer:
        """Create."""
        with swift.loop().outside():
            return await self.sink.create(stream)

    async def renew(self) -> None:
        """Renew."""
        await self.sink.renew()

    async def close(self) -> None:
        """Close."""
        await self.sink.close()

    def between(self, start_s: float, end_s: float) -> int:
        """Count the batches that were sent from one moment to another."""
        return sum(start_s <= at_s < end_s for at_s in self.at_s)


@dataclass
class Flow:
    """What a drill holds in its hands."""

    outflow: Outflow
    stock: Stock
    clock: Clock
    metrics: Metrics
    journal: Journal

    def value(self, name: str, **labels: str) -> float:
        """Give a self metric's value; 0 when there is none with such labels."""
        page = self.metrics.render()[0].decode()
        return sum(
            sample.value
            for family in text_string_to_metric_families(page)
            for sample in family.samples
            if sample.name == name and labels.items() <= sample.labels.items()
        )

    def lost(self, reason: str = "") -> int:
        """Give how many samples were dropped, for this reason or any."""
        labels = {"reason": reason} if reason else {}
        return round(self.value("cwgpu_dropped_samples_total", **labels))

    def said(self, event: str) -> list[Mapping[str, object]]:
        """Give the last lines of the journal of this name."""
        return list(self.journal.said[event])

    async def rests(self, most_s: float) -> None:
        """Let time pass until nothing waits to be delivered; TimeoutError."""
        for _ in range(round(most_s / _LOOK_S)):
            self.stock.tell()
            if not self.value("cwgpu_queue_batches"):
                return
            await asyncio.sleep(_LOOK_S)
        raise TimeoutError(f"after {most_s:g} s something still waits")


@contextlib.asynccontextmanager
async def flowing(
    sink: Sink,
    rules: plan.Spool,
    *,
    wall: Callable[[], float] | None = None,
    seed: int = 0,
    flush_s: float = 60.0,
) -> AsyncIterator[Flow]:
    """Begin delivering; at the end nothing is waited for."""
    loop = swift.loop()
    clock = Clock(wall or (lambda: START_S + loop.now_s), loop.time, asyncio.sleep, loop.time)
    metrics, journal = Metrics(clock.wall), Journal()
    observer = Observer(metrics)
    spool = Spool(Path(rules.directory), "0badcafe") if rules.directory else None
    stock = Stock(spool, rules, observer, clock, desk=Desk(_here))
    outflow = Outflow(
        sink,
        stock,
        observer,
        clock,
        random=random.Random(seed).random,  # noqa: S311 - a drill
        flush_interval_s=flush_s,
    )
    logger = logging.getLogger("cwgpu")
    level = logger.level
    logger.addHandler(journal)
    logger.setLevel(logging.INFO)
    if spool is not None:
        await outflow.inherit(spool.open())
    running = asyncio.create_task(outflow.run())
    try:
        yield Flow(outflow, stock, clock, metrics, journal)
    finally:
        running.cancel()
        await asyncio.wait([running])
        await outflow.finish(0)
        await stock.close()
        await sink.close()
        logger.removeHandler(journal)
        logger.setLevel(level)


async def _here(work: Callable[[], object]) -> object:
    """Do it at once: the disk takes no time."""
    return work()
