"""Kubernetes objects as a cluster has them, and those of everybody who deploys DCGM's exporter.

The deployers are modelled on NVIDIA's GPU operator (assets/state-dcgm-exporter), its Helm chart and
plain manifest (dcgm-exporter), the EKS add-on amazon-cloudwatch-observability and the EKS node
monitoring agent, which runs DCGM but exports nothing.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

Json: TypeAlias = dict[str, Any]

PORT = 9400
IMAGE = "nvcr.io/nvidia/k8s/dcgm-exporter:4.4.1-4.6.0-ubuntu22.04"


def container(name: str, image: str = "registry/app:1", **ports: int) -> Json:
    """Write a container with these ports by name."""
    declared = [
        {"name": port, "containerPort": number, "protocol": "TCP"} for port, number in ports.items()
    ]
    return {"name": name, "image": image, "ports": declared}


def pod(
    name: str,
    *containers: Json,
    namespace: str = "gpu",
    ip: str = "127.0.1.1",
    node: str = "node-1",
    phase: str = "Running",
    **more: Any,  # noqa: ANN401 - JSON
) -> Json:
    """Write a pod; ``more`` are ``labels``, ``annotations``, ``owner`` and ``init`` containers."""
    meta: Json = {key: more[key] for key in ("labels", "annotations") if key in more}
    if "owner" in more:
        kind, owner = more["owner"]
        meta["ownerReferences"] = [
            {"apiVersion": "apps/v1", "kind": kind, "name": owner, "uid": "o", "controller": True}
        ]
    ready = {"type": "Ready", "status": "True" if phase == "Running" else "False"}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": namespace, **meta},
        "spec": {
            "nodeName": node,
            "initContainers": list(more.get("init", ())),
            "containers": list(containers) or [container("main", main=8080)],
        },
        "status": {
            "phase": phase,
            "podIP": ip,
            "hostIP": more.get("host_ip", "127.0.0.9"),
            "conditions": [ready],
        },
    }


def service(name: str, namespace: str = "gpu", **more: Any) -> Json:  # noqa: ANN401 - JSON
    """Write a service; ``more`` are ``labels``, ``annotations`` and ``ports`` by name."""
    meta: Json = {key: more[key] for key in ("labels", "annotations") if key in more}
    ports = more.get("ports", {"gpu-metrics": PORT})
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": name, "namespace": namespace, **meta},
        "spec": {
            "type": "ClusterIP",
            "clusterIP": "10.96.0.7",
            "ports": [
                {"name": port, "port": number, "protocol": "TCP"} for port, number in ports.items()
            ],
        },
    }


def node(name: str, **labels: str) -> Json:
    """Write a node."""
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": labels},
        "status": {
            "addresses": [{"type": "InternalIP", "address": "127.0.0.9"}],
            "daemonEndpoints": {"kubeletEndpoint": {"Port": 10250}},
        },
    }


def endpoints(name: str, pods: Sequence[Json], namespace: str = "gpu", port: int = PORT) -> Json:
    """Write the Endpoints of a service that leads to these pods."""
    return {
        "apiVersion": "v1",
        "kind": "Endpoints",
        "metadata": {"name": name, "namespace": namespace},
        "subsets": [
            {
                "addresses": [_address(each) for each in pods],
                "ports": [{"name": "gpu-metrics", "port": port, "protocol": "TCP"}],
            }
        ],
    }


def slices(name: str, pods: Sequence[Json], namespace: str = "gpu", port: int = PORT) -> Json:
    """Write an EndpointSlice of a service that leads to these pods."""
    found = [
        {
            "addresses": [address["ip"]],
            "conditions": {"ready": True, "serving": True, "terminating": False},
            "nodeName": address["nodeName"],
            "targetRef": address["targetRef"],
        }
        for address in map(_address, pods)
    ]
    return {
        "apiVersion": "discovery.k8s.io/v1",
        "kind": "EndpointSlice",
        "addressType": "IPv4",
        "metadata": {
            "name": f"{name}-x7f2k",
            "namespace": namespace,
            "labels": {"kubernetes.io/service-name": name},
        },
        "endpoints": found,
        "ports": [{"name": "gpu-metrics", "port": port, "protocol": "TCP"}],
    }


def _address(pod: Json) -> Json:
    meta = pod["metadata"]
    return {
        "ip": pod["status"]["podIP"],
        "nodeName": pod["spec"]["nodeName"],
        "targetRef": {"kind": "Pod", "namespace": meta["namespace"], "name": meta["name"]},
    }


@dataclass(frozen=True, slots=True)
class Deployer:
    """Somebody's way to run DCGM on every node."""

    namespace: str
    labels: Mapping[str, str]
    container: Json
    service: str = ""
    annotations: Mapping[str, str] = field(default_factory=dict)
    """Of the service."""
    others: tuple[Json, ...] = ()
    """Containers beside it."""
    init: tuple[Json, ...] = ()
    number: int = 0
    """Makes the addresses of its pods: 127.0.NUMBER.NODE."""

    @property
    def name(self) -> str:
        """Of the DaemonSet."""
        return self.service or self.container["name"]

    def pods(self, nodes: int = 2) -> list[Json]:
        """Write a pod on each of so many nodes."""
        return [
            pod(
                f"{self.name}-{index:05x}",
                self.container,
                *self.others,
                namespace=self.namespace,
                ip=f"127.0.{self.number}.{index + 1}",
                node=f"node-{index + 1}",
                labels={**self.labels, "controller-revision-hash": "5d8f9c7b6"},
                owner=("DaemonSet", self.name),
                init=self.init,
            )
            for index in range(nodes)
        ]

    def documents(self, nodes: int = 2) -> Iterator[Json]:
        """Write all that a cluster then has of it."""
        pods = self.pods(nodes)
        yield from pods
        if self.service:
            yield service(self.service, self.namespace, annotations=dict(self.annotations))
            yield endpoints(self.service, pods, self.namespace)
            yield slices(self.service, pods, self.namespace)


