"""Equal values as one object: targets of a kind differ in few of all the things said of them."""

from collections.abc import Hashable
from typing import Generic, TypeVar

from cwgpu.digest.line import Exposed
from cwgpu.emf.template import Metric
from cwgpu.model.labels import LabelPairs

V = TypeVar("V", bound=Hashable)

_MOST = 1024
"""Pages have hundreds of names and texts in common; the others are of pods, which come and go."""


class Shared(Generic[V]):
    """Gives what is equal to a value, and was there first.

    What nobody gave among the last many is forgotten: what all targets have in common stays, and
    pods that come and go leave nothing behind.
    """

    def __init__(self) -> None:
        """Know nothing yet."""
        self._known: dict[V, V] = {}
        self._former: dict[V, V] = {}

    def find(self, value: V) -> V | None:
        """Give its equal, if there is one."""
        return self.give(value) if value in self._known or value in self._former else None

    def give(self, value: V) -> V:
        """Give the value, or its equal."""
        known = self._known.get(value)
        if known is not None:
            return known
        shared = self._former.get(value, value)
        if len(self._known) >= _MOST:
            self._former, self._known = self._known, {}
        self._known[shared] = shared
        return shared


class Commons:
    """What the lines and events of a job's targets have in common."""

    def __init__(self) -> None:
        """Know nothing yet."""
        self.exposed = Shared[Exposed]()
        self.texts = Shared[bytes]()
        self.names = Shared[tuple[bytes, ...]]()
        self.numbers = Shared[tuple[int, ...]]()
        self.pairs = Shared[tuple[str, str]]()
        self.labels = Shared[LabelPairs]()
        self.metrics = Shared[Metric]()
