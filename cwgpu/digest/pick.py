"""Taking positions out of a sequence, in one call."""

import functools
import sys
from collections.abc import Callable, Sequence
from operator import itemgetter
from typing import Any, TypeAlias

Pick: TypeAlias = Callable[[Any], Sequence[Any]]
"""Takes what has numbers for keys, as sequences have."""

ALL = range(sys.maxsize)
"""A sequence each of whose elements is its position: of it, a ``Pick`` gives its positions."""


_SHARED = 1024
"""Positions of a picker that is remembered, at most: those of a node's page."""


def picker(positions: Sequence[int]) -> Pick:
    """Give a function that takes these positions out of a sequence, in this order."""
    return _picker(tuple(positions)) if len(positions) <= _SHARED else itemgetter(*positions)


@functools.lru_cache(maxsize=4096)
def _picker(positions: tuple[int, ...]) -> Pick:
    # Exporters of one version and of equal nodes have pages of one shape.
    if len(positions) > 1:
        return itemgetter(*positions)
    return lambda sequence: tuple(sequence[position] for position in positions)
