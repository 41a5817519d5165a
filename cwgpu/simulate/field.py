"""The exporter's default counters, and what a simulated GPU shows for each.

Names, types, help texts and their order are those that dcgm-exporter 4.8.1 prints for
https://github.com/NVIDIA/dcgm-exporter/blob/main/etc/default-counters.csv (its 26th row is the
driver's version, a label). The figures are those of an H100 with 80 GB: 700 W and 1980 MHz at most.
"""

from collections.abc import Callable
from dataclasses import dataclass

from cwgpu.simulate.row import Row

XID_ERRORS = "DCGM_FI_DEV_XID_ERRORS"
XID = 13
XID_WORDS = "Graphics Engine Exception"
# Heat follows load slowly: the temperature shows the mean load of so many seconds.
_HEAT_S = 15.0
_IDLE_W, _LOAD_W = 72.0, 590.0
_IDLE_MHZ, _LOAD_MHZ, _STEP_MHZ = 345, 1635, 15
# Memory that work needs beyond what its model takes.
_WORK_MIB = 640


@dataclass(frozen=True, slots=True)
class Field:
    """One metric family of the page."""

    name: str
    type: str
    help: str
    read: Callable[[Row, float], float]
    """Row and seconds since the simulation began -> value; an int is printed as one."""
    in_mig: bool = True
    """Whether instances have it; what only the whole GPU has is missing in MIG mode."""


def is_xid(row: Row, at_s: float) -> bool:
    """Tell whether the row's device has reported its error."""
    return at_s >= row.device.xid_at_s


def _busy(full: float) -> Callable[[Row, float], int]:
    """Whole numbers in proportion to the row's load."""
    return lambda row, at_s: round(full * row.load.level(at_s))


def _ratio(full: float) -> Callable[[Row, float], float]:
    return lambda row, at_s: full * row.load.level(at_s)


def _warm(cold: int, rise: int) -> Callable[[Row, float], int]:
    def read(row: Row, at_s: float) -> int:
        load = row.device.load
        return cold + round(rise * (load.total(at_s) - load.total(at_s - _HEAT_S)) / _HEAT_S)

    return read


def _nothing(_row: Row, _at_s: float) -> int:
    return 0


def _sm_clock(row: Row, at_s: float) -> int:
    # A tenth of the load is enough to raise the clock all the way.
    rise = _LOAD_MHZ * min(1.0, 10 * row.device.load.level(at_s))
    return _IDLE_MHZ + _STEP_MHZ * round(rise / _STEP_MHZ)


def _memory_clock(_row: Row, _at_s: float) -> int:
    return 2619


def _power(row: Row, at_s: float) -> float:
    return _IDLE_W + _LOAD_W * row.device.load.level(at_s)


def _energy(row: Row, at_s: float) -> int:
    joules = _IDLE_W * at_s + _LOAD_W * row.device.load.total(at_s)
    return row.device.spent_mj + int(1000 * joules)


def _replays(row: Row, at_s: float) -> int:
    return int(at_s / row.device.replay_every_s)


def _xid(row: Row, at_s: float) -> int:
    return XID if is_xid(row, at_s) else 0


def _used(row: Row, at_s: float) -> int:
    return row.used_mib + round(_WORK_MIB * row.load.level(at_s))


def _free(row: Row, at_s: float) -> int:
    return row.memory_mib - row.reserved_mib - _used(row, at_s)


def _reserved(row: Row, _at_s: float) -> int:
    return row.reserved_mib


def _nvlink(row: Row, at_s: float) -> int:
    return round(184203 * row.load.level(at_s)) if row.linked else 0


def _pcie(idle: int, full: int) -> Callable[[Row, float], int]:
    return lambda row, at_s: idle + round(full * row.load.level(at_s))


_PCIE_HELP = (
    "The rate of data {} over the PCIe bus - including both protocol headers and data payloads"
    " - in bytes per second."
)

