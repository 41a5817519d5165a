"""Equal values as one object: targets of a kind differ in few of all the things said of them."""

from collections.abc import Callable, Hashable, Sequence
from typing import Generic, TypeVar

from cwgpu.digest.line import Exposed
from cwgpu.emf.template import Metric
from cwgpu.model.labels import LabelPairs

V = TypeVar("V", bound=Hashable)

_MOST = 1024
"""Pages have hundreds of names and texts in common; the others are of pods, which come and go."""
_MOST_BYTES = 1 << 20
_LARGEST_BYTES = 1 << 18
"""The names of a page of some thousand lines. A line alone may be megabytes, and another each time:
what nobody else has is not to be kept for others."""
_REFERENCE_BYTES = 8


class Shared(Generic[V]):
    """Gives what is equal to a value, and was there first.

    What nobody gave among the last many is forgotten: what all targets have in common stays, and
    pods that come and go leave nothing behind.
    """

    def __init__(self, weigh: Callable[[V], int]) -> None:
        """Know nothing yet; ``weigh`` gives about the bytes that a value takes."""
        self._weigh = weigh
        self._known: dict[V, V] = {}
        self._former: dict[V, V] = {}
        self._known_bytes = 0

    def find(self, value: V) -> V | None:
        """Give its equal, if there is one."""
        return self.give(value) if value in self._known or value in self._former else None

    def give(self, value: V) -> V:
        """Give the value, or its equal."""
        known = self._known.get(value)
        if known is not None:
            return known
        shared, size_bytes = self._former.get(value, value), self._weigh(value)
        if size_bytes > _LARGEST_BYTES:
            return shared
        if len(self._known) >= _MOST or self._known_bytes + size_bytes > _MOST_BYTES:
            self._former, self._known, self._known_bytes = self._known, {}, 0
        self._known[shared] = shared
        self._known_bytes += size_bytes
        return shared


def _all(texts: Sequence[bytes | str]) -> int:
    return sum(map(len, texts)) + _REFERENCE_BYTES * len(texts)


class Commons:
    """What the lines and events of a job's targets have in common."""

    def __init__(self) -> None:
        """Know nothing yet."""
        self.exposed = Shared[Exposed](lambda one: len(one.text) + len(one.name))
        self.texts = Shared[bytes](len)
        self.names = Shared[tuple[bytes, ...]](_all)
        self.frames = Shared[tuple[bytes, ...]](_all)
        self.numbers = Shared[tuple[int, ...]](lambda some: _REFERENCE_BYTES * len(some))
        self.pairs = Shared[tuple[str, str]](_all)
        self.labels = Shared[LabelPairs](lambda pairs: sum(map(_all, pairs)))
        self.metrics = Shared[Metric](lambda one: len(one.name))
        self.columns = Shared[tuple[Metric, ...]](lambda some: _REFERENCE_BYTES * len(some))
