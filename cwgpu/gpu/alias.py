"""Field names of DCGM 4.6 back to the names that dashboards and selectors know.

DCGM 4.6 renamed fields without changing what they hold; an exporter with a CSV of its own may
print either name. Selectors such as ``^DCGM_FI_DEV_GPU_UTIL$`` go on matching when every field has
one name before they run.
"""

from cwgpu.gpu.names import OLD_NAMES


def old_name(name: str) -> str:
    """Give the name that the field had before DCGM 4.6; any other name stays as it is."""
    return OLD_NAMES.get(name, name)
