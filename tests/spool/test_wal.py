"""The format of the write-ahead log."""

import io
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cwgpu.model.event import EmfEvent, StreamKey
from cwgpu.spool import wal
from cwgpu.spool.found import Damaged
from tests.spool import samples

SEGMENT = (
    b"cwgpu-log 2 08589e33\n"
    b'ea18d756\t[1700000000000,0,0,"/gpu/metrics","node-7 \xc3\xa9"]\t"{\\"event\\":0}"\n'
    b'91a6cfce\t[1700000000001,1,2,"/gpu/metrics","node-7 \xc3\xa9"]\t"{\\"event\\":1}"\n'
    b'1d64e666\t[1700000000002,2,4,"/gpu/metrics","node-7 \xc3\xa9"]\t"{\\"event\\":2}"\n'
)
FIRST_FORMAT = (
    b"cwgpu-log 1 9151cf89\n"
    b'12b4d65e\t[1700000000000,0,0,"/gpu/metrics","node-7 \xc3\xa9"]\t{"event":0}\n'
    b'e4741eab\t[1700000000001,1,2,"/gpu/metrics","node-7 \xc3\xa9"]\t{"event":1}\n'
    b'244441f5\t[1700000000002,2,4,"/gpu/metrics","node-7 \xc3\xa9"]\t{"event":2}\n'
)
EVENTS = samples.events(0, 3)
ENDS = [at + 1 for at, byte in enumerate(SEGMENT) if byte == ord("\n")]
"""Where the first line ends, and each event's."""

_events = st.builds(
    EmfEvent.of,
    st.builds(StreamKey, st.text(), st.text()),
    st.integers(-(2**60), 2**60),
    st.binary(max_size=50),
    st.integers(0, 1000),
    st.integers(0, 1000),
)


def _read(data: bytes) -> wal.Reading:
    return wal.read(io.BytesIO(data), len(data))


def _written(events: list[EmfEvent]) -> bytes:
    return wal.FIRST + b"".join(map(wal.line, events))


def test_a_segment_looks_as_documented() -> None:
    """A version's bytes stay as they are: files outlive the program that wrote them."""
    assert _written(EVENTS) == SEGMENT
    assert _read(SEGMENT) == wal.Reading(tuple(EVENTS))


def test_the_first_format_can_be_read() -> None:
    """As it was left by a program that ended, also in the midst of its first line."""
    assert _read(FIRST_FORMAT) == wal.Reading(tuple(EVENTS))
    torn = _read(FIRST_FORMAT[:10])
    assert (torn.events, torn.rest) == ((), FIRST_FORMAT[:10])


@pytest.mark.parametrize(
    "said", [b'"a"b"', b'"\\"', b'"\xff"'], ids=["a quote", "an end", "a byte"]
)
def test_a_message_that_is_no_string_is_damaged(said: bytes) -> None:
    """A right checksum makes no event of it."""
    rest = b'[1,2,3,"g","s"]\t' + said
    reading = _read(SEGMENT + b"%08x\t%s\n" % (zlib.crc32(rest), rest))
    assert reading.events == tuple(EVENTS)
    assert reading.fault is not None


