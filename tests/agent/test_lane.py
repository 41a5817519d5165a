"""One stream's batches against every answer there is, by a clock that the test moves."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cwgpu.agent.lane import Lane, Way
from cwgpu.logs.verdict import Answer, Denied, Rejected, Retry, RetryKind
from cwgpu.sinks import stdout
from tests.agent import stage
from tests.agent.stage import A, Hands, Script, Witness, batch, messages

RETRY_AFTER = Answer("ThrottlingException", "", 400, retry_after_s=20.0)


@dataclass
class World:
    """A lane and what it is between."""

    witness: Witness
    hands: Hands = field(default_factory=Hands)
    sink: Script = field(default_factory=Script)
    hurry: asyncio.Event = field(default_factory=asyncio.Event)
    broken: list[Answer] = field(default_factory=list)
    random: Callable[[], float] = lambda: 1.0

    def lane(self) -> Lane:
        """Make the lane of stream A."""
        way = Way(
            self.sink,
            self.witness.observer,
            self.hands.clock,
            self.random,
            self.hurry,
            self.broken.append,
        )
        return Lane(A, way)

    async def send(self, *answers: Answer) -> Lane:
        """Put one batch of one event into a lane whose sink answers so."""
        self.sink.tell(A, *answers)
        lane = self.lane()
        lane.put(batch(1))
        await stage.settle()
        return lane


@pytest.fixture
def world(caplog: pytest.LogCaptureFixture) -> World:
    """Give a fresh world."""
    return World(Witness(caplog))


async def test_batches_go_out_in_order(world: World) -> None:
    """One call at a time, the oldest first; then the lane is empty."""
    lane = world.lane()
    for number in range(3):
        lane.put(batch(number))
    assert (lane.batches, lane.size_bytes) == (3, 3)
    await lane.finish()
    assert world.sink.stored[A] == messages(range(3))
    assert (lane.batches, lane.size_bytes, lane.oldest_ms) == (0, 0, None)
    assert world.witness.value("cwgpu_delivered_samples_total") == 3
    assert world.witness.value("cwgpu_delivered_datapoints_total") == 6


async def test_an_empty_lane_works_again(world: World) -> None:
    """What is put later starts the sending anew."""
    lane = world.lane()
    await lane.finish()
    lane.put(batch(1))
    await lane.finish()
    lane.put(batch(2))
    await lane.finish()
    assert world.sink.stored[A] == messages([1, 2])


async def test_waits_double_and_are_random(world: World) -> None:
    """Full jitter: a random share of 1, 2, 4 ... seconds, at most 60."""
    shares = iter([0.5, 0.25, 0.5, 1.0, 1.0, 1.0, 1.0, 1.0])
    world.random = shares.__next__
    await world.send(*[stage.THROTTLED] * 8)
    await world.hands.move(300)
    assert world.hands.naps == [0.5, 0.5, 2.0, 8.0, 16.0, 32.0, 60.0, 60.0]
    assert world.sink.stored[A] == messages([1])


async def test_the_service_may_ask_for_a_longer_wait(world: World) -> None:
    """Retry-after is a least time: a longer wait of our own stands."""
    await world.send(RETRY_AFTER, *[stage.THROTTLED] * 5, RETRY_AFTER)
    await world.hands.move(600)
    assert world.hands.naps == [20.0, 2.0, 4.0, 8.0, 16.0, 32.0, 60.0]


async def test_throttled_for_hours_is_delivered_once(world: World) -> None:
    """Nothing is given up, however long it takes, and nothing is sent twice."""
    await world.send(*[stage.THROTTLED] * 500)
    await world.hands.move(500 * 60)
    assert world.sink.stored[A] == messages([1])
    assert len(world.sink.sent) == 501
    assert world.witness.value("cwgpu_retried_batches_total", cause="throttled") == 500
    assert world.witness.said("samples_lost") == []


async def test_a_success_begins_the_waits_anew(world: World) -> None:
    """The next batch does not pay for the last one's trouble."""
    lane = await world.send(*[stage.THROTTLED] * 3)
    lane.put(batch(2))
    await world.hands.move(2.5)
    world.sink.answers[A].extend([stage.OK, stage.BROKEN])
    await world.hands.move(60)
    assert world.hands.naps == [1.0, 2.0, 4.0, 1.0]


async def test_a_missing_stream_is_made_and_used_at_once(world: World) -> None:
    """Nobody waits for a stream that is only new."""
    lane = await world.send(stage.MISSING)
    await lane.finish()
    assert world.sink.created == [A]
    assert world.sink.stored[A] == messages([1])
    assert world.hands.naps == []


async def test_a_stream_that_stays_missing_is_asked_for_slowly(world: World) -> None:
    """There and not found: what the service calls eventually consistent is no busy loop."""
    await world.send(*[stage.MISSING] * 4)
    await world.hands.move(60)
    assert world.hands.naps == [1.0, 2.0, 4.0]
    assert world.sink.stored[A] == messages([1])
    said = world.witness.said("delivery_retried")
    assert {one["reason"] for one in said} == {"ResourceNotFoundException"}


