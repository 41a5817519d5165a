"""Locations in a tree, and the places that complaints point at."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cwgpu.config import document, node
from cwgpu.config.document import Form

_TREE = document.read(b"a:\n  b:\n  - c: 1\n    d: {e: 2}\nx: [1, [2]]\n", "f", Form.YAML).root

_KEYS = st.text(st.characters(codec="utf-8", exclude_characters='"'), min_size=1, max_size=8)


@given(st.lists(_KEYS | st.integers(0, 99), max_size=5).map(tuple))
@settings(max_examples=150)
def test_a_printed_path_is_read_back(loc: node.Loc) -> None:
    """``loc`` is the inverse of ``path``."""
    assert node.loc(node.path(loc)) == loc


@pytest.mark.parametrize(
    ("loc", "text"),
    [
        ((), ""),
        (("a", "b", 0, "c"), "a.b[0].c"),
        (("a", "service.name"), 'a["service.name"]'),
        ((0, 1), "[0][1]"),
    ],
)
def test_paths_read_like_code(loc: node.Loc, text: str) -> None:
    """Keys have dots between, indexes brackets, odd keys quotes."""
    assert node.path(loc) == text


@pytest.mark.parametrize(
    ("path", "line", "column"),
    [
        ("a.b[0].c", 3, 8),
        ("a.b[0].d", 4, 5),
        ("a.b[0].missing", 3, 5),
        ("a.b[7].c", 2, 3),
        ("a", 1, 1),
        ("x[1][0]", 5, 9),
        ("x[1]", 5, 8),
        ("nothing.here", 1, 1),
        ("", 1, 1),
    ],
)
def test_complaints_point_at_what_is_nearest(path: str, line: int, column: int) -> None:
    """A scalar's place is its own; an object's its key; a missing thing's what should hold it."""
    place = _TREE.value_place(node.loc(path))
    assert (place.line, place.column) == (line, column)


@pytest.mark.parametrize(
    ("path", "column"), [("a.b[0].c", 5), ("a.b[0].d.e", 9), ("x[0]", 5), ("x[5]", 1)]
)
def test_a_key_has_its_own_place(path: str, column: int) -> None:
    """The place of a key is where the key stands, of an item where the item stands."""
    assert _TREE.key_place(node.loc(path)).column == column


def test_going_where_nothing_is_gives_nothing() -> None:
    """A missing key or index is no error."""
    assert _TREE.at("a.b[9].c.d") is None
    assert _TREE.get(-1) is None


def test_long_texts_are_cut() -> None:
    """A sentence quotes the beginning of a long text."""
    quoted = node.short("x" * 1000)
    assert len(quoted) < 80
    assert quoted.endswith("...'")
