"""What is held: where it lies, how long and how much of it, and what becomes of it at the end."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

import pytest

from cwgpu.agent import stock as stocks
from cwgpu.agent.shelf import Held
from cwgpu.agent.stock import Rest, Stock
from cwgpu.logs import parcel
from cwgpu.model.event import EmfEvent, LogBatch, Parcel, StreamKey
from cwgpu.plan.plan import SpoolMode
from cwgpu.spool.found import Segment
from tests.agent import stage
from tests.agent.stage import START_MS, A, B, Hands, Store, Witness, batch, event

BLOCK = 4096
DAY_S = 86_400.0
ALWAYS, ON_FAILURE, OFF = SpoolMode.ALWAYS, SpoolMode.ON_FAILURE, SpoolMode.OFF


@pytest.fixture
def store(caplog: pytest.LogCaptureFixture, tmp_path: Path) -> Store:
    """Give a store whose directory is there and empty."""
    return Store(Witness(caplog), Hands(), tmp_path / "spool")


def gone(held: Held) -> bool:
    """Tell whether a batch was dropped."""
    return held.gone


def spools(stock: Stock) -> bool:
    """Tell whether the disk takes batches."""
    return stock.spools


async def take(stock: Stock, *numbers: int, stream: StreamKey = A, age_s: float = 0) -> Held:
    """Hold a batch with these events, which are so old."""
    at_ms = START_MS - int(age_s * 1000)
    some = tuple(event(number, stream, at_ms=at_ms) for number in numbers)
    (held,) = await stock.take([LogBatch(stream, some)])
    return held


async def sent(stock: Stock, held: Held) -> list[int]:
    """Give the numbers of the events that a batch would be sent with."""
    opened = await stock.open(held)
    assert opened is not None
    return [int(each.message) for each in parcel.unpack(opened).events]


def noted(stock: Stock, some: Sequence[EmfEvent]) -> tuple[Segment, ...]:
    """Note events and give where they are."""
    stock.note(some)
    return stock.seal()


async def test_always_writes_before_anything_is_sent(store: Store) -> None:
    """And what was noted leaves the log in the same step."""
    stock, _ = store.start()
    segments = noted(stock, batch(1, 2).events)
    assert [path.suffix for path in store.files("wal")] == [".log"]
    (held,) = await stock.take([batch(1, 2)], segments)
    assert held.parcel is None
    assert len(store.files()) == 1
    assert store.files("wal") == []
    assert await sent(stock, held) == [1, 2]
    await stock.done(held)
    assert store.files() == []
    assert store.witness.value("cwgpu_spool_failures_total") == 0


@pytest.mark.parametrize("mode", [ON_FAILURE, OFF])
async def test_memory_comes_first_in_other_modes(store: Store, mode: SpoolMode) -> None:
    """Nothing is written as long as all goes well."""
    store.mode = mode
    stock = store.stock(None) if mode is OFF else store.start()[0]
    assert noted(stock, batch(1).events) == ()
    held = await take(stock, 1)
    await stock.tidy()
    assert held.slip is None
    assert await sent(stock, held) == [1]
    assert spools(stock) is (mode is ON_FAILURE)
    assert store.witness.value("cwgpu_queue_batches") == 1
    assert store.witness.value("cwgpu_spool_batches") == 0


async def test_what_is_decided_on_waits_no_more(store: Store) -> None:
    """The gauges know at once, and not at the next flush, which may be an hour away."""
    stock, _ = store.start()
    accepted, refused = await take(stock, 1), await take(stock, 2)
    parcel = await stock.open(refused)
    assert parcel is not None
    assert store.witness.value("cwgpu_queue_batches") == 2
    await stock.done(accepted)
    assert store.witness.value("cwgpu_queue_batches") == 1
    await stock.refused(refused, parcel, "an event is wrong")
    assert store.witness.value("cwgpu_queue_batches") == 0
    assert store.witness.value("cwgpu_queue_oldest_age_seconds") == 0


async def test_a_failure_brings_what_waits_to_the_disk(store: Store) -> None:
    """At the next flush, and all of it; then it is read from there."""
    store.mode = ON_FAILURE
    stock, _ = store.start()
    held = [await take(stock, number) for number in range(3)]
    stock.troubled = True
    await stock.tidy()
    assert len(store.files()) == 3
    assert store.witness.value("cwgpu_spool_batches") == 3
    assert store.witness.value("cwgpu_spool_bytes") == 3 * BLOCK
    assert [await sent(stock, each) for each in held] == [[0], [1], [2]]
    for each in held:
        await stock.done(each)
    assert store.files() == []


async def test_a_full_memory_goes_to_the_disk(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Calls that take long are no failure, and memory has a bound all the same."""
    monkeypatch.setattr(stocks, "SPILL_BYTES", 1000)
    store.mode = ON_FAILURE
    stock, _ = store.start()
    while store.witness.value("cwgpu_queue_bytes") <= 1000:
        assert store.files() == []
        await take(stock, 1)
        await stock.tidy()
        if store.files():
            break
    await stock.tidy()
    assert store.witness.value("cwgpu_spool_batches") == len(store.files()) > 5
    assert store.witness.value("cwgpu_queue_batches") == len(store.files())