def test_the_largest_message_is_read() -> None:
    """Of nothing but quotes, whose quoted form is twice as long."""
    message = b'{"a":"%b"}' % (b'\\"' * (1_048_576 // 2 - 100))
    name = "\x01" * 512  # six bytes for each character
    event = EmfEvent.of(StreamKey(name, name), samples.AT_MS, message, 1, 1)
    assert _read(_written([event])) == wal.Reading((event,))


@given(st.lists(_events))
def test_what_is_noted_is_read(events: list[EmfEvent]) -> None:
    """Any events come back, whatever is in their names and messages."""
    assert _read(_written(events)) == wal.Reading(tuple(events))


def test_a_torn_segment_gives_what_was_whole() -> None:
    """Cut off at any byte, the events before it are there, and the rest is named."""
    for end in range(len(SEGMENT)):
        whole = sum(line_end <= end + 1 for line_end in ENDS[1:])
        if end < ENDS[0]:
            assert _read(SEGMENT[:end]).events == ()
        else:
            reading = _read(SEGMENT[:end])
            assert list(reading.events) == EVENTS[:whole], end
            torn = end not in {*ENDS, *(line_end - 1 for line_end in ENDS[1:])}
            assert (reading.fault is not None) == torn, end


def test_what_a_torn_tail_was_is_kept() -> None:
    """People can look at the line that the writer did not finish."""
    reading = _read(SEGMENT[:-10])
    assert reading.rest == SEGMENT[ENDS[-2] : -10]
    assert reading.fault == "its last line was cut off after 62 bytes, when the writer was ended"


def test_a_damaged_byte_costs_the_events_of_its_lines() -> None:
    """Whatever one byte becomes, other lines' events come in order, and the damage is named."""
    for at, data in samples.flips(SEGMENT):
        line = sum(end <= at for end in ENDS)
        touched = {line, line + 1} if at + 1 in ENDS else {line}
        expected = [event for number, event in enumerate(EVENTS, start=1) if number not in touched]
        reading = _read(data)
        assert reading.fault is not None or at == len(SEGMENT) - 1
        lost = set(EVENTS) - set(reading.events)
        assert set(expected) <= set(reading.events) <= set(EVENTS), at
        assert list(reading.events) == [event for event in EVENTS if event not in lost]


def test_the_last_newline_carries_nothing() -> None:
    """An event whose line lacks only its end is whole."""
    assert _read(SEGMENT[:-1]) == wal.Reading(tuple(EVENTS))


def test_many_damaged_lines_are_counted_and_a_part_is_kept() -> None:
    """Damage without end costs no memory without end."""
    data = wal.FIRST + b"x" * 4_000_000 + b"\n" + b"damaged\n" * 5000 + wal.line(EVENTS[0])
    reading = _read(data)
    assert list(reading.events) == EVENTS[:1]
    # The long line is read in two pieces.
    assert reading.fault == "lines that are damaged or cut off: 5002; each was an event"
    assert len(reading.rest) == wal.MOST_KEPT_BYTES


def test_a_newer_format_is_named() -> None:
    """A segment of a newer version is left to who can read it."""
    words = b"cwgpu-log 3"
    with pytest.raises(Damaged, match="it has format 3 and this cwgpu reads 2"):
        _read(b"%s %08x\n" % (words, zlib.crc32(words)) + SEGMENT[ENDS[0] :])


def test_a_first_line_that_only_looks_newer_costs_nothing() -> None:
    """A version is believed with its checksum only."""
    reading = _read(SEGMENT.replace(b"log 2 ", b"log 3 ", 1))
    assert list(reading.events) == EVENTS
    assert reading.fault is not None


@pytest.mark.parametrize(
    "data",
    [b"hello", b"hello\nworld\n", b"\x00" * 10_000, b"{}"],
    ids=["word", "text", "0", "json"],
)
def test_what_is_no_log_is_refused(data: bytes) -> None:
    """Somebody else's file is not taken for a log of damaged lines."""
    with pytest.raises(Damaged, match="it is no log of cwgpu"):
        _read(data)


def test_a_huge_file_of_others_is_not_read() -> None:
    """What does not begin as a log does is not searched for gigabytes."""
    with pytest.raises(Damaged, match="it is no log of cwgpu"):
        wal.read(io.BytesIO(SEGMENT[1:]), wal.MOST_FOREIGN_BYTES + 1)


@pytest.mark.parametrize(
    "head", [b"", b"[]", b"[1,2,3]", b'["1",2,3,"g","s"]', b"[" * 100_000, b'[1,2,3,"g","s",4]']
)
def test_a_line_of_somebody_else_is_damaged(head: bytes) -> None:
    """A right checksum makes no event."""
    rest = head + b"\t{}"
    data = SEGMENT + b"%08x\t%s\n" % (zlib.crc32(rest), rest)
    assert _read(data).events == tuple(EVENTS)
    assert _read(data).fault is not None
