"""Streams are cut into lines, however their pieces come."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cwgpu.kube import lines
from cwgpu.kube.lines import Lines


def fed(*chunks: bytes) -> list[bytes]:
    """Give all lines that come of these pieces."""
    splitter = Lines()
    return [line for chunk in chunks for line in splitter.feed(chunk)]


@pytest.mark.parametrize(
    ("chunks", "found"),
    [
        ([], []),
        ([b""], []),
        ([b"a\n"], [b"a"]),
        ([b"a", b"\n"], [b"a"]),
        ([b"a", b"b\nc", b"d\n"], [b"ab", b"cd"]),
        ([b"a\nb\nc\nd"], [b"a", b"b", b"c"]),
        ([b"\n\n  \n\r\na\r\n"], [b"a\r"]),
        ([b"a\n", b"", b"b"], [b"a"]),
    ],
)
def test_lines_are_given_when_they_end(chunks: list[bytes], found: list[bytes]) -> None:
    """What has not ended is kept back; lines without anything in them are none."""
    assert fed(*chunks) == found


@given(st.lists(st.binary(max_size=8).map(lambda b: b.replace(b"\n", b"x"))), st.data())
def test_cuts_do_not_matter(texts: list[bytes], data: st.DataObject) -> None:
    """However a stream is cut into pieces, its lines are the same."""
    whole = b"".join(text + b"\n" for text in texts)
    cuts = sorted(data.draw(st.sets(st.integers(0, len(whole)), max_size=9)))
    ends = [0, *cuts, len(whole)]
    pieces = [whole[start:end] for start, end in itertools.pairwise(ends)]
    assert fed(*pieces) == [text for text in texts if text.strip()]


def test_a_line_may_be_megabytes_long() -> None:
    """An object of 1.4 MB that comes in small pieces is one line."""
    pieces = [b"x" * 1400] * 1000
    assert fed(*pieces, b"\nrest") == [b"x" * 1_400_000]


def test_a_line_ends_at_last(monkeypatch: pytest.MonkeyPatch) -> None:
    """What never has a line break is no watch, and does not fill the memory."""
    monkeypatch.setattr(lines, "LONGEST_BYTES", 10)
    splitter = Lines()
    assert splitter.feed(b"0123456789") == []
    with pytest.raises(ValueError, match="a line has more than"):
        splitter.feed(b"0")
