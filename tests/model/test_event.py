"""Batches of events, and what is known of them without their content."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cwgpu.model.event import EmfEvent, Load, LogBatch, Run, StreamKey, Waybill

STREAM = StreamKey("/lab/gpu", "dcgm")


def test_a_batch_counts_what_its_events_carry() -> None:
    """Samples and datapoints add up, and the size is that of UTF-8 text."""
    events = (
        EmfEvent.of(STREAM, 1, '{"pod":"größe"}'.encode(), 2, 4),
        EmfEvent.of(STREAM, 2, b"{}", 1, 3),
    )
    batch = LogBatch(STREAM, events)
    assert (batch.samples, batch.datapoints, batch.size_bytes) == (3, 7, 19)


def test_an_empty_batch_counts_nothing() -> None:
    """A batch may be empty."""
    batch = LogBatch(STREAM, ())
    assert (batch.samples, batch.datapoints, batch.size_bytes) == (0, 0, 0)


@given(st.text(st.characters(exclude_categories=["Cs"])).map(str.encode))
def test_an_event_gives_its_message(message: bytes) -> None:
    """As it came, and with its size."""
    event = EmfEvent.of(STREAM, 1, message, 2, 4)
    assert event.message == message
    assert event == (STREAM, 1, event.quoted, len(message), 2, 4)


def test_the_size_is_that_of_what_is_sent() -> None:
    """A byte that is no text becomes a character of three."""
    event = EmfEvent.of(STREAM, 1, b"a\xff", 1, 1)
    assert (event.message.decode(), event.size_bytes) == ("a\ufffd", 4)


COUNTS = st.integers(0, 1000)
WAYBILLS = st.lists(st.tuples(COUNTS, COUNTS, COUNTS), max_size=6).map(
    lambda runs: Waybill(STREAM, 1, 2, tuple(runs), 100)
)
INDEX = st.integers(-10, 7000)


def added(*parts: Load) -> Load:
    """Put parts together."""
    return Load(*(sum(column) for column in zip(*parts, strict=True)))


@pytest.mark.parametrize(
    ("runs", "load"),
    [((), (0, 0, 0)), (((3, 2, 4),), (3, 6, 12)), (((3, 2, 4), (1, 0, 0), (2, 1, 9)), (6, 8, 30))],
)
def test_a_waybill_counts_what_its_events_carry(
    runs: tuple[Run, ...], load: tuple[int, int, int]
) -> None:
    """Events that are alike stand in it once, with their number."""
    waybill = Waybill(STREAM, 1, 2, runs, 100)
    assert waybill.load == load
    assert waybill.events == load[0]


@given(WAYBILLS)
def test_the_whole_is_a_part(waybill: Waybill) -> None:
    """From the first event to the last it is what all of it carries; beyond there is nothing."""
    assert waybill.part(0, waybill.events) == waybill.load
    assert waybill.part(-10, waybill.events + 10) == waybill.load
    assert waybill.part(waybill.events, 10**9) == Load(0, 0, 0)


@given(WAYBILLS, INDEX, INDEX)
def test_parts_add_up(waybill: Waybill, one: int, other: int) -> None:
    """Wherever it is cut, no event is lost or counted twice."""
    first, last = sorted((one, other))
    parts = waybill.part(0, first), waybill.part(first, last), waybill.part(last, 10**9)
    assert added(*parts) == waybill.load


@given(WAYBILLS, INDEX, INDEX)
def test_a_part_is_what_its_events_carry(waybill: Waybill, start: int, end: int) -> None:
    """As if each event were looked at."""
    each = [run[1:] for run in waybill.runs for _ in range(run[0])]
    some = each[max(start, 0) : max(end, 0)]
    samples, datapoints = sum(one for one, _ in some), sum(other for _, other in some)
    assert waybill.part(start, end) == Load(len(some), samples, datapoints)
