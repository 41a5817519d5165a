"""Taking positions out of a sequence, in one call."""

import sys
from collections.abc import Callable, Sequence
from operator import itemgetter
from typing import Any, TypeAlias

Pick: TypeAlias = Callable[[Any], Sequence[Any]]
"""Takes what has numbers for keys, as sequences have."""

ALL = range(sys.maxsize)
"""A sequence each of whose elements is its position: of it, a ``Pick`` gives its positions."""


def picker(positions: Sequence[int]) -> Pick:
    """Give a function that takes these positions out of a sequence, in this order."""
    if len(positions) > 1:
        return itemgetter(*positions)
    return lambda sequence: tuple(sequence[position] for position in positions)
