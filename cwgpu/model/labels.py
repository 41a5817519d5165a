"""Label sets, as Prometheus knows them.

A label with an empty value is the same as no label; every rule that reads labels treats it so.
"""

from collections.abc import Mapping
from typing import TypeAlias

Labels: TypeAlias = Mapping[str, str]
"""Label name -> value. Nobody changes a label set that was handed to them."""

LabelPairs: TypeAlias = tuple[tuple[str, str], ...]
"""A label set as sorted (name, value) pairs: hashable, so usable as a key."""


def pairs(labels: Labels) -> LabelPairs:
    """Give the hashable identity of a label set; empty values are left out."""
    return tuple(sorted((name, value) for name, value in labels.items() if value))
