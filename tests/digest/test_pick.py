"""Positions out of a sequence."""

import pytest

from cwgpu.digest import pick


@pytest.mark.parametrize("positions", [[], [2], [2, 0], [0, 0, 1]])
def test_it_takes_what_was_asked_for_in_that_order(positions: list[int]) -> None:
    """None, one or several."""
    assert pick.picker(positions)("abc") == tuple("abc"[position] for position in positions)
