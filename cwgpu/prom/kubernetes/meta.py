"""Labels that every kind of object has: its name, its labels, its annotations."""

import re
from collections.abc import Mapping
from typing import TypeAlias

from cwgpu.model.labels import Labels
from cwgpu.model.objects import Meta, Node

Found: TypeAlias = dict[str, str]
"""Labels that grow while a target is put together."""

PREFIX = "__meta_kubernetes_"
NAMESPACE = f"{PREFIX}namespace"

_UNFIT = re.compile(r"[^a-zA-Z0-9_]")


def name(role: str, key: str) -> str:
    """Give the name of a meta label; what a label name must not hold becomes ``_``."""
    return f"{PREFIX}{role}_{fit(key)}"


def fit(key: str) -> str:
    """Replace every character that no label name may hold."""
    return _UNFIT.sub("_", key)


def described(role: str, meta: Meta) -> Found:
    """Give name, labels and annotations.

    Of two keys that become one, the last in order wins; in Prometheus it is chance.
    """
    return {
        f"{PREFIX}{role}_name": meta.name,
        **keyed(f"{role}_label", meta.labels),
        **keyed(f"{role}_annotation", meta.annotations),
    }


def keyed(kind: str, texts: Mapping[str, str] | None) -> Found:
    """Give two labels for each key: its value, and that it is there."""
    labels = {}
    for key in sorted(texts or ()):
        fitted = fit(key)
        labels[f"{PREFIX}{kind}_{fitted}"] = (texts or {})[key]
        labels[f"{PREFIX}{kind}present_{fitted}"] = "true"
    return labels


def of_node(node: Node | None) -> Labels:
    """Give what ``attach_metadata: {node: true}`` adds; nothing for a node that is not known."""
    return described("node", node.metadata) if node else {}


def joined(host: str, port: int) -> str:
    """Give ``host:port``, an IPv6 address in brackets."""
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
