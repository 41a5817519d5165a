"""Usual answers, read in whatever pieces they come; all others are somebody else's."""

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cwgpu.scrape import message
from cwgpu.scrape.message import Chunks, Head, Heads, Unusual

OK = b"HTTP/1.1 200 OK\r\n"
SOME = OK + b"Content-Length: 3\r\n"
CHUNKED = OK + b"Transfer-Encoding: chunked\r\n"


def head(came: bytes) -> Head:
    """Read a head that is whole."""
    found = message.head(came)
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("came", "expected"),
    [
        (SOME, Head(0, 200, 3, "", "", stays=True)),
        (SOME + b"connection:\t Keep-Alive \r\n", Head(0, 200, 3, "", "", stays=True)),
        (SOME + b"Connection: Close\r\n", Head(0, 200, 3, "", "", stays=False)),
        (CHUNKED, Head(0, 200, None, "", "", stays=True)),
        (
            b"HTTP/1.1 503\r\nContent-Type:a/\xff\r\ncontent-length: 0\r\nContent-Encoding: gz\r\n",
            Head(0, 503, 0, "a/\udcff", "gz", stays=True),
        ),
        (SOME + b"X-Odd: \r\nDate: \xe4 b\r\n", Head(0, 200, 3, "", "", stays=True)),
    ],
)
def test_a_head_is_read(came: bytes, expected: Head) -> None:
    """Names in any case, blanks around values, values that are empty or no text."""
    assert head(came + b"\r\n") == expected._replace(size_bytes=len(came) + 2)


@pytest.mark.parametrize(
    "came",
    [
        b"HTTP/1.0 200 OK\r\nContent-Length: 3\r\n",
        b"HTTP/1.1 100 Continue\r\nContent-Length: 3\r\n",
        b"HTTP/1.1 2000 OK\r\nContent-Length: 3\r\n",
        b"SSH-2.0-OpenSSH_9.2\r\n",
        b"\nHTTP/1.1 200 OK\r\nContent-Length: 3\r\n",
        OK,
        SOME + b"Transfer-Encoding: chunked\r\n",
        SOME + b"Content-Length: 3\r\n",
        OK + b"Content-Length: +3\r\n",
        OK + b"Content-Length: 3, 3\r\n",
        OK + b"Content-Length: 1" + b"0" * 18 + b"\r\n",
        OK + b"Content-Length:\r\n",
        OK + b"Transfer-Encoding: gzip, chunked\r\n",
        SOME + b"Date : a\r\n",
        SOME + b"Date: a\r\n b\r\n",
        SOME + b"Date: a\rb\r\n",
        SOME + b"Date: a\nb: c\r\n",
        SOME + b"Date: a\0\r\n",
        SOME + b"Date\r\n",
        SOME + b"".join(b"X-%d: 1\r\n" % number for number in range(128)),
        SOME + b"X: " + b"x" * 20_000 + b"\r\n",
    ],
)
def test_an_unusual_head_is_not_ours(came: bytes) -> None:
    """Other versions, lengths that are none or disagree, fields that are folded or torn, floods."""
    with pytest.raises(Unusual):
        message.head(came + b"\r\n")


@given(st.integers(0, len(SOME) + 1))
def test_a_head_that_goes_on_is_waited_for(cut: int) -> None:
    """Before its end nothing is decided."""
    assert message.head((SOME + b"\r\n")[:cut]) is None


def test_a_head_without_an_end_is_not_waited_for() -> None:
    """Sixteen kilobytes are no head."""
    with pytest.raises(Unusual):
        message.head(OK + b"X: " + b"x" * 20_000)


@pytest.mark.parametrize(
    "came",
    [
        b"SSH-2.0-OpenSSH_9.2\r\n",
        b"\x15\x03\x01",
        b"H2",
        b"HTTP/1.0 ",
        b"HTTP/1.1 200 OK\n",
        SOME + b"Date\r\n",
        SOME + b"Date: a\n",
        SOME + b"Date: a\r\n\n",
    ],
)
def test_what_cannot_become_a_head_is_not_waited_for(came: bytes) -> None:
    """Another protocol, and lines that end as they should not."""
    with pytest.raises(Unusual):
        message.head(came)


GO = (
    b"HTTP/1.1 200 OK\r\nContent-Type: text/plain; version=0.0.4\r\n"
    b"Date: Mon, 05 Jan 2026 10:00:00 GMT\r\nContent-Length: 43210\r\n\r\n"
)


def outcome(read: Callable[[bytes], Head | None], came: bytes) -> Head | str | None:
    """Say what reading comes to."""
    try:
        return read(came)
    except Unusual:
        return "unusual"


@pytest.mark.parametrize(
    "first",
    [
        GO,
        GO.replace(b"Date: Mon", b"date:\t Mon").replace(b"GMT", b"GMT  "),
        GO.replace(b"Content-Length: 43210", b"transfer-encoding: chunked"),
        GO.replace(b"Content-Length: 43210\r\n", b"").replace(b"Date", b"content-length: 1 \r\nX"),
        GO.replace(b"Content-Type: text", b"Date:\r\nDate: Content-Length: 3"),
        GO.replace(b"Date", b"Not-Date: a\r\nConnection: close\r\nNo-Content-Length"),
        GO.replace(b"200 OK", b"503"),
    ],
)
@given(st.data())
def test_a_head_is_read_as_if_there_had_been_none_before(first: bytes, data: st.DataObject) -> None:
    """Whatever byte of it is another one, and whatever of it has come."""
    heads = Heads()
    assert heads.read(first) == head(first)
    place = data.draw(st.integers(0, len(first) - 1))
    some = st.sampled_from(b"0123456789 \t\r\n\0:aA\xe4") | st.integers(0, 255)
    other = first[:place] + bytes([data.draw(some)]) + first[place + 1 :]
    for came in (other, other + b"a 1\n", first + other, other[: data.draw(st.integers(0, 200))]):
        assert outcome(heads.read, came) == outcome(message.head, came)
        assert heads.read(memoryview(first)) == head(first)


