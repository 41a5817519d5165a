"""Metric declarations: from their models to compiled ones.

What the CloudWatch agent falls back from silently is an error here (docs/compatibility.md).
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TypeAlias

from cwgpu.config.agent import Declaration
from cwgpu.config.node import Loc, short
from cwgpu.config.report import Report
from cwgpu.emf import declare, limits
from cwgpu.model.errors import RuleError
from cwgpu.prom import regex

Complain: TypeAlias = Callable[[str, str, str], None]
"""Takes the code, the message and the advice of a complaint."""


@dataclass(frozen=True, slots=True)
class AnyOf:
    """Says whether one of several selectors finds something. Two of equal selectors are equal."""

    selectors: tuple[regex.Searching, ...]

    def __call__(self, name: str) -> bool:
        """Ask them in turn."""
        return any(selector(name) for selector in self.selectors)


def declarations(
    written: list[Declaration], report: Report, loc: Loc
) -> tuple[declare.Declaration, ...]:
    """Compile the declarations; one that cannot be is complained about and left out."""
    made = (_declaration(each, report, (*loc, index)) for index, each in enumerate(written))
    return tuple(each for each in made if each)


def _declaration(written: Declaration, report: Report, loc: Loc) -> declare.Declaration | None:
    _check_complete(written, report, loc)
    if not is_complete(written):
        return None
    matches = search(written.label_matcher, partial(report.error, (*loc, "label_matcher")))
    selectors = []
    for index, text in enumerate(written.metric_selectors or ()):
        selector = search(text, partial(report.error, (*loc, "metric_selectors", index)))
        selectors += [selector] if selector else []
    sets = _dimension_sets(written, report, loc)
    if matches is None:
        return None
    return declare.declaration(
        written.source_labels or (),
        matches,
        AnyOf(tuple(selectors)),
        sets,
        separator=written.label_separator,
    )


def is_complete(written: Declaration) -> bool:
    """Tell whether a declaration has what it needs; without, the agent skips it, and so do we."""
    return written.source_labels is not None and written.metric_selectors is not None


def _check_complete(written: Declaration, report: Report, loc: Loc) -> None:
    for name in ("source_labels", "metric_selectors"):
        value = getattr(written, name)
        if value is None:
            message = f"this declaration does nothing: it has no {name}"
            report.warning(
                (*loc, name), "declaration-ignored", message, f"add {name}, or remove it"
            )
        elif not value:
            message = f"{name} is empty, so that nothing can match"
            report.error((*loc, name), "empty-list", message, "write one or more")


def search(pattern: str, complain: Complain) -> regex.Searching | None:
    """Compile a regex that searches; None and a complaint when it cannot be."""
    if not pattern:
        complain("empty-regex", "the regex is empty", "for everything write .*")
        return None
    try:
        return regex.searching(pattern)
    except RuleError as error:
        # A glob by mistake is what people write most.
        advice = f"write {pattern.replace('*', '.*')}" if pattern.startswith("*") else ""
        complain("bad-regex", str(error), advice)
        return None


def _dimension_sets(written: Declaration, report: Report, loc: Loc) -> list[list[str]]:
    here = (*loc, "dimensions")
    if not written.dimensions:
        message = "this declaration sends nothing: it has no dimensions"
        advice = 'add dimensions, such as [["ClusterName", "pod"]]; [[]] is a metric without any'
        report.warning(here, "no-dimensions", message, advice)
    sets = list(enumerate(written.dimensions or ()))
    return [names for index, names in sets if _valid(names, report, (*here, index))]


def _valid(names: list[str], report: Report, loc: Loc) -> bool:
    valid = True
    for index, name in enumerate(names):
        if fault := limits.dimension_name_fault(name):
            message = f"the dimension name {short(name)} {fault}"
            report.error((*loc, index), "bad-dimension", message)
            valid = False
    if len(set(names)) > limits.SET_NAMES:
        message = f"{len(set(names))} dimensions in one set; CloudWatch takes {limits.SET_NAMES}"
        report.error(loc, "too-many-dimensions", message, "leave out what no graph is made of")
        valid = False
    return valid
