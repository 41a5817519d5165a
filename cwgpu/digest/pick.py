"""Taking positions out of a sequence, in one call."""

from collections.abc import Callable, Sequence
from operator import itemgetter
from typing import Any, TypeAlias

Pick: TypeAlias = Callable[[Sequence[Any]], Sequence[Any]]


def picker(positions: Sequence[int]) -> Pick:
    """Give a function that takes these positions out of a sequence, in this order."""
    if len(positions) > 1:
        return itemgetter(*positions)
    return lambda sequence: tuple(sequence[position] for position in positions)
