"""Creating, changing and deleting objects, with the checks that clients rely on.

https://kubernetes.io/docs/reference/using-api/api-concepts/#resource-operations
"""

import secrets
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from tests.fakes.kubernetes import failure, leases, patching
from tests.fakes.kubernetes.resources import RESOURCES, Ask, Resource
from tests.fakes.kubernetes.store import Store, Stored, fresh

Json = dict[str, Any]

_NAMESPACES = RESOURCES["namespaces"]
_PENDING = {"phase": "Pending", "qosClass": "BestEffort"}
_ACTIVE = {"phase": "Active"}


def create(store: Store, ask: Ask, document: Json) -> Stored:
    """Create an object that is not there yet."""
    _check_type(ask, document)
    metadata: Json = {**(document.get("metadata") or {})}
    if not metadata.get("name") and metadata.get("generateName"):
        metadata["name"] = metadata["generateName"] + secrets.token_hex(3)[:5]
    name = metadata.get("name")
    resource = ask.resource
    if not name:
        what = "Required value: name or generateName is required"
        raise failure.invalid(_kind(resource), "", "metadata.name", what)
    _place(store, ask, metadata)
    if metadata.get("resourceVersion"):
        raise failure.bad_request("resourceVersion should not be set on objects to be created")
    key = resource.key(ask.namespace, name)
    made = fresh(resource, _pending(resource, {**document, "metadata": metadata}), None)
    _validate(resource, made)
    with store.lock:
        if store.get(resource, key) is not None:
            raise failure.exists(resource.qualified, name)
        return store.put(resource, key, made)


def update(store: Store, ask: Ask, document: Json) -> Stored:
    """Replace an object, if it is still the one that the client saw."""
    _check_type(ask, document)
    metadata: Json = {**(document.get("metadata") or {})}
    if metadata.setdefault("name", ask.name) != ask.name:
        raise failure.bad_request(
            f"the name of the object ({metadata['name']}) does not match the name on the URL "
            f"({ask.name})"
        )
    with store.lock:
        before = store.get(ask.resource, ask.key)
        if before is None:
            if not ask.resource.create_on_update or ask.subresource:
                raise failure.not_found(ask.resource.qualified, ask.name)
            return create(store, ask, document)
        _place(store, ask, metadata)
        _check_version(ask, before, metadata)
        kept = _kept_status(ask, before, {**document, "metadata": metadata})
        made = fresh(ask.resource, kept, before)
        _validate(ask.resource, made)
        return store.put(ask.resource, ask.key, made)


def patch(store: Store, ask: Ask, content_type: str, change: Json) -> Stored:
    """Change parts of an object, whatever it is now."""
    with store.lock:
        before = store.get(ask.resource, ask.key)
        if before is None:
            raise failure.not_found(ask.resource.qualified, ask.name)
        patched = patching.apply(content_type, before.document, change)
        return update(store, ask, patched)


def delete(store: Store, ask: Ask, preconditions: Mapping[str, str] | None = None) -> Stored:
    """Delete an object; a pod is seen to be going before it is gone."""
    with store.lock:
        before = store.get(ask.resource, ask.key)
        if before is None:
            raise failure.not_found(ask.resource.qualified, ask.name)
        for name, wanted in (preconditions or {}).items():
            found = before.metadata.get(name)
            if wanted and found != wanted:
                why = f"Precondition failed: {name} in precondition: {wanted}, in object: {found}"
                raise failure.conflict(ask.resource.qualified, ask.name, why)
        if ask.resource.plural == "pods":
            store.put(ask.resource, ask.key, _going(before.document))
        if ask.resource is _NAMESPACES:
            _empty(store, ask.name)
        gone = store.remove(ask.resource, ask.key)
        assert gone is not None
        return gone


