"""What waits between the pages and the sink: gathered, flushed, bounded, delivered at the end."""

import asyncio
from dataclasses import dataclass, field

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cwgpu.agent.outflow import Outflow
from cwgpu.logs.verdict import Answer, Denied, Retry
from cwgpu.model.event import StreamKey
from cwgpu.sinks import stdout
from tests.agent import stage
from tests.agent.stage import START_MS, A, B, Hands, Script, Witness, event, messages

DAY_MS = 86_400_000


@dataclass
class World:
    """What an outflow is between."""

    witness: Witness
    hands: Hands = field(default_factory=Hands)
    sink: Script = field(default_factory=Script)

    def outflow(self, flush_interval_s: float = 5.0, most_bytes: int = 1 << 20) -> Outflow:
        """Make one."""
        return Outflow(
            self.sink,
            self.witness.observer,
            self.hands.clock,
            random=lambda: 1.0,
            flush_interval_s=flush_interval_s,
            most_bytes=most_bytes,
        )


@pytest.fixture
def world(caplog: pytest.LogCaptureFixture) -> World:
    """Give a fresh world."""
    return World(Witness(caplog))


async def test_the_first_events_leave_soon(world: World) -> None:
    """Those of the targets scraped at start make one batch; the next ones wait for the interval."""
    outflow = world.outflow()
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
    outflow = world.outflow(flush_interval_s=5.0)
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
    outflow = world.outflow()
    outflow.put([event(1, at_ms=START_MS + 1), event(2), event(3, B)])
    assert await outflow.finish(0) == []
    assert world.sink.stored == {A: messages([2, 1]), B: messages([3])}


async def test_many_events_do_not_wait_for_the_interval(world: World) -> None:
    """A flush interval of hours must not hold hours in memory."""
    outflow = world.outflow(flush_interval_s=3600, most_bytes=4000)
    outflow.put(event(number, size=100) for number in range(10))
    await stage.settle()
    assert world.sink.sent == []
    outflow.put([event(10, size=100)])
    await stage.settle()
    assert len(world.sink.stored[A]) == 11


@pytest.mark.parametrize(
    ("age_ms", "reason"), [(15 * DAY_MS, "too_old"), (-3_600_000 * 3, "too_new")]
)
async def test_events_of_impossible_times_are_lost_alone(
    world: World, age_ms: int, reason: str
) -> None:
    """The service would refuse their whole batch."""
    outflow = world.outflow()
    outflow.put([event(1), event(2, at_ms=START_MS - age_ms)])
    assert await outflow.finish(0) == []
    assert world.sink.stored[A] == messages([1])
    assert world.witness.lost(reason) == 1
    (said,) = world.witness.said("samples_lost")
    assert said["detail"] == f"its time is {START_MS - age_ms} ms since 1970"


@pytest.mark.parametrize("answer", [stage.DENIED, stage.THROTTLED, stage.UNREACHED])
async def test_a_failing_stream_stops_no_other(world: World, answer: Answer) -> None:
    """Others deliver all they have; it delivers when its trouble is over."""
    outflow = world.outflow()
    world.sink.tell(A, *[answer] * 3)
    for number in range(3):
        outflow.put([event(number), event(number, B)])
        outflow.flush()
        await stage.settle()
    assert world.sink.stored == {B: messages(range(3))}
    await world.hands.move(1000)
    assert world.sink.stored[A] == messages(range(3))


async def test_a_full_queue_loses_the_oldest(world: World) -> None:
    """Of all streams, the batch whose events are the oldest; what is in flight stays."""
    outflow = world.outflow(most_bytes=500)
    world.sink.tell(A, *[stage.DENIED] * 99)
    world.sink.tell(B, *[stage.DENIED] * 99)
    for number in range(4):
        stream = B if number % 2 else A
        outflow.put([event(number, stream, at_ms=START_MS + number, size=100)])
        outflow.flush()
        await stage.settle()
    outflow.put([event(4, A, at_ms=START_MS + 4, size=300)])
    outflow.flush()
    assert world.witness.lost("queue_full") == 2
    assert world.witness.value("cwgpu_queue_bytes") == 500
    assert world.witness.value("cwgpu_queue_batches") == 3
    world.sink.answers.clear()
    await world.hands.move(1000)
    stored = {key: [int(m) for m in each] for key, each in world.sink.stored.items()}
    assert stored == {A: [0, 4], B: [1]}


