"""Fields of DCGM 4.7 in base units, and what their values are under the old names."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cwgpu.gpu import scale
from cwgpu.gpu.names import OLD_NAMES
from cwgpu.model.drop import DropReason

UNKNOWN = DropReason.UNIT_UNKNOWN


@pytest.mark.parametrize(
    ("name", "value", "old", "expected"),
    [
        ("DCGM_FI_DEV_SM_CLOCK_HERTZ", 1.695e9, "DCGM_FI_DEV_SM_CLOCK", 1695),
        ("DCGM_FI_DEV_MEMORY_CLOCK_HERTZ", 6.25e9, "DCGM_FI_DEV_MEM_CLOCK", 6250),
        ("DCGM_FI_DEV_SM_MAX_CLOCK_HERTZ", 1.98e9, "DCGM_FI_DEV_MAX_SM_CLOCK", 1980),
        (
            "DCGM_FI_DEV_GPU_ENERGY_JOULES_TOTAL",
            18834092,
            "DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION",
            18834092000,
        ),
        ("DCGM_FI_DEV_MEMORY_UTIL_RATIO", 0.29, "DCGM_FI_DEV_MEM_COPY_UTIL", 29),
        ("DCGM_FI_DEV_ENC_UTIL_RATIO", 1, "DCGM_FI_DEV_ENC_UTIL", 100),
        ("DCGM_FI_DEV_DEC_UTIL_RATIO", 0, "DCGM_FI_DEV_DEC_UTIL", 0),
        ("DCGM_FI_DEV_FAN_SPEED_RATIO", 0.3, "DCGM_FI_DEV_FAN_SPEED", 30),
        ("DCGM_FI_DEV_FB_USED_BYTES", 31044 << 20, "DCGM_FI_DEV_FB_USED", 31044),
        ("DCGM_FI_DEV_FB_FREE_BYTES", (9291 << 20) + (1 << 19), "DCGM_FI_DEV_FB_FREE", 9291.5),
        ("DCGM_FI_DEV_FB_RESERVED_BYTES", 625 << 20, "DCGM_FI_DEV_FB_RESERVED", 625),
        ("DCGM_FI_DEV_FB_CAPACITY_BYTES", 40960 << 20, "DCGM_FI_DEV_FB_TOTAL", 40960),
        ("DCGM_FI_DEV_BAR1_USED_BYTES", 1 << 20, "DCGM_FI_DEV_BAR1_USED", 1),
        # 1000 KiB/s is 1 in the old field and 1024000 in the new one.
        (
            "DCGM_FI_DEV_NVLINK_THROUGHPUT_BYTES_PER_SECOND",
            1_024_000,
            "DCGM_FI_DEV_NVLINK_BANDWIDTH_TOTAL",
            1,
        ),
        (
            "DCGM_FI_DEV_NVLINK_THROUGHPUT_L17_BYTES_PER_SECOND",
            2_048_000,
            "DCGM_FI_DEV_NVLINK_BANDWIDTH_L17",
            2,
        ),
    ],
)
def test_values_get_the_old_unit(name: str, value: float, old: str, expected: float) -> None:
    """A field in base units gives exactly the number that the older field would have."""
    convert = scale.Scales().of(name)
    assert convert is not None
    assert convert(value) == expected
    assert scale.FORMERS[name].name == old


def test_no_field_has_two_older_names() -> None:
    """What changed its unit is not among the plain renames, and no result is renamed again."""
    assert not scale.FORMERS.keys() & OLD_NAMES.keys()
    old = {former.name for former in scale.FORMERS.values()}
    assert not old & (scale.FORMERS.keys() | OLD_NAMES.keys())
    assert len(old) == len(scale.FORMERS)


@given(st.integers(0, 100))
def test_a_percentage_survives_as_a_ratio(percent: int) -> None:
    """Whole percentages, written as ratios of two decimals, come back as they were."""
    assert scale.FORMERS["DCGM_FI_DEV_ENC_UTIL_RATIO"].convert(float(f"{percent / 100}")) == percent


def test_other_fields_keep_their_values() -> None:
    """Fields that kept their unit are not converted."""
    scales = scale.Scales()
    for name in ("DCGM_FI_DEV_GPU_UTIL", "DCGM_FI_DEV_GPU_TEMP_CELSIUS", "up"):
        assert scales.of(name) is None


@pytest.mark.parametrize(
    ("names", "values", "expected"),
    [
        # DCGM 4.6: whole percentages.
        ([], [97, 1, 0], [97, 1, 0]),
        # DCGM 4.7: ratios.
        ([], [0.87, 1, 0], [87, 100, 0]),
        # Nothing tells: 1 may be 1 % or all of it.
        ([], [1, 0, 1], [UNKNOWN, 0, UNKNOWN]),
        ([], [1, 0.5, 1], [UNKNOWN, 50, 100]),
        # The exporter was replaced by the other version.
        ([], [97, 0.5, 1], [97, 50, 100]),
        ([], [0.5, 97, 1], [50, 97, 1]),
        # A field that only 4.7 has is on the page.
        (["DCGM_FI_DEV_FB_USED_BYTES"], [1, 0.5, 1], [100, 50, 100]),
        (["DCGM_FI_DEV_SM_CLOCK_HERTZ", "DCGM_FI_PROF_DRAM_UTIL_RATIO"], [1], [UNKNOWN]),
        # Garbage tells nothing.
        ([], [808334905, -1, 1], [808334905, -1, UNKNOWN]),
        (["DCGM_FI_DEV_ENC_UTIL_RATIO"], [26.19, 1], [26.19, 100]),
    ],
)
def test_one_name_has_two_units(
    names: list[str], values: list[float], expected: list[float | DropReason]
) -> None:
    """A utilisation becomes a percentage, or is refused where it could be two of them."""
    scales = scale.Scales()
    scales.begin()
    for name in names:
        scales.see(name)
    convert = scales.of(scale.UTILISATION)
    assert convert is not None
    assert [convert(value) for value in values] == expected


def test_a_page_s_names_are_forgotten_with_it() -> None:
    """When the fields of 4.7 are gone, they tell nothing any more."""
    scales = scale.Scales()
    scales.see("DCGM_FI_DEV_FB_USED_BYTES")
    convert = scales.of(scale.UTILISATION)
    assert convert is not None
    assert convert(1) == 100
    scales.begin()
    assert convert(1) is UNKNOWN
