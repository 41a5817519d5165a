"""Objects that are known, as an API server writes them."""

from collections.abc import Iterable
from typing import Any, cast

import msgspec

from cwgpu.model import objects
from cwgpu.model.objects import Discoverable, Node, Pod, Service
from cwgpu.prom.kubernetes.role import Role

_TYPES: dict[str, type[Discoverable]] = {
    "pod": objects.Pod,
    "node": objects.Node,
    "service": objects.Service,
    "endpoints": objects.Endpoints,
    "endpointslice": objects.EndpointSlice,
    "ingress": objects.Ingress,
}


class Known:
    """A Lookup over a list of objects."""

    def __init__(self, written: Iterable[dict[str, Any]], *, attach_node: bool = False) -> None:
        """Decode the objects."""
        self._attach_node = attach_node
        self._objects = {
            (each["kind"].lower(), one.metadata.namespace, one.metadata.name): one
            for each in written
            for one in (decoded(each),)
        }

    def of(self, role: Role) -> list[Discoverable]:
        """Give the objects that become targets in a role."""
        return [one for (kind, _, _), one in self._objects.items() if kind == role.value]

    def pod(self, namespace: str, name: str) -> Pod | None:
        """Give a pod."""
        return cast("Pod | None", self._objects.get(("pod", namespace, name)))

    def service(self, namespace: str, name: str) -> Service | None:
        """Give a service."""
        return cast("Service | None", self._objects.get(("service", namespace, name)))

    def node(self, name: str) -> Node | None:
        """Give a node, where nodes are attached."""
        return cast(
            "Node | None", self._objects.get(("node", "", name)) if self._attach_node else None
        )


def decoded(written: dict[str, Any]) -> Discoverable:
    """Decode an object by its kind."""
    return msgspec.convert(written, _TYPES[written["kind"].lower()])
