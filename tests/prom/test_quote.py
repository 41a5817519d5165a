"""Pieces of a page within our own sentences."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cwgpu.prom.quote import quoted


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (b"", '""'),
        (b"1,5", '"1,5"'),
        (b"x" * 40, f'"{"x" * 40}"'),
        (b"x" * 41, f'"{"x" * 40}..."'),
        (b"\x1b[31m\r", r'"\x1b[31m\r"'),
        (b"caf\xe9", r'"caf\xe9"'),
        ("\u202eżółć".encode(), r'"\u202eżółć"'),
    ],
)
def test_quoted(text: bytes, shown: str) -> None:
    """What is printable is shown as it is, all else escaped, and only the beginning."""
    assert quoted(text) == shown


@given(st.binary(max_size=100))
def test_quoted_is_printable(text: bytes) -> None:
    """No page can write control characters into a terminal or a log."""
    assert quoted(text).isprintable()