async def test_what_is_in_flight_is_never_dropped(world: World) -> None:
    """It may be stored already; what comes too late for the rest of the room goes instead."""
    outflow = world.outflow(most_bytes=1000)
    world.sink.tell(A, stage.UNANSWERED)
    outflow.put([event(1, size=240)])
    outflow.flush()
    await stage.settle()
    outflow.put([event(2, size=900)])
    outflow.flush()
    assert world.witness.lost("queue_full") == 1
    await world.hands.move(1)
    assert [int(message) for message in world.sink.stored[A]] == [1]


async def test_the_queue_is_told(world: World) -> None:
    """Bytes and batches that wait, as of the last flush; nothing at the end."""
    outflow = world.outflow()
    world.sink.tell(A, stage.THROTTLED)
    outflow.put([event(1, size=10), event(2, size=10)])
    outflow.flush()
    assert world.witness.value("cwgpu_queue_bytes") == 20
    assert world.witness.value("cwgpu_queue_batches") == 1
    await world.hands.move(1)
    assert await outflow.finish(0) == []
    assert world.witness.value("cwgpu_queue_bytes") == 0


async def test_the_end_delivers_what_is_held(world: World) -> None:
    """Pending events and batches that were waiting for their next try."""
    outflow = world.outflow()
    world.sink.tell(A, stage.DENIED)
    outflow.put([event(1)])
    outflow.flush()
    await stage.settle()
    outflow.put([event(2), event(3, B)])
    assert await outflow.finish(20) == []
    assert world.sink.stored == {A: messages([1, 2]), B: messages([3])}


async def test_the_end_of_an_idle_outflow(world: World) -> None:
    """Nothing was held, nothing is lost."""
    assert await world.outflow().finish(0) == []


async def test_the_end_does_not_outlast_its_grace(world: World) -> None:
    """A sink that does not answer is left; what it holds is counted as lost."""
    outflow = world.outflow()
    world.sink.silent = True
    outflow.put([event(1), event(2), event(3, B)])
    assert await outflow.finish(0) == [None, None]
    assert world.witness.lost("shutdown") == 3
    assert world.witness.value("cwgpu_queue_batches") == 0


async def test_the_end_says_what_went_wrong(world: World) -> None:
    """For each stream that lost something; the others are not named."""
    outflow = world.outflow()
    world.sink.tell(A, *[stage.DENIED] * 9)
    other = StreamKey("/gpu/lab", "c")
    world.sink.tell(other, *[stage.THROTTLED] * 999)
    outflow.put([event(1), event(2, B), event(3, other)])
    ending = asyncio.create_task(outflow.finish(0.01))
    await stage.eventually(ending.done)
    denied, throttled = await ending
    assert isinstance(denied, Denied)
    assert isinstance(throttled, Retry)
    assert world.sink.stored == {B: messages([2])}


async def test_a_broken_sink_is_an_end(world: World) -> None:
    """It is told, and nothing counts as lost: nobody is there to miss it."""
    outflow = world.outflow()
    world.sink.tell(A, Answer(stdout.CLOSED))
    outflow.put([event(1), event(2, B)])
    outflow.flush()
    await outflow.ended.wait()
    assert outflow.broken == Answer(stdout.CLOSED)
    assert await outflow.finish(0) == []
    assert world.witness.said("samples_lost") == []


@settings(
    max_examples=50, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    puts=st.lists(
        st.lists(st.tuples(st.sampled_from([A, B]), st.integers(0, 3)), max_size=4), max_size=6
    ),
    answers=st.lists(st.sampled_from([stage.THROTTLED, stage.UNREACHED, stage.MISSING])),
)
async def test_every_event_is_stored_once(
    caplog: pytest.LogCaptureFixture, puts: list[list[tuple[StreamKey, int]]], answers: list[Answer]
) -> None:
    """Whatever is put whenever, and however often it has to be tried."""
    world = World(Witness(caplog))
    outflow = world.outflow()
    world.sink.tell(A, *answers)
    numbers = iter(range(100))
    put: dict[StreamKey, list[int]] = {}
    for events in puts:
        for stream, age_ms in events:
            number = next(numbers)
            put.setdefault(stream, []).append(number)
            outflow.put([event(number, stream, at_ms=START_MS - age_ms)])
        outflow.flush()
        await world.hands.move(1)
    await world.hands.move(60 * (len(answers) + 1))
    assert await outflow.finish(0) == []
    stored = {stream: sorted(map(int, each)) for stream, each in world.sink.stored.items()}
    assert stored == put
