"""What is known of the objects that somebody watches: all of them, as they are now.

Level-triggered: whoever reads it later sees less of the way and the same end. Objects that did not
change stay the same Python objects, so that what was made of them can be kept by identity.
"""

import asyncio
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from types import MappingProxyType
from typing import Generic, TypeVar

from msgspec import structs

from cwgpu.kube.decode import Key, Unreadable, key
from cwgpu.model import objects

T = TypeVar("T", bound=objects.Object)


class View(Generic[T]):
    """Objects by namespace and name. Those who fill it use the methods, all others only read."""

    def __init__(self) -> None:
        self._objects: dict[Key, T] = {}
        self._unreadable: dict[Key, str] = {}
        self._troubles: dict[str, str] = {}
        self._denied: dict[str, bool] = {}
        self._changed = asyncio.Event()
        self._stale = False
        """Something has changed that nobody was told of."""
        self.version = 0
        """Grows whenever anything here changes."""
        self.synced = False
        """All objects were seen at least once. Stays so, whatever happens."""

    @property
    def objects(self) -> Mapping[Key, T]:
        """The objects; they stay when the server goes."""
        return MappingProxyType(self._objects)

    @property
    def unreadable(self) -> Mapping[Key, str]:
        """Objects that are there and cannot be read, and why not."""
        return MappingProxyType(self._unreadable)

    @property
    def trouble(self) -> str:
        """What keeps this from being up to date, in words; empty when nothing does."""
        return self._troubles.get("list") or self._troubles.get("watch", "")

    @property
    def denied(self) -> bool:
        """Whether the trouble is that we may not."""
        return self._denied.get("list" if self._troubles.get("list") else "watch", False)

    async def wait(self, version: int) -> int:
        """Wait until there is another version than this one, and give it."""
        while self.version == version:
            await self._changed.wait()
        return self.version

    def put(self, found: T | Unreadable) -> Key:
        """Take in an object as it is now."""
        if isinstance(found, Unreadable):
            self._forget(found.key)
            self._unreadable[found.key] = found.why
            self._stale = True
            return found.key
        at = key(found)
        self._stale |= self._unreadable.pop(at, None) is not None
        known = self._objects.get(at)
        if known is None or not _same(known, found):
            self._objects[at] = found
            self._stale = True
        return at

    def drop(self, found: T | Unreadable) -> Key:
        """Take in that an object is gone."""
        at = found.key if isinstance(found, Unreadable) else key(found)
        self._forget(at)
        return at

    def complete(self, listed: AbstractSet[Key]) -> None:
        """Take in that there are no objects but these."""
        for at in {*self._objects, *self._unreadable} - listed:
            self._forget(at)
        self._stale |= not self.synced
        self.synced = True
        self.tell()

    def grieve(self, verb: str, sentence: str, *, denied: bool = False) -> None:
        """Say what keeps this from being listed or watched; empty is nothing."""
        self._denied[verb] = denied
        if self._troubles.get(verb, "") != sentence:
            self._troubles[verb] = sentence
            self._stale = True
        self.tell()

    def tell(self) -> None:
        """Let those who wait see what has changed since they were told last, if anything has."""
        if self._stale:
            self._stale = False
            self.version += 1
            self._changed.set()
            self._changed = asyncio.Event()

    def _forget(self, at: Key) -> None:
        self._stale |= self._objects.pop(at, None) is not None
        self._stale |= self._unreadable.pop(at, None) is not None


def _same(known: T, found: T) -> bool:
    """Tell whether nothing that we read of an object has changed.

    Its resourceVersion changes with fields that nobody here reads, like a node's heartbeat.
    """
    version = known.metadata.resource_version
    if version == found.metadata.resource_version:
        return known == found
    meta = structs.replace(found.metadata, resource_version=version)
    return known == structs.replace(found, metadata=meta)
