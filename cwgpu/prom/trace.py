"""Relabelling, told rule after rule: what each one looked at, whether it matched, what it did.

The actions are those of ``cwgpu.prom.relabel``, applied one at a time; nothing here knows what an
action does, only what it looks at.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from cwgpu.model.labels import Labels
from cwgpu.prom import relabel
from cwgpu.prom.rule import EQUAL, Action, Rule

Change: TypeAlias = tuple[str | None, str | None]
"""A label's value before and after; None where there is no such label."""

BY_NAME = frozenset((Action.LABEL_MAP, Action.LABEL_DROP, Action.LABEL_KEEP))
"""The actions whose regex is held against the names of labels, not against a value."""
BLIND = EQUAL | {Action.HASH_MOD, Action.LOWERCASE, Action.UPPERCASE}
"""The actions that do not look at their regex."""


@dataclass(frozen=True, slots=True)
class Step:
    """What one rule did."""

    index: int
    """Counted from 0."""
    rule: Rule
    before: Labels
    after: Labels | None
    """None: the rule dropped them all."""

    @property
    def value(self) -> str | None:
        """What was compared: the source labels' values, joined; None for actions by name."""
        return None if self.rule.action in BY_NAME else relabel.value(self.before, self.rule)

    @property
    def other(self) -> str | None:
        """What ``keepequal`` and ``dropequal`` compared it with; None for other actions."""
        equal = self.rule.action in EQUAL
        return self.before.get(self.rule.target_label, "") if equal else None

    @property
    def regex(self) -> str | None:
        """The regex; None for actions that do not look at it."""
        return None if self.rule.action in BLIND else self.rule.regex.pattern

    @property
    def names(self) -> tuple[str, ...]:
        """The labels whose names an action by name matched, in order."""
        by_name = self.rule.action in BY_NAME
        return tuple(sorted(filter(self.rule.regex.matches, self.before))) if by_name else ()

    @property
    def matched(self) -> bool | None:
        """Whether the regex matched, or both values are equal; None where nothing is compared.

        Of an action by name: whether it matched the name of any label.
        """
        if self.rule.action in BY_NAME:
            return bool(self.names)
        if self.rule.action in EQUAL:
            return self.value == self.other
        return None if self.regex is None else self.rule.regex.matches(self.value or "")

    @property
    def changed(self) -> dict[str, Change]:
        """The labels that are not as they were, by name; none if all were dropped."""
        after = self.before if self.after is None else self.after
        return {
            name: (self.before.get(name), after.get(name))
            for name in sorted({*self.before, *after})
            if self.before.get(name) != after.get(name)
        }


@dataclass(frozen=True, slots=True)
class Trace:
    """What rules made of a label set, and how."""

    steps: tuple[Step, ...]
    """The rules that ran: those after one that drops do not."""
    result: Labels | relabel.Dropped
    """What ``relabel.apply`` gives."""


def trace(labels: Labels, rules: Sequence[Rule]) -> Trace:
    """Apply the rules as ``relabel.apply`` does, and keep what each of them did."""
    current: Labels = {name: value for name, value in labels.items() if value}
    steps: list[Step] = []
    for index, each in enumerate(rules):
        outcome = relabel.step(current, each)
        if isinstance(outcome, relabel.Dropped):
            steps.append(Step(index, each, current, None))
            return Trace(tuple(steps), replace(outcome, rule_index=index))
        steps.append(Step(index, each, current, outcome))
        current = outcome
    return Trace(tuple(steps), current)