_SCRAPED = {"prometheus.io/scrape": "true"}
_NAME = "app.kubernetes.io/name"
_VALIDATION = container("toolkit-validation", "nvcr.io/nvidia/cloud-native/gpu-operator:v25.3.0")

DEPLOYERS: Mapping[str, Deployer] = {
    "operator": Deployer(
        "gpu-operator",
        {"app": "nvidia-dcgm-exporter", "app.kubernetes.io/managed-by": "gpu-operator"},
        container("nvidia-dcgm-exporter", IMAGE, metrics=PORT),
        "nvidia-dcgm-exporter",
        _SCRAPED,
        init=(_VALIDATION,),
        number=1,
    ),
    "operator-dra": Deployer(
        "gpu-operator",
        {"app": "nvidia-dcgm-exporter-dra"},
        container("nvidia-dcgm-exporter-dra", IMAGE, metrics=PORT),
        "nvidia-dcgm-exporter-dra",
        _SCRAPED,
        init=(_VALIDATION,),
        number=2,
    ),
    "chart": Deployer(
        "monitoring",
        {
            _NAME: "dcgm-exporter",
            "app.kubernetes.io/instance": "gpus",
            "app.kubernetes.io/component": "dcgm-exporter",
        },
        container("exporter", "nvcr.io/nvidia/k8s/dcgm-exporter:4.1.3-4.2.0", metrics=PORT),
        "gpus-dcgm-exporter",
        number=3,
    ),
    "plain": Deployer(
        "kube-system",
        {_NAME: "dcgm-exporter", "app.kubernetes.io/version": "4.4.1"},
        container("dcgm-exporter", IMAGE, metrics=PORT),
        "dcgm-exporter",
        number=4,
    ),
    "add-on": Deployer(
        "amazon-cloudwatch",
        {
            "k8s-app": "dcgm-exporter",
            _NAME: "dcgm-exporter",
            "app.kubernetes.io/managed-by": "amazon-cloudwatch-agent-operator",
            "app.kubernetes.io/part-of": "amazon-cloudwatch-agent",
        },
        container("dcgm-exporter", IMAGE, metrics=PORT),
        "dcgm-exporter-service",
        _SCRAPED,
        number=5,
    ),
    "monitoring-agent": Deployer(
        "kube-system",
        {"k8s-app": "dcgm-server"},
        container("eks-node-monitoring-agent-dcgm", IMAGE, dcgm=5555),
        number=6,
    ),
}
"""By who they are. The last one exports nothing, though it may run the exporter's image."""

BYSTANDERS = (
    pod("gpu-burn-c68d8c774-ltg9s", namespace="kube-system", ip="127.0.7.1", labels={"app": "x"}),
    pod(
        "grafana-0",
        container("grafana", "grafana/grafana:11", http=3000, metrics=9090),
        namespace="monitoring",
        ip="127.0.7.2",
        labels={_NAME: "grafana"},
    ),
    pod(
        "nvidia-device-plugin-abcde",
        container("nvidia-device-plugin", "nvcr.io/nvidia/k8s-device-plugin:v0.17.0"),
        namespace="gpu-operator",
        ip="127.0.7.3",
        labels={"app": "nvidia-device-plugin-daemonset"},
    ),
)
"""Pods that have nothing to do with it."""
