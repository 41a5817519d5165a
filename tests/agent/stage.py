"""What plays around the agent's parts in these tests: a clock, a sink by the book, a witness."""

import asyncio
import contextlib
import heapq
import itertools
import logging
import resource
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from prometheus_client.parser import text_string_to_metric_families

from cwgpu.agent.clock import Clock
from cwgpu.agent.desk import Desk, Hand
from cwgpu.agent.observe import Observer
from cwgpu.agent.shelf import Held
from cwgpu.agent.stock import Stock
from cwgpu.logs import parcel as packing
from cwgpu.logs.verdict import Answer
from cwgpu.model.event import EmfEvent, LogBatch, Parcel, StreamKey
from cwgpu.plan import plan
from cwgpu.spool.directory import Spool
from cwgpu.spool.found import Found
from cwgpu.telemetry import lines
from cwgpu.telemetry.metrics import Metrics
from cwgpu.telemetry.summary import Summary

START_S = 1_700_000_000.0
START_MS = int(START_S * 1000)
A, B = StreamKey("/gpu/lab", "a"), StreamKey("/gpu/lab", "b")

OK = Answer("")
THROTTLED = Answer("ThrottlingException", "Rate exceeded", 400)
BROKEN = Answer("InternalFailure", "An internal error occurred.", 500)
UNREACHED = Answer("ConnectionError", "connection refused")
UNANSWERED = Answer("ReadTimeout", "no answer in time")
MISSING = Answer("ResourceNotFoundException", "The specified log stream does not exist.", 400)
EXPIRED = Answer("ExpiredTokenException", "The security token is expired", 400)
DENIED = Answer("AccessDeniedException", "User is not authorized", 400)
INVALID = Answer("InvalidParameterException", "Log event is invalid", 400)


class Hands:
    """A clock that moves only when the test moves its hands."""

    def __init__(self) -> None:
        self.now = START_S
        self.off_s = 0.0
        """How far the wall's clock is off: it may jump, and the others do not see it."""
        self.naps: list[float] = []
        """Every sleep that was asked for."""
        self._sleepers: list[tuple[float, int, asyncio.Future[None]]] = []
        self._count = itertools.count()
        self.clock = Clock(self.wall, self.read, self.sleep, self.read)

    def read(self) -> float:
        """Give the time."""
        return self.now

    def wall(self) -> float:
        """Give the time as the clock on the wall shows it."""
        return self.now + self.off_s

    @property
    def sleeping(self) -> bool:
        """Whether anybody sleeps."""
        return any(not future.done() for _, _, future in self._sleepers)

    async def sleep(self, seconds: float) -> None:
        """Sleep until the hands have been moved so far."""
        self.naps.append(seconds)
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        heapq.heappush(self._sleepers, (self.now + seconds, next(self._count), future))
        await future

    def wake(self) -> None:
        """Wake all whose time has come, and do not wait for what they do."""
        while self._sleepers and self._sleepers[0][0] <= self.now:
            _, _, future = heapq.heappop(self._sleepers)
            if not future.done():
                future.set_result(None)

    async def move(self, seconds: float) -> None:
        """Move the hands, waking the sleepers in their order."""
        end = self.now + seconds
        await settle()
        while self._sleepers and self._sleepers[0][0] <= end:
            at, _, future = heapq.heappop(self._sleepers)
            self.now = max(self.now, at)
            if not future.done():
                future.set_result(None)
            await settle()
        self.now = end


async def settle() -> None:
    """Let every task run until it waits for something outside."""
    for _ in range(60):  # a batch that is halved on the disk takes some thirty
        await asyncio.sleep(0)


async def eventually(condition: Callable[[], object], within_s: float = 20.0) -> None:
    """Wait for what threads and sockets bring about; the limit is only for a test that fails."""
    ends = time.monotonic() + within_s
    while not condition():
        assert time.monotonic() < ends, "it never came about"
        await asyncio.sleep(0.001)


async def inline(work: Callable[[], Any]) -> Any:  # noqa: ANN401 - whatever the work gives
    """Work at the desk without a thread: it is done when the loop comes to it."""
    return work()


@dataclass
class Store:
    """A stock, where it lies, and what it has to be looked after with."""

    witness: "Witness"
    hands: Hands
    directory: Path | None = None
    """None: in memory."""
    mode: plan.SpoolMode = plan.SpoolMode.ALWAYS
    most_bytes: int = 1 << 30
    most_age_s: float = 86_400.0
    hand: Hand = inline
    """Does the work with the disk."""
    starts: int = 0

    def spool(self) -> Spool | None:
        """Give the spool as another process would have it; it is not open."""
        self.starts += 1
        return Spool(self.directory, f"{self.starts:08x}") if self.directory else None

    def stock(self, spool: Spool | None) -> Stock:
        """Make a stock with a spool that is open."""
        directory = str(self.directory) if self.directory else None
        rules = plan.Spool(directory, self.mode, self.most_bytes, self.most_age_s)
        return Stock(
            spool, rules, self.witness.observer, self.hands.clock, desk=Desk(hand=self.hand)
        )

    def start(self) -> tuple[Stock, Found]:
        """Begin as a process does."""
        spool = self.spool()
        found = spool.open() if spool else Found((), (), ())
        return self.stock(spool), found

    def files(self, folder: str = "new") -> list[Path]:
        """List what lies in a folder of the spool."""
        assert self.directory is not None
        return sorted((self.directory / folder).iterdir())