async def test_a_stream_that_cannot_be_made_keeps_its_batch(world: World) -> None:
    """Throttled, then denied, then allowed."""
    world.sink.creations.extend([stage.THROTTLED, stage.DENIED])
    await world.send(*[stage.MISSING] * 3)
    await world.hands.move(1000)
    assert world.sink.created == [A, A, A]
    assert world.sink.stored[A] == messages([1])
    assert [one["reason"] for one in world.witness.said("delivery_retried")][:2] == [
        "ThrottlingException",
        "AccessDeniedException",
    ]


async def test_a_retention_that_cannot_be_set_is_told(world: World) -> None:
    """The events flow; a person hears of it."""
    world.sink.creations.append(Answer("", "log group g keeps its events for ever: AccessDenied"))
    lane = await world.send(stage.MISSING)
    await lane.finish()
    said = world.witness.said("config_warning")
    assert said == [{"reason": "log group g keeps its events for ever: AccessDenied"}]
    assert world.sink.stored[A] == messages([1])


@pytest.mark.parametrize("size", [1, 2, 7, 64])
async def test_a_refused_event_is_found(world: World, size: int) -> None:
    """Only the one event that cannot be stored is lost, and the service's words say why."""
    poison = messages([size // 2])
    world.sink.refuses = lambda event: event.message in poison
    lane = world.lane()
    lane.put(batch(*range(size)))
    await lane.finish()
    assert world.sink.stored.get(A, []) == [m for m in messages(range(size)) if m not in poison]
    assert world.witness.lost("rejected") == 1
    (said,) = world.witness.said("samples_lost")
    assert "Log event is invalid" in str(said["detail"])
    assert world.hands.naps == []


@settings(
    max_examples=50, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(size=st.integers(1, 30), poison=st.sets(st.integers(0, 29)))
async def test_any_refused_events_are_found(
    caplog: pytest.LogCaptureFixture, size: int, poison: set[int]
) -> None:
    """The rest is stored once, in its order."""
    world = World(Witness(caplog))
    bad = messages(poison)
    world.sink.refuses = lambda event: event.message in bad
    lane = world.lane()
    lane.put(batch(*range(size)))
    await lane.finish()
    good = [number for number in range(size) if number not in poison]
    assert world.sink.stored.get(A, []) == messages(good)
    assert world.witness.lost("rejected") == size - len(good)


async def test_what_the_service_does_not_store_is_counted(world: World) -> None:
    """A call that succeeds in part is over: the rest is lost, by its reason."""
    world.sink.tell(A, Answer("", rejected=Rejected(too_old_end=1, too_new_start=3)))
    lane = world.lane()
    lane.put(batch(1, 2, 3, 4))
    await lane.finish()
    assert world.witness.lost("too_old") == 1
    assert world.witness.lost("too_new") == 1
    assert world.witness.value("cwgpu_delivered_samples_total") == 2


async def test_expired_credentials_are_renewed(world: World) -> None:
    """The batch is kept; the session is thrown away before the next try."""
    await world.send(stage.EXPIRED)
    assert world.sink.renewed == 1
    await world.hands.move(30)
    assert world.sink.stored[A] == messages([1])
    assert world.hands.naps == [30.0]
    assert world.witness.levels("delivery_retried") == {"ERROR"}


async def test_denied_keeps_the_data_and_says_so(world: World) -> None:
    """Somebody may give the permission while we run; until then the tries are slow."""
    await world.send(*[stage.DENIED] * 4)
    await world.hands.move(60 + 120 + 240 + 300)
    assert world.hands.naps == [60.0, 120.0, 240.0, 300.0]
    assert world.sink.stored[A] == messages([1])
    assert world.sink.renewed == 0
    said = world.witness.said("delivery_retried")
    assert said[0] == {
        "stream": "a",
        "reason": "AccessDeniedException",
        "detail": "User is not authorized",
        "wait_s": 60.0,
    }
    assert world.witness.levels("delivery_retried") == {"ERROR"}


@pytest.mark.parametrize(
    ("answer", "times"), [(stage.UNANSWERED, 1), (stage.UNREACHED, 0), (stage.THROTTLED, 0)]
)
async def test_what_may_have_been_stored_is_counted(
    world: World, answer: Answer, times: int
) -> None:
    """A call that went out and got no answer is sent again, and may count twice."""
    await world.send(answer)
    await world.hands.move(60)
    assert world.sink.stored[A] == messages([1])
    assert world.witness.value("cwgpu_ambiguous_batches_total") == times


@pytest.mark.parametrize("code", [stdout.CLOSED, stdout.FAILED])
async def test_a_sink_that_breaks_ends_the_lane(world: World, code: str) -> None:
    """There is nobody to try again with."""
    lane = await world.send(Answer(code, "why"))
    await lane.finish()
    assert world.broken == [Answer(code, "why")]
    assert len(world.sink.sent) == 1
    assert lane.batches == 1


async def test_what_was_given_up_is_taken_up_again(world: World) -> None:
    """A lane that stopped loses nothing when another batch comes."""
    lane = await world.send(Answer(stdout.FAILED))
    lane.put(batch(2))
    await lane.finish()
    assert world.sink.stored[A] == messages([1, 2])


async def test_hurry_ends_a_long_wait(world: World) -> None:
    """The process has to end: what waits for minutes is tried once more now."""
    lane = await world.send(stage.DENIED)
    world.hurry.set()
    await lane.finish()
    assert world.sink.stored[A] == messages([1])


@pytest.mark.parametrize(
    ("answer", "tries"),
    [
        (stage.DENIED, 1),
        (stage.EXPIRED, 2),
        (stage.BROKEN, 4),
        (stage.UNREACHED, 4),
        (stage.UNANSWERED, 4),
    ],
)
async def test_in_a_hurry_tries_are_few(world: World, answer: Answer, tries: int) -> None:
    """As many as may help, a second apart at most; then the lane gives up."""
    world.hurry.set()
    world.sink.tell(A, *[answer] * 100)
    lane = world.lane()
    lane.put(batch(1))
    lane.put(batch(2))
    await world.hands.move(tries)
    await lane.finish()
    assert len(world.sink.sent) == tries
    assert lane.batches == 2
    assert max(world.hands.naps, default=0) <= 1.0


async def test_in_a_hurry_throttling_is_outlasted(world: World) -> None:
    """The service is there and asks for patience; how much there is, others decide."""
    world.hurry.set()
    lane = await world.send(*[stage.THROTTLED] * 30)
    await world.hands.move(30)
    await lane.finish()
    assert world.sink.stored[A] == messages([1])
    assert set(world.hands.naps) == {1.0}


async def test_throttling_uses_up_no_other_patience(world: World) -> None:
    """After many refusals for the rate, a broken connection still gets its tries."""
    world.hurry.set()
    answers = [*[stage.THROTTLED] * 9, stage.UNANSWERED, stage.THROTTLED, stage.BROKEN]
    lane = await world.send(*answers)
    await world.hands.move(30)
    await lane.finish()
    assert world.sink.stored[A] == messages([1])


async def test_abandoned_batches_are_accounted_for(world: World) -> None:
    """The one in hand and those behind it are lost, with the last answer as the reason."""
    lane = await world.send(stage.DENIED)
    lane.put(batch(2, 3))
    await lane.abandon()
    assert isinstance(lane.trouble, Denied)
    assert world.witness.lost("shutdown") == 3
    assert world.witness.said("samples_lost")[0] == {
        "stream": "a",
        "reason": "shutdown",
        "count": 1,
        "detail": "the process had to end: AccessDeniedException: User is not authorized",
    }
    assert lane.batches == 0


async def test_a_call_that_hangs_is_abandoned_too(world: World) -> None:
    """No answer came, so there is no reason to give."""
    world.sink.silent = True
    lane = await world.send()
    await lane.abandon()
    assert lane.trouble is None
    (said,) = world.witness.said("samples_lost")
    assert said["detail"] == "the process had to end: no answer came"


async def test_an_idle_lane_has_nothing_to_abandon(world: World) -> None:
    """Nothing was put, nothing is lost."""
    lane = world.lane()
    await lane.abandon()
    assert world.witness.said("samples_lost") == []


async def test_the_oldest_waiting_batch_makes_room(world: World) -> None:
    """The one in flight cannot be taken back."""
    world.sink.silent = True
    lane = await world.send()
    oldest = [lane.oldest_ms]
    lane.put(batch(2))
    lane.put(batch(3))
    oldest.append(lane.oldest_ms)
    assert oldest == [None, stage.START_MS]
    lane.drop_oldest()
    assert lane.batches == 2
    assert world.witness.lost("queue_full") == 1
    await lane.abandon()


async def test_trouble_names_the_last_answer(world: World) -> None:
    """What the exit code is made of."""
    world.hurry.set()
    lane = await world.send(*[stage.UNREACHED] * 9)
    await world.hands.move(9)
    assert isinstance(lane.trouble, Retry)
    assert lane.trouble.kind is RetryKind.NETWORK


def answers() -> st.SearchStrategy[Sequence[Answer]]:
    """Draw answers that are not the last word about a batch."""
    passing = [
        stage.THROTTLED,
        stage.BROKEN,
        stage.UNREACHED,
        stage.UNANSWERED,
        stage.MISSING,
        stage.EXPIRED,
        stage.DENIED,
        Answer("SomethingNew", "", 503),
    ]
    return st.lists(st.sampled_from(passing), max_size=12)


@settings(
    max_examples=50, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(answers=answers(), sizes=st.lists(st.integers(1, 4), min_size=1, max_size=5))
async def test_whatever_passes_loses_nothing(
    caplog: pytest.LogCaptureFixture, answers: Sequence[Answer], sizes: list[int]
) -> None:
    """Any trouble that ends leaves every event stored, once and in order."""
    world = World(Witness(caplog))
    world.sink.tell(A, *answers)
    lane = world.lane()
    numbers = iter(range(100))
    for size in sizes:
        lane.put(batch(*(next(numbers) for _ in range(size))))
    await world.hands.move(300 * (len(answers) + 1))
    await lane.finish()
    assert world.sink.stored[A] == messages(range(sum(sizes)))
    assert world.witness.said("samples_lost") == []
