"""Load curves and their integrals."""

import itertools

import pytest

from cwgpu.simulate.load import IDLE, Bursts, Load, Shares, Steady

LOADS: list[Load] = [
    IDLE,
    Steady(0.92, 0.06, 12.0, 3.0),
    Bursts(0.97),
    Bursts(0.8, 33.0),
    Shares(((0.5, Steady(0.5, 0.2)), (0.5, Bursts(1.0, 7.0)))),
]
STEP_S = 0.05
TIMES = [step * STEP_S for step in range(-400, 4000)]


@pytest.mark.parametrize("load", LOADS)
def test_a_level_lies_between_nothing_and_all(load: Load) -> None:
    """No GPU is busier than it can be."""
    assert all(0.0 <= load.level(at_s) <= 1.0 for at_s in TIMES)


@pytest.mark.parametrize("load", LOADS)
def test_the_total_is_the_integral_of_the_level(load: Load) -> None:
    """Over any short time the total grows by the level times that time, so it never falls."""
    for at_s, next_s in itertools.pairwise(TIMES):
        grown = load.total(next_s) - load.total(at_s)
        assert grown >= 0.0
        assert grown / STEP_S == pytest.approx(load.level((at_s + next_s) / 2), abs=0.01)


@pytest.mark.parametrize("load", LOADS)
def test_a_level_moves_smoothly(load: Load) -> None:
    """From one moment to the next there is no jump, as between real samples there is none."""
    levels = [load.level(at_s) for at_s in TIMES]
    assert max(abs(b - a) for a, b in itertools.pairwise(levels)) < 0.03


def test_bursts_are_on_and_off_for_20_seconds_each() -> None:
    """Half of the time there is load, and then for 20 seconds on end."""
    load = Bursts(0.9)
    assert load.level(10.0) == load.level(50.0) == 0.9
    assert load.level(30.0) == load.level(70.0) == 0.0
    assert load.total(40.0) - load.total(0.0) == pytest.approx(0.9 * 20.0)
