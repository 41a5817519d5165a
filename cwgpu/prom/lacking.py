"""Groups that a replacement asks for and its regex does not have: they give nothing."""

import re

from cwgpu.prom.rule import Action
from cwgpu.prom.template import Group
from cwgpu.prom.trace import Step

_LONGER = re.compile(r"([0-9]+)([A-Za-z_]\w*)")
"""A number that was to end where a word begins: ``$1_x`` asks for the group ``1_x``."""


def group(step: Step) -> str:
    """Name the first such group of a rule that matched, in a sentence; nothing if it has all."""
    rule = step.rule
    match = rule.regex.match(step.value or "") if rule.action is Action.REPLACE else None
    if match is None:
        return ""
    for part in rule.result.parts:
        if isinstance(part, Group) and not match.has(part.key):
            longer = _LONGER.fullmatch(str(part.key))
            advice = f"; write ${{{longer[1]}}}{longer[2]}" if longer else ""
            return f"the regex has no group {part.key}, so ${{{part.key}}} is empty{advice}"
    return ""
