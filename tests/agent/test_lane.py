"""One stream's batches against every answer there is, by a clock that the test moves."""

import asyncio
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cwgpu.agent.gate import Gate
from cwgpu.agent.lane import Lane, Way
from cwgpu.agent.shelf import Held
from cwgpu.agent.stock import Rest, Stock
from cwgpu.logs import parcel
from cwgpu.logs.verdict import Answer, Denied, Rejected, Retry, RetryKind
from cwgpu.model.event import EmfEvent, LogBatch, StreamKey
from cwgpu.sinks import stdout
from tests.agent import stage
from tests.agent.stage import A, B, Hands, Script, Store, Witness, batch, messages

RETRY_AFTER = Answer("ThrottlingException", "", 400, retry_after_s=20.0)


@dataclass
class World:
    """Lanes and what they are between."""

    witness: Witness
    directory: Path | None = None
    """Where the spool is; None: in memory."""
    hands: Hands = field(default_factory=Hands)
    sink: Script = field(default_factory=Script)
    broken: list[Answer] = field(default_factory=list)
    random: Callable[[], float] = lambda: 1.0
    store: Store = field(init=False)
    stock: Stock = field(init=False)
    gate: Gate = field(init=False)

    def __post_init__(self) -> None:
        """Open the spool, and the gate."""
        self.store = Store(self.witness, self.hands, self.directory)
        self.stock, _ = self.store.start()
        self.gate = Gate(self.hands.clock)

    def lane(self, stream: StreamKey = A) -> Lane:
        """Make a lane; all of them have one gate."""
        way = Way(
            self.sink,
            self.stock,
            self.gate,
            self.witness.observer,
            self.hands.clock,
            self.random,
            self.broken.append,
        )
        return Lane(stream, way)

    async def put(self, lane: Lane, *batches: LogBatch, late: bool = False) -> list[Held]:
        """Hold batches and put them into a lane."""
        held = await self.stock.take(batches)
        lane.put(held, late=late)
        return held

    async def send(self, *answers: Answer) -> Lane:
        """Put one batch of one event into a lane whose sink answers so."""
        self.sink.tell(A, *answers)
        lane = self.lane()
        await self.put(lane, batch(1))
        await stage.settle()
        return lane

    @property
    def calls(self) -> list[list[int]]:
        """The numbers of the events of every call."""
        return [[int(each.message) for each in one.events] for one in self.sink.sent]

    @property
    def held(self) -> float:
        """How many batches the stock holds."""
        self.stock.tell()
        return self.witness.value("cwgpu_queue_batches")


@pytest.fixture(params=["memory", "spool"])
def world(
    request: pytest.FixtureRequest, caplog: pytest.LogCaptureFixture, tmp_path: Path
) -> World:
    """Give a fresh world, in which batches wait here or there."""
    return World(Witness(caplog), tmp_path / "spool" if request.param == "spool" else None)


async def test_batches_go_out_in_order(world: World) -> None:
    """One call at a time, the oldest first; then the lane is empty, and so is the stock."""
    lane = world.lane()
    for number in range(3):
        await world.put(lane, batch(number))
    await lane.finish()
    assert world.sink.stored[A] == messages(range(3))
    assert lane.idle
    assert not lane.waits
    assert world.held == 0
    assert world.witness.value("cwgpu_delivered_samples_total") == 3
    assert world.witness.value("cwgpu_delivered_datapoints_total") == 6


async def test_an_empty_lane_works_again(world: World) -> None:
    """What is put later starts the sending anew."""
    lane = world.lane()
    await lane.finish()
    await world.put(lane, batch(1))
    await lane.finish()
    await world.put(lane, batch(2))
    await lane.finish()
    assert world.sink.stored[A] == messages([1, 2])


async def test_how_long_it_took_is_told(world: World) -> None:
    """From the scrape of the oldest event to the answer, over all tries."""
    await world.send(stage.THROTTLED, stage.THROTTLED)
    await world.hands.move(3)
    assert world.witness.value("cwgpu_delivery_latency_seconds_sum") == 3
    assert world.witness.value("cwgpu_delivery_latency_seconds_count") == 1


