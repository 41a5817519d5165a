"""Rates that an exporter calls counters."""

import pytest

from cwgpu.gpu import rates


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("DCGM_FI_DEV_NVLINK_BANDWIDTH_TOTAL", True),
        ("DCGM_FI_DEV_NVLINK_THROUGHPUT_TOTAL", True),  # its name since DCGM 4.6
        ("DCGM_FI_DEV_NVLINK_BANDWIDTH_L0", True),
        ("DCGM_FI_DEV_NVLINK_THROUGHPUT_L17", True),
        ("DCGM_FI_DEV_NVLINK_TX_BANDWIDTH_TOTAL", True),
        ("DCGM_FI_DEV_NVLINK_RX_THROUGHPUT_L3", True),
        ("DCGM_FI_DEV_PCIE_TX_THROUGHPUT", True),
        ("DCGM_FI_DEV_PCIE_RX_THROUGHPUT", True),
        ("DCGM_FI_PROF_PCIE_TX_BYTES", True),
        ("DCGM_FI_PROF_NVLINK_RX_BYTES", True),
        ("DCGM_EXP_XID_ERRORS_COUNT", True),
        ("DCGM_EXP_CLOCK_EVENTS_COUNT", True),
        ("DCGM_EXP_XID_ERRORS_TOTAL", False),
        ("DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION", False),
        ("DCGM_FI_DEV_PCIE_REPLAY_COUNTER", False),
        ("DCGM_FI_DEV_NVLINK_RX_BYTES_TOTAL", False),
        ("DCGM_FI_DEV_NVLINK_CRC_FLIT_ERROR_COUNT_TOTAL", False),
        ("DCGM_FI_DEV_NVSWITCH_LINK_THROUGHPUT_TX", False),
        ("DCGM_FI_PROF_DRAM_ACTIVE", False),
        ("node_network_receive_bytes_total", False),
        ("", False),
    ],
)
def test_rates_are_told_from_counters(*, name: str, expected: bool) -> None:
    """Fields that DCGM gives per second or per window are no counters, whatever TYPE says."""
    assert rates.is_rate_typed_as_counter(name) is expected
