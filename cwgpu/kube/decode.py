"""JSON of the API to objects, so that one object that cannot be read costs itself and no other.

Lists and events are cut into the texts of their objects first, and each is decoded on its own into
just the fields that somebody reads: what else is there, like managedFields, is skipped.
https://kubernetes.io/docs/reference/using-api/api-concepts/
"""

import sys
from dataclasses import dataclass
from typing import Any, Generic, TypeAlias, TypeVar

import msgspec

from cwgpu.model import objects

T = TypeVar("T", bound=objects.Object)

Key: TypeAlias = tuple[str, str]
"""Namespace and name; the namespace is empty for what is in none."""


BROKEN = (msgspec.MsgspecError, RecursionError)
"""What reading raises for another shape, for what is no JSON, and for brackets without end."""


class Place(msgspec.Struct, frozen=True, rename="camel"):
    """``metadata`` of a list."""

    resource_version: str | None = None
    going_on: str | None = msgspec.field(name="continue", default=None)


class Page(msgspec.Struct, frozen=True):
    """A list, or a part of one."""

    metadata: Place
    kind: str = ""
    items: list[msgspec.Raw] | None = None


class Event(msgspec.Struct, frozen=True):
    """A line of a watch."""

    type: str
    object: msgspec.Raw


class Marker(msgspec.Struct, frozen=True, rename="camel"):
    """``metadata`` of a bookmark."""

    resource_version: str | None = None
    annotations: dict[str, str] | None = None


class Bookmark(msgspec.Struct, frozen=True):
    """The object of a bookmark: how far the stream has come."""

    metadata: Marker = Marker()

    @property
    def ends_initial(self) -> bool:
        """Tell that all there was when the watch began has been told."""
        return (self.metadata.annotations or {}).get("k8s.io/initial-events-end") == "true"


@dataclass(frozen=True, slots=True)
class Unreadable:
    """An object of which nothing is known but its name, and perhaps not even that."""

    key: Key
    version: str
    why: str


page = msgspec.json.Decoder(Page).decode
event = msgspec.json.Decoder(Event).decode
bookmark = msgspec.json.Decoder(Bookmark).decode


class Reader(Generic[T]):
    """Reads objects of one kind."""

    def __init__(self, kind: type[T]) -> None:
        self._kind = kind
        self._decode = msgspec.json.Decoder(kind).decode

    def read(self, raw: bytes | msgspec.Raw) -> T | Unreadable:
        """Give the object."""
        try:
            made = self._decode(raw)
        except BROKEN as error:
            return self._again(raw, str(error))
        if not made.metadata.name:
            return _unreadable(raw, "it has no name")
        return made

    def _again(self, raw: bytes | msgspec.Raw, why: str) -> T | Unreadable:
        """Give an object that has null where Go would write nothing: to Go both are the same."""
        try:
            made = msgspec.convert(_without_nulls(msgspec.json.decode(raw)), self._kind)
        except BROKEN:
            return _unreadable(raw, why)
        return made if made.metadata.name else _unreadable(raw, why)


def _without_nulls(found: object) -> object:
    if isinstance(found, dict):
        return {name: _without_nulls(held) for name, held in found.items() if held is not None}
    if isinstance(found, list):
        return [_without_nulls(held) for held in found if held is not None]
    return found


def key(made: objects.Object) -> Key:
    """Give an object's place among those of its kind."""
    # 5,000 pods are in few namespaces.
    return sys.intern(made.metadata.namespace), made.metadata.name


def _unreadable(raw: bytes | msgspec.Raw, why: str) -> Unreadable:
    try:
        found: Any = msgspec.json.decode(raw)
    except BROKEN:
        found = None
    meta = found.get("metadata") if isinstance(found, dict) else None
    fields = meta if isinstance(meta, dict) else {}
    namespace, name, version = (
        value if isinstance(value := fields.get(field), str) else ""
        for field in ("namespace", "name", "resourceVersion")
    )
    return Unreadable((namespace, name), version, why)
