"""What a page remembers of its lines, by a text that is held nowhere."""

import tracemalloc

from hypothesis import given
from hypothesis import strategies as st

from cwgpu.digest.line import Dropped, Exposed, Line
from cwgpu.digest.lines import Lines, split
from cwgpu.digest.share import Shared
from cwgpu.model.drop import DropReason
from cwgpu.model.kind import Kind


class Alike(bytes):
    """A text whose hash is that of all others."""

    __slots__ = ()

    def __hash__(self) -> int:
        return 1

    def __add__(self, other: object) -> "Alike":
        assert isinstance(other, bytes)
        return Alike(bytes(self) + other)


def line(head: bytes, seen_at: int = 0) -> Line:
    """Give a line that stands before its value like this."""
    text, rest = split(head)
    exposed = Exposed(Alike(text), "m", Kind.GAUGE, None)
    return Line(exposed, rest, Dropped(DropReason.UNSELECTED), seen_at)


HEADS = st.lists(st.sampled_from([b"", b"a ", b"b ", b'a{x="1"} ', b'b{x="1"} ', b'{"a",x="1"} ']))


@given(HEADS, HEADS)
def test_lines_of_one_hash_are_told_apart(heads: list[bytes], others: list[bytes]) -> None:
    """Each is found by its own text and by no other, whatever came between or was forgotten."""
    lines, expected = Lines(), {}
    for number, head in enumerate(heads):
        expected[head] = line(head, number)
        lines.put(expected[head])
    kept = {head: one for head, one in expected.items() if head not in others}
    lines.keep(lambda one: bytes(one.head) not in others)
    assert len(lines) == len(kept)
    assert {bytes(one.head): one for one in lines} == kept
    assert {head: lines.get(Alike(head)) for head in expected} == {
        head: kept.get(head) for head in expected
    }


def test_a_head_is_cut_where_its_labels_begin() -> None:
    """The name may stand within the braces, and there may be none."""
    cut = {head: split(head) for head in (b'm{a="{"} ', b"m ", b'{"m"} ')}
    assert cut == {
        b'm{a="{"} ': (b"m", b'{a="{"} '),
        b"m ": (b"m ", b""),
        b'{"m"} ': (b"", b'{"m"} '),
    }


def test_what_is_shared_has_an_end() -> None:
    """Values that never come again are forgotten with all others, and all is as before."""
    shared, first = Shared[bytes](len), b"name"
    assert shared.give(first) is first
    assert shared.give(bytes(bytearray(first))) is first
    for number in range(10_000):
        shared.give(b"%d" % number)
    again = bytes(bytearray(first))
    assert shared.give(again) is again


def test_what_is_large_is_not_kept_for_others() -> None:
    """Neither a text of a megabyte, another each time, nor many of some kilobytes."""
    shared = Shared[bytes](len)
    tracemalloc.start()
    try:
        for length in (1_000_000, 10_000):
            for number in range(2000):
                shared.give(b"%d" % number + bytes(length))
            assert tracemalloc.get_traced_memory()[0] < 3 << 20
    finally:
        tracemalloc.stop()


def test_what_is_asked_for_again_and_again_stays() -> None:
    """Whatever comes and goes in between, and however it is asked for."""
    shared, given, found = Shared[bytes](len), b"given", b"found"
    shared.give(given)
    shared.give(found)
    for number in range(10_000):
        shared.give(b"%d" % number)
        assert shared.give(bytes(bytearray(given))) is given
        assert shared.find(bytes(bytearray(found))) is found
    assert shared.find(b"0") is None
