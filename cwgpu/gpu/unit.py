"""CloudWatch's units for DCGM's fields, where CloudWatch has one.

It has none for watts, degrees, hertz, joules and nanoseconds, nor for ratios: such a field has no
unit. Units are in NVIDIA's field reference
(https://docs.nvidia.com/datacenter/dcgm/latest/reference/field-identifiers.html).
"""

import re

_DEV = "DCGM_FI_DEV_"
_UNITS = tuple(
    (re.compile(text), unit)
    for text, unit in (
        (rf"{_DEV}(?:GPU|MEM_COPY|ENC|DEC)_UTIL|{_DEV}FAN_SPEED", "Percent"),
        # MiB: CloudWatch has no binary sizes, and does not say that its own are decimal.
        (rf"{_DEV}FB_(?:TOTAL|FREE|USED|RESERVED)|{_DEV}BAR1_(?:TOTAL|FREE|USED)", "Megabytes"),
        (rf"{_DEV}VGPU_MEMORY_USAGE", "Megabytes"),
        (rf"{_DEV}(?:FB|BAR1|VGPU_FB)_.*_BYTES", "Bytes"),
        (r"DCGM_FI_PROF_.*_BYTES|.*_BYTES_PER_SECOND", "Bytes/Second"),
        (rf"{_DEV}NVLINK_BANDWIDTH_.*|{_DEV}NVLINK_THROUGHPUT_(?:TOTAL|L\d+)", "Megabytes/Second"),
        (rf"{_DEV}NVLINK_[RT]X_(?:BANDWIDTH|THROUGHPUT)_.*", "Kilobytes/Second"),
        (rf"{_DEV}PCIE_[RT]X_THROUGHPUT", "Kilobytes/Second"),
        (rf"{_DEV}PCIE_REPLAY_(?:COUNTER|TOTAL)|{_DEV}ECC_[SD]BE_.*", "Count"),
        (rf"{_DEV}(?:UN)?CORRECTABLE_REMAPPED_ROWS|{_DEV}ROW_REMAP_.*CORRECTABLE_TOTAL", "Count"),
        (rf"{_DEV}RETIRED_[SD]BE|{_DEV}PAGE_RETIRED_[SD]BE_TOTAL", "Count"),
        (rf"{_DEV}NVLINK_.*_ERROR_(?:COUNT_.*|.*TOTAL)", "Count"),
        (r"DCGM_EXP_.*_(?:COUNT|TOTAL)", "Count"),
    )
)


def of(field: str) -> str | None:
    """Give the unit of a field's values; None where CloudWatch has none for it."""
    return next((unit for regex, unit in _UNITS if regex.fullmatch(field)), None)
