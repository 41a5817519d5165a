"""Kubernetes objects: of each kind the fields that somebody reads, and no other.

Field names and meanings: https://kubernetes.io/docs/reference/kubernetes-api/. What an API server
leaves out or calls null is the empty value here, as it is in Go. Objects are decoded from the
server's JSON; nobody changes them.
"""

import sys
from typing import TypeAlias, TypeVar

import msgspec
from msgspec import structs

T = TypeVar("T")
Listed: TypeAlias = tuple[T, ...] | None
Texts: TypeAlias = dict[str, str] | None

_set = structs.force_setattr


def _share(part: "Part", field: str, text: str) -> None:
    _set(part, field, sys.intern(text))


class Part(msgspec.Struct, frozen=True, gc=False, rename="camel", kw_only=True):
    """What every part of an object is.

    ``gc=False``: there are no cycles among them, and 5,000 pods are many objects to walk. Texts
    that are the same in hundreds of pods are one object; they were a quarter of what pods took.
    """


class Owner(Part, frozen=True):
    """An entry of ``ownerReferences``."""

    kind: str = ""
    name: str = ""
    controller: bool | None = None


class Meta(Part, frozen=True):
    """``metadata``."""

    name: str = ""
    namespace: str = ""
    uid: str = ""
    resource_version: str = ""
    labels: Texts = None
    annotations: Texts = None
    owner_references: Listed[Owner] = None


class Object(Part, frozen=True):
    """What every kind has."""

    metadata: Meta = Meta()


class ContainerPort(Part, frozen=True):
    """A port that a container declares."""

    name: str = ""
    container_port: int = 0
    protocol: str = ""


class Container(Part, frozen=True):
    """A container, or an init container."""

    name: str = ""
    image: str = ""
    ports: Listed[ContainerPort] = None

    def __post_init__(self) -> None:
        _share(self, "name", self.name)
        _share(self, "image", self.image)


class PodSpec(Part, frozen=True):
    """What a pod is to be."""

    node_name: str = ""
    containers: Listed[Container] = None
    init_containers: Listed[Container] = None

    def __post_init__(self) -> None:
        _share(self, "node_name", self.node_name)


class Condition(Part, frozen=True):
    """One of a pod's conditions."""

    type: str = ""
    status: str = ""


class ContainerStatus(Part, frozen=True):
    """What became of a container."""

    name: str = ""
    container_id: str = msgspec.field(name="containerID", default="")


class PodStatus(Part, frozen=True):
    """What a pod is."""

    phase: str = ""
    pod_ip: str = msgspec.field(name="podIP", default="")
    host_ip: str = msgspec.field(name="hostIP", default="")
    conditions: Listed[Condition] = None
    container_statuses: Listed[ContainerStatus] = None
    init_container_statuses: Listed[ContainerStatus] = None


class Pod(Object, frozen=True):
    """A pod."""

    spec: PodSpec = PodSpec()
    status: PodStatus = PodStatus()


class NodeSpec(Part, frozen=True):
    """What a node is to be."""

    provider_id: str = msgspec.field(name="providerID", default="")


class NodeAddress(Part, frozen=True):
    """One of a node's addresses."""

    type: str = ""
    address: str = ""


class DaemonEndpoint(Part, frozen=True):
    """Where the kubelet listens."""

    port: int = msgspec.field(name="Port", default=0)


class DaemonEndpoints(Part, frozen=True):
    """Where a node's daemons listen."""

    kubelet_endpoint: DaemonEndpoint = DaemonEndpoint()


class NodeStatus(Part, frozen=True):
    """What a node is."""

    addresses: Listed[NodeAddress] = None
    daemon_endpoints: DaemonEndpoints = DaemonEndpoints()


class Node(Object, frozen=True):
    """A node."""

    spec: NodeSpec = NodeSpec()
    status: NodeStatus = NodeStatus()


class ServicePort(Part, frozen=True):
    """A port of a service."""

    name: str = ""
    port: int = 0
    protocol: str = ""


class ServiceSpec(Part, frozen=True):
    """What a service is."""

    type: str = ""
    cluster_ip: str = msgspec.field(name="clusterIP", default="")
    external_name: str = ""
    load_balancer_ip: str = msgspec.field(name="loadBalancerIP", default="")
    ports: Listed[ServicePort] = None


class Service(Object, frozen=True):
    """A service."""

    spec: ServiceSpec = ServiceSpec()


class Reference(Part, frozen=True):
    """The object that an endpoint stands for."""

    kind: str = ""
    namespace: str = ""
    name: str = ""


class EndpointAddress(Part, frozen=True):
    """An address of an Endpoints object."""

    ip: str = ""
    hostname: str = ""
    node_name: str | None = None
    target_ref: Reference | None = None


class EndpointPort(Part, frozen=True):
    """A port of an Endpoints object."""

    name: str = ""
    port: int = 0
    protocol: str = ""


class EndpointSubset(Part, frozen=True):
    """Addresses that share their ports."""

    addresses: Listed[EndpointAddress] = None
    not_ready_addresses: Listed[EndpointAddress] = None
    ports: Listed[EndpointPort] = None


class Endpoints(Object, frozen=True):
    """The addresses of one service, in one object."""

    subsets: Listed[EndpointSubset] = None


class SliceConditions(Part, frozen=True):
    """Whether an endpoint may be used; None is unknown."""

    ready: bool | None = None
    serving: bool | None = None
    terminating: bool | None = None


class SliceEndpoint(Part, frozen=True):
    """An endpoint of a slice."""

    addresses: Listed[str] = None
    conditions: SliceConditions = SliceConditions()
    hostname: str | None = None
    node_name: str | None = None
    zone: str | None = None
    target_ref: Reference | None = None
    deprecated_topology: Texts = None


class SlicePort(Part, frozen=True):
    """A port of a slice; None is unsaid."""

    name: str | None = None
    port: int | None = None
    protocol: str | None = None
    app_protocol: str | None = None


class EndpointSlice(Object, frozen=True):
    """Some of the addresses of a service."""

    address_type: str = ""
    endpoints: Listed[SliceEndpoint] = None
    ports: Listed[SlicePort] = None


class IngressPath(Part, frozen=True):
    """A path of an ingress rule."""

    path: str = ""


class IngressPaths(Part, frozen=True):
    """The paths of an ingress rule."""

    paths: Listed[IngressPath] = None


class IngressRule(Part, frozen=True):
    """A host of an ingress."""

    host: str = ""
    http: IngressPaths | None = None


class IngressTls(Part, frozen=True):
    """Hosts that speak TLS."""

    hosts: Listed[str] = None


class IngressSpec(Part, frozen=True):
    """What an ingress is."""

    ingress_class_name: str | None = None
    rules: Listed[IngressRule] = None
    tls: Listed[IngressTls] = None


class Ingress(Object, frozen=True):
    """An ingress."""

    spec: IngressSpec = IngressSpec()


Discoverable: TypeAlias = Pod | Node | Service | Endpoints | EndpointSlice | Ingress
"""What can become targets."""
