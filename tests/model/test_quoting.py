"""Texts within JSON strings."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cwgpu.model import quoting

TEXT = st.text(st.characters(exclude_categories=["Cs"]))


@given(TEXT)
def test_it_stands_in_a_json_string(text: str) -> None:
    """Between two quotes it is a JSON string of this text, for any reader of JSON."""
    quoted = quoting.quote(text.encode())
    assert json.loads(b'"%b"' % quoted) == text
    assert quoting.read(quoted) == text.encode()


@given(st.lists(TEXT))
def test_pieces_are_quoted_as_the_whole(texts: list[str]) -> None:
    """A text that is joined of pieces may be quoted piece by piece."""
    pieces = [text.encode() for text in texts]
    assert b"".join(map(quoting.quote, pieces)) == quoting.quote(b"".join(pieces))


@pytest.mark.parametrize(
    ("text", "read"),
    [(b"a\xff", "a\ufffd"), (b"\xed\xa0\x80", "\ufffd\ufffd\ufffd"), (b"\xc3", "\ufffd")],
    ids=["a byte of no character", "a surrogate", "half of a character"],
)
def test_what_is_no_text_is_replaced(text: bytes, read: str) -> None:
    """JSON could not hold it."""
    assert quoting.read(quoting.quote(text)) == read.encode()


@pytest.mark.parametrize("text", [b'{"a":1}', b"\n", b"\\", b"\xff"])
def test_what_is_not_quoted_is_not_read(text: bytes) -> None:
    """It is no part of a JSON string."""
    with pytest.raises(ValueError, match="column"):
        quoting.read(text)
