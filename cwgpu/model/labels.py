"""Label sets, as Prometheus knows them.

A label with an empty value is the same as no label; every rule that reads labels treats it so.
"""

from collections.abc import ItemsView, Iterator, Mapping
from typing import Any, TypeAlias

Labels: TypeAlias = Mapping[str, str]
"""Label name -> value. Nobody changes a label set that was handed to them."""

LabelPairs: TypeAlias = tuple[tuple[str, str], ...]
"""A label set as sorted (name, value) pairs: hashable, so usable as a key."""


class Layered(Mapping[str, str]):
    """Label sets on top of each other, joined when somebody looks.

    Discovery finds thousands of targets that differ in a few labels, and of most nobody ever asks.
    """

    __slots__ = ("_above", "_below", "_defaults")

    def __init__(self, defaults: Labels, below: Labels, above: Labels) -> None:
        """Let ``above`` hide ``below``; what is then empty or not there is as ``defaults`` say."""
        self._defaults = defaults
        self._below = below
        self._above = above

    def joined(self) -> dict[str, str]:
        """Give a label set without empty values."""
        given = {**self._below, **self._above}
        return {**self._defaults, **{name: value for name, value in given.items() if value}}

    def __getitem__(self, name: str) -> str:
        layer = self._above if name in self._above else self._below
        return layer.get(name) or self._defaults[name]

    def get(self, name: str, default: Any = None) -> Any:  # noqa: ANN401 - as in Mapping
        """Give a value, or the default; Mapping's own takes three times as long."""
        layer = self._above if name in self._above else self._below
        return layer.get(name) or self._defaults.get(name, default)

    def __iter__(self) -> Iterator[str]:
        return iter(self.joined())

    def __len__(self) -> int:
        return len(self.joined())

    def __repr__(self) -> str:
        return repr(self.joined())

    def items(self) -> ItemsView[str, str]:
        """Give names and values, joined once."""
        return self.joined().items()


def pairs(labels: Labels) -> LabelPairs:
    """Give the hashable identity of a label set; empty values are left out."""
    return tuple(sorted((name, value) for name, value in labels.items() if value))
