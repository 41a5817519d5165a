"""The kinds of object that are asked for, and where the API has them.

https://kubernetes.io/docs/reference/using-api/api-concepts/#resource-uris
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Generic, TypeVar

from cwgpu.model import objects

T = TypeVar("T", bound=objects.Object)


@dataclass(frozen=True, slots=True)
class Resource(Generic[T]):
    """One kind."""

    group: str
    """Empty is the core group."""
    version: str
    plural: str
    type: type[T]
    namespaced: bool = True

    def path(self, namespace: str = "", name: str = "") -> str:
        """Give the path of a list or of an object; without a namespace, of all of them."""
        base = f"/apis/{self.group}/{self.version}" if self.group else f"/api/{self.version}"
        inside = f"/namespaces/{namespace}" if namespace and self.namespaced else ""
        return f"{base}{inside}/{self.plural}{'/' if name else ''}{name}"


PODS = Resource("", "v1", "pods", objects.Pod)
NODES = Resource("", "v1", "nodes", objects.Node, namespaced=False)
SERVICES = Resource("", "v1", "services", objects.Service)
ENDPOINTS = Resource("", "v1", "endpoints", objects.Endpoints)
ENDPOINT_SLICES = Resource("discovery.k8s.io", "v1", "endpointslices", objects.EndpointSlice)
INGRESSES = Resource("networking.k8s.io", "v1", "ingresses", objects.Ingress)
LEASES = Resource("coordination.k8s.io", "v1", "leases", objects.Object)

DISCOVERABLE: Mapping[str, Resource[Any]] = MappingProxyType(
    {
        "pod": PODS,
        "node": NODES,
        "service": SERVICES,
        "endpoints": ENDPOINTS,
        "endpointslice": ENDPOINT_SLICES,
        "ingress": INGRESSES,
    }
)
"""What can become targets, by kind as roles and selectors name it."""
