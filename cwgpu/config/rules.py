"""Relabelling rules: from their models to compiled rules."""

from cwgpu.config.node import Loc
from cwgpu.config.prometheus import RelabelRule
from cwgpu.config.report import Report
from cwgpu.model.errors import RuleError
from cwgpu.prom import relabel


def rules(written: list[RelabelRule], report: Report, loc: Loc) -> tuple[relabel.Rule, ...]:
    """Compile the rules; one that cannot be is complained about and left out."""
    made = (_rule(each, report, (*loc, index)) for index, each in enumerate(written))
    return tuple(each for each in made if each)


def _rule(written: RelabelRule, report: Report, loc: Loc) -> relabel.Rule | None:
    # A key that is written out with its default is not the same as one that is not written.
    keys = {key: getattr(written, key) for key in written.model_fields_set}
    try:
        return relabel.rule(**keys)
    except RuleError as error:
        report.error((*loc, *_blamed(str(error))), "bad-relabel-rule", str(error))
        return None


def _blamed(sentence: str) -> Loc:
    """Find the key that an error begins with."""
    first = sentence.split(maxsplit=1)[0].rstrip(":,")
    return (first,) if first in RelabelRule.model_fields else ()
