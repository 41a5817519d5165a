"""Batches: every limit of PutLogEvents holds, and nothing gets lost."""

from collections.abc import Sequence
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cwgpu.logs import batch
from cwgpu.model.drop import DropReason
from cwgpu.model.event import EmfEvent, LogBatch, StreamKey

STREAM = StreamKey("/aws/containerinsights/eks-lab/prometheus", "gpu")
HOUR_MS = 3_600_000
DAY_MS = 24 * HOUR_MS
NOW_MS = 1_765_000_000_000
MOST_BYTES = 1_048_576


def event(at_ms: int = NOW_MS, size_bytes: int = 100, mark: int = 0) -> EmfEvent:
    """Make an event of a size; the mark tells events apart."""
    return EmfEvent(STREAM, at_ms, b"x" * size_bytes, samples=mark, datapoints=2 * mark)


def sizes(events: Sequence[EmfEvent]) -> list[int]:
    """Cut, and give the number of events of each batch."""
    return [len(one.events) for one in batch.cut(events, NOW_MS).batches]


def check(one: LogBatch) -> None:
    """Hold a batch against every limit of the service."""
    times = [event.at_ms for event in one.events]
    assert one.stream == STREAM
    assert 1 <= len(times) <= 10_000
    assert sum(len(event.message) + 26 for event in one.events) <= MOST_BYTES
    assert all(earlier <= later for earlier, later in pairwise(times))
    assert times[-1] - times[0] <= DAY_MS
    assert times[0] >= NOW_MS - 14 * DAY_MS
    assert times[-1] <= NOW_MS + 2 * HOUR_MS


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


EVENTS = st.lists(
    st.builds(
        event,
        st.one_of(
            st.integers(-15 * DAY_MS, 3 * HOUR_MS), st.integers(-30 * HOUR_MS, 0), st.integers(0, 2)
        ).map(NOW_MS.__add__),
        st.sampled_from([1, 100, 200_000, 500_000, MOST_BYTES // 2 - 26, MOST_BYTES]),
        st.integers(0, 100),
    ),
    max_size=25,
)


@given(EVENTS)
@settings(max_examples=200, deadline=None)
def test_every_event_is_in_one_batch_or_dropped(events: list[EmfEvent]) -> None:
    """Whatever comes in, all limits hold, nothing is lost and equal times keep their order."""
    cut = batch.cut(events, NOW_MS)
    for one in cut.batches:
        check(one)
    gone = [event for event, _ in cut.dropped]
    kept = [event for one in cut.batches for event in one.events]
    assert [id(one) for one in gone] == [id(one) for one in events if one in gone]
    survivors = [one for one in events if not any(one is other for other in gone)]
    assert list(map(id, kept)) == list(map(id, sorted(survivors, key=lambda one: one.at_ms)))
    for first, second in pairwise(cut.batches):
        with pytest.raises(AssertionError):
            check(LogBatch(STREAM, (*first.events, second.events[0])))
