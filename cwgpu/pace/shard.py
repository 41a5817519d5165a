"""Which of several agents has a target, so that each has its part and no two share one.

The hash is Prometheus' hashmod (model/relabel/relabel.go), so a rule
``action: hashmod, source_labels: [__address__]`` chooses the same targets.
"""

import hashlib


def owner(address: str, count: int) -> int:
    """Give the index of the agent, of ``count``, that has the target of this address."""
    digest = hashlib.md5(address.encode(), usedforsecurity=False).digest()
    return int.from_bytes(digest[8:], "big") % count


def ordinal(name: str) -> int | None:
    """Give the index at the end of a StatefulSet pod's name: ``cwgpu-3`` is 3; None if none is.

    https://kubernetes.io/docs/concepts/workloads/controllers/statefulset/#ordinal-index
    """
    _, dash, index = name.rpartition("-")
    return int(index) if dash and index.isascii() and index.isdigit() else None
