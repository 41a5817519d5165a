"""As much of the OpenAPI document as kubectl reads: that the server itself checks fields.

Without it ``kubectl apply`` would check objects against schemas, which are not here.
https://kubernetes.io/docs/concepts/overview/kubernetes-api/#openapi-interface-definition
"""

from typing import Any

from tests.fakes.kubernetes.resources import RESOURCES, Resource

Json = dict[str, Any]

_ROOT = "/openapi/v3"


def read(path: str) -> Json | None:
    """Give the index of the documents, or one of them."""
    roots = {resource.root for resource in RESOURCES.values()}
    if path == _ROOT:
        return {"paths": {root[1:]: {"serverRelativeURL": _ROOT + root} for root in sorted(roots)}}
    root = path.removeprefix(_ROOT)
    return _document(root) if root in roots else None


def _document(root: str) -> Json:
    paths = {
        _path(resource): {"patch": _patch(resource)}
        for resource in RESOURCES.values()
        if resource.root == root
    }
    return {"openapi": "3.0.0", "info": {"title": "Kubernetes", "version": "v1"}, "paths": paths}


def _path(resource: Resource) -> str:
    inside = "namespaces/{namespace}/" if resource.namespaced else ""
    return f"{resource.root}/{inside}{resource.plural}/{{name}}"


def _patch(resource: Resource) -> Json:
    names = ("dryRun", "fieldManager", "fieldValidation", "force")
    schema = {"type": "string"}
    kind = {"group": resource.group, "version": "v1", "kind": resource.kind}
    return {
        "parameters": [{"name": name, "in": "query", "schema": schema} for name in names],
        "responses": {"200": {"description": "OK"}},
        "x-kubernetes-action": "patch",
        "x-kubernetes-group-version-kind": kind,
    }