@pytest.mark.parametrize("mode", [ALWAYS, ON_FAILURE])
async def test_the_end_leaves_all_to_the_next_process(store: Store, mode: SpoolMode) -> None:
    """Which finds it, and says how much it is; so did the first."""
    store.mode = mode
    stock, _ = store.start()
    await take(stock, 1, 2)
    await take(stock, 3, stream=B)
    assert await stock.settle() == Rest(2, 3, 0)
    await stock.close()
    assert store.witness.said("samples_lost") == []
    stock, found = store.start()
    held = stock.inherit(found.slips)
    assert sorted([await sent(stock, each) for each in held]) == [[1, 2], [3]]


async def test_the_end_without_a_spool_is_a_loss(store: Store) -> None:
    """Counted to the sample, with what the service said last of its stream."""
    stock = store.stock(None)
    await take(stock, 1, 2)
    await take(stock, 3, stream=B)
    assert await stock.settle({A: "AccessDeniedException: no"}) == Rest(0, 0, 3)
    assert store.witness.lost("shutdown") == 3
    assert [one["detail"] for one in store.witness.said("samples_lost")] == [
        "the process had to end: AccessDeniedException: no",
        "the process had to end: no answer came",
    ]
    assert store.witness.value("cwgpu_queue_batches") == 0


async def test_the_end_on_a_full_disk(store: Store) -> None:
    """What the disk has is left there, and the rest is lost: each is told."""
    stock, _ = store.start()
    await take(stock, 1, 2)
    with stage.full_disk():
        await take(stock, 3)
        assert await stock.settle() == Rest(1, 2, 1)
    assert store.witness.lost("shutdown") == 1


async def test_too_much_loses_the_oldest(store: Store) -> None:
    """Of all streams, whatever their order was; the files go, too."""
    store.most_bytes = 3 * BLOCK
    stock, _ = store.start()
    ages = {0: 50, 1: 70, 2: 10, 3: 60}
    held = {
        number: await take(stock, number, stream=B if number % 2 else A, age_s=age_s)
        for number, age_s in ages.items()
    }
    assert [number for number, each in held.items() if gone(each)] == [1]
    assert store.witness.lost("queue_full") == 1
    await take(stock, 4)
    assert [number for number, each in held.items() if gone(each)] == [1, 3]
    assert len(store.files()) == 3
    (detail,) = {one["detail"] for one in store.witness.said("samples_lost")}
    assert detail == f"more than {3 * BLOCK} bytes waited to be delivered"


async def test_what_is_in_flight_is_never_dropped(store: Store) -> None:
    """It may be stored already: the next ones go, and it still counts as held."""
    store.most_bytes = BLOCK
    stock, _ = store.start()
    busy = await take(stock, 1, age_s=100)
    busy.busy = True
    await take(stock, 2, age_s=50)
    await take(stock, 3)
    assert not gone(busy)
    assert store.witness.lost("queue_full") == 2
    assert store.witness.value("cwgpu_queue_oldest_age_seconds") == 100
    busy.busy = False
    await stock.tidy()
    assert not gone(busy)


async def test_memory_alone_has_the_same_bound(store: Store) -> None:
    """Counted as it takes memory: the packed body and what is known of it."""
    store.most_bytes = 1000
    stock = store.stock(None)
    held = [await take(stock, number, age_s=100 - number) for number in range(20)]
    kept = [each for each in held if not gone(each)]
    assert 1 < len(kept) == len(held) - store.witness.lost("queue_full")
    assert kept == held[-len(kept) :]
    assert 1000 - 300 < store.witness.value("cwgpu_queue_bytes") <= 1000


