"""Which GPU, or which slice of one, a row of the exporter is about.

A row of a MIG slice has the UUID of its GPU, and the slice's number beside it.
"""

from cwgpu.model.labels import LabelPairs
from cwgpu.model.reading import Part

_UUID = ("UUID", "uuid", "gpu_uuid")
"""As labels are called once they are normalised, and what stays where that is switched off."""
_SLICE = "GPU_I_ID"


def of(labels: LabelPairs) -> Part | None:
    """Give the GPU's UUID and its slice's number; None if the row does not name a GPU."""
    known = dict(labels)
    uuid = next((known[name] for name in _UUID if known.get(name)), None)
    return (uuid, known.get(_SLICE, "")) if uuid else None
