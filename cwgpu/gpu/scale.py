"""DCGM 4.7's fields in base units, as the older fields of other units that they succeed.

Exporter 4.9.0 prints 11 of its default fields by these names: clocks in hertz, energy in joules,
utilisation as a ratio, memory in bytes. Names and field ids are those of NVIDIA's field reference
(https://docs.nvidia.com/datacenter/dcgm/latest/reference/field-identifiers.html); 1600 to 1612 are
in DCGM 4.6 already. A value under the old name must have the old unit, so it is converted.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TypeAlias

from cwgpu.model.drop import DropReason

Convert: TypeAlias = Callable[[float], float | DropReason]
"""From the value on the page to the one that is sent, or why there is none."""


@dataclass(frozen=True, slots=True)
class Former:
    """The older field that holds the same in another unit."""

    name: str
    times: float = 1.0
    per: float = 1.0
    """Old value = new value * ``times`` / ``per``."""

    def convert(self, value: float) -> float:
        """Give the value in the old unit."""
        # Fifteen digits are what a decimal number keeps as a float: 0.29 * 100 is to be 29.
        return float(f"{value * self.times / self.per:.15g}")


def _mhz(name: str) -> Former:
    return Former(name, per=1e6)


def _mib(name: str) -> Former:
    return Former(name, per=2.0**20)


def _percent(name: str) -> Former:
    return Former(name, times=100.0)


def _link(name: str) -> Former:
    # Both come from a rate in KiB/s: the old field divides it by 1000, the new multiplies by 1024.
    return Former(name, per=1024.0 * 1000.0)


_SINCE_4_6 = {
    "DCGM_FI_DEV_BAR1_CAPACITY_BYTES": _mib("DCGM_FI_DEV_BAR1_TOTAL"),
    "DCGM_FI_DEV_BAR1_USED_BYTES": _mib("DCGM_FI_DEV_BAR1_USED"),
    "DCGM_FI_DEV_BAR1_FREE_BYTES": _mib("DCGM_FI_DEV_BAR1_FREE"),
    "DCGM_FI_DEV_SM_CLOCK_HERTZ": _mhz("DCGM_FI_DEV_SM_CLOCK"),
    "DCGM_FI_DEV_MEMORY_CLOCK_HERTZ": _mhz("DCGM_FI_DEV_MEM_CLOCK"),
    "DCGM_FI_DEV_VIDEO_CLOCK_HERTZ": _mhz("DCGM_FI_DEV_VIDEO_CLOCK"),
    "DCGM_FI_DEV_SM_APP_CLOCK_HERTZ": _mhz("DCGM_FI_DEV_APP_SM_CLOCK"),
    "DCGM_FI_DEV_MEMORY_APP_CLOCK_HERTZ": _mhz("DCGM_FI_DEV_APP_MEM_CLOCK"),
    "DCGM_FI_DEV_SM_MAX_CLOCK_HERTZ": _mhz("DCGM_FI_DEV_MAX_SM_CLOCK"),
    "DCGM_FI_DEV_MEMORY_MAX_CLOCK_HERTZ": _mhz("DCGM_FI_DEV_MAX_MEM_CLOCK"),
    "DCGM_FI_DEV_VIDEO_MAX_CLOCK_HERTZ": _mhz("DCGM_FI_DEV_MAX_VIDEO_CLOCK"),
    "DCGM_FI_DEV_GPU_ENERGY_JOULES_TOTAL": Former(
        "DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION", times=1000.0
    ),
    "DCGM_FI_DEV_FAN_SPEED_RATIO": _percent("DCGM_FI_DEV_FAN_SPEED"),
}
_SINCE_4_7 = {
    "DCGM_FI_DEV_MEMORY_UTIL_RATIO": _percent("DCGM_FI_DEV_MEM_COPY_UTIL"),
    "DCGM_FI_DEV_ENC_UTIL_RATIO": _percent("DCGM_FI_DEV_ENC_UTIL"),
    "DCGM_FI_DEV_DEC_UTIL_RATIO": _percent("DCGM_FI_DEV_DEC_UTIL"),
    "DCGM_FI_DEV_FB_CAPACITY_BYTES": _mib("DCGM_FI_DEV_FB_TOTAL"),
    "DCGM_FI_DEV_FB_FREE_BYTES": _mib("DCGM_FI_DEV_FB_FREE"),
    "DCGM_FI_DEV_FB_USED_BYTES": _mib("DCGM_FI_DEV_FB_USED"),
    "DCGM_FI_DEV_FB_RESERVED_BYTES": _mib("DCGM_FI_DEV_FB_RESERVED"),
    "DCGM_FI_DEV_VGPU_FB_USED_BYTES": _mib("DCGM_FI_DEV_VGPU_MEMORY_USAGE"),
    "DCGM_FI_DEV_NVLINK_THROUGHPUT_BYTES_PER_SECOND": _link("DCGM_FI_DEV_NVLINK_BANDWIDTH_TOTAL"),
    **{
        f"DCGM_FI_DEV_NVLINK_THROUGHPUT_L{link}_BYTES_PER_SECOND": _link(
            f"DCGM_FI_DEV_NVLINK_BANDWIDTH_L{link}"
        )
        for link in range(18)  # fields 1630 to 1647
    },
}
FORMERS: Mapping[str, Former] = MappingProxyType({**_SINCE_4_6, **_SINCE_4_7})
"""By the name of the field in base units."""

UTILISATION = "DCGM_FI_DEV_GPU_UTIL_RATIO"
"""The one name that has two units: to DCGM 4.6 it is field 203, a whole percentage, and to 4.7
field 1613, a ratio. Both succeed ``DCGM_FI_DEV_GPU_UTIL``, which is a percentage."""


class Scales:
    """The units of one target's fields: of ``UTILISATION``, by what its pages have shown so far."""

    __slots__ = ("_base_units", "ratio")

    def __init__(self) -> None:
        """Know nothing yet."""
        self._base_units = False
        self.ratio: bool | None = None
        """Whether the utilisation is a ratio, if its values have told."""

    def adopt(self, former: "Scales") -> None:
        """Take over what the pages before have shown."""
        self.ratio = former.ratio

    def begin(self) -> None:
        """Make ready for a page, all of whose names are seen again."""
        self._base_units = False

    def see(self, name: str) -> None:
        """Take in a name of the page: fields that only DCGM 4.7 has tell its version."""
        self._base_units = self._base_units or name in _SINCE_4_7

    def of(self, name: str) -> Convert | None:
        """Say how the values of an exposed field are converted, if they are."""
        if name == UTILISATION:
            return self._utilisation
        former = FORMERS.get(name)
        return former.convert if former else None

    def _utilisation(self, value: float) -> float | DropReason:
        """Make a percentage. Only of 1 the value itself does not tell whether it is one already."""
        if 0 < value < 1:
            self.ratio = True
        elif 1 < value <= 100:  # noqa: PLR2004 - a percentage
            self.ratio = False
        if value != 1:
            return _AS_PERCENT.convert(value) if 0 < value < 1 else value
        if self._base_units or self.ratio:
            return 100.0
        return DropReason.UNIT_UNKNOWN if self.ratio is None else value


_AS_PERCENT = _percent("DCGM_FI_DEV_GPU_UTIL")