async def test_what_the_answers_say_of_clock_and_credentials(world: World) -> None:
    """Each answer that has them, whether it is a good one or not."""
    world.hands.off_s = 1200.0
    dated = Answer("ThrottlingException", "", 400, date_s=stage.START_S, expires_s=7e9)
    await world.send(dated)
    assert world.witness.value("cwgpu_clock_skew_seconds") == 1200
    assert world.witness.value("cwgpu_credentials_expiry_timestamp_seconds") == 7e9
    await world.hands.move(1)


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
    lane = await world.send(*[stage.THROTTLED] * 3, stage.OK, stage.BROKEN)
    await world.hands.move(7)
    await world.put(lane, batch(2))
    await world.hands.move(60)
    assert world.hands.naps == [1.0, 2.0, 4.0, 1.0]
    assert world.sink.stored[A] == messages([1, 2])


async def test_what_is_new_goes_before_what_is_late(world: World) -> None:
    """What failed waits behind what comes meanwhile: a graph is looked at from its end."""
    lane = world.lane()
    world.sink.tell(A, stage.THROTTLED)
    await world.put(lane, *map(batch, range(3)))
    await stage.settle()
    await world.put(lane, batch(3))
    await world.put(lane, batch(4))
    await world.hands.move(60)
    assert world.calls == [[0], [3], [4], [2], [1], [0]]


async def test_what_fails_twice_keeps_its_place(world: World) -> None:
    """Of what is late, the newest goes first, however often it is tried."""
    lane = world.lane()
    world.sink.tell(A, stage.THROTTLED, stage.THROTTLED, stage.THROTTLED)
    await world.put(lane, *map(batch, range(3)))
    await world.hands.move(60)
    assert world.calls == [[0], [2], [2], [2], [1], [0]]


async def test_a_former_process_has_to_wait(world: World) -> None:
    """What it left goes out after what is new, whichever was put first, and at its rate."""
    lane = world.lane()
    left = await world.stock.take([*map(batch, range(20))])
    new = await world.stock.take([batch(20)])
    lane.put(left, late=True)
    lane.put(new)
    await stage.settle()
    assert world.calls[:3] == [[20], [19], [18]]
    assert len(world.calls) < 8
    await world.put(lane, batch(21))
    await stage.settle()
    assert world.calls[-1] == [21]
    await world.hands.move(60)
    assert len(world.calls) == 22
    assert sum(world.hands.naps) == pytest.approx((20 - 5) / 5)


async def test_a_lane_that_is_refused_holds_up_no_other(world: World) -> None:
    """A permission that is missing for one stream shuts no gate, for it says nothing of others."""
    world.sink.tell(A, *[stage.DENIED] * 9)
    denied, other = world.lane(), world.lane(B)
    await world.put(denied, batch(1))
    await world.hands.move(60 + 120 + 240)
    assert len(world.calls) == 4
    assert not world.gate.shut
    await world.put(other, batch(2, stream=B))
    await stage.settle()
    assert world.sink.stored == {B: messages([2])}
    assert isinstance(denied.trouble, Denied)
    assert denied.said == "AccessDeniedException: User is not authorized"
    await denied.stop()


async def test_an_outage_is_met_by_one_probe_at_a_time(world: World) -> None:
    """However many streams wait: their calls are as many as one stream's would be."""
    streams = [StreamKey("/gpu/lab", f"s{number}") for number in range(50)]
    lanes = [world.lane(stream) for stream in streams]
    for stream, lane in zip(streams, lanes, strict=True):
        world.sink.tell(stream, *[stage.BROKEN] * 999)
        await world.put(lane, batch(1, stream=stream))
    await stage.settle()
    first = len(world.calls)
    await world.hands.move(600)
    probes = len(world.calls) - first
    assert 600 / 60 <= probes < 20
    world.sink.answers.clear()
    await world.hands.move(60)
    assert len(world.sink.stored) == 50


async def test_a_batch_that_was_dropped_is_not_sent(world: World) -> None:
    """While it waited for its turn, the stock had to let it go."""
    lane = world.lane()
    world.sink.tell(A, stage.DENIED)
    held = await world.put(lane, batch(0), batch(1), batch(2))
    await stage.settle()
    for each in held[:2]:
        each.gone = True
        await world.stock.done(each)
    await world.hands.move(60)
    assert world.calls == [[0], [2]]
    await lane.finish()