@pytest.mark.parametrize(
    ("date", "length", "expected"),
    [
        (b"Mon, 05 Jan 2026 10:00:05 GMT", b"43210", 43210),
        (b"Mon, 05 Jan 2026 10:00:05 GMT", b"43211", 43211),
        (b"Mon, 05 Jan 2026 10:00:05 GMT", b"9999", 9999),
        (b"Mon, 05 Jan 2026 10:00:05 GMT", b"143210", 143210),
        (b"Mon, 05 Jan 2026 10:00:05 GMT", b"00000", 0),
        (b"5", b"43210", 43210),
        (b"Mon, 05 Jan 2026 10:00:05 \xe4\xe4\xe4", b"43210", 43210),
        (b"Mon, 05 Jan 2026\r\n10:00:05 GM", b"43210", 43210),
        (b"Mon, 05 Jan 2026\r\n 10:0:05 GM", b"43210", None),
        (b"Mon, 05 Jan 2026\n10:00:05 GMT", b"43210", None),
        (b"Mon, 05 Jan 2026\r10:00:05 GMT", b"43210", None),
        (b"Mon, 05 Jan 2026\x0010:00:05 GMT", b"43210", None),
        (b"Mon, 05 Jan 2026 10:00:05 GMT", b"+4321", None),
        (b"Mon, 05 Jan 2026 10:00:05 GMT", b"4321 ", 4321),
        (b"Mon, 05 Jan 2026 10:00:05 GMT", b"4 321", None),
        (b"Mon, 05 Jan 2026 10:00:05 GMT", "\u0661\u0662".encode() + b"1", None),
    ],
)
def test_heads_differ_in_date_and_length(date: bytes, length: bytes, expected: int | None) -> None:
    """These may be any, and are looked at; None: no usual head."""
    heads = Heads()
    heads.read(GO)
    other = GO.replace(b"Mon, 05 Jan 2026 10:00:00 GMT", date).replace(b"43210", length)
    found = outcome(heads.read, other)
    assert found == outcome(message.head, other)
    assert (found.length if isinstance(found, Head) else None) == expected


def test_a_field_of_blanks_is_read_in_no_time() -> None:
    """Thousands of them in the middle of a value, many times over."""
    blank = SOME + b"X: a" + b" " * 16_000 + b"b\r\n\r\n"
    assert [head(blank).length for _ in range(200)] == [3] * 200


CHUNKS = st.lists(st.binary(min_size=1, max_size=20))


@given(CHUNKS, st.binary(max_size=5))
def test_chunks_are_joined(chunks: list[bytes], before: bytes) -> None:
    """Whatever is in them; any beginning of them is one, and more to come."""
    written = b"".join(b"%x\r\n%b\r\n" % (len(chunk), chunk) for chunk in (*chunks, b""))
    assert Chunks(len(before)).joined(before + written) == b"".join(chunks)
    coming = Chunks(len(before))
    for cut in range(len(written)):
        assert coming.joined(bytearray(before + written[:cut])) is None
    assert coming.joined(before + written) == b"".join(chunks)
    assert coming.body_bytes == sum(map(len, chunks))


def test_half_a_chunk_has_come() -> None:
    """What frames the chunks is not counted."""
    coming = Chunks(0)
    assert coming.joined(b"3\r\nabc\r\n5\r\nab") is None
    assert coming.body_bytes == len(b"abcab")
    assert coming.joined(b"3\r\nabc\r\n5\r\nabcde\r") is None
    assert coming.body_bytes == len(b"abcabcde")


@pytest.mark.parametrize(
    "written",
    [
        b"3\r\nabcd\r\n0\r\n\r\n",
        b"3;name=value\r\nabc\r\n0\r\n\r\n",
        b"0\r\nTrailer: 1\r\n\r\n",
        b"0\r\n\r\n0\r\n\r\n",
        b" 3\r\nabc\r\n0\r\n\r\n",
        b"0x3\r\nabc\r\n0\r\n\r\n",
        b"-3\r\nabc\r\n0\r\n\r\n",
        b"000000003\r\nabc\r\n0\r\n\r\n",
        b"3\nabc\n0\n\n",
        b"\r\n\r\n",
        b"zz",
        b"000000003",
        b"3\ra",
        b"3\r\nabc\ra",
        b"0\r\n\n",
        b"3\r\nabc\r\n0\r\n\r\nHTTP/1.1 ",
        b"1\r\na\r\n" * 20_000,
    ],
)
def test_unusual_chunks_are_not_ours(written: bytes) -> None:
    """Extensions, trailers, sizes that are wrong or odd, what follows the end, and dust.

    That is seen as soon as it is there: the end of such a body may never come.
    """
    with pytest.raises(Unusual):
        Chunks(0).joined(written)
