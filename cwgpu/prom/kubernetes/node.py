"""Role ``node``: the kubelet of each node (discovery/kubernetes/node.go)."""

from cwgpu.model.objects import Node
from cwgpu.prom.kubernetes import meta
from cwgpu.prom.kubernetes.meta import Found

# The address that is taken is the first there is in this order of types.
_PREFERRED = (
    "InternalIP",
    "InternalDNS",
    "ExternalIP",
    "ExternalDNS",
    "LegacyHostIP",
    "Hostname",
)


def targets(node: Node) -> tuple[Found, ...]:
    """Give the node's one target; none for a node without an address."""
    addresses = _addresses(node)
    host = next((addresses[kind] for kind in _PREFERRED if kind in addresses), None)
    if host is None:
        return ()
    port = node.status.daemon_endpoints.kubelet_endpoint.port
    return (
        {
            "__address__": meta.joined(host, port),
            "instance": node.metadata.name,
            **{meta.name("node", f"address_{kind}"): ip for kind, ip in addresses.items()},
        },
    )


def group(node: Node) -> Found:
    """Give the labels of the node's target that come from the object as a whole."""
    if not _addresses(node):
        return {}
    return {
        meta.label("node_provider_id"): node.spec.provider_id,
        **meta.described("node", node.metadata),
    }


def _addresses(node: Node) -> dict[str, str]:
    """Give the first address of each type."""
    found: dict[str, str] = {}
    for each in node.status.addresses or ():
        found.setdefault(each.type, each.address)
    return found
