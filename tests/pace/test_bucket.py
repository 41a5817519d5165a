"""How fast a repeated act may go."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cwgpu.pace.bucket import Bucket

RATES = st.floats(0.01, 1000)
BURSTS = st.integers(1, 20)
PAUSES = st.lists(st.just(0.0) | st.floats(0, 100), max_size=60)


def test_a_burst_goes_at_once_and_the_rest_at_the_rate() -> None:
    """After a rest some go together; from then on one every half second."""
    bucket = Bucket(2.0, burst=3)
    for _ in range(3):
        assert bucket.wait_s(100.0) == 0
        bucket.take(100.0)
    assert bucket.wait_s(100.0) == 0.5
    assert bucket.wait_s(100.4) == pytest.approx(0.1)
    assert bucket.wait_s(100.5) == 0
    bucket.take(100.5)
    assert bucket.wait_s(100.5) == 0.5


def test_a_rest_fills_it_no_higher_than_to_the_brim() -> None:
    """However long nothing went."""
    bucket = Bucket(1.0, burst=2)
    bucket.take(0.0)
    for _ in range(2):
        assert bucket.wait_s(1e6) == 0
        bucket.take(1e6)
    assert bucket.wait_s(1e6) == 1.0


@given(RATES, BURSTS, PAUSES, st.floats(0, 4e9))
def test_never_more_go_than_the_burst_and_the_rate_allow(
    rate_per_s: float, burst: int, pauses: list[float], start_s: float
) -> None:
    """In whatever span of time, and whoever waits as he is told gets there."""
    bucket, now_s = Bucket(rate_per_s, burst), start_s
    taken: list[float] = []
    for pause_s in pauses:
        now_s += pause_s
        # A sum of floats may fall short by the last bit; what is left is exact.
        for _ in range(2):
            now_s += bucket.wait_s(now_s)
        assert bucket.wait_s(now_s) == 0
        bucket.take(now_s)
        taken.append(now_s)
    for first, began_s in enumerate(taken):
        for last in range(first, len(taken)):
            allowed = burst + rate_per_s * (taken[last] - began_s)
            assert last - first + 1 <= allowed + 1e-3 + rate_per_s * 1e-5


@given(RATES, BURSTS, st.lists(st.floats(-1e6, 1e6), max_size=30))
def test_no_wait_is_longer_than_a_token_takes(
    rate_per_s: float, burst: int, times: list[float]
) -> None:
    """Also when the clock is set back, and when somebody takes without asking."""
    bucket = Bucket(rate_per_s, burst)
    for now_s in times:
        wait_s = bucket.wait_s(now_s)
        assert 0 <= wait_s <= 1 / rate_per_s + 1e-6
        assert math.isfinite(wait_s)
        bucket.take(now_s)


def test_after_the_clock_was_set_back_it_goes_on_at_the_rate() -> None:
    """Nobody waits until the clock is where it was."""
    bucket = Bucket(1.0, burst=1)
    bucket.take(1e6)
    assert bucket.wait_s(0.0) == 1.0
    assert bucket.wait_s(1.0) == 0
