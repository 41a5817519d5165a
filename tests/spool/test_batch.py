"""The format of a batch's file."""

import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cwgpu.model.event import Parcel, StreamKey, Waybill
from cwgpu.spool import batch
from cwgpu.spool.found import Damaged

BODY = b"\x1f\x8b\x00the body\n\xff"
WAYBILL = Waybill(StreamKey("/g", "s"), 1_700_000_000_000, 1_700_000_000_999, ((2, 3, 6),), 120)
FILE = (
    b"cwgpu-batch 1 e6f4a252 a42e15df 111 13\n"
    b'{"group":"/g","stream":"s","first_ms":1700000000000,"last_ms":1700000000999,'
    b'"runs":[[2,3,6]],"size_bytes":120}\n' + BODY
)
BODY_AT = len(FILE) - len(BODY)

_counts = st.integers(0, 1000)
_runs = st.lists(st.tuples(st.integers(1, 100), _counts, _counts), min_size=1, max_size=50)
_times = st.integers(-(2**60), 2**60)
_waybills = st.builds(
    Waybill,
    st.builds(StreamKey, st.text(), st.text()),
    _times,
    _times,
    _runs.map(tuple),
    st.integers(0, 1 << 20),
)


def _crafted(header: bytes, size: int | None = None) -> bytes:
    """Make a file whose checksums are right."""
    covered = b" %08x %d 0\n" % (zlib.crc32(b""), size or len(header))
    return b"cwgpu-batch 1 %08x%s%s" % (zlib.crc32(covered + header), covered, header)


def _damage(data: bytes) -> Damaged:
    with pytest.raises(Damaged) as caught:
        batch.decode(data)
    return caught.value


def test_a_file_looks_as_documented() -> None:
    """The first version's bytes stay as they are: files outlive the program that wrote them."""
    assert batch.encode(Parcel(WAYBILL, BODY)) == FILE
    assert batch.decode(FILE) == Parcel(WAYBILL, BODY)


@given(_waybills, st.binary(max_size=200))
def test_what_is_written_is_read(waybill: Waybill, body: bytes) -> None:
    """Any batch comes back, whatever its names and numbers."""
    assert batch.decode(batch.encode(Parcel(waybill, body))) == Parcel(waybill, body)


def test_a_torn_file_is_told_from_a_whole_one() -> None:
    """Cut off at any byte it is damaged, and what it carried is known once the header is there."""
    for end in range(len(FILE)):
        damage = _damage(FILE[:end])
        assert damage.waybill == (WAYBILL if end >= BODY_AT else None), end


def test_a_file_that_goes_on_is_damaged() -> None:
    """What comes after the body is no part of a batch."""
    damage = _damage(FILE + b"x")
    assert damage.reason == "it goes on for 1 bytes after its end"
    assert damage.waybill == WAYBILL


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "it is empty"),
        (b"hello", "it is no batch of cwgpu"),
        (b"\x00" * 5000, "it is no batch of cwgpu"),
        (FILE[:30], "its first line is damaged or cut off"),
        (FILE.replace(b"batch 1 ", b"batch 0 "), "its first line is damaged or cut off"),
        (FILE[:100], "it was cut off"),
        (FILE[:-1], "it was cut off: 162 bytes of 163"),
        (FILE.replace(b"999", b"998"), "its header is damaged"),
        (FILE.replace(b"a42e15df", b"a42e15de"), "its header is damaged"),
        (FILE.replace(b"body", b"bold"), "its body is damaged"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_damage_is_named(data: bytes, reason: str) -> None:
    """It is said in which way a file is damaged."""
    assert _damage(data).reason == reason


def test_a_newer_format_is_named() -> None:
    """A file of a newer version says so, and who can read it."""
    reason = _damage(FILE.replace(b"batch 1 ", b"batch 12 ")).reason
    assert "it has format 12 and this cwgpu reads 1" in reason
    assert "a newer cwgpu wrote it" in reason


@pytest.mark.parametrize(
    "header",
    [
        b"",
        b"\n",
        b"{}\n",
        b"[" * 100_000,
        b'{"group":1,"stream":"s","first_ms":1,"last_ms":1,"runs":[[1,1,1]],"size_bytes":1}',
        b'{"group":"g","stream":"s","first_ms":1,"last_ms":1,"runs":[],"size_bytes":1}',
        b'{"group":"g","stream":"s","first_ms":1,"last_ms":1,"runs":[[0,1,1]],"size_bytes":1}',
        b'{"group":"g","stream":"s","first_ms":1,"last_ms":1,"runs":[[2,1]],"size_bytes":1}',
        b'{"group":"g","stream":"s","first_ms":1,"last_ms":1,"runs":[[-1,1,1]],"size_bytes":1}',
        b'{"group":"g","stream":"s","first_ms":1,"last_ms":1,"runs":[[9e9,1,1]],"size_bytes":1}',
        b'{"group":"g","stream":"s","first_ms":1,"last_ms":1,"runs":[[10001,0,0]],"size_bytes":1}',
    ],
    ids=range(11),
)
def test_a_header_of_somebody_else_is_refused(header: bytes) -> None:
    """Right checksums make no batch: what would be wrong to believe is not believed."""
    assert _damage(_crafted(header)).reason.startswith("its header is none of ours")


def test_the_bounds_hold_the_largest_batch() -> None:
    """A batch of 10,000 events that all differ and of a body that gzip cannot make smaller fits."""
    runs = tuple((1, 999, 9999 + number % 2) for number in range(10_000))
    most = Waybill(StreamKey("g" * 512, "é" * 512), 10**14, 10**14, runs, 1 << 20)
    data = batch.encode(Parcel(most, bytes(2 << 20)))
    assert len(data) < batch.MOST_BYTES
    assert batch.front(data).body_at < batch.MOST_HEADER_BYTES
    assert batch.decode(data).waybill == most
