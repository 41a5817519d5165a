"""One question to the API, as a value that can say what it asks."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from cwgpu.kube.resource import Resource

_METHODS = {"list": "GET", "watch": "GET", "get": "GET", "create": "POST", "update": "PUT"}
_DONE = {
    "list": "listed",
    "watch": "watched",
    "get": "read",
    "create": "created",
    "update": "written",
}


@dataclass(frozen=True, slots=True)
class Request:
    """What is asked."""

    verb: str
    """As RBAC names it: list, watch, get, create, update."""
    resource: Resource[Any]
    namespace: str = ""
    """Empty is all of them."""
    name: str = ""
    query: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    body: bytes | None = None

    @property
    def method(self) -> str:
        """HTTP's."""
        return _METHODS[self.verb]

    @property
    def path(self) -> str:
        """Of the URL."""
        name = self.name if self.verb in {"get", "update"} else ""
        return self.resource.path(self.namespace, name)

    @property
    def what(self) -> str:
        """Say what it is about: ``pods in all namespaces``."""
        if not self.resource.namespaced:
            return self.resource.plural
        where = f"in namespace {self.namespace}" if self.namespace else "in all namespaces"
        named = f" {self.name}" if self.name else ""
        return f"{self.resource.plural}{named} {where}"

    @property
    def failed(self) -> str:
        """Begin the sentence on its failure: ``pods in all namespaces cannot be listed``."""
        return f"{self.what} cannot be {_DONE[self.verb]}"
