"""Role ``endpoints``: the addresses behind a service (discovery/kubernetes/endpoints.go)."""

from collections.abc import Iterator

from cwgpu.model.objects import EndpointAddress, EndpointPort, Endpoints, EndpointSubset, Node
from cwgpu.prom.kubernetes import meta, service
from cwgpu.prom.kubernetes.backing import Backing
from cwgpu.prom.kubernetes.lookup import Lookup
from cwgpu.prom.kubernetes.meta import NAMESPACE, Found


def targets(endpoints: Endpoints, lookup: Lookup) -> tuple[Found, ...]:
    """Give a target for each address and port, then for the pods' other ports."""
    backing = Backing(lookup)
    found = [
        {
            **_target(address, port, ready),
            **meta.of_node(_node(address, lookup)),
            **backing.labels(address.target_ref, port.port, port.protocol),
        }
        for subset in endpoints.subsets or ()
        for port, address, ready in _all(subset)
    ]
    return (*found, *backing.others())


def group(endpoints: Endpoints, lookup: Lookup) -> Found:
    """Give what all of an object's targets have, those of the service of the same name too."""
    own = endpoints.metadata
    return {
        NAMESPACE: own.namespace,
        **meta.described("endpoints", own),
        **service.labels(lookup.service(own.namespace, own.name)),
    }


def _all(subset: EndpointSubset) -> Iterator[tuple[EndpointPort, EndpointAddress, str]]:
    for port in subset.ports or ():
        for address in subset.addresses or ():
            yield port, address, "true"
        for address in subset.not_ready_addresses or ():
            yield port, address, "false"


def _target(address: EndpointAddress, port: EndpointPort, ready: str) -> Found:
    found = {
        "__address__": meta.joined(address.ip, port.port),
        meta.label("endpoint_port_name"): port.name,
        meta.label("endpoint_port_protocol"): port.protocol,
        meta.label("endpoint_ready"): ready,
    }
    if address.target_ref:
        found[meta.label("endpoint_address_target_kind")] = address.target_ref.kind
        found[meta.label("endpoint_address_target_name")] = address.target_ref.name
    if address.node_name is not None:
        found[meta.label("endpoint_node_name")] = address.node_name
    if address.hostname:
        found[meta.label("endpoint_hostname")] = address.hostname
    return found


def _node(address: EndpointAddress, lookup: Lookup) -> Node | None:
    if address.node_name is not None:
        return lookup.node(address.node_name)
    reference = address.target_ref
    if reference is not None and reference.kind == "Node":
        return lookup.node(reference.name)
    return None
