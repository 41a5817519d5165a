"""What the API server says about itself: versions, groups, and the resources of each.

https://kubernetes.io/docs/concepts/overview/kubernetes-api/#discovery-api
"""

from typing import Any

from tests.fakes.kubernetes import openapi
from tests.fakes.kubernetes.resources import GROUPS, RESOURCES, Resource

Json = dict[str, Any]

_VERBS = ("create", "delete", "deletecollection", "get", "list", "patch", "update", "watch")
_VERSION = {
    "major": "1",
    "minor": "36",
    "gitVersion": "v1.36.2",
    "gitCommit": "0" * 40,
    "gitTreeState": "clean",
    "buildDate": "2026-11-01T00:00:00Z",
    "goVersion": "go1.25",
    "compiler": "gc",
    "platform": "linux/amd64",
}
"""The version is that of the server whose answers were recorded; the rest is made up."""
_REVIEW = {
    "name": "selfsubjectaccessreviews",
    "singularName": "selfsubjectaccessreview",
    "namespaced": False,
    "kind": "SelfSubjectAccessReview",
    "verbs": ["create"],
}


def read(path: str) -> Json | str | None:
    """Give the document, or the text, of a path; None where there is none."""
    path = path.rstrip("/")
    if path in {"/healthz", "/livez", "/readyz"}:
        return "ok"
    fixed: dict[str, Json] = {
        "/version": _VERSION,
        "/api": {"kind": "APIVersions", "versions": ["v1"]},
        "/api/v1": _resources(""),
        "/apis": {
            "kind": "APIGroupList",
            "apiVersion": "v1",
            "groups": [_group(name) for name in GROUPS],
        },
    }
    for name in GROUPS:
        fixed[f"/apis/{name}"] = {"kind": "APIGroup", "apiVersion": "v1", **_group(name)}
        fixed[f"/apis/{name}/v1"] = _resources(name)
    return fixed.get(path) or openapi.read(path)


def _group(name: str) -> Json:
    version = {"groupVersion": f"{name}/v1", "version": "v1"}
    return {"name": name, "versions": [version], "preferredVersion": version}


def _resources(group: str) -> Json:
    listed = [_REVIEW] if group == "authorization.k8s.io" else []
    for resource in RESOURCES.values():
        if resource.group == group:
            listed.append(_resource(resource))
            if resource.has_status:
                listed.append(_status(resource))
    version = f"{group}/v1" if group else "v1"
    return {
        "kind": "APIResourceList",
        "apiVersion": "v1",
        "groupVersion": version,
        "resources": listed,
    }


def _resource(resource: Resource) -> Json:
    return {
        "name": resource.plural,
        "singularName": resource.singular,
        "namespaced": resource.namespaced,
        "kind": resource.kind,
        "verbs": list(_VERBS),
        "shortNames": list(resource.short),
    }


def _status(resource: Resource) -> Json:
    return {
        "name": f"{resource.plural}/status",
        "singularName": "",
        "namespaced": resource.namespaced,
        "kind": resource.kind,
        "verbs": ["get", "patch", "update"],
    }
