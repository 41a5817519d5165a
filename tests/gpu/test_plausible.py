"""What DCGM's fields can be."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cwgpu.gpu import plausible
from cwgpu.gpu.scale import FORMERS
from cwgpu.model.drop import DropReason


@pytest.mark.parametrize(
    ("field", "possible", "impossible"),
    [
        ("DCGM_FI_DEV_GPU_UTIL", [0, 1, 100], [808334905, 4294967295, 2619, 101, -1]),
        ("DCGM_FI_DEV_MEM_COPY_UTIL", [100], [100.5]),
        ("DCGM_FI_DEV_ENC_UTIL", [0], [255]),
        ("DCGM_FI_DEV_FAN_SPEED", [0, 104], [4294967295]),
        ("DCGM_FI_PROF_GR_ENGINE_ACTIVE", [0, 0.771205, 1], [1.5, 77]),
        ("DCGM_FI_PROF_SM_OCCUPANCY", [0.5], [-0.1]),
        ("DCGM_FI_DEV_FB_USED_PERCENT", [0.9], [90]),
        ("DCGM_FI_DEV_GPU_TEMP", [0, 200], [201, 65535]),
        ("DCGM_FI_DEV_MEMORY_TEMP", [95], [-40]),
        ("DCGM_FI_DEV_POWER_USAGE", [0, 700.5], [2147483.6]),
        ("DCGM_FI_DEV_SM_CLOCK", [0, 1980], [1.98e9]),
        ("DCGM_FI_DEV_MAX_MEM_CLOCK", [2619], [4294967295]),
        ("DCGM_FI_DEV_FB_USED", [0, 183359], [2.0**44]),
        ("DCGM_FI_PROF_PCIE_TX_BYTES", [0, 64e9], [2.0**64]),
        ("DCGM_FI_DEV_NVLINK_BANDWIDTH_TOTAL", [0, 900_000], [2.0**64]),
    ],
)
def test_what_cannot_be_is_dropped(
    field: str, possible: list[float], impossible: list[float]
) -> None:
    """Values in the range go through as they are; others have a reason not to."""
    check = plausible.within(field, None)
    assert check is not None
    assert [check(value) for value in possible] == possible
    assert {check(value) for value in impossible} == {DropReason.IMPLAUSIBLE}


@pytest.mark.parametrize(
    "field",
    [
        "DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION",
        "DCGM_FI_DEV_XID_ERRORS",
        "DCGM_FI_DEV_CLOCK_THROTTLE_REASONS",
        "DCGM_FI_DEV_GPU_TEMP_LIMIT",  # a margin, which may be negative
        "DCGM_EXP_XID_ERRORS_COUNT",
        "other",
    ],
)
def test_other_fields_may_be_anything(field: str) -> None:
    """Counters, codes and masks have no range."""
    assert plausible.limits(field) is None
    assert plausible.within(field, None) is None


def test_the_range_is_that_of_the_old_unit() -> None:
    """What has another unit on the page is converted first, and may be refused there."""
    check = plausible.within("DCGM_FI_DEV_SM_CLOCK", FORMERS["DCGM_FI_DEV_SM_CLOCK_HERTZ"].convert)
    assert check is not None
    assert check(1.98e9) == 1980
    assert check(1.98e12) is DropReason.IMPLAUSIBLE
    refusing = plausible.within("DCGM_FI_DEV_GPU_UTIL", lambda _: DropReason.UNIT_UNKNOWN)
    assert refusing is not None
    assert refusing(1) is DropReason.UNIT_UNKNOWN


@given(st.sampled_from([math.nan, math.inf, -math.inf]))
def test_what_is_no_number_has_its_own_reason(value: float) -> None:
    """NaN and infinities are left to whoever drops them in any field."""
    check = plausible.within("DCGM_FI_DEV_GPU_UTIL", None)
    assert check is not None
    assert check(value) is value
