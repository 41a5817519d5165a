"""DCGM fields that are rates, or counts of a window, though their TYPE says counter.

A difference of two such values means nothing. The TYPE comes from the exporter's CSV, not from
DCGM: https://github.com/NVIDIA/dcgm-exporter/blob/main/etc/default-counters.csv
"""

import re

from cwgpu.gpu import alias

# NVLink: rates that DCGM computes from the links' byte counters, for a GPU and for each link, in
# both directions or one; typed counter up to exporter 4.8.2. PCIe: KB/s that NVML measures, typed
# counter in the CSVs of exporters before 3.3.7-3.5.0. The rest are bytes per second.
_RATE = re.compile(
    r"DCGM_FI_DEV_NVLINK_(?:[RT]X_)?BANDWIDTH_(?:TOTAL|L[0-9]+)"
    r"|DCGM_FI_DEV_PCIE_[RT]X_THROUGHPUT"
    r"|DCGM_FI_PROF_.*_BYTES"
)
# Events of the last minutes. Since 4.8.3 true counters, *_TOTAL, stand beside them.
_WINDOW = re.compile(r"DCGM_EXP_(?!.*_TOTAL$).*")


def is_rate_typed_as_counter(name: str) -> bool:
    """Tell whether a counter of this name must be sent as it is, never as a difference."""
    name = alias.old_name(name)
    return bool(_RATE.fullmatch(name) or _WINDOW.fullmatch(name))
