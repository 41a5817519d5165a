"""Objects of rarer shape; the usual ones are held against Prometheus' own answers."""

from typing import Any

import pytest

from cwgpu.model.labels import Labels
from cwgpu.prom.kubernetes import group
from cwgpu.prom.kubernetes.role import Role
from tests.prom.kubernetes.known import Known

_P = "__meta_kubernetes_"
_NODE = {"kind": "Node", "metadata": {"name": "n", "labels": {"zone": "a"}}}


def _pod(name: str, ip: str, *ports: int) -> dict[str, Any]:
    declared = [{"containerPort": port, "protocol": "TCP"} for port in ports]
    return {
        "kind": "Pod",
        "metadata": {"name": name, "namespace": "ns"},
        "spec": {"containers": [{"name": "c", "ports": declared}]},
        "status": {"podIP": ip},
    }


def _targets(role: Role, *objects: dict[str, Any]) -> list[Labels]:
    known = Known(objects, attach_node=True)
    (found,) = known.of(role)
    return list(group.group(role, found, known).targets)


def _endpoints(address: dict[str, Any]) -> dict[str, Any]:
    subset = {"addresses": [{"ip": "10.0.0.9", **address}], "ports": [{"port": 80}]}
    metadata = {"name": "s", "namespace": "ns"}
    return {"kind": "Endpoints", "metadata": metadata, "subsets": [subset]}


def _slice(endpoint: dict[str, Any], *ports: dict[str, Any]) -> dict[str, Any]:
    endpoints = [{"addresses": ["10.0.0.9"], **endpoint}]
    metadata = {"name": "s-x", "namespace": "ns"}
    kind = "EndpointSlice"
    return {"kind": kind, "metadata": metadata, "endpoints": endpoints, "ports": list(ports)}


def test_an_external_name_is_a_label_in_place_of_the_cluster_ip() -> None:
    """Such a service has no address of its own."""
    spec = {"type": "ExternalName", "externalName": "example.org", "ports": [{"port": 80}]}
    service = {"kind": "Service", "metadata": {"name": "s", "namespace": "ns"}, "spec": spec}
    (target,) = _targets(Role.SERVICE, service)
    assert target[f"{_P}service_external_name"] == "example.org"
    assert f"{_P}service_cluster_ip" not in target


def test_an_endpoints_address_may_have_a_hostname() -> None:
    """Pods of a StatefulSet do."""
    (target,) = _targets(Role.ENDPOINTS, _endpoints({"hostname": "train-0"}))
    assert target[f"{_P}endpoint_hostname"] == "train-0"


@pytest.mark.parametrize(
    ("role", "found"),
    [
        (Role.ENDPOINTS, _endpoints({"targetRef": {"kind": "Node", "name": "n"}})),
        (Role.ENDPOINTS, _endpoints({"nodeName": "n"})),
        (Role.ENDPOINTSLICE, _slice({"targetRef": {"kind": "Node", "name": "n"}}, {"port": 80})),
        (Role.ENDPOINTSLICE, _slice({"nodeName": "n"}, {"port": 80})),
    ],
    ids=["endpoints-target", "endpoints-node", "slice-target", "slice-node"],
)
def test_an_endpoint_has_the_labels_of_the_node_it_is_or_is_on(
    role: Role, found: dict[str, Any]
) -> None:
    """The kubelet's endpoints stand for nodes; those of pods name theirs."""
    (target,) = _targets(role, found, _NODE)
    assert target[f"{_P}node_label_zone"] == "a"


def test_an_address_that_is_not_ready_is_a_target_that_says_so() -> None:
    """A rule may keep it or not."""
    found = _endpoints({})
    (subset,) = found["subsets"]
    subset["notReadyAddresses"] = subset.pop("addresses")
    (target,) = _targets(Role.ENDPOINTS, found)
    assert target[f"{_P}endpoint_ready"] == "false"


def test_an_endpoint_whose_pod_is_not_known_is_a_target_all_the_same() -> None:
    """Its address is enough to be scraped."""
    reference = {"kind": "Pod", "namespace": "ns", "name": "gone"}
    (target,) = _targets(Role.ENDPOINTS, _endpoints({"targetRef": reference}))
    assert target["__address__"] == "10.0.0.9:80"
    assert f"{_P}pod_name" not in target


def test_a_slices_port_need_not_have_a_protocol() -> None:
    """Then there is no label of it, where Prometheus crashes."""
    name = f"{_P}endpointslice_port_protocol"
    found = [
        _targets(Role.ENDPOINTSLICE, _slice({}, port))
        for port in ({"port": 80}, {"port": 80, "protocol": "TCP"})
    ]
    assert [[target.get(name) for target in targets] for targets in found] == [[None], ["TCP"]]


def test_ports_that_no_endpoint_has_are_targets_too() -> None:
    """Once for each pod, and not before it has an address."""
    reference = {"targetRef": {"kind": "Pod", "namespace": "ns", "name": "p"}}
    found = _slice(reference, {"port": 80}, {"name": "nameless-port"})
    addresses = [
        [target["__address__"] for target in _targets(Role.ENDPOINTSLICE, found, pod)]
        for pod in (_pod("p", "10.0.0.9", 80, 9400), _pod("p", "", 80, 9400))
    ]
    assert addresses == [
        ["10.0.0.9:80", "10.0.0.9", "10.0.0.9:9400"],
        ["10.0.0.9:80", "10.0.0.9"],
    ]


@pytest.mark.parametrize(
    ("pattern", "host", "scheme"),
    [
        ("a.example.org", "a.example.org", "https"),
        ("*.example.org", "a.example.org", "https"),
        ("*.example.org", "b.a.example.org", "http"),
        ("*.example.org", "example.org", "http"),
        ("a.*.org", "a.example.org", "http"),
        ("*", "gpu", "https"),
        ("*", "gpu.org", "http"),
    ],
)
def test_a_star_of_an_ingress_is_one_label_of_the_host(
    pattern: str, host: str, scheme: str
) -> None:
    """As it is in a certificate."""
    spec = {"tls": [{"hosts": [pattern]}], "rules": [{"host": host}]}
    ingress = {"kind": "Ingress", "metadata": {"name": "i", "namespace": "ns"}, "spec": spec}
    (target,) = _targets(Role.INGRESS, ingress)
    assert target[f"{_P}ingress_scheme"] == scheme


def test_an_owner_without_kind_and_name_is_no_label() -> None:
    """What is not said is not written as empty."""
    known = Known([_pod("p", "10.0.0.1", 80) | {"metadata": _OWNED}], attach_node=False)
    (found,) = known.of(Role.POD)
    labels = group.group(Role.POD, found, known).labels
    assert not [name for name in labels if "controller" in name]


_OWNED = {"name": "p", "namespace": "ns", "ownerReferences": [{"controller": True}]}
