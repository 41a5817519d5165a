"""DCGM fields that are rates, or counts of a window, though their TYPE says counter.

A difference of two such values means nothing. The TYPE comes from the exporter's CSV, not from
DCGM: https://github.com/NVIDIA/dcgm-exporter/blob/main/etc/default-counters.csv
"""

from cwgpu.gpu import alias

# Typed counter up to exporter 4.8.2; a rate that DCGM computes from the links' byte counters.
_NVLINK = "DCGM_FI_DEV_NVLINK_BANDWIDTH_TOTAL"


def is_rate_typed_as_counter(name: str) -> bool:
    """Tell whether a counter of this name must be sent as it is, never as a difference."""
    name = alias.old_name(name)
    if name.startswith("DCGM_FI_PROF_"):
        return name.endswith("_BYTES")  # bytes per second
    if name.startswith("DCGM_EXP_"):
        # Events of the last minutes. Since 4.8.3 true counters, *_TOTAL, stand beside them.
        return not name.endswith("_TOTAL")
    return name == _NVLINK
