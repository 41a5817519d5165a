"""The kinds of objects that are kept here, and what a request's path asks for.

https://kubernetes.io/docs/reference/using-api/api-concepts/#resource-uris
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Resource:
    """One kind, as discovery documents describe it."""

    group: str
    """Empty is the core group, ``v1``."""
    plural: str
    kind: str
    short: tuple[str, ...] = ()
    namespaced: bool = True
    has_status: bool = False
    """It has a subresource ``status``, and only through it is the status written."""
    create_on_update: bool = False
    """PUT makes what is not there yet."""
    needs_version: bool = False
    """PUT is refused unless it says which version it changes."""
    fields: tuple[str, ...] = ()
    """What a field selector may name besides metadata.name and metadata.namespace."""
    zero: Json = field(default_factory=dict)
    """Besides metadata, what Go writes of an empty one: bookmarks show it."""

    @property
    def api_version(self) -> str:
        """What objects say in ``apiVersion``."""
        return f"{self.group}/v1" if self.group else "v1"

    @property
    def root(self) -> str:
        """The path of the group's version."""
        return f"/apis/{self.group}/v1" if self.group else "/api/v1"

    @property
    def qualified(self) -> str:
        """The name that errors call it by."""
        return f"{self.plural}.{self.group}" if self.group else self.plural

    @property
    def singular(self) -> str:
        """The name of one."""
        return self.kind.lower()

    def key(self, namespace: str, name: str) -> str:
        """Give the key that objects are kept and sorted under."""
        return f"{namespace}/{name}" if self.namespaced else name


_POD_FIELDS = (
    "spec.nodeName",
    "spec.restartPolicy",
    "spec.schedulerName",
    "spec.serviceAccountName",
    "spec.hostNetwork",
    "status.phase",
    "status.podIP",
    "status.podIPs",
    "status.nominatedNodeName",
)
_NODE_INFO = [
    "machineID",
    "systemUUID",
    "bootID",
    "kernelVersion",
    "osImage",
    "containerRuntimeVersion",
    "kubeletVersion",
    "kubeProxyVersion",
    "operatingSystem",
    "architecture",
]
_NODE_STATUS: Json = {
    "daemonEndpoints": {"kubeletEndpoint": {"Port": 0}},
    "nodeInfo": dict.fromkeys(_NODE_INFO, ""),
}
_BALANCED: Json = {"spec": {}, "status": {"loadBalancer": {}}}

RESOURCES: Mapping[str, Resource] = {
    each.plural: each
    for each in (
        Resource(
            *("", "namespaces", "Namespace", ("ns",)),
            namespaced=False,
            has_status=True,
            fields=("status.phase",),
            zero={"spec": {}, "status": {}},
        ),
        Resource(
            *("", "nodes", "Node", ("no",)),
            namespaced=False,
            has_status=True,
            fields=("spec.unschedulable",),
            zero={"spec": {}, "status": _NODE_STATUS},
        ),
        Resource(
            *("", "pods", "Pod", ("po",)),
            has_status=True,
            fields=_POD_FIELDS,
            zero={"spec": {"containers": None}, "status": {}},
        ),
        Resource(
            *("", "services", "Service", ("svc",)),
            has_status=True,
            create_on_update=True,
            fields=("spec.clusterIP", "spec.type"),
            zero=_BALANCED,
        ),
        Resource("", "endpoints", "Endpoints", ("ep",), create_on_update=True),
        Resource(
            *("discovery.k8s.io", "endpointslices", "EndpointSlice"),
            zero={"addressType": "", "endpoints": None, "ports": None},
        ),
        Resource(
            *("networking.k8s.io", "ingresses", "Ingress", ("ing",)),
            has_status=True,
            zero=_BALANCED,
        ),
        Resource(
            *("coordination.k8s.io", "leases", "Lease"),
            create_on_update=True,
            needs_version=True,
            zero={"spec": {}},
        ),
    )
}
BY_KIND: Mapping[str, Resource] = {each.kind: each for each in RESOURCES.values()}
GROUPS: tuple[str, ...] = tuple(
    sorted({each.group for each in RESOURCES.values() if each.group} | {"authorization.k8s.io"})
)

_VERBS = {
    ("GET", True): "get",
    ("GET", False): "list",
    ("HEAD", True): "get",
    ("HEAD", False): "list",
    ("POST", False): "create",
    ("PUT", True): "update",
    ("PATCH", True): "patch",
    ("DELETE", True): "delete",
    ("DELETE", False): "deletecollection",
}


@dataclass(frozen=True, slots=True)
class Ask:
    """What a request wants done, in the words that RBAC has for it."""

    verb: str
    resource: Resource
    namespace: str = ""
    """Empty: all, or the kind has none."""
    name: str = ""
    subresource: str = ""

    @property
    def key(self) -> str:
        """The key of the object."""
        return self.resource.key(self.namespace, self.name)


def read(method: str, path: str, *, watch: bool) -> Ask | None:
    """Read a path; None when it is none of a resource that is here."""
    parts = [part for part in path.split("/") if part]
    if parts[:2] == ["api", "v1"]:
        group, rest = "", parts[2:]
    elif parts[:1] == ["apis"] and parts[2:3] == ["v1"]:
        group, rest = parts[1], parts[3:]
    else:
        return None
    namespace = ""
    if rest[:1] == ["namespaces"] and len(rest) > 2 and rest[2] in RESOURCES:
        namespace, rest = rest[1], rest[2:]
    resource = RESOURCES.get(rest[0]) if rest else None
    if resource is None or resource.group != group or len(rest) > 3:
        return None
    if namespace and not resource.namespaced:
        return None
    name, subresource = (*rest[1:], "", "")[:2]
    verb = _VERBS.get((method, bool(name)), "")
    if watch and verb == "list":
        verb = "watch"
    return Ask(verb, resource, namespace, name, subresource)
