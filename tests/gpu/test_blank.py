"""DCGM's values for "no value", and look-alikes that are values."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cwgpu.gpu import blank

INT32 = [2147483632, 2147483633, 2147483634, 2147483635]
INT64 = [9223372036854775792, 9223372036854775793, 9223372036854775794, 9223372036854775795]
FP64 = [140737488355328.0, 140737488355329.0, 140737488355330.0, 140737488355331.0]

SMALL = [
    "DCGM_FI_DEV_GPU_UTIL",
    "DCGM_FI_DEV_GPU_UTIL_RATIO",
    "DCGM_FI_DEV_SM_CLOCK",
    "DCGM_FI_DEV_MEMORY_TEMP",
    "DCGM_FI_DEV_GPU_TEMP_CELSIUS",
    "DCGM_FI_DEV_NVSWITCH_TEMPERATURE_CURRENT",
    "DCGM_FI_DEV_POWER_USAGE",
    "DCGM_FI_DEV_BOARD_POWER_WATTS",
    "DCGM_FI_DEV_FAN_SPEED",
    "DCGM_FI_DEV_FB_USED",
    "DCGM_FI_DEV_XID_ERRORS",
    "DCGM_FI_PROF_SM_OCCUPANCY",
    "DCGM_FI_PROF_PIPE_TENSOR_ACTIVE",
]
LARGE = [
    "DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION",
    "DCGM_FI_PROF_PCIE_RX_BYTES",
    "DCGM_FI_DEV_FB_CAPACITY_BYTES",
    "DCGM_FI_DEV_MEMORY_CLOCK_HERTZ",
    "DCGM_FI_DEV_POWER_VIOLATION",
    "DCGM_FI_DEV_REQUESTED_POWER_PROFILE_MASK",
]
UNKNOWN = ["DCGM_FI_DEV_PCIE_REPLAY_COUNTER", "DCGM_FI_DEV_NVLINK_BANDWIDTH_TOTAL"]


@pytest.mark.parametrize("name", SMALL)
@pytest.mark.parametrize("value", [*INT32, *INT64, *FP64])
def test_a_small_field_has_all_blanks(name: str, value: float) -> None:
    """Utilisation, clocks, temperatures, power and the like can reach none of the blanks."""
    assert blank.is_blank(name, float(value))


@pytest.mark.parametrize("name", LARGE)
@pytest.mark.parametrize("value", [*INT32, *FP64])
def test_a_large_field_really_has_such_values(name: str, value: float) -> None:
    """Bytes, energy, hertz, nanoseconds and masks pass the 32-bit and float blanks on their way."""
    assert not blank.is_blank(name, float(value))


@pytest.mark.parametrize("name", SMALL + LARGE + UNKNOWN)
@pytest.mark.parametrize("value", INT64)
def test_nothing_reaches_the_64_bit_blanks(name: str, value: int) -> None:
    """The blanks of 64-bit integers are blank for every field."""
    assert blank.is_blank(name, float(value))


@pytest.mark.parametrize("name", UNKNOWN)
def test_other_fields_lose_only_what_cannot_be_meant(name: str) -> None:
    """A field of no known class may be a large integer, so the 32-bit blanks are values."""
    assert not any(blank.is_blank(name, float(value)) for value in INT32)
    assert all(blank.is_blank(name, value) for value in FP64)


@pytest.mark.parametrize(
    "value",
    [0.0, -1.0, 100.0, 2147483631.0, 2147483636.0, 2.0**47 - 1, 2.0**47 + 4, 2.0**63 - 1024,
     2.0**64, math.inf, -math.inf, math.nan],
)  # fmt: skip
def test_a_neighbour_of_a_blank_is_a_value(value: float) -> None:
    """Only the blanks themselves are blank; what is not finite is somebody else's to drop."""
    assert not any(blank.is_blank(name, value) for name in SMALL + LARGE + UNKNOWN)


@given(st.floats(max_value=blank.FLOOR, exclude_max=True), st.sampled_from(SMALL))
def test_nothing_below_the_floor_is_blank(value: float, name: str) -> None:
    """FLOOR is safe as the test that is made first."""
    assert not blank.is_blank(name, value)


def test_the_floor_is_a_blank() -> None:
    """FLOOR is as high as it can be."""
    assert blank.is_blank("DCGM_FI_DEV_GPU_TEMP", blank.FLOOR)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("ERROR - FAILED TO CONVERT TO STRING", True),
        ("SKIPPING DCGM VALUE", True),
        ("<<<NULL>>>", True),
        ("<<<NOT_FOUND>>>", True),
        ("<<<NOT_SUPPORTED>>>", True),
        ("<<<NOT_PERMISSIONED>>>", True),
        ("", False),
        ("0", False),
        ("NaN", False),
        ("skipping dcgm value", False),
    ],
)
def test_texts_for_no_value(*, text: str, expected: bool) -> None:
    """DCGM's and the exporter's own words are known exactly as they are written."""
    assert blank.is_blank_text(text) is expected
