"""What target groups need to know of objects other than their own."""

from typing import Protocol

from cwgpu.model.objects import Node, Pod, Service


class Lookup(Protocol):
    """The objects that are known by now."""

    def pod(self, namespace: str, name: str) -> Pod | None:
        """Give a pod, if it is known."""

    def service(self, namespace: str, name: str) -> Service | None:
        """Give a service, if it is known."""

    def node(self, name: str) -> Node | None:
        """Give a node; None too where nodes are not attached."""