def put(store: Store, document: Json, resource: Resource) -> Stored:
    """Let an object be so, status and all, as a test says; its namespace is made if need be."""
    metadata: Json = {**document["metadata"]}
    namespace = ""
    if resource.namespaced:
        namespace = metadata.setdefault("namespace", "default")
        ensure_namespace(store, namespace)
    key = resource.key(namespace, metadata["name"])
    with store.lock:
        before = store.get(resource, key)
        made = fresh(resource, {**document, "metadata": metadata}, before)
        return store.put(resource, key, made)


def ensure_namespace(store: Store, name: str) -> None:
    """Make a namespace unless it is there."""
    if store.get(_NAMESPACES, name) is None:
        metadata = {"name": name, "labels": {"kubernetes.io/metadata.name": name}}
        spec = {"finalizers": ["kubernetes"]}
        put(store, {"metadata": metadata, "spec": spec, "status": _ACTIVE}, _NAMESPACES)


def _check_type(ask: Ask, document: Json) -> None:
    """Refuse an object of another kind than the path's."""
    resource = ask.resource
    wanted = {"kind": resource.kind, "apiVersion": resource.api_version}
    if any(document.get(name, value) != value for name, value in wanted.items()):
        raise failure.bad_request(
            f"the API version or kind in the data ({document.get('apiVersion')}, "
            f"Kind={document.get('kind')}) does not match the expected one "
            f"({resource.api_version}, Kind={resource.kind})"
        )


def _place(store: Store, ask: Ask, metadata: Json) -> None:
    """Put an object into the namespace of its path."""
    if not ask.resource.namespaced:
        return
    if metadata.setdefault("namespace", ask.namespace) != ask.namespace:
        raise failure.bad_request(
            "the namespace of the provided object does not match the namespace sent on the request"
        )
    if store.get(_NAMESPACES, ask.namespace) is None:
        raise failure.not_found("namespaces", ask.namespace)


def _check_version(ask: Ask, before: Stored, metadata: Json) -> None:
    resource, asked = ask.resource, metadata.get("resourceVersion")
    if not asked and resource.needs_version and not ask.subresource:
        what = "Invalid value: 0x0: must be specified for an update"
        raise failure.invalid(_kind(resource), ask.name, "metadata.resourceVersion", what)
    if asked and asked != before.metadata["resourceVersion"]:
        raise failure.conflict(resource.qualified, ask.name)
    uid = metadata.get("uid")
    if uid and uid != before.metadata["uid"]:
        raise failure.conflict(
            resource.qualified,
            ask.name,
            f"Precondition failed: UID in precondition: {uid}, "
            f"UID in object meta: {before.metadata['uid']}",
        )


def _kept_status(ask: Ask, before: Stored, document: Json) -> Json:
    """Leave the status as it is, or all but the status when that is what is written."""
    if not ask.resource.has_status:
        return document
    taken, kept = before.document, document
    if ask.subresource == "status":
        taken, kept = document, before.document
    rest = {name: value for name, value in kept.items() if name != "status"}
    return {**rest, "status": taken["status"]} if "status" in taken else rest


def _pending(resource: Resource, document: Json) -> Json:
    """Begin with the status that a new object has; a client cannot say another."""
    if not resource.has_status:
        return document
    rest = {name: value for name, value in document.items() if name != "status"}
    statuses = {"pods": _PENDING, "namespaces": _ACTIVE}
    return {**rest, "status": statuses.get(resource.plural, {})}


def _going(document: Json) -> Json:
    now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    metadata = {**document["metadata"], "deletionTimestamp": now, "deletionGracePeriodSeconds": 0}
    metadata["generation"] = metadata.get("generation", 0) + 1
    return {**document, "metadata": metadata}


def _empty(store: Store, namespace: str) -> None:
    inside = [
        (resource, stored.key)
        for resource in RESOURCES.values()
        if resource.namespaced
        for stored in store.all(resource)[1]
        if stored.key.startswith(f"{namespace}/")
    ]
    for resource, key in inside:
        store.remove(resource, key)


def _validate(resource: Resource, document: Json) -> None:
    if resource.plural == "leases":
        leases.validate(document)


def _kind(resource: Resource) -> str:
    return f"{resource.kind}.{resource.group}" if resource.group else resource.kind