FIELDS = (
    Field("DCGM_FI_DEV_SM_CLOCK", "gauge", "SM clock frequency (in MHz).", _sm_clock),
    Field("DCGM_FI_DEV_MEM_CLOCK", "gauge", "Memory clock frequency (in MHz).", _memory_clock),
    Field("DCGM_FI_DEV_MEMORY_TEMP", "gauge", "Memory temperature (in C).", _warm(40, 42)),
    Field("DCGM_FI_DEV_GPU_TEMP", "gauge", "GPU temperature (in C).", _warm(32, 38)),
    Field("DCGM_FI_DEV_POWER_USAGE", "gauge", "Power draw (in W).", _power),
    Field(
        "DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION",
        "counter",
        "Total energy consumption since boot (in mJ).",
        _energy,
    ),
    Field("DCGM_FI_DEV_PCIE_REPLAY_COUNTER", "counter", "Total number of PCIe retries.", _replays),
    Field("DCGM_FI_DEV_GPU_UTIL", "gauge", "GPU utilization (in %).", _busy(100), in_mig=False),
    Field(
        "DCGM_FI_DEV_MEM_COPY_UTIL", "gauge", "Memory utilization (in %).", _busy(55), in_mig=False
    ),
    Field("DCGM_FI_DEV_ENC_UTIL", "gauge", "Encoder utilization (in %).", _nothing, in_mig=False),
    Field("DCGM_FI_DEV_DEC_UTIL", "gauge", "Decoder utilization (in %).", _nothing, in_mig=False),
    Field(XID_ERRORS, "gauge", "Value of the last XID error encountered.", _xid),
    Field("DCGM_FI_DEV_FB_FREE", "gauge", "Framebuffer memory free (in MiB).", _free),
    Field("DCGM_FI_DEV_FB_USED", "gauge", "Framebuffer memory used (in MiB).", _used),
    Field("DCGM_FI_DEV_FB_RESERVED", "gauge", "Framebuffer memory reserved (in MiB).", _reserved),
    Field(
        "DCGM_FI_DEV_UNCORRECTABLE_REMAPPED_ROWS",
        "counter",
        "Number of remapped rows for uncorrectable errors",
        _nothing,
        in_mig=False,
    ),
    Field(
        "DCGM_FI_DEV_CORRECTABLE_REMAPPED_ROWS",
        "counter",
        "Number of remapped rows for correctable errors",
        _nothing,
        in_mig=False,
    ),
    Field(
        "DCGM_FI_DEV_ROW_REMAP_FAILURE",
        "gauge",
        "Whether remapping of rows has failed",
        _nothing,
        in_mig=False,
    ),
    # A rate in MB/s, and yet the exporter calls it a counter up to 4.8.2.
    Field(
        "DCGM_FI_DEV_NVLINK_BANDWIDTH_TOTAL",
        "counter",
        "Total number of NVLink bandwidth counters for all lanes.",
        _nvlink,
        in_mig=False,
    ),
    Field("DCGM_FI_DEV_VGPU_LICENSE_STATUS", "gauge", "vGPU License status", _nothing),
    Field(
        "DCGM_FI_PROF_GR_ENGINE_ACTIVE",
        "gauge",
        "Ratio of time the graphics engine is active.",
        _ratio(0.98),
    ),
    Field(
        "DCGM_FI_PROF_PIPE_TENSOR_ACTIVE",
        "gauge",
        "Ratio of cycles the tensor (HMMA) pipe is active.",
        _ratio(0.44),
    ),
    Field(
        "DCGM_FI_PROF_DRAM_ACTIVE",
        "gauge",
        "Ratio of cycles the device memory interface is active sending or receiving data.",
        _ratio(0.62),
    ),
    Field(
        "DCGM_FI_PROF_PCIE_TX_BYTES",
        "gauge",
        _PCIE_HELP.format("transmitted"),
        _pcie(120_000, 4_000_000),
        in_mig=False,
    ),
    Field(
        "DCGM_FI_PROF_PCIE_RX_BYTES",
        "gauge",
        _PCIE_HELP.format("received"),
        _pcie(240_000, 21_000_000),
        in_mig=False,
    ),
)
