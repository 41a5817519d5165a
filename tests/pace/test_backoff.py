"""How long to wait before another try."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cwgpu.pace import backoff


@pytest.mark.parametrize(
    ("attempt", "most_s"), [(0, 1), (1, 2), (2, 4), (5, 32), (6, 60), (7, 60), (10**9, 60)]
)
def test_the_wait_doubles_up_to_the_cap(attempt: int, most_s: float) -> None:
    """The longest wait doubles from a second to a minute and stays there, however long it lasts."""
    assert backoff.full_jitter(attempt, 0.0) == 0
    assert backoff.full_jitter(attempt, 0.5) == most_s / 2
    assert backoff.full_jitter(attempt, 1.0) == most_s


@given(st.integers(0, 10**6), st.floats(0, 1), st.floats(0.001, 100), st.floats(0.001, 1000))
def test_the_wait_is_the_given_share(
    attempt: int, share: float, base_s: float, cap_s: float
) -> None:
    """Base and cap are the caller's; the wait never exceeds the cap nor goes below zero."""
    wait_s = backoff.full_jitter(attempt, share, base_s, cap_s)
    assert 0 <= wait_s <= cap_s
    assert wait_s == pytest.approx(share * min(cap_s, base_s * 2.0 ** min(attempt, 62)))
