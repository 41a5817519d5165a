"""CloudWatch units of DCGM's fields."""

import pytest

from cwgpu.emf.units import UNITS
from cwgpu.gpu import unit


@pytest.mark.parametrize(
    ("field", "expected"),
    [
        ("DCGM_FI_DEV_GPU_UTIL", "Percent"),
        ("DCGM_FI_DEV_MEM_COPY_UTIL", "Percent"),
        ("DCGM_FI_DEV_FAN_SPEED", "Percent"),
        ("DCGM_FI_DEV_FB_USED", "Megabytes"),
        ("DCGM_FI_DEV_BAR1_USED", "Megabytes"),
        ("DCGM_FI_DEV_FB_USED_BYTES", "Bytes"),
        ("DCGM_FI_PROF_PCIE_RX_BYTES", "Bytes/Second"),
        ("DCGM_FI_PROF_NVLINK_TX_BYTES", "Bytes/Second"),
        ("DCGM_FI_DEV_NVLINK_THROUGHPUT_BYTES_PER_SECOND", "Bytes/Second"),
        ("DCGM_FI_DEV_NVLINK_BANDWIDTH_TOTAL", "Megabytes/Second"),
        ("DCGM_FI_DEV_NVLINK_BANDWIDTH_L3", "Megabytes/Second"),
        ("DCGM_FI_DEV_NVLINK_THROUGHPUT_TOTAL", "Megabytes/Second"),
        ("DCGM_FI_DEV_NVLINK_TX_BANDWIDTH_L0", "Kilobytes/Second"),
        ("DCGM_FI_DEV_PCIE_TX_THROUGHPUT", "Kilobytes/Second"),
        ("DCGM_FI_DEV_PCIE_REPLAY_COUNTER", "Count"),
        ("DCGM_FI_DEV_ECC_DBE_VOL_TOTAL", "Count"),
        ("DCGM_FI_DEV_UNCORRECTABLE_REMAPPED_ROWS", "Count"),
        ("DCGM_FI_DEV_RETIRED_SBE", "Count"),
        ("DCGM_FI_DEV_NVLINK_CRC_FLIT_ERROR_COUNT_TOTAL", "Count"),
        ("DCGM_EXP_XID_ERRORS_COUNT", "Count"),
        # CloudWatch has no unit for these.
        ("DCGM_FI_DEV_FB_USED_PERCENT", None),  # a ratio
        ("DCGM_FI_PROF_GR_ENGINE_ACTIVE", None),
        ("DCGM_FI_DEV_POWER_USAGE", None),
        ("DCGM_FI_DEV_GPU_TEMP", None),
        ("DCGM_FI_DEV_SM_CLOCK", None),
        ("DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION", None),
        ("DCGM_FI_DEV_POWER_VIOLATION", None),
        ("DCGM_FI_DEV_XID_ERRORS", None),
        ("DCGM_FI_DEV_RETIRED_PENDING", None),
        ("DCGM_FI_DEV_ECC_MODE", None),
        ("DCGM_FI_DEV_GPU_UTIL_RATIO", None),  # two units in two versions
        ("DCGM_EXP_GPU_HEALTH_STATUS", None),
        ("node_load1", None),
    ],
)
def test_units_are_those_of_the_values(field: str, expected: str | None) -> None:
    """A field has the unit of its values, spelled as CloudWatch wants it, or none."""
    assert unit.of(field) == expected
    assert expected is None or expected in UNITS
