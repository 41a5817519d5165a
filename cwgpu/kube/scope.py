"""What a reflector watches, and the questions that come of it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from cwgpu.kube.request import Request
from cwgpu.kube.resource import Resource

PAGE = 500
"""Objects on a page, as in Kubernetes' own clients: some 2 MB of pods."""


@dataclass(frozen=True, slots=True)
class Scope:
    """Objects of one kind, in one namespace or all, that selectors choose."""

    resource: Resource[Any]
    namespace: str = ""
    """Empty is all of them."""
    labels: str = ""
    fields: str = ""
    """Selectors as the API has them; empty chooses all."""

    def list(self, going_on: str, *, whole: bool = False, cached: bool = False) -> Request:
        """Ask for a page, the one after the last one's ``continue``.

        ``whole`` asks for all in one. ``cached`` takes what the server has in memory, which may be
        old, and all of it: the cheapest answer where selectors make it a small one.
        """
        query = {"limit": str(PAGE)} if not whole else {}
        if going_on:
            query["continue"] = going_on
        elif cached:
            query["resourceVersion"] = "0"
        return self._request("list", query)

    def watch(self, version: str, timeout_s: int) -> Request:
        """Ask for what changes after a version; without one, for what there is before that."""
        query = {
            "watch": "true",
            "allowWatchBookmarks": "true",
            "timeoutSeconds": str(timeout_s),
        }
        if version:
            query["resourceVersion"] = version
        else:
            query |= {"sendInitialEvents": "true", "resourceVersionMatch": "NotOlderThan"}
        return self._request("watch", query)

    @property
    def selects(self) -> bool:
        """Tell whether selectors choose some of the objects."""
        return bool(self.labels or self.fields)

    def _request(self, verb: str, query: Mapping[str, str]) -> Request:
        chosen = {"labelSelector": self.labels, "fieldSelector": self.fields}
        given = {name: value for name, value in chosen.items() if value}
        return Request(verb, self.resource, self.namespace, query={**query, **given})
