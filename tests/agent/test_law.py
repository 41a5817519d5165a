"""The law of delivery: every event is stored, or counted as lost; twice only where nobody knew.

Whatever CloudWatch answers, however often the process ends or is killed, at whatever moment.
"""

import asyncio
import shutil
import tempfile
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cwgpu.agent.outflow import Outflow
from cwgpu.agent.stock import Rest, Stock
from cwgpu.logs import parcel as packing
from cwgpu.logs.verdict import Answer, Rejected
from cwgpu.model.event import EmfEvent, Parcel, StreamKey
from tests.agent import stage
from tests.agent.stage import A, B, Hands, Script, Store, Witness

STREAMS = (A, B)
UNANSWERED = Answer("ReadTimeout", "it was stored, and nobody knows")
REJECTING = Answer("", rejected=Rejected(too_old_end=1))
PASSING = (
    stage.THROTTLED,
    stage.BROKEN,
    stage.UNREACHED,
    stage.MISSING,
    stage.DENIED,
    stage.EXPIRED,
    UNANSWERED,
    REJECTING,
)
_FLUSH_S = 60.0
POISON = 7
"""Each seventh event is one that CloudWatch refuses."""


@dataclass
class Service(Script):
    """Stores what it takes, and knows what it may store twice."""

    seen: Counter[int] = field(default_factory=Counter)
    """How often each event is stored."""
    unsure: set[int] = field(default_factory=set)
    """Those whose call got no answer, or whose caller was killed before it could act on it."""
    recent: set[int] = field(default_factory=set)
    """Those that were sent since all was quiet."""
    refused: set[int] = field(default_factory=set)
    """Those that the service has said it will never store."""

    def __post_init__(self) -> None:
        """Refuse some events, whoever is beside them."""
        self.refuses = lambda event: int(event.message) % POISON == POISON - 1

    async def send(self, parcel: Parcel) -> Answer:
        """Answer as it was told, and store."""
        events = [int(each.message) for each in packing.unpack(parcel).events]
        self.recent |= set(events)
        answer = await super().send(parcel)
        if answer is UNANSWERED:
            self.unsure |= set(events)
        if answer in (stage.OK, UNANSWERED):
            self.seen.update(events)
        if answer is REJECTING:
            self.seen.update(events[1:])
            self.refused.add(events[0])
        if answer is stage.INVALID and len(events) == 1:
            self.refused |= set(events)
        return answer


@dataclass
class Life:
    """One spool and the processes that own it, one after the other."""

    witness: Witness
    directory: Path
    hands: Hands = field(default_factory=Hands)
    service: Service = field(default_factory=Service)
    put: list[int] = field(default_factory=list)
    store: Store = field(init=False)
    stock: Stock = field(init=False)
    outflow: Outflow = field(init=False)
    running: asyncio.Task[None] = field(init=False)
    flushes: list[asyncio.Task[None]] = field(default_factory=list)

    def __post_init__(self) -> None:
        """Have a directory that is not there yet."""
        self.store = Store(self.witness, self.hands, self.directory)

    async def begin(self) -> None:
        """Start a process on what the last one left."""
        self.stock, found = self.store.start()
        self.outflow = Outflow(
            self.service,
            self.stock,
            self.witness.observer,
            self.hands.clock,
            random=lambda: 0.5,
            flush_interval_s=_FLUSH_S,
        )
        await self.outflow.inherit(found)
        self.running = asyncio.create_task(self.outflow.run())

    def add(self, stream: StreamKey, count: int) -> None:
        """Scrape so many events."""
        numbers = range(len(self.put), len(self.put) + count)
        self.put += numbers
        at_ms = int(self.hands.now * 1000)
        self.outflow.put([EmfEvent.of(stream, at_ms, b"%d" % number, 1, 1) for number in numbers])

    async def flush(self, steps: int) -> None:
        """Begin a flush, and let everything go on for so many steps."""
        self.flushes.append(asyncio.create_task(self.outflow.flush()))
        for _ in range(steps):
            await asyncio.sleep(0)

    async def wait(self, seconds: float) -> None:
        """Let time go by, until all is quiet."""
        await self.hands.move(seconds)
        sent = -1
        while sent != len(self.service.sent):
            sent = len(self.service.sent)
            await stage.settle()
        self.service.recent.clear()

    async def end(self) -> None:
        """End it as SIGTERM does when there is no time, and start another."""
        self.service.unsure |= self.service.recent
        self.running.cancel()
        await self.outflow.finish(0)
        await self.stock.close()
        await self.begin()

    async def kill(self) -> None:
        """End it as SIGKILL does, and start another on what is on the disk at this moment."""
        assert self.store.directory is not None
        after = self.store.directory.with_name(f"spool-{self.store.starts}")
        shutil.copytree(self.store.directory, after)
        self.service.unsure |= self.service.recent
        tasks = asyncio.all_tasks() - {asyncio.current_task()}
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await self.stock.close()
        self.store.directory = after
        await self.begin()

    async def heal(self) -> None:
        """Have CloudWatch take what it can, and end when there is nothing left."""
        self.service.answers.clear()
        await self.wait(2 * _FLUSH_S)
        await self.wait(300)
        self.running.cancel()
        assert await self.outflow.finish(0) == ((), Rest())
        await self.stock.close()

    def check(self) -> None:
        """See that every event has its fate."""
        assert self.store.directory is not None
        missing = set(self.put) - self.service.seen.keys()
        assert missing <= self.service.refused
        assert (
            len(missing)
            <= self.witness.lost_in_all()
            == self.witness.lost_in_all("rejected") + self.witness.lost_in_all("too_old")
        )
        twice = {number for number, count in self.service.seen.items() if count > 1}
        assert twice <= self.service.unsure
        assert self.store.files("new") == self.store.files("wal") == self.store.files("tmp") == []