async def test_a_lane_that_has_only_what_was_dropped_ends(world: World) -> None:
    """It waits for nothing, and others may probe in its place."""
    world.sink.tell(A, *[stage.BROKEN] * 3)
    lane = world.lane()
    (held,) = await world.put(lane, batch(0))
    await world.hands.move(3)
    assert world.gate.shut
    held.gone = True
    await world.stock.done(held)
    assert not lane.waits
    await world.hands.move(60)
    assert lane.idle
    await world.put(world.lane(B), batch(1, stream=B))
    await stage.settle()
    assert world.sink.stored == {B: messages([1])}


async def test_a_batch_whose_file_is_damaged_is_passed_over(
    caplog: pytest.LogCaptureFixture, tmp_path: Path
) -> None:
    """It is in quarantine; the next one is sent at once."""
    world = World(Witness(caplog), tmp_path / "spool")
    held = await world.stock.take([batch(0), batch(1)])
    world.store.files()[0].write_bytes(b"?")
    lane = world.lane()
    lane.put(held)
    await lane.finish()
    assert world.calls == [[1]]
    assert world.witness.lost("spool_damaged") == 1


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
    await world.put(lane, batch(*range(size)))
    await lane.finish()
    assert world.sink.stored.get(A, []) == [m for m in messages(range(size)) if m not in poison]
    assert world.witness.lost("rejected") == 1
    (said,) = world.witness.said("samples_lost")
    assert "Log event is invalid" in str(said["detail"])
    assert world.hands.naps == []
    assert world.held == 0


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
    await world.put(lane, batch(*range(size)))
    await lane.finish()
    refused = len(poison & set(range(size)))
    assert world.sink.stored.get(A, []) == [m for m in messages(range(size)) if m not in bad]
    taken = world.witness.value("cwgpu_delivered_samples_total")
    assert (taken, world.witness.lost_in_all("rejected")) == (size - refused, refused)
    assert world.held == 0


async def test_a_half_that_must_be_bad_is_not_sent(world: World) -> None:
    """The first half is stored, so the second has what was refused: it is halved at once."""
    world.sink.refuses = lambda event: event.message == b"7"
    lane = world.lane()
    await world.put(lane, batch(*range(8)))
    await lane.finish()
    assert world.calls == [list(range(8)), [0, 1, 2, 3], [4, 5], [6], [7]]


async def test_both_halves_may_be_bad(world: World) -> None:
    """Of a half whose twin was refused, too, nothing is known."""
    world.sink.refuses = lambda event: event.message in {b"0", b"2"}
    lane = world.lane()
    await world.put(lane, batch(*range(4)))
    await lane.finish()
    assert world.calls == [[0, 1, 2, 3], [0, 1], [0], [1], [2, 3], [2], [3]]
    assert world.sink.stored[A] == messages([1, 3])


async def test_halves_that_fail_on_their_way(world: World) -> None:
    """The search goes on where it was, and nothing is sent twice that was stored."""
    lane = world.lane()
    world.sink.tell(A, stage.INVALID, stage.THROTTLED)
    world.sink.refuses = lambda event: event.message == b"3"
    await world.put(lane, batch(*range(4)))
    await stage.settle()
    await world.put(lane, batch(4))
    await world.hands.move(60)
    assert world.calls == [[0, 1, 2, 3], [0, 1], [4], [2, 3], [2], [3], [0, 1]]
    assert sorted(world.sink.stored[A]) == messages([0, 1, 2, 4])


async def check_search(world: World, size: int, poison: int) -> None:
    """Send a batch of which one event is refused."""
    bad = b"%d" % poison
    world.sink.refuses = lambda event: event.message == bad
    lane = world.lane()
    await world.put(lane, batch(*range(size)))
    await lane.finish()
    assert len(world.sink.sent) - 1 <= 2 * math.log2(size)
    stored = world.sink.stored.get(A, [])
    assert len(stored) == len(set(stored)) == size - 1
    assert world.witness.lost_in_all("rejected") == 1
    assert world.held == 0


@pytest.mark.parametrize("poison", [0, 6249, 9_999])
async def test_one_bad_event_among_ten_thousand(world: World, poison: int) -> None:
    """It costs itself, and no more calls than two for each time that the batch is halved."""
    await check_search(world, 10_000, poison)


