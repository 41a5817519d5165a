"""What waits between the pages and the sink: gathered, flushed, delivered or left at the end."""

import asyncio
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from cwgpu.agent import outflow as outflows
from cwgpu.agent.outflow import Outflow
from cwgpu.agent.stock import Rest, Stock
from cwgpu.logs.verdict import Answer, Denied, Retry
from cwgpu.model.event import StreamKey
from cwgpu.plan.plan import SpoolMode
from cwgpu.sinks import stdout
from tests.agent import stage
from tests.agent.stage import START_MS, A, B, Hands, Script, Store, Witness, event, messages

DAY_MS = 86_400_000
NOTHING = ((), Rest())


@dataclass
class World:
    """What an outflow is between."""

    witness: Witness
    directory: Path | None = None
    """Where the spool is; None: in memory."""
    mode: SpoolMode = SpoolMode.ALWAYS
    hands: Hands = field(default_factory=Hands)
    sink: Script = field(default_factory=Script)
    store: Store = field(init=False)
    stock: Stock = field(init=False)

    def __post_init__(self) -> None:
        """Make a place to hold batches."""
        self.store = Store(self.witness, self.hands, self.directory, self.mode)

    async def outflow(self, flush_interval_s: float = 5.0) -> Outflow:
        """Make one, as a process does that begins."""
        self.stock, found = self.store.start()
        outflow = Outflow(
            self.sink,
            self.stock,
            self.witness.observer,
            self.hands.clock,
            random=lambda: 1.0,
            flush_interval_s=flush_interval_s,
        )
        await outflow.inherit(found)
        return outflow

    async def end(self, outflow: Outflow, grace_s: float = 0) -> Rest:
        """End as a process does."""
        _, rest = await outflow.finish(grace_s)
        await self.stock.close()
        return rest


@pytest.fixture
def world(caplog: pytest.LogCaptureFixture) -> World:
    """Give a fresh world, in which all waits in memory."""
    return World(Witness(caplog))


@pytest.fixture
def spooled(caplog: pytest.LogCaptureFixture, tmp_path: Path) -> World:
    """Give a fresh world with an empty spool."""
    return World(Witness(caplog), tmp_path / "spool")


async def test_the_first_events_leave_soon(world: World) -> None:
    """Those of the targets scraped at start make one batch; the next ones wait for the interval."""
    outflow = await world.outflow()
    running = asyncio.create_task(outflow.run())
    await world.hands.move(100)
    outflow.put([event(1)])
    await world.hands.move(0.2)
    outflow.put([event(2)])
    assert world.sink.sent == []
    await world.hands.move(0.1)
    assert [len(batch.events) for batch in world.sink.sent] == [2]
    outflow.put([event(3)])
    await world.hands.move(4.5)
    assert len(world.sink.sent) == 1
    await world.hands.move(0.5)
    assert world.sink.stored[A] == messages([1, 2, 3])
    running.cancel()


async def test_a_new_flush_interval_is_followed(world: World) -> None:
    """A reload may change it; the wait under way is the last of the old length."""
    outflow = await world.outflow(flush_interval_s=5.0)
    running = asyncio.create_task(outflow.run())
    outflow.put([event(1)])
    await world.hands.move(0.25)
    outflow.flush_interval_s = 1.0
    outflow.put([event(2)])
    await world.hands.move(5.0)
    outflow.put([event(3)])
    await world.hands.move(1.0)
    assert world.sink.stored[A] == messages([1, 2, 3])
    running.cancel()


async def test_streams_get_batches_of_their_own(world: World) -> None:
    """Each in the order of time, as PutLogEvents asks for."""
    outflow = await world.outflow()
    outflow.put([event(1, at_ms=START_MS + 1), event(2), event(3, B)])
    assert await outflow.finish(20) == NOTHING
    assert world.sink.stored == {A: messages([2, 1]), B: messages([3])}


