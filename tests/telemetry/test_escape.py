"""Foreign text on one line."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cwgpu.telemetry import escape


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("plain text, größer 漢字", "plain text, größer 漢字"),
        ("a\nb\r\tc", "a\\nb\\r\\tc"),
        ("\x1b[31mred\x00\x7f\x9b", "\\x1b[31mred\\x00\\x7f\\x9b"),
        ("a\u2028b\u202ec\u2066", "a\\u2028b\\u202ec\\u2066"),
        ("\ud83d alone", "\\ud83d alone"),
    ],
)
def test_what_could_do_something_is_escaped(text: str, line: str) -> None:
    """Controls, line separators, direction marks and lone surrogates are written as escapes."""
    assert escape.line(text) == line


@given(st.text())
def test_any_text_is_one_line_that_can_be_encoded(text: str) -> None:
    """Nothing that comes out breaks a line or an encoder."""
    line = escape.line(text)
    assert len(line.encode().decode().splitlines()) <= 1


@pytest.mark.parametrize(
    ("text", "longest", "short"),
    [("abcdef", 6, "abcdef"), ("abcdefg", 6, "abc..."), ("abcd", 2, "...")],
)
def test_cut_shows_that_something_is_missing(text: str, longest: int, short: str) -> None:
    """A text that is too long ends with dots."""
    assert escape.cut(text, longest) == short
