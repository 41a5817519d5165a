"""What has to be watched for a Kubernetes discovery, before anything is asked.

Prometheus watches each kind of object on its own, in each namespace that is named: so one that we
may not read costs nobody its targets but itself (discovery/kubernetes/kubernetes.go of 3.0.1).
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from cwgpu.kube import incluster
from cwgpu.kube.failure import CredentialsError
from cwgpu.plan.kubernetes import InCluster, KubernetesDiscovery, Selector, Server
from cwgpu.prom.kubernetes import role as roles
from cwgpu.prom.kubernetes.role import Role

NODE_NAME = "NODE_NAME"
"""The variable of our own environment that says which node we are on."""

_CLUSTER_WIDE = frozenset({"node"})
"""Kinds that are in no namespace."""
NO_CLUSTER = (
    "this is no pod of a cluster (KUBERNETES_SERVICE_HOST is not set), so kubernetes_sd_configs "
    "finds nothing here; elsewhere api_server or kubeconfig_file names a cluster"
)
"""The note about a discovery of its own cluster that has none."""
_NO_NODE = (
    f"node_local: {NODE_NAME} is not in the environment; add {{name: {NODE_NAME}, valueFrom: "
    "{fieldRef: {fieldPath: spec.nodeName}}} to env of the agent's container"
)


@dataclass(frozen=True, slots=True)
class Question:
    """Objects of one kind to watch. Two discoveries that ask the same share the answer."""

    server: Server
    kind: str
    """``pod``, ``service`` ..."""
    namespace: str = ""
    """Empty is all of them."""
    labels: str = ""
    fields: str = ""


Part: TypeAlias = Mapping[str, Question]
"""What is asked about one namespace, by kind; the kind that becomes targets is first."""


@dataclass(frozen=True, slots=True)
class Questions:
    """All that one discovery asks."""

    parts: tuple[Part, ...] = ()
    faults: tuple[str, ...] = ()
    """What cannot be asked, and what to do about it."""
    notes: tuple[str, ...] = ()
    """Why there is nothing to ask, where that is as it should be."""


def questions(
    discovery: KubernetesDiscovery, environ: Mapping[str, str], folder: Path = incluster.FOLDER
) -> Questions:
    """Give what a discovery asks in this environment; ``folder`` has our pod's service account."""
    if isinstance(discovery.server, InCluster) and not environ.get("KUBERNETES_SERVICE_HOST"):
        return Questions(notes=(NO_CLUSTER,))
    node = environ.get(NODE_NAME, "")
    if discovery.node_local and not node:
        return Questions(faults=(_NO_NODE,))
    namespaces, faults = _namespaces(discovery, folder)
    kinds = roles.kinds(discovery.role, attach_node=discovery.attach_node)
    parts = (
        {kind: _question(discovery, kind, namespace, node) for kind in kinds}
        for namespace in namespaces
    )
    return Questions(tuple(parts), faults)


def _namespaces(
    discovery: KubernetesDiscovery, folder: Path
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Give the namespaces to look in, and why one is not among them."""
    if discovery.role is Role.NODE or not (discovery.namespaces or discovery.own_namespace):
        return ("",), ()
    if not discovery.own_namespace:
        return discovery.namespaces, ()
    try:
        own = incluster.namespace(folder)
    except CredentialsError as error:
        return discovery.namespaces, (f"own_namespace: {error}",)
    return tuple(dict.fromkeys((*discovery.namespaces, own))), ()


def _question(discovery: KubernetesDiscovery, kind: str, namespace: str, node: str) -> Question:
    chosen = discovery.selectors.get(kind, Selector())
    return Question(
        discovery.server,
        kind,
        "" if kind in _CLUSTER_WIDE else namespace,
        chosen.label,
        ",".join(_fields(discovery, kind, chosen.field, node)),
    )


def _fields(discovery: KubernetesDiscovery, kind: str, field: str, node: str) -> Iterator[str]:
    """Give the field selectors; of our own node's pods the only node is our own."""
    if field:
        yield field
    if discovery.node_local:
        yield f"metadata.name={node}" if kind == "node" else f"spec.nodeName={node}"
