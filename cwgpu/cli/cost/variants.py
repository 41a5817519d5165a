"""The same configuration, with one thing about it different."""

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, replace

from cwgpu.emf.declare import DimensionSet
from cwgpu.plan.plan import Events, GroupBy, Kept, Plan

_WINDOW_S = 60.0


@dataclass(frozen=True, slots=True)
class Variant:
    """A plan that differs in one thing, if in any."""

    plan: Plan
    events: Events | None = None
    """The way of packing events that is tried."""
    without: DimensionSet | None = None
    """The dimension set that is left out."""


def packings(plan: Plan) -> Iterator[Variant]:
    """Give every way of packing events."""
    kept: tuple[Kept, ...] = ("all", "dimensions")
    for group_by, window_s, labels in itertools.product(GroupBy, (None, _WINDOW_S), kept):
        events = replace(plan.emf.events, group_by=group_by, window_s=window_s, labels=labels)
        yield Variant(replace(plan, emf=replace(plan.emf, events=events)), events=events)


def omissions(plan: Plan) -> Iterator[Variant]:
    """Leave out each dimension set, wherever it is declared."""
    declared = [names for one in plan.emf.declarations for names in one.dimension_sets]
    for names in dict.fromkeys(declared):
        declarations = tuple(
            replace(one, dimension_sets=tuple(each for each in one.dimension_sets if each != names))
            for one in plan.emf.declarations
        )
        emf = replace(plan.emf, declarations=declarations)
        yield Variant(replace(plan, emf=emf), without=names)
