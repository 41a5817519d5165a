"""Field names of DCGM 4.6 and 4.7 back to the names that dashboards and selectors know.

DCGM 4.6 renamed fields without changing what they hold; 4.7 put fields with base units in place of
others, which is what exporter 4.9.0 prints (``scale``). Selectors like ``^DCGM_FI_DEV_GPU_UTIL$``
go on matching when every field has one name before they run.
"""

from cwgpu.gpu.names import OLD_NAMES
from cwgpu.gpu.scale import FORMERS


def old_name(name: str) -> str:
    """Give the name that the field had before DCGM 4.6; any other name stays as it is.

    Whoever uses the name of a field whose unit changed must convert its values, too.
    """
    former = FORMERS.get(name)
    return former.name if former else OLD_NAMES.get(name, name)
