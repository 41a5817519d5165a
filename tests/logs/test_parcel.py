"""Batches that are ready to be sent."""

import gzip
import json
import tracemalloc
from collections.abc import Sequence
from dataclasses import replace

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cwgpu.logs import parcel
from cwgpu.model.event import EmfEvent, LogBatch, Parcel, StreamKey

KEY = StreamKey("/gpu/ü", 'node "1"')

TEXT = st.text(st.characters(exclude_categories=["Cs"]))
COUNTS = st.integers(0, 3)
EVENTS = st.lists(
    st.builds(
        EmfEvent.of, st.just(KEY), st.integers(0, 2**53), TEXT.map(str.encode), COUNTS, COUNTS
    ),
    min_size=1,
    max_size=30,
)


def packed(events: Sequence[EmfEvent]) -> Parcel:
    """Pack events of the stream."""
    return parcel.pack(LogBatch(KEY, tuple(events)))


def foreign(body: bytes, events: int = 1) -> Parcel:
    """Give a good waybill with another body."""
    good = packed([EmfEvent.of(KEY, 5, b"{}", 1, 1)] * events)
    return replace(good, body=body)


def request(**members: object) -> bytes:
    """Make a body; what is not given is good."""
    whole = {
        "logGroupName": KEY.group,
        "logStreamName": KEY.stream,
        "logEvents": [{"timestamp": 5, "message": "{}"}],
    }
    return gzip.compress(json.dumps(whole | members).encode())


@given(EVENTS)
def test_the_body_is_the_request_as_json(events: list[EmfEvent]) -> None:
    """Whatever the messages hold, their text comes out as it went in."""
    assert json.loads(gzip.decompress(packed(events).body)) == {
        "logGroupName": KEY.group,
        "logStreamName": KEY.stream,
        "logEvents": [
            {"timestamp": event.at_ms, "message": event.message.decode()} for event in events
        ],
    }


@given(EVENTS)
def test_what_is_packed_can_be_unpacked(events: list[EmfEvent]) -> None:
    """To the last byte, with what each event carries."""
    batch = LogBatch(KEY, tuple(events))
    assert parcel.unpack(parcel.pack(batch)) == batch


@given(EVENTS)
def test_a_waybill_says_what_is_in_the_batch(events: list[EmfEvent]) -> None:
    """Times, sizes, and what any events in a row carry."""
    batch = LogBatch(KEY, tuple(events))
    waybill = parcel.waybill(batch)
    assert (waybill.stream, waybill.size_bytes) == (KEY, batch.size_bytes)
    assert (waybill.first_ms, waybill.last_ms) == (events[0].at_ms, events[-1].at_ms)
    for start in range(len(events)):
        for end in range(start, len(events)):
            some = events[start:end]
            samples = sum(event.samples for event in some)
            datapoints = sum(event.datapoints for event in some)
            assert waybill.part(start, end) == (len(some), samples, datapoints)


def test_events_that_are_alike_take_one_place_in_a_waybill() -> None:
    """Ten thousand events of one kind are one line in a file of the spool."""
    events = [EmfEvent.of(KEY, at, b"{}", 2, 4) for at in range(10_000)]
    assert packed([*events, EmfEvent.of(KEY, 10_000, b"{}", 1, 4)]).waybill.runs == (
        (10_000, 2, 4),
        (1, 1, 4),
    )


def test_a_batch_is_packed_in_the_same_way_every_time() -> None:
    """No time of packing stands in it."""
    events = [EmfEvent.of(KEY, 5, b"{}", 1, 1)]
    assert packed(events) == packed(events)
    assert packed(events).body[:2] == b"\x1f\x8b"


def test_bytes_that_are_no_text_do_not_stop_the_others() -> None:
    """They cannot occur; if they do, the character is replaced and the batch still goes."""
    body = packed([EmfEvent.of(KEY, 1, b"a\xff", 1, 1)]).body
    (event,) = json.loads(gzip.decompress(body))["logEvents"]
    assert event["message"] == "a\N{REPLACEMENT CHARACTER}"


@given(EVENTS.filter(lambda events: len(events) > 1))
def test_halves_are_the_whole(events: list[EmfEvent]) -> None:
    """Each has half of the events, and together they are the batch in its order."""
    whole = packed(events)
    first, second = parcel.halve(whole)
    assert second.waybill.events - first.waybill.events in {0, 1}
    assert parcel.unpack(first).events + parcel.unpack(second).events == tuple(events)
    assert first.waybill.stream == second.waybill.stream == KEY
    assert whole.waybill.load == tuple(
        map(sum, zip(first.waybill.load, second.waybill.load, strict=True))
    )


