"""Metric declarations: which dimension sets a metric of a label set gets.

A declaration is one entry of the CloudWatch agent's ``metric_declaration`` list
(https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/ContainerInsights-Prometheus-Setup-configure.html).
A sample goes down three steps: ``matching`` looks at its labels, ``selecting`` at its name, and
``directives`` keeps the dimension sets for which it has all labels.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias

from cwgpu.emf import limits
from cwgpu.model.errors import RuleError
from cwgpu.model.labels import Labels

DimensionSet: TypeAlias = tuple[str, ...]
"""Label names, each once, sorted bytewise. The empty set stands for a metric without dimensions."""


class Matcher(Protocol):
    """A regex that may match anywhere in a text."""

    @property
    def pattern(self) -> str:
        """As it is written."""

    def __call__(self, text: str, /) -> bool:
        """Say whether the text holds a match."""


@dataclass(frozen=True, slots=True)
class Declaration:
    """One entry of the list, ready to ask; made by ``declaration``."""

    source_labels: tuple[str, ...]
    separator: str
    matches: Matcher
    """Asked about the values of the source labels, joined with the separator."""
    selects: Callable[[str], bool]
    """Asked about the metric's name."""
    dimension_sets: tuple[DimensionSet, ...]

    def compared(self, labels: Labels) -> str:
        """Give what ``matches`` is asked about; an absent label counts as ""."""
        return self.separator.join([labels.get(name, "") for name in self.source_labels])


def declaration(
    source_labels: Sequence[str],
    matches: Matcher,
    selects: Callable[[str], bool],
    dimension_sets: Iterable[Sequence[str]],
    *,
    separator: str = ";",
) -> Declaration:
    """Make a declaration; equal dimension sets, in whatever order they are written, become one.

    RuleError for a set that CloudWatch could not take.
    """
    sets = tuple(dict.fromkeys(_dimension_set(names) for names in dimension_sets))
    return Declaration(tuple(source_labels), separator, matches, selects, sets)


def _dimension_set(names: Sequence[str]) -> DimensionSet:
    for name in names:
        if fault := limits.dimension_name_fault(name):
            message = f"dimension name {name!r} {fault}: write another label's name"
            raise RuleError(message)
    unique = set(names)
    if len(unique) > limits.SET_NAMES:
        message = (
            f"dimension set of {len(unique)} names: CloudWatch takes at most {limits.SET_NAMES}, "
            "leave some out"
        )
        raise RuleError(message)
    return tuple(sorted(unique))  # code point order is the byte order of UTF-8


def matching(declarations: Iterable[Declaration], labels: Labels) -> tuple[Declaration, ...]:
    """Keep the declarations whose matcher accepts the labels."""
    return tuple(one for one in declarations if one.matches(one.compared(labels)))


def selecting(declarations: Iterable[Declaration], name: str) -> tuple[Declaration, ...]:
    """Keep the declarations that select the metric name."""
    return tuple(one for one in declarations if one.selects(name))


@dataclass(frozen=True, slots=True)
class Declared:
    """What the declarations give a metric: its directives, and the sets that were skipped."""

    sets: tuple[tuple[DimensionSet, ...], ...]
    """The dimension sets of each directive; empty when no set can be used."""
    missing: tuple[DimensionSet, ...]
    """Skipped because a label of theirs is absent or empty."""
    invalid: tuple[tuple[DimensionSet, str], ...]
    """Skipped because CloudWatch does not take a label's value; and a sentence that says why."""


def directives(declarations: Sequence[Declaration], labels: Labels, *, dedup: bool) -> Declared:
    """Give a metric the sets of the declarations that match its labels and select its name.

    With ``dedup`` the metric gets one directive with every set once; without it one directive for
    each declaration, so that a set two declarations name gives two datapoints.
    """
    missing: dict[DimensionSet, None] = {}
    invalid: dict[DimensionSet, str] = {}
    wanted = [_usable(one.dimension_sets, labels, missing, invalid) for one in declarations]
    if dedup:
        wanted = [dict.fromkeys(one for sets in wanted for one in sets)]
    return Declared(
        sets=tuple(tuple(sets) for sets in wanted if sets),
        missing=tuple(missing),
        invalid=tuple(invalid.items()),
    )


def _usable(
    sets: Iterable[DimensionSet],
    labels: Labels,
    missing: dict[DimensionSet, None],
    invalid: dict[DimensionSet, str],
) -> dict[DimensionSet, None]:
    """Keep the sets whose labels all have a value CloudWatch takes; note the others."""
    usable: dict[DimensionSet, None] = {}
    for one in sets:
        if not all(labels.get(name) for name in one):
            missing[one] = None
        elif fault := _value_fault(one, labels):
            invalid[one] = fault
        else:
            usable[one] = None
    return usable


def _value_fault(names: DimensionSet, labels: Labels) -> str | None:
    for name in names:
        if fault := limits.dimension_value_fault(labels[name]):
            return f"the value of {name} {fault}"
    return None