async def test_many_events_do_not_wait_for_the_interval(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A flush interval of hours must not hold hours in memory."""
    monkeypatch.setattr(outflows, "GATHER_BYTES", 1000)
    outflow = await world.outflow(flush_interval_s=3600)
    running = asyncio.create_task(outflow.run())
    outflow.put([event(0)])
    await world.hands.move(0.25)
    outflow.put([event(number, size=100) for number in range(10)])
    await stage.settle()
    assert len(world.sink.sent) == 1
    outflow.put([event(10)])
    await stage.settle()
    assert len(world.sink.sent) == 2
    outflow.put([event(11, size=100)])
    await stage.settle()
    assert len(world.sink.sent) == 2
    running.cancel()


@pytest.mark.parametrize(
    ("age_ms", "reason"), [(15 * DAY_MS, "too_old"), (-3_600_000 * 3, "too_new")]
)
async def test_events_of_impossible_times_are_lost_alone(
    world: World, age_ms: int, reason: str
) -> None:
    """The service would refuse their whole batch."""
    outflow = await world.outflow()
    outflow.put([event(1), event(2, at_ms=START_MS - age_ms)])
    assert await outflow.finish(20) == NOTHING
    assert world.sink.stored[A] == messages([1])
    assert world.witness.lost(reason) == 1
    (said,) = world.witness.said("samples_lost")
    assert said["detail"] == f"its time is {START_MS - age_ms} ms since 1970"


@pytest.mark.parametrize("answer", [stage.DENIED, stage.THROTTLED, stage.UNREACHED])
async def test_a_failing_stream_stops_no_other(world: World, answer: Answer) -> None:
    """Others deliver all they have; it delivers when its trouble is over."""
    outflow = await world.outflow()
    world.sink.tell(A, *[answer] * 3)
    for number in range(3):
        outflow.put([event(number), event(number, B)])
        await outflow.flush()
        await stage.settle()
    assert world.sink.stored == {B: messages(range(3))}
    await world.hands.move(1000)
    assert world.sink.stored[A] == messages([2, 1, 0])  # graphs fill from the right


async def test_the_queue_is_told(spooled: World) -> None:
    """What waits, where it does and since when, as of the last flush; nothing at the end."""
    outflow = await spooled.outflow()
    spooled.sink.tell(A, stage.THROTTLED, stage.THROTTLED)
    outflow.put([event(1, size=10), event(2, size=10)])
    await outflow.flush()
    assert spooled.witness.value("cwgpu_queue_bytes") == 4096
    assert spooled.witness.value("cwgpu_queue_batches") == 1
    assert spooled.witness.value("cwgpu_spool_batches") == 1
    assert spooled.witness.value("cwgpu_queue_oldest_age_seconds") == 0
    await spooled.hands.move(2)
    await outflow.flush()
    assert spooled.witness.value("cwgpu_queue_oldest_age_seconds") == 2
    await spooled.hands.move(1)
    assert await outflow.finish(0) == NOTHING
    assert spooled.witness.value("cwgpu_queue_bytes") == 0
    assert spooled.witness.value("cwgpu_spool_batches") == 0


async def test_what_cannot_be_read_is_tried_again(spooled: World) -> None:
    """The system has no file to open: the batch is held, others pass, and a flush tries it anew."""
    outflow = await spooled.outflow()
    spooled.sink.tell(A, stage.THROTTLED)
    outflow.put([event(1)])
    await outflow.flush()
    await stage.settle()
    with stage.unreadable(spooled.store):
        await spooled.hands.move(2)
        outflow.put([event(2)])  # it stays in memory
        await outflow.flush()
        await spooled.hands.move(2)
    assert spooled.sink.stored == {A: messages([2])}
    assert spooled.witness.value("cwgpu_queue_batches") == 1
    await outflow.flush()
    await spooled.hands.move(1)
    assert spooled.sink.stored == {A: messages([2, 1])}
    assert spooled.witness.lost_in_all() == 0
    assert await spooled.end(outflow) == Rest()


async def test_what_cannot_be_read_is_left_at_the_end(spooled: World) -> None:
    """It is no reason to wait, and the next start has it."""
    outflow = await spooled.outflow()
    spooled.sink.tell(A, stage.THROTTLED)
    outflow.put([event(1)])
    await outflow.flush()
    await stage.settle()
    with stage.unreadable(spooled.store):
        await spooled.hands.move(2)
        troubles, rest = await outflow.finish(1)
    assert len(troubles) == 1
    assert rest == Rest(1, 1, 0)


async def test_too_much_loses_the_oldest_of_all_streams(spooled: World) -> None:
    """While CloudWatch is away; when it is back, all that was kept is delivered."""
    spooled.store.most_bytes = 3 * 4096
    outflow = await spooled.outflow()
    for stream in (A, B):
        spooled.sink.tell(stream, *[stage.DENIED] * 99)
    for number in range(6):
        stream = B if number % 2 else A
        outflow.put([event(number, stream, at_ms=START_MS + number)])
        await outflow.flush()
        await stage.settle()
    assert spooled.witness.lost("queue_full") == 3
    spooled.sink.answers.clear()
    await spooled.hands.move(1000)
    stored = {key: [int(one) for one in each] for key, each in spooled.sink.stored.items()}
    assert stored == {A: [4], B: [3, 5]}


async def test_what_waited_too_long_is_lost_at_a_flush(world: World) -> None:
    """Also while nothing new comes."""
    world.store.most_age_s = 60
    outflow = await world.outflow(flush_interval_s=5.0)
    running = asyncio.create_task(outflow.run())
    world.sink.tell(A, *[stage.DENIED] * 99)
    outflow.put([event(1)])
    await world.hands.move(66)
    assert world.witness.lost("queue_age") == 1
    assert world.witness.value("cwgpu_queue_batches") == 0
    running.cancel()


async def test_the_end_delivers_what_is_held(world: World) -> None:
    """Pending events and batches that were waiting for their next try."""
    outflow = await world.outflow()
    world.sink.tell(A, stage.DENIED)
    outflow.put([event(1)])
    await outflow.flush()
    await stage.settle()
    outflow.put([event(2), event(3, B)])
    assert await outflow.finish(20) == NOTHING
    assert world.sink.stored == {A: messages([2, 1]), B: messages([3])}


async def test_the_end_of_an_idle_outflow(world: World) -> None:
    """Nothing was held, nothing is lost."""
    assert await (await world.outflow()).finish(0) == NOTHING


async def test_the_end_does_not_outlast_its_grace(world: World) -> None:
    """A sink that does not answer is left; what it holds is counted as lost."""
    outflow = await world.outflow()
    world.sink.silent = True
    outflow.put([event(1), event(2), event(3, B)])
    assert await outflow.finish(0) == ((None, None), Rest(0, 0, 3))
    assert world.witness.lost("shutdown") == 3
    assert world.witness.value("cwgpu_queue_batches") == 0


async def test_the_end_leaves_the_rest_in_the_spool(spooled: World) -> None:
    """Nothing is lost, and the next process delivers it."""
    outflow = await spooled.outflow()
    spooled.sink.silent = True
    outflow.put([event(1), event(2), event(3, B)])
    assert await spooled.end(outflow) == Rest(2, 3, 0)
    assert spooled.witness.said("samples_lost") == []
    spooled.sink.silent = False
    outflow = await spooled.outflow()
    await stage.settle()
    assert spooled.sink.stored == {A: messages([1, 2]), B: messages([3])}
    assert await spooled.end(outflow) == Rest()


@pytest.mark.parametrize("mode", [SpoolMode.ALWAYS, SpoolMode.ON_FAILURE])
async def test_a_process_that_is_killed(spooled: World, mode: SpoolMode) -> None:
    """What was put, and in no batch yet, is found by the next one and delivered once."""
    outflow = await spooled.outflow()
    spooled.sink.silent = True
    outflow.put([event(1)])
    await outflow.flush()
    outflow.put([event(2), event(3, B)])
    await spooled.stock.close()  # as the kernel does
    spooled.store.mode, spooled.sink.silent = mode, False
    for _ in range(2):
        outflow = await spooled.outflow()
        await stage.settle()
        assert spooled.sink.stored == {A: messages([1, 2]), B: messages([3])}
        assert await spooled.end(outflow) == Rest()


async def test_what_was_left_goes_after_what_is_new(spooled: World) -> None:
    """The backlog of a former process goes at its rate, whatever comes meanwhile at once."""
    outflow = await spooled.outflow()
    spooled.sink.silent = True
    for number in range(30):
        outflow.put([event(number)])
        await outflow.flush()
    assert await spooled.end(outflow) == Rest(30, 30, 0)
    spooled.sink.silent = False
    spooled.sink.sent.clear()
    outflow = await spooled.outflow()
    outflow.put([event(99)])
    await outflow.flush()
    await stage.settle()
    first = [int(one) for one in spooled.sink.stored[A]]
    assert 99 in first
    assert len(first) <= 7
    await spooled.hands.move(1)
    assert len(spooled.sink.stored[A]) <= 7 + 5
    await spooled.hands.move(5)
    assert sorted(map(int, spooled.sink.stored[A])) == [*range(30), 99]
    await spooled.end(outflow)


async def test_events_of_a_former_process_may_be_too_old(spooled: World) -> None:
    """They are counted, and do not come again."""
    outflow = await spooled.outflow()
    outflow.put([event(1)])
    await spooled.stock.close()
    await spooled.hands.move(15 * 86_400)
    outflow = await spooled.outflow()
    assert spooled.witness.lost("too_old") == 1
    assert spooled.store.files("wal") == []
    assert await spooled.end(outflow) == Rest()


async def test_what_was_left_is_minded_before_anything_is_scraped(spooled: World) -> None:
    """Its bounds hold, and it is told, although no event has come yet."""
    outflow = await spooled.outflow()
    spooled.sink.silent = True
    outflow.put([event(1)])
    await spooled.end(outflow)
    spooled.sink.silent = False
    spooled.sink.tell(A, *[stage.DENIED] * 99)
    spooled.store.most_age_s = 60
    outflow = await spooled.outflow()
    running = asyncio.create_task(outflow.run())
    await spooled.hands.move(50)
    assert spooled.witness.value("cwgpu_spool_batches") == 1
    await spooled.hands.move(20)
    assert spooled.witness.lost("queue_age") == 1
    running.cancel()


@pytest.mark.parametrize("steps", range(0, 30, 2))
async def test_an_end_in_the_middle_of_a_flush(spooled: World, steps: int) -> None:
    """What the flush has in its hands is nowhere else: it is done before the end goes on."""
    outflow = await spooled.outflow()
    spooled.sink.silent = True
    running = asyncio.create_task(outflow.run())
    outflow.put([event(1), event(2, B)])
    await stage.settle()
    spooled.hands.now += 0.25
    spooled.hands.wake()
    for _ in range(steps):
        await asyncio.sleep(0)
    running.cancel()
    outflow.put([event(3)])
    assert (await spooled.end(outflow)).spooled_samples == 3
    assert spooled.witness.said("samples_lost") == []
    assert spooled.store.files("wal") == []


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (stage.DENIED, "AccessDeniedException: User is not authorized"),
        (stage.EXPIRED, "ExpiredTokenException: The security token is expired"),
    ],
)
async def test_who_is_refused_is_not_ready(spooled: World, answer: Answer, said: str) -> None:
    """Somebody has to do something; when it is done, all is well again."""
    outflow = await spooled.outflow()
    spooled.sink.tell(A, answer)
    assert outflow.unready == ""
    outflow.put([event(1)])
    await outflow.flush()
    await stage.settle()
    assert outflow.unready == f"CloudWatch Logs refuses /gpu/lab, stream a: {said}"
    await spooled.hands.move(60)
    assert outflow.unready == ""
    await spooled.end(outflow)


async def test_an_outage_is_no_matter_with_a_spool(spooled: World) -> None:
    """But it is when the disk takes nothing, and until it does again."""
    outflow = await spooled.outflow()
    spooled.sink.tell(A, *[stage.UNREACHED] * 99)
    outflow.put([event(1)])
    await outflow.flush()
    await spooled.hands.move(10)
    assert outflow.unready == ""
    with stage.full_disk():
        outflow.put([event(2)])
        await outflow.flush()
        assert outflow.unready == (
            "events are neither delivered nor spooled: ConnectionError: connection refused"
        )
    await outflow.flush()
    assert outflow.unready == ""
    await spooled.end(outflow)


async def test_an_outage_without_a_spool_is_not_ready(world: World) -> None:
    """What is scraped now may be lost; it is ready when CloudWatch answers again."""
    outflow = await world.outflow()
    world.sink.tell(A, *[stage.UNREACHED] * 3)
    outflow.put([event(1)])
    await outflow.flush()
    await world.hands.move(1)
    assert outflow.unready == ""
    await world.hands.move(2)
    assert outflow.unready.startswith("events are neither delivered nor spooled: ConnectionError")
    await world.hands.move(60)
    assert outflow.unready == ""


async def test_the_end_says_what_went_wrong(world: World) -> None:
    """For each stream that lost something; the others are not named."""
    outflow = await world.outflow()
    world.sink.tell(A, *[stage.DENIED] * 9)
    other = StreamKey("/gpu/lab", "c")
    world.sink.tell(other, *[stage.THROTTLED] * 999)
    outflow.put([event(1), event(2, B), event(3, other)])
    ending = asyncio.create_task(outflow.finish(0.01))
    await stage.eventually(ending.done)
    (denied, throttled), rest = await ending
    assert isinstance(denied, Denied)
    assert isinstance(throttled, Retry)
    assert world.sink.stored == {B: messages([2])}
    assert rest == Rest(0, 0, 2)
    assert [one["detail"] for one in world.witness.said("samples_lost")] == [
        "the process had to end: AccessDeniedException: User is not authorized",
        "the process had to end: ThrottlingException: Rate exceeded",
    ]


async def test_a_broken_sink_is_an_end(world: World) -> None:
    """It is told, and nothing counts as lost: nobody is there to miss it."""
    outflow = await world.outflow()
    world.sink.tell(A, Answer(stdout.CLOSED))
    outflow.put([event(1), event(2, B)])
    await outflow.flush()
    await outflow.ended.wait()
    assert outflow.broken == Answer(stdout.CLOSED)
    assert await outflow.finish(0) == NOTHING
    assert world.witness.said("samples_lost") == []


async def test_a_bug_in_a_lane_forgets_nothing(world: World) -> None:
    """Its batch is sent with the next one, however many flushes come between."""

    def fail() -> None:
        world.sink.asked = lambda: None
        raise RuntimeError("nobody thought of this")

    world.sink.asked = fail
    outflow = await world.outflow()
    outflow.put([event(1)])
    for _ in range(3):
        await outflow.flush()
        await stage.settle()
    outflow.put([event(2)])
    assert await outflow.finish(20) == NOTHING
    assert world.sink.stored[A] == messages([2, 1])
