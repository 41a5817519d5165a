"""The CloudWatch metrics that events feed: exactly those that CloudWatch would create."""

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import TypeAlias

from cwgpu.telemetry import identity
from cwgpu.telemetry.identity import MetricIdentity

DimensionSet: TypeAlias = tuple[str, tuple[str, ...]]
"""A namespace, and the names of dimensions in their order."""


class Seen:
    """Different metrics. CloudWatch tells them apart by namespace, name and dimensions' values."""

    def __init__(self) -> None:
        self._names: dict[identity.Dimensioned, set[str]] = {}

    def add(self, message: bytes) -> None:
        """Take what a log event feeds."""
        for dimensioned, names in identity.directives(message):
            self._names.setdefault(dimensioned, set()).update(names)

    def __iter__(self) -> Iterator[MetricIdentity]:
        """Give each metric once."""
        for (namespace, dimensions), names in self._names.items():
            for name in names:
                yield namespace, dimensions, name

    def __len__(self) -> int:
        return sum(map(len, self._names.values()))


def by_set(metrics: Iterable[MetricIdentity]) -> Counter[DimensionSet]:
    """Count metrics by the names of their dimensions."""
    return Counter(
        (namespace, tuple(name for name, _ in dimensions)) for namespace, dimensions, _ in metrics
    )
