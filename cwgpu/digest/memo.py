"""Remembering what was made of labels and metrics, for as long as it is asked for."""

from collections.abc import Callable
from typing import Generic, TypeVar

from cwgpu.emf.template import Metric
from cwgpu.model.labels import LabelPairs

V = TypeVar("V")


class _Key:
    """Labels and metrics, whose hash takes long and is made once."""

    __slots__ = ("hash", "of")

    def __init__(self, labels: LabelPairs, metrics: tuple[Metric, ...]) -> None:
        self.of = (labels, metrics)
        self.hash = hash(self.of)

    def __hash__(self) -> int:
        return self.hash

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Key) and self.of == other.of


class Memo(Generic[V]):
    """Makes something of labels and metrics, or gives what was made of them before."""

    def __init__(self, make: Callable[[LabelPairs, tuple[Metric, ...]], V]) -> None:
        """Remember nothing yet."""
        self._make = make
        self._known: dict[_Key, V] = {}
        self._used: dict[_Key, V] = {}

    def give(self, labels: LabelPairs, metrics: tuple[Metric, ...]) -> V:
        """Give what is made of them."""
        key = _Key(labels, metrics)
        found = self._used.get(key) or self._known.get(key)
        if found is None:
            found = self._make(labels, metrics)
        self._used[key] = found
        return found

    def __len__(self) -> int:
        return len(self._known.keys() | self._used.keys())

    def age(self) -> None:
        """Forget what was not asked for since the last call."""
        self._known, self._used = self._used, {}
