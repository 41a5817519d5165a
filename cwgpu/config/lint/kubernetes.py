"""What Kubernetes discovery tells about targets, and which values Kubernetes allows there.

The labels are those of Prometheus 3.0.1, ``discovery/kubernetes``, also listed in
https://prometheus.io/docs/prometheus/latest/configuration/configuration/#kubernetes_sd_config, and
our own of docs/configuration.md.
Names of objects: https://kubernetes.io/docs/concepts/overview/working-with-objects/names/
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from cwgpu.config.discovery import KubernetesDiscovery

PREFIX = "__meta_kubernetes_"

_KEY = re.compile("[a-zA-Z0-9_]+")
"""What is left of a key: every other character becomes an underscore."""

_DESCRIBED = ("label_", "labelpresent_", "annotation_", "annotationpresent_")
"""What every object has under its role's name: ``pod_label_app``."""


@dataclass(frozen=True, slots=True)
class Known:
    """Labels by name, and beginnings of names of which any continuation may be there."""

    names: frozenset[str]
    beginnings: frozenset[str]

    def has(self, name: str) -> bool:
        """Tell whether a target may have this label."""
        return name in self.names or any(
            name.startswith(each) and _KEY.fullmatch(name, len(each)) for each in self.beginnings
        )

    def continues(self, head: str) -> bool:
        """Tell whether some label begins so."""
        return any(each.startswith(head) for each in (*self.names, *self.beginnings)) or any(
            head.startswith(each) for each in self.beginnings
        )


def _known(names: str, beginnings: Iterable[str] = ()) -> Known:
    return Known(
        frozenset(PREFIX + name for name in names.split()),
        frozenset(PREFIX + name for name in beginnings),
    )


def _object(role: str) -> tuple[str, ...]:
    return tuple(f"{role}_{kind}" for kind in _DESCRIBED)


def _joined(parts: Iterable[Known]) -> Known:
    kept = tuple(parts)
    return Known(
        frozenset().union(*(each.names for each in kept)),
        frozenset().union(*(each.beginnings for each in kept)),
    )


# A pod that is found through its Service comes without its containers' ids.
_ATTACHED_POD = _known(
    "pod_name pod_ip pod_ready pod_phase pod_node_name pod_host_ip pod_uid pod_controller_kind "
    "pod_controller_name pod_workload_kind pod_workload_name pod_container_name "
    "pod_container_image pod_container_init "
    "pod_container_port_name pod_container_port_number pod_container_port_protocol",
    _object("pod"),
)
_ATTACHED_SERVICE = _known("service_name", _object("service"))
_ATTACHED_NODE = _known("node_name", _object("node"))

_ROLES = {
    "pod": _joined((_known("namespace pod_container_id"), _ATTACHED_POD)),
    "node": _joined((_known("node_provider_id", ("node_address_",)), _ATTACHED_NODE)),
    "service": _joined(
        (
            _known(
                "namespace service_port_name service_port_number service_port_protocol "
                "service_type service_cluster_ip service_external_name service_loadbalancer_ip"
            ),
            _ATTACHED_SERVICE,
        )
    ),
    "endpoints": _joined(
        (
            _known(
                "namespace endpoints_name endpoint_port_name endpoint_port_protocol endpoint_ready "
                "endpoint_address_target_kind endpoint_address_target_name endpoint_node_name "
                "endpoint_hostname",
                _object("endpoints"),
            ),
            _ATTACHED_SERVICE,
            _ATTACHED_POD,
        )
    ),
    "endpointslice": _joined(
        (
            _known(
                "namespace endpointslice_name endpointslice_address_type endpointslice_port_name "
                "endpointslice_port_protocol endpointslice_port endpointslice_port_app_protocol "
                "endpointslice_endpoint_conditions_ready "
                "endpointslice_endpoint_conditions_serving "
                "endpointslice_endpoint_conditions_terminating endpointslice_endpoint_hostname "
                "endpointslice_endpoint_node_name endpointslice_endpoint_zone "
                "endpointslice_address_target_kind endpointslice_address_target_name",
                (
                    *_object("endpointslice"),
                    "endpointslice_endpoint_topology_",
                    "endpointslice_endpoint_topology_present_",
                ),
            ),
            _ATTACHED_SERVICE,
            _ATTACHED_POD,
        )
    ),
    "ingress": _known(
        "namespace ingress_name ingress_host ingress_path ingress_scheme ingress_class_name",
        _object("ingress"),
    ),
}
_WITH_NODES = ("pod", "endpoints", "endpointslice")
"""The roles that ``attach_metadata`` gives the labels of the target's node."""