@contextlib.contextmanager
def full_disk() -> Iterator[None]:
    """Let no file grow, as on a disk that is full; what is there can be read and removed."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@contextlib.contextmanager
def unreadable(store: Store) -> Iterator[None]:
    """Let the system give no batch of a spool, though all are there."""
    assert store.directory is not None
    folder = store.directory / "new"
    away = folder.rename(folder.with_name("away"))
    folder.write_bytes(b"in its place")
    try:
        yield
    finally:
        folder.unlink()
        away.rename(folder)


@dataclass
class Script:
    """A sink that answers as it is told, and success when it was told nothing more."""

    answers: dict[StreamKey, deque[Answer]] = field(default_factory=dict)
    creations: deque[Answer] = field(default_factory=deque)
    sent: list[LogBatch] = field(default_factory=list)
    """Every batch of every call."""
    stored: dict[StreamKey, list[bytes]] = field(default_factory=dict)
    """The messages of the calls that succeeded."""
    refuses: Callable[[EmfEvent], bool] = lambda _: False
    """Whether a call with this event is refused as invalid."""
    created: list[StreamKey] = field(default_factory=list)
    renewed: int = 0
    closed: bool = False
    silent: bool = False
    """Never answer."""
    asked: Callable[[], object] = lambda: None
    """Called when a call has gone out."""

    def tell(self, stream: StreamKey, *answers: Answer) -> None:
        """Say what the next calls for this stream are answered."""
        self.answers.setdefault(stream, deque()).extend(answers)

    async def send(self, parcel: Parcel) -> Answer:
        """Write the call down and answer."""
        batch = packing.unpack(parcel)
        self.sent.append(batch)
        self.asked()
        if self.silent:
            await asyncio.get_running_loop().create_future()
        told = self.answers.get(batch.stream)
        judged = INVALID if any(map(self.refuses, batch.events)) else OK
        answer = told.popleft() if told else judged
        if not answer.code:
            self.stored.setdefault(batch.stream, []).extend(one.message for one in batch.events)
        return answer

    async def create(self, stream: StreamKey) -> Answer:
        """Write the call down and answer."""
        self.created.append(stream)
        return self.creations.popleft() if self.creations else OK

    async def renew(self) -> None:
        """Count."""
        self.renewed += 1

    async def close(self) -> None:
        """Write it down."""
        self.closed = True


class Witness:
    """An observer, and what can be seen of it from outside."""

    def __init__(self, caplog: pytest.LogCaptureFixture) -> None:
        caplog.set_level(logging.DEBUG, logger="cwgpu")
        self._caplog = caplog
        self.metrics = Metrics(lambda: START_S)
        self.summary = Summary()
        self.observer = Observer(self.metrics, self.summary)

    def value(self, name: str, **labels: str) -> float:
        """Give a self metric's value."""
        page = self.metrics.render()[0].decode()
        for family in text_string_to_metric_families(page):
            for sample in family.samples:
                if sample.name == name and labels.items() <= sample.labels.items():
                    return sample.value
        raise AssertionError(f"no {name} {labels}")

    def lost(self, reason: str) -> float:
        """Give the number of samples lost for a reason."""
        return self.value("cwgpu_dropped_samples_total", reason=reason)

    def lost_in_all(self, reason: str = "") -> int:
        """Give the number of samples lost for a reason, or for any; 0 when none was."""
        page = self.metrics.render()[0].decode()
        return sum(
            int(sample.value)
            for family in text_string_to_metric_families(page)
            for sample in family.samples
            if sample.name == "cwgpu_dropped_samples_total"
            and reason in {"", sample.labels["reason"]}
        )

    def said(self, event: str) -> list[dict[str, object]]:
        """Give the fields of the journal's events of this name."""
        return [
            dict(getattr(record, lines.FIELDS))
            for record in self._caplog.records
            if lines.event(record) == event
        ]

    def levels(self, event: str) -> set[str]:
        """Give how severe the journal's events of this name were."""
        records = [one for one in self._caplog.records if lines.event(one) == event]
        return {record.levelname for record in records}


def event(
    number: int = 0, stream: StreamKey = A, *, at_ms: int = START_MS, size: int = 0
) -> EmfEvent:
    """Make an event of one sample and two datapoints, of this size if it is larger."""
    return EmfEvent.of(stream, at_ms, f"{number}".encode().ljust(size), 1, 2)


def batch(*numbers: int, stream: StreamKey = A, size: int = 0) -> LogBatch:
    """Make a batch of an event for each number."""
    return LogBatch(stream, tuple(event(number, stream, size=size) for number in numbers))


def numbers(held: Held) -> Sequence[int]:
    """Give the numbers of the events of a batch that is in memory."""
    assert held.parcel is not None
    return [int(each.message) for each in packing.unpack(held.parcel).events]


def messages(numbers: Iterable[int]) -> list[bytes]:
    """Give the messages that such events have."""
    return [f"{number}".encode() for number in numbers]
