"""What etcd and the watch cache are to an API server: objects, one version for all, and a log.

Objects are never changed, only replaced, so that lists and watches need no copies.
https://kubernetes.io/docs/reference/using-api/api-concepts/#efficient-detection-of-changes
"""

import threading
import uuid
from collections import OrderedDict, deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property
from typing import Any

import orjson

from tests.fakes.kubernetes.failure import expired
from tests.fakes.kubernetes.resources import RESOURCES, Resource

Json = dict[str, Any]

_SNAPSHOTS = 32
"""Lists that are being paged through at one time; the oldest is forgotten first."""
_META = (
    "name",
    "generateName",
    "namespace",
    "uid",
    "resourceVersion",
    "generation",
    "creationTimestamp",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
    "labels",
    "annotations",
    "ownerReferences",
    "finalizers",
    "managedFields",
)
"""In the order in which Go writes them."""


class Stored:
    """An object at one version."""

    def __init__(self, key: str, version: int, document: Json) -> None:
        """Take the document for one's own."""
        self.key = key
        self.version = version
        self.document = document

    @cached_property
    def text(self) -> bytes:
        """The object as a watch and a get write it."""
        return orjson.dumps(self.document)

    @cached_property
    def item(self) -> bytes:
        """The object as a list writes it: what the list's kind says is not said again."""
        return orjson.dumps({k: v for k, v in self.document.items() if k not in _OF_THE_LIST})

    @property
    def metadata(self) -> Json:
        """Its metadata."""
        metadata: Json = self.document["metadata"]
        return metadata


_OF_THE_LIST = frozenset({"kind", "apiVersion"})


@dataclass(frozen=True)
class Change:
    """One entry of the log."""

    version: int
    before: Stored | None
    """None: it is new."""
    after: Stored | None
    """None: it is gone."""

    @cached_property
    def gone(self) -> Stored:
        """What was there before, at the version at which it is gone."""
        assert self.before is not None
        document = _ordered(self.before.document, self.version)
        return Stored(self.before.key, self.version, document)


@dataclass(slots=True)
class _Shelf:
    """One kind's objects and log."""

    objects: dict[str, Stored] = field(default_factory=dict)
    log: deque[Change] = field(default_factory=deque)
    floor: int = 0
    """Changes up to this version are no longer in the log."""


class Store:
    """All objects. Its methods may be called from any thread."""

    def __init__(self, window: int) -> None:
        """``window`` is how many changes of a kind the log remembers."""
        self.version = 1
        self.window = window
        self.listeners: set[Callable[[], None]] = set()
        """Called after every change, in the thread that made it."""
        self.lock = threading.RLock()
        self._shelves = {plural: _Shelf() for plural in RESOURCES}
        self._snapshots: OrderedDict[tuple[str, int], Sequence[Stored]] = OrderedDict()

    # ---- reading

    def get(self, resource: Resource, key: str) -> Stored | None:
        """Give the object under a key."""
        return self._shelves[resource.plural].objects.get(key)

    def all(self, resource: Resource) -> tuple[int, Sequence[Stored]]:
        """Give the version of now, and a kind's objects in the order of their keys."""
        with self.lock:
            objects = self._shelves[resource.plural].objects
            return self.version, [objects[key] for key in sorted(objects)]

    def since(self, resource: Resource, version: int) -> tuple[int, Sequence[Change]]:
        """Give the version of now, and what happened to a kind after a version."""
        with self.lock:
            shelf = self._shelves[resource.plural]
            if version < shelf.floor:
                raise expired(f"too old resource version: {version} ({shelf.floor})")
            changes = []
            for change in reversed(shelf.log):
                if change.version <= version:
                    break
                changes.append(change)
            return self.version, changes[::-1]

    def keep(self, resource: Resource, version: int, objects: Sequence[Stored]) -> None:
        """Keep a list, for its next pages."""
        with self.lock:
            self._snapshots[resource.plural, version] = objects
            if len(self._snapshots) > _SNAPSHOTS:
                self._snapshots.popitem(last=False)

    def kept(self, resource: Resource, version: int) -> Sequence[Stored] | None:
        """Give a list that was kept."""
        return self._snapshots.get((resource.plural, version))

    # ---- writing

    def put(self, resource: Resource, key: str, document: Json) -> Stored:
        """Create or replace an object; what changes nothing makes no version."""
        with self.lock:
            shelf = self._shelves[resource.plural]
            before = shelf.objects.get(key)
            if before is not None and _same(before.document, document):
                return before
            self.version += 1
            stored = Stored(key, self.version, _ordered(document, self.version))
            shelf.objects[key] = stored
            self._append(shelf, Change(self.version, before, stored))
            return stored

    def remove(self, resource: Resource, key: str) -> Stored | None:
        """Delete an object and give its last state; None when there is none."""
        with self.lock:
            shelf = self._shelves[resource.plural]
            before = shelf.objects.pop(key, None)
            if before is None:
                return None
            self.version += 1
            change = Change(self.version, before, None)
            self._append(shelf, change)
            return change.gone

    def compact(self) -> None:
        """Forget the log: only who knows the version of now can go on from there."""
        with self.lock:
            for shelf in self._shelves.values():
                shelf.log.clear()
                shelf.floor = self.version

    def forget_lists(self) -> None:
        """Let the tokens of lists that are being paged through be too old."""
        with self.lock:
            self._snapshots.clear()

    def _append(self, shelf: _Shelf, change: Change) -> None:
        shelf.log.append(change)
        while len(shelf.log) > self.window:
            shelf.floor = shelf.log.popleft().version
        for listener in list(self.listeners):
            listener()


def fresh(resource: Resource, document: Json, before: Stored | None) -> Json:
    """Give an object the metadata that the server gives it."""
    metadata: Json = {**(document.get("metadata") or {})}
    old: Mapping[str, Any] = before.metadata if before else {}
    metadata["uid"] = old.get("uid") or metadata.get("uid") or str(uuid.uuid4())
    now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    made = old.get("creationTimestamp") or metadata.get("creationTimestamp") or now
    metadata["creationTimestamp"] = made
    if "spec" in document and resource.has_status:
        changed = before is not None and before.document.get("spec") != document["spec"]
        metadata["generation"] = old.get("generation", metadata.get("generation", 1)) + changed
    typed = {"kind": resource.kind, "apiVersion": resource.api_version}
    return {**document, **typed, "metadata": metadata}


def _ordered(document: Json, version: int) -> Json:
    """Put the fields into the order in which Go writes them."""
    known = {**document["metadata"], "resourceVersion": str(version)}
    metadata = {name: known[name] for name in _META if known.get(name) is not None}
    metadata |= {name: value for name, value in known.items() if name not in _META}
    head = {"kind": document["kind"], "apiVersion": document["apiVersion"], "metadata": metadata}
    return {**head, **{name: value for name, value in document.items() if name not in head}}


def _same(before: Json, document: Json) -> bool:
    """Tell whether nothing changes but the version that a client sent along."""
    metadata = {**document["metadata"], "resourceVersion": before["metadata"]["resourceVersion"]}
    return {**document, "metadata": metadata} == before