async def test_too_old_is_lost(store: Store) -> None:
    """By its newest event, and only when its time is over."""
    store.most_age_s = 3600
    stock, _ = store.start()
    old = await take(stock, 1, 2, age_s=1800)
    new = await take(stock, 3)
    await store.hands.move(1800)
    await stock.tidy()
    assert not gone(old)
    await store.hands.move(1)
    await stock.tidy()
    assert gone(old)
    assert not gone(new)
    assert store.witness.lost("queue_age") == 2
    (said,) = store.witness.said("samples_lost")
    assert said["detail"] == "it could not be delivered for 1.0 h"
    assert len(store.files()) == 1


@pytest.mark.parametrize("days", [30, -30])
async def test_a_clock_that_jumps_changes_no_age(store: Store, days: int) -> None:
    """Somebody puts it right: what is held was not scraped a month ago because of that."""
    store.most_age_s = 3600
    stock, _ = store.start()
    held = await take(stock, 1)
    store.hands.off_s = days * DAY_S
    await stock.tidy()
    assert not gone(held)
    assert store.witness.value("cwgpu_queue_oldest_age_seconds") == 0
    await store.hands.move(3601)
    await stock.tidy()
    assert gone(held)
    assert store.witness.lost("queue_age") == 1


async def test_what_comes_from_the_future_is_new(store: Store) -> None:
    """A clock was set back since: it is held for as long as if it had come now."""
    store.most_age_s = 3600
    stock, _ = store.start()
    held = await take(stock, 1, age_s=-30 * DAY_S)
    await store.hands.move(3600)
    await stock.tidy()
    assert not gone(held)
    await store.hands.move(1)
    await stock.tidy()
    assert gone(held)


async def test_an_age_counts_over_a_restart(store: Store) -> None:
    """What a former process left is as old as its events are."""
    store.most_age_s = 3600
    stock, _ = store.start()
    await take(stock, 1, age_s=3000)
    await take(stock, 2)
    await stock.settle()
    await stock.close()
    await store.hands.move(601)
    stock, found = store.start()
    old, new = stock.inherit(found.slips)
    await stock.tidy()
    assert (gone(old), gone(new)) == (True, False)


async def test_a_full_disk_stops_nothing(store: Store) -> None:
    """It goes on from memory, is told, and is on the disk as soon as there is room again."""
    stock, _ = store.start()
    before = await take(stock, 1)
    with stage.full_disk():
        segments = noted(stock, batch(2).events)
        (held,) = await stock.take([batch(2)], segments)
        assert not spools(stock)
        assert stage.numbers(held) == [2]
        assert await sent(stock, before) == [1]
        await stock.done(before)
        await stock.tidy()
    assert store.files("new") == []
    assert store.witness.value("cwgpu_spool_failures_total") >= 2
    assert store.witness.levels("spool_failed") == {"ERROR"}
    assert store.witness.said("spool_failed")[0]["reason"] == "File too large"
    await stock.tidy()
    assert spools(stock)
    assert len(store.witness.said("spool_recovered")) == 1
    assert held.slip is not None
    assert await sent(stock, held) == [2]
    assert store.files("tmp") == []


async def test_what_was_noted_is_not_found_beside_its_batch(store: Store) -> None:
    """The log was written, the batch could not be: memory has it, and then one file."""
    stock, _ = store.start()
    segments = noted(stock, batch(1).events)
    with stage.full_disk():
        await stock.take([batch(1)], segments)
    assert store.files("wal") == []
    assert await stock.settle() == Rest(1, 1, 0)


async def test_a_directory_that_goes_and_comes(store: Store) -> None:
    """As when a volume is unmounted: the same as a full disk."""
    stock, _ = store.start()
    assert store.directory is not None
    away = store.directory.with_name("away")
    store.directory.rename(away)
    stock.note(batch(1).events)
    held = await take(stock, 1)
    assert not spools(stock)
    away.rename(store.directory)
    await stock.tidy()
    assert spools(stock)
    assert held.slip is not None
    assert len(store.files()) == 1


