"""Equal values as one object: targets of a kind differ in few of all the things said of them."""

from collections.abc import Hashable
from typing import Generic, TypeVar

from cwgpu.digest.line import Exposed
from cwgpu.emf.template import Metric
from cwgpu.model.labels import LabelPairs

V = TypeVar("V", bound=Hashable)

_MOST = 8192
"""Pages have hundreds of names and texts in common; the bound is against churn and nonsense."""


class Shared(Generic[V]):
    """Gives what is equal to a value, and was there first."""

    def __init__(self) -> None:
        """Know nothing yet."""
        self._known: dict[V, V] = {}

    def find(self, value: V) -> V | None:
        """Give its equal, if there is one."""
        return self._known.get(value)

    def give(self, value: V) -> V:
        """Give the value, or its equal."""
        if len(self._known) >= _MOST:
            self._known.clear()
        return self._known.setdefault(value, value)


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
