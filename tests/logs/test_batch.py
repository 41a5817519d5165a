"""Batches: every limit of PutLogEvents holds, and nothing gets lost."""

from collections.abc import Sequence
from functools import cache
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cwgpu.logs import batch, parcel, verdict
from cwgpu.model.drop import DropReason
from cwgpu.model.event import EmfEvent, LogBatch, StreamKey
from cwgpu.sinks import reply
from tests.fakes import limits
from tests.fakes.refusal import Refused

STREAM = StreamKey("/aws/containerinsights/eks-lab/prometheus", "gpu")
HOUR_MS = 3_600_000
DAY_MS = 24 * HOUR_MS
NOW_MS = 1_765_000_000_000
MOST_BYTES = 1_048_576


def event(at_ms: int = NOW_MS, size_bytes: int = 100, mark: int = 0) -> EmfEvent:
    """Make an event of a size; the mark tells events apart."""
    return EmfEvent.of(STREAM, at_ms, b"x" * size_bytes, mark, 2 * mark)


def sizes(events: Sequence[EmfEvent]) -> list[int]:
    """Cut, and give the number of events of each batch."""
    return [len(one.events) for one in batch.cut(events, NOW_MS).batches]


def refusal(events: Sequence[EmfEvent]) -> str | None:
    """Ask the service's rules, as the fake has them, whether a call stores all of these."""
    written = [{"timestamp": each.at_ms, "message": each.message.decode()} for each in events]
    try:
        window = limits.window(limits.log_events({"logEvents": written}), NOW_MS, None)
    except Refused as refused:
        return str(refused)
    return str(window.rejected()) if window.rejected() else None


def check(one: LogBatch) -> None:
    """Hold a batch against every limit of the service."""
    assert one.stream == STREAM
    assert refusal(one.events) is None


def test_no_events_give_no_batch() -> None:
    """An empty flush makes no call."""
    assert batch.cut([], NOW_MS) == batch.Cut((), ())


def test_events_are_sorted_by_time_and_stay_in_order_within_it() -> None:
    """The service wants rising times; equal times keep the order of the scrape."""
    events = [event(NOW_MS + at, mark=mark) for mark, at in enumerate([5, 0, 5, -5, 0])]
    (one,) = batch.cut(events, NOW_MS).batches
    assert [event.samples for event in one.events] == [3, 1, 4, 0, 2]


@pytest.mark.parametrize(
    ("count", "batches"),
    [(10_000, [10_000]), (10_001, [10_000, 1]), (25_000, [10_000, 10_000, 5_000])],
)
def test_a_batch_has_ten_thousand_events_at_most(count: int, batches: list[int]) -> None:
    """One event more begins another call."""
    assert sizes([event(size_bytes=1)] * count) == batches


@pytest.mark.parametrize(
    ("first", "second", "batches"),
    [
        (MOST_BYTES - 152, 100, [2]),
        (MOST_BYTES - 151, 100, [1, 1]),
        (MOST_BYTES - 26, 1, [1, 1]),
    ],
)
def test_a_batch_has_a_mebibyte_less_the_margin(
    first: int, second: int, batches: list[int]
) -> None:
    """Messages count with 26 bytes each on top."""
    assert sizes([event(size_bytes=first), event(size_bytes=second)]) == batches


@pytest.mark.parametrize(
    ("span_ms", "batches"), [(DAY_MS, [2]), (DAY_MS + 1, [1, 1]), (3 * DAY_MS, [1, 1])]
)
def test_a_batch_spans_a_day_at_most(span_ms: int, batches: list[int]) -> None:
    """Old events that come late are not put into one call with new ones."""
    assert sizes([event(NOW_MS), event(NOW_MS - span_ms)]) == batches


@pytest.mark.parametrize(
    ("late", "reason"),
    [
        (event(NOW_MS - 14 * DAY_MS), None),
        (event(NOW_MS - 14 * DAY_MS - 1), DropReason.TOO_OLD),
        (event(NOW_MS + 2 * HOUR_MS), None),
        (event(NOW_MS + 2 * HOUR_MS + 1), DropReason.TOO_NEW),
        (event(size_bytes=MOST_BYTES - 26), None),
        (event(size_bytes=MOST_BYTES - 25), DropReason.TOO_LARGE),
    ],
)
def test_what_the_service_would_not_store_is_dropped_alone(
    late: EmfEvent, reason: DropReason | None
) -> None:
    """Only the event itself goes, with its reason."""
    cut = batch.cut([event(mark=1), late, event(mark=2)], NOW_MS)
    assert cut.dropped == (() if reason is None else ((late, reason),))
    kept = [event for one in cut.batches for event in one.events]
    assert len(kept) == (3 if reason is None else 2)
    for one in cut.batches:
        check(one)


