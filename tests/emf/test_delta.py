"""Counters: deltas, rates and what gives none."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cwgpu.emf import delta, limits
from cwgpu.emf.delta import Baseline, Treatment
from cwgpu.model.drop import DropReason

FIRST = DropReason.FIRST_OF_COUNTER
STALLED = DropReason.NOT_ADVANCED
NOT_FINITE = DropReason.NOT_FINITE
OUT_OF_RANGE = DropReason.OUT_OF_RANGE


def run(
    samples: list[tuple[float, int]], treatment: Treatment = Treatment.DELTA
) -> list[float | DropReason]:
    """Feed samples of (value, seconds); give each one's value or drop reason."""
    baseline: Baseline | None = None
    results: list[float | DropReason] = []
    for value, at_s in samples:
        baseline, result = delta.step(baseline, value, at_s * 1000, treatment)
        results.append(result)
    return results


@pytest.mark.parametrize(
    ("samples", "results"),
    [
        pytest.param([(500, 0), (520, 60)], [FIRST, 20], id="increase"),
        pytest.param([(5, 0), (5, 60)], [FIRST, 0], id="standing still is a zero"),
        pytest.param([(500, 0), (520, 60), (40, 120), (45, 180)], [FIRST, 20, 40, 5], id="reset"),
        pytest.param([(500, 0), (0, 60)], [FIRST, 0], id="reset to zero"),
        pytest.param(
            [(10, 0), (math.nan, 60), (30, 120), (33, 180)],
            [FIRST, NOT_FINITE, FIRST, 3],
            id="NaN clears the baseline",
        ),
        pytest.param(
            [(10, 0), (math.inf, 60), (30, 120)], [FIRST, NOT_FINITE, FIRST], id="infinity"
        ),
        pytest.param([(100, 0), (150, 0), (170, 60)], [FIRST, STALLED, 70], id="same time"),
        pytest.param(
            [(100, 0), (130, 60), (150, 30), (170, 180)],
            [FIRST, 30, STALLED, 40],
            id="older time",
        ),
        pytest.param([(7, 60)], [FIRST], id="first sample"),
        pytest.param([(1, 0), (3, 600)], [FIRST, 2], id="long intervals"),
    ],
)
def test_deltas(samples: list[tuple[float, int]], results: list[float | DropReason]) -> None:
    """The deltas are the agent's, better where docs/compatibility.md says so."""
    assert run(samples) == results


@pytest.mark.parametrize(
    ("samples", "results"),
    [
        ([(500, 0), (620, 60), (620, 120)], [FIRST, 2, 0]),
        ([(500, 0), (30, 60)], [FIRST, 0.5]),
        ([(1, 0), (2, 0)], [FIRST, STALLED]),
        ([(math.nan, 0)], [NOT_FINITE]),
    ],
)
def test_rates(samples: list[tuple[float, int]], results: list[float | DropReason]) -> None:
    """A rate is the delta divided by the seconds in which it came about."""
    assert run(samples, Treatment.RATE) == results


@pytest.mark.parametrize(
    ("treatment", "results"),
    [
        (Treatment.DELTA, [FIRST, 30, STALLED, 20, 5]),
        (Treatment.RATE, [FIRST, 0.5, STALLED, STALLED, 5]),
    ],
)
def test_a_clock_that_was_set_back(treatment: Treatment, results: list[float | DropReason]) -> None:
    """Counters go on at once, not when the clock is again where it was."""
    baseline: Baseline | None = None
    found: list[float | DropReason] = []
    for value, at_s in [(100, 36_000), (130, 36_060), (140, 36_060), (150, 10), (155, 11)]:
        baseline, result = delta.step(baseline, value, at_s * 1000, treatment, ours=True)
        found.append(result)
    assert found == results


def test_absolute_totals_go_through_as_they_are() -> None:
    """An absolute counter is a gauge: no baseline, whatever its times are."""
    samples = [(5.0, 0), (3.0, 0), (math.nan, 60), (4.0, 30)]
    assert run(samples, Treatment.ABSOLUTE) == [5.0, 3.0, NOT_FINITE, 4.0]


@pytest.mark.parametrize(
    ("baseline", "value", "treatment", "result"),
    [
        (None, 2.0**361, Treatment.ABSOLUTE, OUT_OF_RANGE),
        (None, 2.0**360, Treatment.ABSOLUTE, 2.0**360),
        ((0, 0), -(2.0**361), Treatment.DELTA, OUT_OF_RANGE),
        ((-1.7e308, 0), 1.7e308, Treatment.DELTA, OUT_OF_RANGE),
        ((0, 0), 1.7e308, Treatment.RATE, OUT_OF_RANGE),
        ((2.0**400, 0), 2.0**400, Treatment.DELTA, 0),
    ],
)
def test_what_is_sent_is_within_cloudwatchs_range(
    baseline: Baseline | None, value: float, treatment: Treatment, result: float | DropReason
) -> None:
    """The range holds for what is sent, not for the total that it is made of."""
    _, found = delta.step(baseline, value, 1, treatment)
    assert found == result


def test_an_out_of_range_delta_still_moves_the_baseline() -> None:
    """After a delta that cannot be sent the next one is right again."""
    step = delta.step((0, 0), limits.VALUE * 2, 1, Treatment.DELTA)
    assert step == ((limits.VALUE * 2, 1), OUT_OF_RANGE)


@given(
    st.lists(st.tuples(st.integers(0, 10**9), st.integers(1, 3600)), min_size=2, max_size=30),
    st.integers(0, 2**50),
)
def test_without_resets_the_deltas_add_up(increases: list[tuple[int, int]], start: int) -> None:
    """The sum of the deltas is the last total less the first one."""
    total, at_s, samples = start, 0, []
    for increase, pause_s in increases:
        total, at_s = total + increase, at_s + pause_s
        samples.append((float(total), at_s))
    first, *deltas = run(samples)
    assert first is FIRST
    assert sum(one for one in deltas if isinstance(one, float)) == total - samples[0][0]


@given(
    st.lists(
        st.tuples(st.floats(), st.integers(-5, 5)),
        max_size=20,
    ),
    st.sampled_from(Treatment),
)
def test_whatever_comes_in_only_sendable_values_come_out(
    samples: list[tuple[float, int]], treatment: Treatment
) -> None:
    """No series of totals and times gives a value that CloudWatch would refuse."""
    for result in run(samples, treatment):
        assert isinstance(result, DropReason) or abs(result) <= limits.VALUE