def test_one_event_has_no_halves() -> None:
    """Halving ends at a single event."""
    with pytest.raises(ValueError, match="cannot be halved"):
        parcel.halve(packed([EmfEvent.of(KEY, 1, b"{}", 1, 1)]))


def test_the_largest_batch_can_be_unpacked() -> None:
    """Nothing but control characters, which are six bytes each in JSON."""
    size = 1_048_576 // 10_000 - 26
    events = tuple(EmfEvent.of(KEY, at, b"\x01" * size, 1, 1) for at in range(10_000))
    assert parcel.unpack(packed(events)).events == events


@pytest.mark.parametrize(
    ("body", "fault"),
    [
        (b"", "does not end"),
        (b"{}", "not gzipped"),
        (request()[:-1], "does not end"),
        (request() + b"x", "does not end"),
        (gzip.compress(b"not JSON"), "no JSON"),
        (gzip.compress(b"[" * 100_000), "no JSON"),
        (gzip.compress(b"[]"), "no PutLogEvents request"),
        (gzip.compress(b"{}"), "no PutLogEvents request"),
        (request(logEvents={}), "no PutLogEvents request"),
        (request(logEvents="no"), "no PutLogEvents request"),
        (request(logGroupName="other"), "another log stream"),
        (request(logStreamName=None), "another log stream"),
        (request(logEvents=[]), "holds 0 events, its waybill 1"),
        (request(logEvents=[{"timestamp": 5, "message": "{}"}] * 2), "holds 2 events"),
        (request(logEvents=[5]), "no log event"),
        (request(logEvents=[{"message": "{}"}]), "no log event"),
        (request(logEvents=[{"timestamp": 5.5, "message": "{}"}]), "no log event"),
        (request(logEvents=[{"timestamp": 5, "message": None}]), "no log event"),
    ],
    ids=range(18),
)
def test_a_body_that_is_not_ours_is_refused(body: bytes, fault: str) -> None:
    """A ValueError says why; nothing else ever comes of it."""
    with pytest.raises(ValueError, match=fault):
        parcel.unpack(foreign(body))


def test_a_body_that_blows_up_is_let_alone() -> None:
    """A few kilobytes that would be 64 MiB do not take up more than a batch may."""
    bomb = foreign(gzip.compress(request()[:5] + bytes(64 << 20)))
    tracemalloc.start()
    try:
        with pytest.raises(ValueError, match="inflates to more than 8388608 bytes"):
            parcel.unpack(bomb)
        _, peak_bytes = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak_bytes < 32 << 20


def test_a_waybill_that_promises_too_much_is_refused() -> None:
    """Also where it names more events than fit into memory."""
    good = packed([EmfEvent.of(KEY, 5, b"{}", 1, 1)])
    for runs in ((10**15, 1, 1),), ((10**15, 1, 1), (1 - 10**15, 1, 1)), ():
        with pytest.raises(ValueError, match=r"events, its waybill|longer"):
            parcel.unpack(replace(good, waybill=replace(good.waybill, runs=runs)))


@settings(max_examples=200)
@given(EVENTS, st.data())
def test_damage_is_found_or_harmless(events: list[EmfEvent], data: st.DataObject) -> None:
    """Whichever bytes are flipped, cut off or put in, it is a ValueError or the batch as it was."""
    good = packed(events)
    at = data.draw(st.integers(0, len(good.body) - 1))
    cut = data.draw(st.integers(0, 3))
    put = data.draw(st.binary(max_size=3))
    damaged = replace(good, body=good.body[:at] + put + good.body[at + cut :])
    try:
        found = parcel.unpack(damaged)
    except ValueError:
        return
    assert found == LogBatch(KEY, tuple(events))


MEMBERS = st.sampled_from(["logGroupName", "logStreamName", "logEvents", "timestamp", "message"])
JSON = st.recursive(
    st.none() | st.integers() | st.text(),
    lambda some: st.lists(some) | st.dictionaries(MEMBERS, some),
)


@given(JSON)
def test_any_json_is_taken_or_refused(document: object) -> None:
    """A ValueError is all that can go wrong."""
    try:
        body = gzip.compress(orjson.dumps(document))
    except TypeError:  # an integer beyond 64 bits, or half a character
        return
    with pytest.raises(ValueError, match=r"."):
        parcel.unpack(foreign(body))
