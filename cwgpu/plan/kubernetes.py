"""What is asked of the Kubernetes API, and who of several agents does the work.

https://prometheus.io/docs/prometheus/latest/configuration/configuration/#kubernetes_sd_config
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from cwgpu.plan.client import Client
from cwgpu.prom.kubernetes.role import Role


@dataclass(frozen=True, slots=True)
class InCluster:
    """The cluster that we run in, as the pod's service account."""


@dataclass(frozen=True, slots=True)
class Kubeconfig:
    """The server and user of a kubeconfig's context."""

    file: str
    """An absolute path; empty takes $KUBECONFIG or ~/.kube/config, as kubectl does."""
    context: str = ""
    """Empty is the file's current context."""


@dataclass(frozen=True, slots=True)
class Address:
    """An API server by its URL."""

    url: str
    client: Client = field(default_factory=Client)


Server: TypeAlias = InCluster | Kubeconfig | Address


@dataclass(frozen=True, slots=True)
class Selector:
    """Which objects of a kind the API server gives; empty gives all."""

    label: str = ""
    field: str = ""


@dataclass(frozen=True, slots=True)
class KubernetesDiscovery:
    """One kubernetes_sd_configs entry."""

    role: Role
    server: Server = field(default_factory=InCluster)
    namespaces: tuple[str, ...] = ()
    """Empty, and ``own_namespace`` False: all."""
    own_namespace: bool = False
    """Look in the pod's own namespace too."""
    selectors: Mapping[str, Selector] = field(default_factory=dict)
    """By kind of object: ``pod``, ``service`` ..."""
    attach_node: bool = False
    node_local: bool = False
    """True: only pods of the node that NODE_NAME names in our environment."""
    environment: Mapping[str, str] = field(default_factory=dict)
    """Labels that every target gets: ``__meta_cwgpu_env_NODE_NAME`` and the like, by name."""


@dataclass(frozen=True, slots=True)
class Lease:
    """One agent of several scrapes; the others stand by."""

    name: str
    namespace: str
    """Empty is the pod's own."""
    duration_s: float = 15.0
    """Nobody takes over before the lease was left alone for this long."""
    renew_s: float = 10.0
    """Who could not renew for this long scrapes no more; less than the duration."""
    retry_s: float = 2.0
    """How often it is renewed, or looked at."""


@dataclass(frozen=True, slots=True)
class ShardLease:
    """Where the number of shards is written that is in force."""

    name: str
    namespace: str = ""
    """Empty is the pod's own."""


@dataclass(frozen=True, slots=True)
class Shard:
    """One agent of several scrapes its part of the targets: hash of the address modulo count."""

    count: int
    """0: not known yet, and nothing is ours."""
    index: int
    """One that is not less than the count has no part."""
    lease: ShardLease | None = None
    """None: the configuration's count is in force at once."""
