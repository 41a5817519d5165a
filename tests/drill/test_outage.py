"""CloudWatch is away for a while: ``python -m tests.load.outage`` does it for a day."""

from pathlib import Path

import pytest

from cwgpu.plan import plan
from cwgpu.plan.plan import SpoolMode
from tests.load import outage
from tests.load.outage import Setting

MIB = 1 << 20


@pytest.mark.parametrize("mode", SpoolMode)
def test_an_outage_costs_the_oldest_of_what_there_is_no_room_for(
    mode: SpoolMode, tmp_path: Path
) -> None:
    """Three quarters of an hour of a hundred GPUs; live data comes first when it is over."""
    setting = Setting(100, outage_s=2717.0, rules=plan.Spool(mode=mode, most_bytes=2 * MIB))
    figures = outage.measure(setting, tmp_path)
    assert figures.broken == []
    assert figures.full > 0
    assert figures.old == 0
    assert figures.kept_bytes > 1.9 * MIB


@pytest.mark.parametrize("mode", SpoolMode)
def test_an_outage_costs_what_is_older_than_it_may_be(mode: SpoolMode, tmp_path: Path) -> None:
    """There is room for all of it."""
    setting = Setting(20, outage_s=2717.0, rules=plan.Spool(mode=mode, most_age_s=1200.0))
    figures = outage.measure(setting, tmp_path)
    assert figures.broken == []
    assert figures.old > 0
    assert figures.full == 0


@pytest.mark.parametrize("seed", range(5))
def test_an_outage_that_there_is_room_for_costs_nothing(seed: int, tmp_path: Path) -> None:
    """Whenever the tries come, they are a minute apart at most, and all is delivered once."""
    figures = outage.measure(Setting(20, outage_s=1300.0 + 11 * seed, seed=seed), tmp_path)
    assert figures.broken == []
    assert figures.full == figures.old == 0