Act: TypeAlias = tuple[str, int, int]


async def do(life: Life, act: Act) -> None:
    """Have something happen."""
    what, which, count = act
    stream = STREAMS[which % len(STREAMS)]
    match what:
        case "put":
            life.add(stream, 1 + count % 5)
        case "round":
            life.service.tell(stream, PASSING[count % len(PASSING)])
            life.add(stream, 1 + count % 5)
            await life.wait(70.0)
        case "flush":
            await life.flush(count)
        case "answer":
            life.service.tell(stream, *[PASSING[count % len(PASSING)]] * (1 + which // 3))
        case "wait":
            await life.wait(float(count))
        case "end":
            await life.end()
        case "kill":
            await life.kill()


ACTS = st.tuples(
    st.sampled_from(["put", "put", "round", "flush", "flush", "answer", "answer", "wait"]),
    st.integers(0, 11),
    st.integers(0, 40),
) | st.tuples(st.sampled_from(["end", "kill"]), st.just(0), st.just(0))


@settings(
    max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(acts=st.lists(ACTS, max_size=25))
async def test_every_event_has_its_fate(caplog: pytest.LogCaptureFixture, acts: list[Act]) -> None:
    """Stored, or counted with a reason; twice only where an answer was lost, or not acted on."""
    caplog.clear()
    with tempfile.TemporaryDirectory() as folder:
        life = Life(Witness(caplog), Path(folder) / "spool")
        await life.begin()
        for act in acts:
            await do(life, act)
        await life.heal()
        life.check()


@pytest.mark.parametrize("answer", [*PASSING, stage.INVALID], ids=str)
async def test_one_bad_answer(
    caplog: pytest.LogCaptureFixture, tmp_path: Path, answer: Answer
) -> None:
    """Each of them alone, for a batch that has nothing else against it."""
    life = Life(Witness(caplog), tmp_path / "spool")
    await life.begin()
    life.service.tell(A, answer)
    life.add(A, 4)
    await life.wait(1)
    await life.heal()
    life.check()
    assert len(life.service.seen) >= 3


@pytest.mark.parametrize("steps", range(0, 100, 7))
@pytest.mark.parametrize("answer", [stage.OK, stage.MISSING, REJECTING, stage.INVALID], ids=str)
async def test_a_kill_at_any_moment(
    caplog: pytest.LogCaptureFixture, tmp_path: Path, steps: int, answer: Answer
) -> None:
    """In the middle of a flush, a call, or the search for an event that is refused."""
    life = Life(Witness(caplog), tmp_path / "spool")
    await life.begin()
    life.add(A, 2)
    await life.wait(1)
    life.service.tell(A, answer)
    life.add(A, 9)
    life.add(B, 1)
    await life.flush(steps)
    await life.kill()
    await life.heal()
    life.check()