async def test_memory_is_no_refuge_without_end(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The oldest that lie in memory go. Those on the disk take none, and stay."""
    monkeypatch.setattr(stocks, "REFUGE_BYTES", 1000)
    stock, _ = store.start()
    on_disk = [await take(stock, number, age_s=900) for number in range(5)]
    with stage.full_disk():
        in_memory = [await take(stock, number, age_s=800 - number) for number in range(20)]
    assert not any(gone(each) for each in on_disk)
    kept = [each for each in in_memory if not gone(each)]
    assert 1 < len(kept) < 10
    assert kept == in_memory[-len(kept) :]
    assert store.witness.lost("queue_full") == 20 - len(kept)
    (detail,) = {one["detail"] for one in store.witness.said("samples_lost")}
    assert detail == "more than 1000 bytes waited in memory, for the disk fails"
    assert await stock.settle() == Rest(5 + len(kept), 5 + len(kept), 0)


@pytest.mark.parametrize(
    ("damage", "reason"),
    [
        (lambda data: data[:-3], "it was cut off"),
        (lambda data: data[:-3] + b"???", "its body is damaged"),
        (lambda data: data + b"?", "it goes on for 1 bytes after its end"),
    ],
    ids=["cut", "flipped", "longer"],
)
async def test_a_damaged_file_costs_itself(
    store: Store, damage: Callable[[bytes], bytes], reason: str
) -> None:
    """Found when it is to be sent: it is in quarantine and counted, and others go on."""
    stock, _ = store.start()
    bad, good = await take(stock, 1, 2), await take(stock, 3)
    assert bad.slip is not None
    file = next(path for path in store.files() if path.name == bad.slip.name)
    file.write_bytes(damage(file.read_bytes()))
    assert await stock.open(bad) is None
    assert store.witness.lost("spool_damaged") == 2
    (said,) = store.witness.said("quarantined")
    assert reason in str(said["reason"])
    assert said["samples"] == 2
    assert Path(str(said["file"])).parent.name == "quarantine"
    assert store.witness.value("cwgpu_spool_quarantined_files_total") == 1
    assert await sent(stock, good) == [3]
    assert await stock.settle() == Rest(1, 1, 0)


async def test_a_file_that_somebody_removed(store: Store) -> None:
    """There is nothing to set aside; what it held is counted."""
    stock, _ = store.start()
    held = await take(stock, 1, 2)
    (file,) = store.files()
    file.unlink()
    assert await stock.open(held) is None
    assert store.witness.lost("spool_damaged") == 2
    (said,) = store.witness.said("samples_lost")
    assert said["detail"] == "its file was removed from the spool"
    assert await stock.settle() == Rest()


async def test_a_file_that_cannot_be_read_for_now(store: Store) -> None:
    """The disk fails, which says nothing of the batch: it is held, bounded, and there later."""
    stock, _ = store.start()
    held = await take(stock, 1, 2)
    with stage.unreadable(store):
        assert await stock.open(held) is None
    assert not held.gone
    assert store.witness.said("samples_lost") == []
    assert [one["reason"] for one in store.witness.said("spool_failed")] == ["Not a directory"]
    assert await stock.open(held) is not None
    assert await stock.settle() == Rest(1, 2, 0)
    await stock.close()
    again, found = store.start()
    (held,) = again.inherit(found.slips)
    assert await sent(again, held) == [1, 2]


async def test_damaged_files_of_a_former_process(store: Store) -> None:
    """What they carried is counted where that can be told; all others go on."""
    stock, _ = store.start()
    await take(stock, 1, 2, age_s=10)
    await take(stock, 3)
    await stock.settle()
    await stock.close()
    first, _ = store.files()
    first.write_bytes(first.read_bytes()[:-1])
    first.with_name("notes.txt").write_text("not ours", "utf-8")
    stock, found = store.start()
    stock.quarantined(found.quarantined)
    assert store.witness.lost("spool_damaged") == 2
    assert store.witness.value("cwgpu_spool_quarantined_files_total") == 2
    assert ["samples" in one for one in store.witness.said("quarantined")] == [True, False]
    (held,) = stock.inherit(found.slips)
    assert await sent(stock, held) == [3]


@pytest.mark.parametrize("mode", [ALWAYS, ON_FAILURE])
async def test_what_was_only_noted_becomes_a_batch(store: Store, mode: SpoolMode) -> None:
    """A process was killed: the next one, in whatever mode, finds it once and not again."""
    stock, _ = store.start()
    stock.note(batch(1, 2).events)
    await stock.close()
    store.mode = mode
    stock, found = store.start()
    ((segment, some),) = found.segments
    assert [each.message for each in some] == [b"1", b"2"]
    (held,) = await stock.take([LogBatch(A, some)], [segment])
    assert store.files("wal") == []
    assert len(store.files()) == 1
    assert await sent(stock, held) == [1, 2]
    await stock.close()
    assert store.start()[1].segments == ()


async def test_two_halves_take_the_place_of_a_batch(store: Store) -> None:
    """On the disk, in one step; the second is known as the twin of the first."""
    stock, _ = store.start()
    held = await take(stock, 1, 2, 3)
    whole = await stock.open(held)
    assert whole is not None
    first, second = await stock.split(held, whole)
    assert (await sent(stock, first), await sent(stock, second)) == ([1], [2, 3])
    assert first.twin is second
    assert len(store.files()) == 2
    assert await stock.settle() == Rest(2, 3, 0)


async def test_two_halves_on_a_full_disk(store: Store) -> None:
    """They go on in memory, and the file of the whole is there no more."""
    stock, _ = store.start()
    held = await take(stock, 1, 2)
    whole = await stock.open(held)
    assert whole is not None
    with stage.full_disk():
        first, second = await stock.split(held, whole)
        assert (stage.numbers(first), stage.numbers(second)) == ([1], [2])
    assert store.files() == []
    assert await stock.settle() == Rest(2, 2, 0)


async def test_what_cloudwatch_refuses_is_kept_for_people(store: Store) -> None:
    """In quarantine, with the reason beside it; it does not come again."""
    stock, _ = store.start()
    held = await take(stock, 1)
    opened = await stock.open(held)
    assert opened is not None
    await stock.refused(held, opened, "InvalidParameterException: too long")
    assert store.files() == []
    kept, why = store.files("quarantine")
    assert why.read_text() == "InvalidParameterException: too long\n"
    (said,) = store.witness.said("quarantined")
    assert said["file"] == str(kept)
    await stock.settle()
    await stock.close()
    assert store.start()[1].slips == ()


class Slow:
    """A hand that works, and then waits until it is told to say so."""

    def __init__(self) -> None:
        self.may = asyncio.Event()
        self.may.set()

    async def __call__(self, work: Callable[[], object]) -> object:
        """Work."""
        done = work()
        await self.may.wait()
        return done


DEEDS: dict[str, tuple[Callable[[Stock, Held, Parcel], Awaitable[object]], int]] = {
    "done": (lambda stock, held, _: stock.done(held), 0),
    "refused": (lambda stock, held, opened: stock.refused(held, opened, "why"), 0),
    "split": (lambda stock, held, opened: stock.split(held, opened), 2),
}


@pytest.mark.parametrize("first", ["the move", "the deed"])
@pytest.mark.parametrize("deed", DEEDS)
async def test_what_is_decided_on_while_it_moves_to_the_disk(
    store: Store, deed: str, first: str
) -> None:
    """It is held once, or not at all; no file is left that would be sent again."""
    hand = Slow()
    store.mode, store.hand = ON_FAILURE, hand
    stock, _ = store.start()
    held = await take(stock, 1, 2)
    opened = await stock.open(held)
    assert opened is not None
    do, batches = DEEDS[deed]
    work: list[Callable[[], Awaitable[object]]]
    work = [stock.tidy, lambda: do(stock, held, opened)]
    stock.troubled = True
    hand.may.clear()
    tasks = []
    for each in work if first == "the move" else work[::-1]:
        tasks.append(asyncio.ensure_future(each()))
        await stage.settle()
    held.busy = True  # its turn had come
    hand.may.set()
    await asyncio.gather(*tasks)
    assert held.busy
    held.busy = False
    assert await stock.settle() == Rest(batches, batches and 2, 0)
    assert len(store.files()) == batches


async def test_what_is_sent_while_it_moves_is_still_being_sent(store: Store) -> None:
    """The move is over, the call is not: it is not dropped under it."""
    hand = Slow()
    store.mode, store.hand, store.most_bytes = ON_FAILURE, hand, BLOCK - 1
    stock, _ = store.start()
    held = await take(stock, 1)
    stock.troubled = True
    hand.may.clear()
    tidying = asyncio.create_task(stock.tidy())
    await stage.settle()
    held.busy = True
    hand.may.set()
    await tidying
    assert held.slip is not None
    assert not gone(held)
    held.busy = False
    await stock.tidy()
    assert gone(held)
    assert store.witness.lost("queue_full") == 1
    assert store.files() == []
