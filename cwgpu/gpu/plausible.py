"""The range that a field's values can have; beyond it they are an error of driver or exporter.

Percentages of 2619 and of 4294967295 have been seen (https://github.com/NVIDIA/DCGM/issues/199).
One of them spoils the maximum and the average of its minute. Ranges are wide: the question is what
can be, not what is usual. Only gauges are here that have such a range.
"""

import math
import re
from typing import TypeAlias

from cwgpu.gpu.scale import Convert
from cwgpu.model.drop import DropReason

Range: TypeAlias = tuple[float, float]
"""Smallest and largest value, both possible."""

_DEV = "DCGM_FI_DEV_"
_CLASSES: tuple[tuple[str, Range], ...] = (
    (rf"{_DEV}(?:GPU|MEM_COPY|ENC|DEC)_UTIL", (0, 100)),  # percent
    (rf"{_DEV}FAN_SPEED", (0, 200)),  # percent of the usual most, which fans may exceed
    (r"DCGM_FI_PROF_.*_(?:ACTIVE|OCCUPANCY)", (0, 1)),
    (rf"{_DEV}FB_USED_PERCENT", (0, 1)),  # a ratio, whatever its name says
    (rf"{_DEV}(?:GPU|MEMORY)_TEMP|{_DEV}NVSWITCH_TEMPERATURE_CURRENT", (0, 200)),  # as in DCGM
    # Watts of one board; the largest take some thousand.
    (rf"{_DEV}(?:POWER_USAGE(?:_INSTANT)?|ENFORCED_POWER_LIMIT|POWER_MGMT_LIMIT.*)", (0, 10_000)),
    # MHz; GDDR7 has an effective clock of 16 GHz.
    (rf"{_DEV}(?:.*_)?(?:SM|MEM|VIDEO)_CLOCK", (0, 50_000)),
    (rf"{_DEV}FB_(?:TOTAL|FREE|USED|RESERVED)", (0, 1 << 24)),  # MiB: 16 TiB
    (r"DCGM_FI_PROF_.*_BYTES", (0, 1e13)),  # per second; NVLink 5 has 1.8e12
    (rf"{_DEV}NVLINK_(?:[RT]X_)?BANDWIDTH_.*", (0, 1e10)),  # MB/s, of single directions KB/s
)
_RANGES = tuple((re.compile(text), limits) for text, limits in _CLASSES)


def limits(field: str) -> Range | None:
    """Give the range of a field, by its older name; None where all may be."""
    return next((found for regex, found in _RANGES if regex.fullmatch(field)), None)


def within(field: str, convert: Convert | None) -> Convert | None:
    """Have a field's values, once converted, checked against its range, if it has one."""
    found = limits(field)
    if found is None:
        return convert
    low, high = found

    def checked(value: float) -> float | DropReason:
        given = convert(value) if convert else value
        if isinstance(given, DropReason) or not math.isfinite(given) or low <= given <= high:
            return given
        return DropReason.IMPLAUSIBLE

    return checked
