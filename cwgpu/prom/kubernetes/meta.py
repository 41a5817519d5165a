"""Labels that every kind of object has: its name, its labels, its annotations."""

import functools
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


# Labels of a cluster's objects have some hundred names, each on thousands of objects: names are
# made once, and are one object each. More than this would be names that say nothing twice.
_MOST_NAMES = 1 << 14


@functools.lru_cache(_MOST_NAMES)
def label(name: str) -> str:
    """Give the name of a meta label."""
    return PREFIX + name


def name(role: str, key: str) -> str:
    """Give the name of a meta label; what a label name must not hold becomes ``_``."""
    return label(f"{role}_{fit(key)}")


def fit(key: str) -> str:
    """Replace every character that no label name may hold."""
    return _UNFIT.sub("_", key)


def described(role: str, meta: Meta) -> Found:
    """Give name, labels and annotations.

    Of two keys that become one, the last in order wins; in Prometheus it is chance.
    """
    return {
        label(f"{role}_name"): meta.name,
        **keyed(f"{role}_label", meta.labels),
        **keyed(f"{role}_annotation", meta.annotations),
    }


def keyed(kind: str, texts: Mapping[str, str] | None) -> Found:
    """Give two labels for each key: its value, and that it is there."""
    labels = {}
    for key, value in sorted((texts or {}).items()):
        named, present = _names(kind, key)
        labels[named] = value
        labels[present] = "true"
    return labels


@functools.lru_cache(_MOST_NAMES)
def _names(kind: str, key: str) -> tuple[str, str]:
    fitted = fit(key)
    return label(f"{kind}_{fitted}"), label(f"{kind}present_{fitted}")


def of_node(node: Node | None) -> Labels:
    """Give what ``attach_metadata: {node: true}`` adds; nothing for a node that is not known."""
    return described("node", node.metadata) if node else {}


def joined(host: str, port: int) -> str:
    """Give ``host:port``, an IPv6 address in brackets."""
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
