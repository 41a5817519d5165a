"""One set of label names for all versions of the exporter.

The names of GPU rows changed over the years and with the exporter's ``-o`` option
(https://github.com/NVIDIA/dcgm-exporter, internal/pkg/rendermetrics and transformation). Here they
get the names that most versions print, so that one dimension set fits all of them.
"""

import functools
import itertools

from cwgpu.gpu import alias, blank
from cwgpu.model.labels import LabelPairs

_USUAL = {
    "hostname": "Hostname",  # since 4.8.3, and on NVLink rows since 4.6.0
    "uuid": "UUID",  # with -o
    "gpu_uuid": "UUID",  # on NVLink rows
    "model_name": "modelName",  # on NVLink rows
    "pod_name": "pod",  # with -o, as are the next two
    "pod_namespace": "namespace",
    "container_name": "container",
}

_MOST_KNOWN = 128
"""The series of a page have the labels of its GPUs, or of their parts, one after the other, and
again for each field. More than any node has would only take memory."""
_LONGEST = 1 << 13
"""Characters of those that are remembered: they have some hundred, and may have megabytes."""


def labels(exposed: LabelPairs) -> LabelPairs:
    """Give a DCGM sample's labels their usual names, in the order in which they came.

    A label gets another name only where no other label with a value has it; then an empty one of
    that name makes way. Labels without a value of their own ("SKIPPING DCGM VALUE") are left out.
    Names must not repeat, neither in the labels given nor in those returned.
    """
    short = sum(map(len, itertools.chain.from_iterable(exposed))) <= _LONGEST
    return _known(exposed) if short else _usual(exposed)


def _usual(exposed: LabelPairs) -> LabelPairs:
    kept = [(name, value) for name, value in exposed if not blank.is_blank_text(value)]
    taken = {name for name, value in kept if value}
    renamed: dict[str, str] = {}
    for name, value in kept:
        usual = _USUAL.get(name) or alias.old_name(name)
        if usual in taken:
            usual = name
        elif value:
            taken.add(usual)
        if value or usual not in taken:
            renamed[usual] = value
    return tuple(renamed.items())


_known = functools.lru_cache(_MOST_KNOWN)(_usual)