def labels(discoveries: Iterable[KubernetesDiscovery]) -> Known | None:
    """Give what targets of these discoveries are told by; None if a role is not known."""
    parts = []
    for each in discoveries:
        if each.role not in _ROLES:
            return None
        parts.append(_ROLES[each.role])
        if each.attach_metadata and each.attach_metadata.node and each.role in _WITH_NODES:
            parts.append(_ATTACHED_NODE)
    return _joined(parts)


def is_attached(name: str, discoveries: Iterable[KubernetesDiscovery]) -> bool:
    """Tell whether ``attach_metadata: {node: true}`` would give this label."""
    return _ATTACHED_NODE.has(name) and any(each.role in _WITH_NODES for each in discoveries)


# --- Values -----------------------------------------------------------------------------------

_LOWER = frozenset("abcdefghijklmnopqrstuvwxyz0123456789-")
_DOTTED = _LOWER | {"."}
_DIGITS = frozenset("0123456789")

_CHARACTERS = {
    "namespace": _LOWER,
    "service_name": _LOWER,
    "pod_container_name": _LOWER,
    "pod_container_port_name": _LOWER,
    "service_port_name": _LOWER,
    "endpoint_port_name": _LOWER,
    "endpointslice_port_name": _LOWER,
    "pod_name": _DOTTED,
    "pod_node_name": _DOTTED,
    "pod_controller_name": _DOTTED,
    "pod_workload_name": _DOTTED,
    "node_name": _DOTTED,
    "endpoints_name": _DOTTED,
    "endpoint_node_name": _DOTTED,
    "endpointslice_name": _DOTTED,
    "endpointslice_endpoint_node_name": _DOTTED,
    "ingress_name": _DOTTED,
    "pod_container_port_number": _DIGITS,
    "service_port_number": _DIGITS,
    "endpointslice_port": _DIGITS,
}

_PRESENT = re.compile(PREFIX + "[a-z]+_(?:label|annotation)present_")
_BOOLS = ("true", "false")
_PROTOCOLS = ("TCP", "UDP", "SCTP")
_VALUES = {
    "pod_phase": ("Pending", "Running", "Succeeded", "Failed", "Unknown"),
    "pod_ready": (*_BOOLS, "unknown"),
    "pod_container_init": _BOOLS,
    "endpoint_ready": _BOOLS,
    "endpointslice_endpoint_conditions_ready": _BOOLS,
    "endpointslice_endpoint_conditions_serving": _BOOLS,
    "endpointslice_endpoint_conditions_terminating": _BOOLS,
    "pod_container_port_protocol": _PROTOCOLS,
    "service_port_protocol": _PROTOCOLS,
    "endpoint_port_protocol": _PROTOCOLS,
    "endpointslice_port_protocol": _PROTOCOLS,
    "endpointslice_address_type": ("IPv4", "IPv6", "FQDN"),
    "service_type": ("ClusterIP", "NodePort", "LoadBalancer", "ExternalName"),
    "ingress_scheme": ("http", "https"),
}


def characters(name: str) -> frozenset[str] | None:
    """Give the characters that the label's value can hold; None if it may be anything."""
    return _CHARACTERS.get(name.removeprefix(PREFIX)) if name.startswith(PREFIX) else None


def values(name: str) -> tuple[str, ...] | None:
    """Give the values that the label has where it is there; None if there is no end to them."""
    if _PRESENT.match(name):
        return ("true",)
    return _VALUES.get(name.removeprefix(PREFIX)) if name.startswith(PREFIX) else None
