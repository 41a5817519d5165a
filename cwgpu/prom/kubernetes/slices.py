"""Role ``endpointslice``: the slices of a service (discovery/kubernetes/endpointslice.go)."""

from cwgpu.model.objects import EndpointSlice, Node, SliceEndpoint, SlicePort
from cwgpu.prom.kubernetes import meta, service
from cwgpu.prom.kubernetes.backing import Backing
from cwgpu.prom.kubernetes.lookup import Lookup
from cwgpu.prom.kubernetes.meta import NAMESPACE, Found

_SERVICE = "kubernetes.io/service-name"


def targets(slices: EndpointSlice, lookup: Lookup) -> tuple[Found, ...]:
    """Give a target for each address and port, then for the pods' other ports."""
    backing = Backing(lookup)
    found = [
        {
            **_address(address, port),
            **_endpoint(endpoint),
            **meta.of_node(_node(endpoint, lookup)),
            **backing.labels(endpoint.target_ref, port.port, None),
        }
        for endpoint in slices.endpoints or ()
        for port in slices.ports or ()
        for address in endpoint.addresses or ()
    ]
    return (*found, *backing.others())


def group(slices: EndpointSlice, lookup: Lookup) -> Found:
    """Give what all of a slice's targets have, those of its service too."""
    own = slices.metadata
    owner = (own.labels or {}).get(_SERVICE, "")
    return {
        NAMESPACE: own.namespace,
        meta.label("endpointslice_address_type"): slices.address_type,
        **meta.described("endpointslice", own),
        **(service.labels(lookup.service(own.namespace, owner)) if owner else {}),
    }


def _address(address: str, port: SlicePort) -> Found:
    number = None if port.port is None else str(port.port)
    written = {
        "port_name": port.name,
        "port_protocol": port.protocol,
        "port": number,
        "port_app_protocol": port.app_protocol,
    }
    whole = address if port.port is None else meta.joined(address, port.port)
    return {"__address__": whole, **_said(written)}


def _endpoint(endpoint: SliceEndpoint) -> Found:
    reference, conditions = endpoint.target_ref, endpoint.conditions
    written = {
        "endpoint_conditions_ready": _flag(conditions.ready),
        "endpoint_conditions_serving": _flag(conditions.serving),
        "endpoint_conditions_terminating": _flag(conditions.terminating),
        "endpoint_hostname": endpoint.hostname,
        "endpoint_node_name": endpoint.node_name,
        "endpoint_zone": endpoint.zone,
        "address_target_kind": reference.kind if reference else None,
        "address_target_name": reference.name if reference else None,
    }
    found = _said(written)
    for key, value in sorted((endpoint.deprecated_topology or {}).items()):
        fitted = meta.fit(key)
        found[meta.label(f"endpointslice_endpoint_topology_{fitted}")] = value
        found[meta.label(f"endpointslice_endpoint_topology_present_{fitted}")] = "true"
    return found


def _said(written: dict[str, str | None]) -> Found:
    return {
        meta.label(f"endpointslice_{key}"): value
        for key, value in written.items()
        if value is not None
    }


def _flag(condition: bool | None) -> str | None:  # noqa: FBT001 - one of three states, no switch
    return None if condition is None else str(condition).lower()


def _node(endpoint: SliceEndpoint, lookup: Lookup) -> Node | None:
    reference = endpoint.target_ref
    if reference is not None and reference.kind == "Node":
        return lookup.node(reference.name)
    return lookup.node(endpoint.node_name or "")
