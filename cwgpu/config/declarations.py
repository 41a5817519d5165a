"""Metric declarations: from their models to compiled ones.

What the CloudWatch agent falls back from silently is an error here (docs/compatibility.md).
"""

from collections.abc import Callable

from cwgpu.config.agent import Declaration
from cwgpu.config.node import Loc, short
from cwgpu.config.report import Report
from cwgpu.emf import declare, limits
from cwgpu.model.errors import RuleError
from cwgpu.prom import regex


def declarations(
    written: list[Declaration], report: Report, loc: Loc
) -> tuple[declare.Declaration, ...]:
    """Compile the declarations; one that cannot be is complained about and left out."""
    made = (_declaration(each, report, (*loc, index)) for index, each in enumerate(written))
    return tuple(each for each in made if each)


def _declaration(written: Declaration, report: Report, loc: Loc) -> declare.Declaration | None:
    if not _complete(written, report, loc):
        return None
    matches = search(written.label_matcher, report, (*loc, "label_matcher"))
    chosen = enumerate(written.metric_selectors or ())
    found = [search(text, report, (*loc, "metric_selectors", index)) for index, text in chosen]
    selectors = [each for each in found if each]
    sets = _dimension_sets(written, report, loc)
    if matches is None:
        return None
    return declare.declaration(
        written.source_labels or (),
        matches,
        _any(selectors),
        sets,
        separator=written.label_separator,
    )


def _complete(written: Declaration, report: Report, loc: Loc) -> bool:
    """Without these keys the CloudWatch agent skips the declaration, and so do we."""
    complete = True
    for name in ("source_labels", "metric_selectors"):
        value = getattr(written, name)
        if value is None:
            message = f"this declaration does nothing: it has no {name}"
            report.warning(
                (*loc, name), "declaration-ignored", message, f"add {name}, or remove it"
            )
            complete = False
        elif not value:
            message = f"{name} is empty, so that nothing can match"
            report.error((*loc, name), "empty-list", message, f"write what {name} are meant")
    return complete


def search(pattern: str, report: Report, loc: Loc) -> regex.Searching | None:
    """Compile a regex that searches; None and a complaint when it cannot be."""
    if not pattern:
        message = f"{loc[-1] if isinstance(loc[-1], str) else 'the selector'} is empty"
        report.error(loc, "empty-regex", message, "for everything write .*")
        return None
    try:
        return regex.searching(pattern)
    except RuleError as error:
        # A glob by mistake is what people write most.
        advice = f"write {pattern.replace('*', '.*')}" if pattern.startswith("*") else ""
        report.error(loc, "bad-regex", str(error), advice)
        return None


def _any(selectors: list[regex.Searching]) -> Callable[[str], bool]:
    if len(selectors) == 1:
        return selectors[0]
    return lambda name: any(selector(name) for selector in selectors)


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