@cache
def message(size_bytes: int) -> bytes:
    """Make a text of so many bytes, and half as many characters."""
    return ("x" * (size_bytes % 2) + "ü" * (size_bytes // 2)).encode()


def near(*values: int) -> st.SearchStrategy[int]:
    """Give the values and their neighbours."""
    return st.tuples(st.sampled_from(values), st.integers(-1, 1)).map(sum)


TIMES = near(
    *(NOW_MS + at for at in (0, -DAY_MS, 2 * HOUR_MS - DAY_MS, -13 * DAY_MS)),
    *(NOW_MS + at for at in (-14 * DAY_MS, 2 * HOUR_MS, -15 * DAY_MS, 3 * HOUR_MS)),
)
LARGE = near(2, 100, MOST_BYTES // 4 - 26, MOST_BYTES // 2 - 26, MOST_BYTES - 26)
# 10,000 of 78 bytes fit into a call, and of 79 bytes too much is 1,424 bytes.
TINY = st.sampled_from([1, 77, 78, 79, 80])
MANY = near(1, 5_000, 10_000)


def events_of(groups: Sequence[tuple[int, int, int]]) -> list[EmfEvent]:
    """Make events that are told apart by what they carry: each (time, bytes, how many)."""
    singles = [(at_ms, size) for at_ms, size, count in groups for _ in range(count)]
    return [
        EmfEvent.of(STREAM, at_ms, message(size), mark, 2 * mark)
        for mark, (at_ms, size) in enumerate(singles, 1)
    ]


WORDS = {
    DropReason.TOO_OLD: "tooOldLogEventEndIndex",
    DropReason.TOO_NEW: "tooNewLogEventStartIndex",
    DropReason.TOO_LARGE: "Log event too large",
}


def check_cut(events: Sequence[EmfEvent]) -> None:
    """Hold the laws of a cut against the service's rules."""
    cut = batch.cut(events, NOW_MS)
    for one in cut.batches:
        check(one)
    for first, second in pairwise(cut.batches):
        assert refusal((*first.events, second.events[0]))
    for gone, reason in cut.dropped:
        # An event may be late and large; either is a reason to drop it.
        timely = gone._replace(at_ms=NOW_MS)
        small = gone._replace(quoted=b"{}", size_bytes=len(b"{}"))
        bad = timely if reason is DropReason.TOO_LARGE else small
        assert WORDS[reason] in (refusal([bad]) or "")
    lost = {gone.samples for gone, _ in cut.dropped}
    assert [gone.samples for gone, _ in cut.dropped] == sorted(lost)
    kept = [each for one in cut.batches for each in one.events]
    survivors = [each for each in events if each.samples not in lost]
    assert kept == sorted(survivors, key=lambda each: each.at_ms)


@given(st.lists(st.tuples(TIMES, LARGE, st.just(1)), max_size=12))
def test_every_limit_holds_to_the_byte_and_the_millisecond(
    groups: list[tuple[int, int, int]],
) -> None:
    """The service takes every batch, would not take one event more, and nothing is lost."""
    check_cut(events_of(groups))


@settings(max_examples=20)
@given(st.lists(st.tuples(TIMES, TINY, MANY), max_size=3), st.booleans())
def test_every_limit_holds_for_tens_of_thousands(
    groups: list[tuple[int, int, int]],
    giant: bool,  # noqa: FBT001 - drawn
) -> None:
    """Whether the number or the bytes are too much first, and with a giant among the tiny ones."""
    check_cut(events_of([*groups, *([(NOW_MS, MOST_BYTES - 26, 1)] if giant else [])]))


@pytest.mark.parametrize(("size_bytes", "batches"), [(78, [10_000]), (79, [9_986, 14])])
def test_bytes_or_number_whichever_is_less(size_bytes: int, batches: list[int]) -> None:
    """Events of 78 bytes fill a call with their number, those of 79 with their bytes."""
    assert sizes([event(size_bytes=size_bytes)] * 10_000) == batches


DAYS = st.none() | st.sampled_from([1, 3, 5, 7, 14])
LATER_MS = near(0, -3 * HOUR_MS, -2 * HOUR_MS, HOUR_MS, DAY_MS, 3 * DAY_MS, 13 * DAY_MS)


@given(
    st.lists(st.tuples(TIMES, st.just(2), st.integers(1, 3)), min_size=1, max_size=12),
    DAYS,
    LATER_MS,
)
def test_what_the_service_does_not_store_is_accounted_for(
    groups: list[tuple[int, int, int]], days: int | None, later_ms: int
) -> None:
    """However long a batch waited, however short its group keeps events, whatever the clocks."""
    for one in batch.cut(events_of(groups), NOW_MS).batches:
        written = [{"timestamp": each.at_ms, "message": "{}"} for each in one.events]
        window = limits.window(limits.log_events({"logEvents": written}), NOW_MS + later_ms, days)
        info = {"rejectedLogEventsInfo": window.rejected()} if window.rejected() else {}
        status = {"HTTPStatusCode": 200, "HTTPHeaders": {}}
        answer = reply.success(info | {"ResponseMetadata": status})
        found = verdict.judge(answer, parcel.waybill(one))
        assert isinstance(found, verdict.Delivered)
        stored = LogBatch(STREAM, one.events[window.valid])
        assert found.outcome.delivered_events == len(stored.events)
        assert found.outcome.delivered_samples == stored.samples
        assert found.outcome.delivered_datapoints == stored.datapoints
        lost = {
            DropReason.TOO_OLD: sum(each.samples for each in one.events[: window.valid.start]),
            DropReason.TOO_NEW: sum(each.samples for each in one.events[window.valid.stop :]),
        }
        assert dict(found.outcome.dropped) == {why: lost[why] for why in lost if lost[why]}
