"""vmagent discovers its targets on the fake Kubernetes API, in every role, and follows changes."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.fakes.kubernetes import FakeKubernetes
from tests.oracle import vmagent

Json = dict[str, Any]

pytestmark = pytest.mark.oracle("vmagent")

GPU = "gpu-operator"
ROLES = ("pod", "service", "endpoints", "endpointslice", "node", "ingress")
ADDRESSES = {
    "pod": ["127.0.1.1:9400", "127.0.1.2:9400"],
    "service": ["dcgm.gpu-operator.svc:9400"],
    "endpoints": ["127.0.1.1:9400", "127.0.1.2:9400"],
    "endpointslice": ["127.0.1.1:9400", "127.0.1.2:9400"],
    "node": ["127.0.1.9:10250"],
    "ingress": ["gpu.localhost"],
}
META = {
    "pod": {
        "__meta_kubernetes_namespace": GPU,
        "__meta_kubernetes_pod_label_app": "dcgm",
        "__meta_kubernetes_pod_labelpresent_app": "true",
        "__meta_kubernetes_pod_container_port_number": "9400",
        "__meta_kubernetes_pod_node_name": "node-a",
        "__meta_kubernetes_pod_phase": "Running",
    },
    "service": {"__meta_kubernetes_service_port_name": "metrics"},
    "endpoints": {
        "__meta_kubernetes_endpoints_name": "dcgm",
        "__meta_kubernetes_pod_name": "dcgm-1",
        "__meta_kubernetes_service_name": "dcgm",
    },
    "endpointslice": {"__meta_kubernetes_pod_name": "dcgm-1"},
    "node": {
        "__meta_kubernetes_node_name": "node-a",
        "__meta_kubernetes_node_address_InternalIP": "127.0.1.9",
    },
    "ingress": {"__meta_kubernetes_ingress_name": "gpu"},
}
PORT = {"name": "metrics", "port": 9400, "protocol": "TCP"}


def pod(number: int) -> Json:
    """Give a pod of the exporter, on loopback."""
    return {
        "kind": "Pod",
        "metadata": {"name": f"dcgm-{number}", "namespace": GPU, "labels": {"app": "dcgm"}},
        "spec": {
            "nodeName": "node-a",
            "containers": [
                {"name": "dcgm", "ports": [{"name": "metrics", "containerPort": 9400}]},
            ],
        },
        "status": {"phase": "Running", "podIP": f"127.0.1.{number}", "hostIP": "127.0.1.9"},
    }


def objects() -> Iterator[Json]:
    """Give a small cluster."""
    named = {"name": "dcgm", "namespace": GPU}
    yield pod(1)
    yield pod(2)
    yield {
        "kind": "Node",
        "metadata": {"name": "node-a"},
        "status": {
            "addresses": [{"type": "InternalIP", "address": "127.0.1.9"}],
            "daemonEndpoints": {"kubeletEndpoint": {"Port": 10250}},
        },
    }
    yield {"kind": "Service", "metadata": named, "spec": {"ports": [PORT], "type": "ClusterIP"}}
    backends = [{"kind": "Pod", "name": f"dcgm-{number}", "namespace": GPU} for number in (1, 2)]
    backing = [
        {"ip": f"127.0.1.{number}", "nodeName": "node-a", "targetRef": backends[number - 1]}
        for number in (1, 2)
    ]
    yield {
        "kind": "Endpoints",
        "metadata": named,
        "subsets": [{"addresses": backing, "ports": [PORT]}],
    }
    yield {
        "kind": "EndpointSlice",
        "metadata": {**named, "labels": {"kubernetes.io/service-name": "dcgm"}},
        "addressType": "IPv4",
        "endpoints": [
            {
                "addresses": [each["ip"]],
                "conditions": {"ready": True},
                "nodeName": "node-a",
                "targetRef": each["targetRef"],
            }
            for each in backing
        ],
        "ports": [PORT],
    }
    rule = {"host": "gpu.localhost", "http": {"paths": [{"path": "/", "pathType": "Prefix"}]}}
    named = {"name": "gpu", "namespace": GPU}
    yield {"kind": "Ingress", "metadata": named, "spec": {"rules": [rule]}}


def job(api: FakeKubernetes, account: Path, role: str, **more: object) -> Json:
    """Give a job that discovers one role, and scrapes so seldom that it will not."""
    discovery: Json = {"role": role, "api_server": api.url, **more}
    discovery["tls_config"] = {"ca_file": str(account / "ca.crt")}
    discovery["bearer_token_file"] = str(account / "token")
    return {"job_name": role, "scrape_interval": "1h", "kubernetes_sd_configs": [discovery]}


def of(role: str, active: list[Json]) -> list[Json]:
    """Give the labels of a job's targets before relabelling, by address."""
    found = [each["discoveredLabels"] for each in active if each["labels"]["job"] == role]
    return sorted(found, key=lambda labels: str(labels["__address__"]))


def addresses(role: str, active: list[Json]) -> list[str]:
    """Give the addresses that a job found."""
    return [labels["__address__"] for labels in of(role, active)]


def test_every_role_is_discovered(tmp_path: Path) -> None:
    """With a token that may list and watch what the roles need, and over TLS."""
    kinds = ("pods", "services", "endpoints", "endpointslices", "nodes", "ingresses")
    expected = sum(len(addresses) for addresses in ADDRESSES.values())
    with FakeKubernetes(tls=True) as api:
        token = api.grant("vmagent", dict.fromkeys(kinds, ("get", "list", "watch")))
        for each in objects():
            api.put(each)
        account = api.service_account(tmp_path / "account", token)
        jobs = [job(api, account, role) for role in ROLES]
        with vmagent.running(tmp_path, jobs) as agent:
            active = agent.wait(lambda active: len(active) == expected)
    for role in ROLES:
        labels = of(role, active)
        assert addresses(role, active) == ADDRESSES[role]
        assert META[role].items() <= labels[0].items()
    assert {request.status for request in api.requests} == {200}


def test_changes_are_followed(tmp_path: Path) -> None:
    """A pod that comes, and one that goes, by the watch; selectors go to the server."""
    selectors = [{"role": "pod", "label": "app=dcgm", "field": "spec.nodeName=node-a"}]
    with FakeKubernetes(tls=True) as api:
        for number in (1, 2):
            api.put(pod(number))
        other = pod(4)
        other["metadata"]["labels"] = {"app": "other"}
        api.put(other)
        account = api.service_account(tmp_path / "account", api.admin)
        jobs = [job(api, account, "pod", selectors=selectors)]
        with vmagent.running(tmp_path, jobs) as agent:
            agent.wait(lambda active: len(active) == 2)
            api.wait(lambda: api.watches)
            api.put(pod(3))
            agent.wait(lambda active: len(active) == 3)
            api.delete("pods", GPU, "dcgm-1")
            active = agent.wait(lambda active: len(active) == 2)
            api.chaos.compact()
            api.chaos.cut()
            api.delete("pods", GPU, "dcgm-2")
            after = agent.wait(lambda active: len(active) == 1)
    assert [each["__address__"] for each in of("pod", active)] == [
        "127.0.1.2:9400",
        "127.0.1.3:9400",
    ]
    assert [each["__address__"] for each in of("pod", after)] == ["127.0.1.3:9400"]
    listed = [request for request in api.requests if request.verb == "list"]
    assert {request.query["labelSelector"] for request in listed} == {"app=dcgm"}