@settings(
    max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(size=st.integers(1, 300), data=st.data())
async def test_one_bad_event_wherever_it_is(
    caplog: pytest.LogCaptureFixture, size: int, data: st.DataObject
) -> None:
    """The same is true of a batch of any size."""
    await check_search(World(Witness(caplog)), size, data.draw(st.integers(0, size - 1)))


def told(names: str, pod: str) -> EmfEvent:
    """Make an event as pages give them."""
    metrics = ",".join(f'{{"Name":"{name}"}}' for name in names.split())
    message = (
        f'{{"_aws":{{"CloudWatchMetrics":[{{"Namespace":"GPU","Dimensions":[["pod"]],'
        f'"Metrics":[{metrics}]}}]}},"pod":"{pod}"}}'
    )
    return EmfEvent.of(A, stage.START_MS, message.encode(), 1, 1)


async def test_what_is_refused_is_named(caplog: pytest.LogCaptureFixture, tmp_path: Path) -> None:
    """By its metrics and dimensions, and it is in quarantine for who wants to see it all."""
    world = World(Witness(caplog), tmp_path / "spool")
    bad = told("util temp", "train-0")
    world.sink.refuses = lambda event: event.message == bad.message
    lane = world.lane()
    await world.put(lane, LogBatch(A, (told("util", "b"), bad, told("util", "c"))))
    await lane.finish()
    (said,) = world.witness.said("samples_lost")
    assert said["detail"] == (
        "InvalidParameterException (HTTP 400): Log event is invalid: "
        "util and 1 more metric of pod=train-0 at 2023-11-14T22:13:20Z"
    )
    (aside,) = world.witness.said("quarantined")
    assert Path(str(aside["file"])).parent.name == "quarantine"
    assert aside["reason"] == said["detail"]
    assert world.store.files() == []


async def test_what_is_rejected_of_a_good_call_is_named(world: World) -> None:
    """The first of them by its name, the others by their number."""
    world.sink.tell(A, Answer("", rejected=Rejected(expired_end=2)))
    lane = world.lane()
    some = [told("util", pod) for pod in "abc"]
    await world.put(lane, LogBatch(A, tuple(some)))
    await lane.finish()
    (said,) = world.witness.said("samples_lost")
    assert said["detail"] == (
        "2 of 3 events too old: util of pod=a at 2023-11-14T22:13:20Z; and 1 more event"
    )
    assert world.witness.said("quarantined") == []


async def test_what_the_service_does_not_store_is_counted(world: World) -> None:
    """A call that succeeds in part is over: the rest is lost, by its reason."""
    world.sink.tell(A, Answer("", rejected=Rejected(too_old_end=1, too_new_start=3)))
    lane = world.lane()
    await world.put(lane, batch(1, 2, 3, 4))
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
    assert world.held == 1


async def test_hurry_ends_a_long_wait(world: World) -> None:
    """The process has to end: what waits for minutes is tried once more now."""
    lane = await world.send(stage.DENIED)
    world.gate.hurry()
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
    world.gate.hurry()
    world.sink.tell(A, *[answer] * 100)
    lane = world.lane()
    await world.put(lane, batch(1), batch(2))
    await world.hands.move(tries)
    await lane.finish()
    assert len(world.sink.sent) == tries
    assert lane.waits
    assert world.held == 2
    assert max(world.hands.naps, default=0) <= 1.0
    assert len(world.witness.said("delivery_retried")) == tries


async def test_in_a_hurry_an_outage_is_asked_after_once(world: World) -> None:
    """The gate is shut already: each stream has one try, and leaves the rest to the next start.

    Without a spool there is no next start for it: then there are as many tries as for others.
    """
    tries = 1 if world.directory else 4
    lanes = [world.lane(), world.lane(B)]
    for stream, lane in zip((A, B), lanes, strict=True):
        world.sink.tell(stream, *[stage.UNREACHED] * 99)
        await world.put(lane, batch(1, stream=stream))
    await world.hands.move(60)
    assert world.gate.shut
    before = len(world.calls)
    world.gate.hurry()
    await world.hands.move(20)
    assert len(world.calls) == before + 2 * tries
    assert all(lane.idle and lane.waits for lane in lanes)


async def test_in_a_hurry_throttling_is_outlasted(world: World) -> None:
    """The service is there and asks for patience; how much there is, others decide."""
    world.gate.hurry()
    lane = await world.send(*[stage.THROTTLED] * 30)
    await world.hands.move(30)
    await lane.finish()
    assert world.sink.stored[A] == messages([1])
    assert set(world.hands.naps) == {1.0}


@pytest.mark.parametrize("before_s", [0, 30])
async def test_throttling_uses_up_no_other_patience(world: World, before_s: float) -> None:
    """After many refusals for the rate, a broken connection still gets its tries."""
    answers = [*[stage.THROTTLED] * 9, stage.UNANSWERED, stage.BROKEN, stage.THROTTLED]
    lane = await world.send(*answers)
    await world.hands.move(before_s)
    world.gate.hurry()
    await world.hands.move(60)
    await lane.finish()
    assert world.sink.stored[A] == messages([1])


async def test_what_is_stopped_in_a_call_is_still_held(world: World) -> None:
    """Nobody knows whether it is stored: it is left to the next process, or counted as lost."""
    world.sink.silent = True
    lane = await world.send()
    await world.put(lane, batch(2, 3))
    assert lane.waits
    await lane.stop()
    assert lane.trouble is None
    assert world.held == 2
    rest = Rest(2, 3, 0) if world.directory else Rest(0, 0, 3)
    assert await world.stock.settle() == rest


@pytest.mark.parametrize("steps", range(0, 40, 3))
async def test_a_stop_at_any_moment_loses_nothing(world: World, steps: int) -> None:
    """Whatever it is that the lane waits for: what is not decided on is still held."""
    world.sink.tell(A, stage.MISSING, stage.INVALID, stage.THROTTLED)
    world.sink.refuses = lambda event: event.message == b"2"
    lane = world.lane()
    await world.put(lane, batch(*range(4)))
    for _ in range(steps):
        if not lane.idle:
            await world.hands.move(0.2) if world.hands.sleeping else await asyncio.sleep(0)
    await lane.stop()
    rest = await world.stock.settle()
    stored = {int(message) for message in world.sink.stored.get(A, [])}
    rejected = world.witness.lost_in_all("rejected")
    assert len(world.sink.stored.get(A, [])) == len(stored)
    assert len(stored) + rejected + rest.lost_samples + rest.spooled_samples == 4
    if world.directory:
        await world.stock.close()
        stock, found = world.store.start()
        kept = [await stock.open(held) for held in stock.inherit(found.slips)]
        left = {int(one.message) for each in kept if each for one in parcel.unpack(each).events}
        assert stored | left >= {0, 1, 3}


async def test_a_stopped_lane_may_be_idle(world: World) -> None:
    """Nothing was put, nothing is lost."""
    lane = world.lane()
    await lane.stop()
    assert lane.idle


async def test_a_bug_loses_nothing(world: World) -> None:
    """What was in hand is sent when the next batch comes; the gate has not lost a call."""
    error = RuntimeError("nobody thought of this")

    def fail() -> None:
        world.sink.asked = lambda: None
        raise error

    world.sink.asked = fail
    lane = await world.send()
    with pytest.raises(RuntimeError):
        await lane.finish()
    assert lane.waits
    await world.put(lane, batch(2))
    await lane.finish()
    assert world.sink.stored[A] == messages([2, 1])


async def test_trouble_names_the_last_answer(world: World) -> None:
    """What the exit code is made of."""
    world.gate.hurry()
    lane = await world.send(*[stage.UNREACHED] * 9)
    await world.hands.move(9)
    assert isinstance(lane.trouble, Retry)
    assert lane.trouble.kind is RetryKind.NETWORK
    assert lane.said == "ConnectionError: connection refused"


async def test_a_success_is_the_end_of_trouble(world: World) -> None:
    """Of the lane's, and of what the stock was told of it."""
    lane = await world.send(stage.THROTTLED)
    assert world.stock.troubled
    await world.hands.move(1)
    assert lane.trouble is None
    assert lane.said == ""
    assert world.stock.troubled is False


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
    """Any trouble that ends leaves every event stored, once."""
    world = World(Witness(caplog))
    world.sink.tell(A, *answers)
    lane = world.lane()
    numbers = iter(range(100))
    for size in sizes:
        await world.put(lane, batch(*(next(numbers) for _ in range(size))))
    await world.hands.move(300 * (len(answers) + 1))
    await lane.finish()
    assert sorted(map(int, world.sink.stored[A])) == list(range(sum(sizes)))
    assert world.witness.said("samples_lost") == []
