"""When a repeated act is due."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cwgpu.pace import cadence

TIMES = st.floats(0, 4e9, allow_nan=False)
INTERVALS = st.floats(0.001, 1e5, allow_nan=False)


@pytest.mark.parametrize(
    ("now_s", "offset_s", "due_s"),
    [
        (0, 3, 3),
        (2.5, 3, 3),
        (3, 3, 18),
        (17.9, 3, 18),
        (18, 3, 33),
        (1000, 3, 1008),
        (15, 0, 30),
        (14.9, 0, 15),
        (0, 14, 14),
    ],
)
def test_the_next_moment_is_on_the_grid_and_ahead(
    now_s: float, offset_s: float, due_s: float
) -> None:
    """With an interval of 15 s the act is due at the first grid point strictly after now."""
    assert cadence.next_due(now_s, offset_s, 15) == due_s


@given(TIMES, INTERVALS, st.floats(0, 1, exclude_max=True))
def test_the_next_moment_is_never_now_nor_more_than_an_interval_ahead(
    now_s: float, interval_s: float, share: float
) -> None:
    """However late a slot ran, the next one is the nearest to come; none are made up for."""
    due_s = cadence.next_due(now_s, share * interval_s, interval_s)
    assert now_s < due_s <= now_s + interval_s + 1e-5


@given(TIMES, st.sampled_from([0.1, 1.0, 5.0, 15.0, 30.1, 60.0, 300.0]), st.binary(max_size=8))
def test_from_one_moment_the_next_is_an_interval_on(
    now_s: float, interval_s: float, identity: bytes
) -> None:
    """Asked at the very moment that was due, it gives the following one: no slot is lost."""
    offset_s = cadence.offset_s(identity, interval_s)
    first_s = cadence.next_due(now_s, offset_s, interval_s)
    assert cadence.next_due(first_s, offset_s, interval_s) == pytest.approx(first_s + interval_s)


@given(st.binary(), INTERVALS)
def test_an_offset_lies_within_the_interval(identity: bytes, interval_s: float) -> None:
    """Every identity has a place in the interval, and always the same one."""
    offset_s = cadence.offset_s(identity, interval_s)
    assert 0 <= offset_s < interval_s
    assert cadence.offset_s(identity, interval_s) == offset_s


def test_an_offset_is_the_same_in_every_version() -> None:
    """A new release does not move the moments at which targets are scraped."""
    assert cadence.offset_s(b"http://10.0.12.34:9400/metrics", 60) == 49.25


@pytest.mark.parametrize(("interval_s", "moments"), [(1, 20), (5, 20), (15, 60), (60, 240)])
def test_targets_share_moments(interval_s: float, moments: int) -> None:
    """A quarter of a second apart, and in short intervals no less than twenty of them."""
    offsets = {cadence.offset_s(b"target %d" % number, interval_s) for number in range(5000)}
    expected = {number * interval_s / moments for number in range(moments)}
    assert sorted(offsets) == pytest.approx(sorted(expected))


def test_offsets_are_spread_over_the_interval() -> None:
    """Of a thousand targets about a tenth falls into each tenth of the interval."""
    tenths = [int(cadence.offset_s(b"target %d" % number, 10)) for number in range(1000)]
    assert all(70 <= tenths.count(tenth) <= 130 for tenth in range(10))
