"""A relabelling rule, checked as Prometheus 3.0.1 checks it when it loads its configuration.

The checks are those of ``Config.Validate`` in ``model/relabel/relabel.go``; names may be any UTF-8,
as in every Prometheus 3. What a rule then does stands in ``cwgpu.prom.relabel``.
"""

import enum
from collections.abc import Sequence
from dataclasses import dataclass, field

from cwgpu.model.errors import RuleError
from cwgpu.prom import casing, template
from cwgpu.prom.regex import Anchored, anchored
from cwgpu.prom.template import Template

_SEPARATOR = ";"
_REPLACEMENT = "$1"
_EVERYTHING = anchored("(.*)")
_LARGEST_MODULUS = 2**64 - 1
"""Prometheus reads the modulus as a uint64."""

# What a target_label with a dollar, and the replacement of a labelmap, must look like: a name in
# which references may stand for letters.
_NAME_TEMPLATE = anchored(r"(?:[a-zA-Z_]|\$(?:\w+|\{\w+\}))(?:\w|\$(?:\w+|\{\w+\}))*")


class Action(enum.Enum):
    """What a rule does, as ``action`` names it."""

    REPLACE = "replace"
    KEEP = "keep"
    DROP = "drop"
    KEEP_EQUAL = "keepequal"
    DROP_EQUAL = "dropequal"
    HASH_MOD = "hashmod"
    LABEL_MAP = "labelmap"
    LABEL_DROP = "labeldrop"
    LABEL_KEEP = "labelkeep"
    LOWERCASE = "lowercase"
    UPPERCASE = "uppercase"

    __hash__ = object.__hash__  # ten times as fast as Enum's, and asked for at every step


EQUAL = frozenset((Action.KEEP_EQUAL, Action.DROP_EQUAL))
"""The actions that compare with another label instead of with a regex."""
_BY_NAME = frozenset((Action.LABEL_DROP, Action.LABEL_KEEP))
_CASE = frozenset((Action.LOWERCASE, Action.UPPERCASE))
_TARGETED = EQUAL | _CASE | {Action.REPLACE, Action.HASH_MOD}


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule, checked and compiled; ``rule`` makes it."""

    action: Action
    source_labels: tuple[str, ...]
    separator: str
    regex: Anchored
    target_label: str
    replacement: str
    modulus: int
    target: Template = field(repr=False)
    """``target_label``, taken apart."""
    result: Template = field(repr=False)
    """``replacement``, taken apart."""

    def __hash__(self) -> int:
        return hash((self.regex.pattern, self.target_label))  # little, as it is asked for often


def rule(  # each parameter is a key of relabel_config
    *,
    action: str = Action.REPLACE.value,
    source_labels: Sequence[str] | None = None,
    separator: str = _SEPARATOR,
    regex: str | None = None,
    target_label: str = "",
    replacement: str = _REPLACEMENT,
    modulus: int = 0,
) -> Rule:
    """Make a rule of the keys of a ``relabel_config``; RuleError says what is wrong with them.

    ``None`` stands for a key that was not written, which is not the same as its default written
    out: ``keepequal`` takes no regex at all. A key written without a value is an empty text to
    Prometheus, not its default, except ``source_labels``.
    """
    act = _action(action)
    for name in source_labels or ():
        if not _text("source_labels", name):
            raise RuleError("source_labels: an empty name; leave it out or write a label's name")
    pattern = _EVERYTHING if regex is None else anchored(regex)
    made = Rule(
        action=act,
        source_labels=tuple(source_labels or ()),
        separator=_text("separator", separator),
        regex=pattern,
        target_label=target_label,
        replacement=_text("replacement", replacement),
        modulus=modulus,
        target=template.parse(target_label) if act is Action.REPLACE else Template(()),
        result=template.parse(replacement),
    )
    _check_target(made)
    _check_modulus(made)
    if act is Action.LABEL_MAP and not _NAME_TEMPLATE.matches(replacement):
        raise RuleError(
            f"replacement: {replacement!r} makes no label name for action labelmap; write letters,"
            " digits, _ and groups, such as node_$1"
        )
    _check_needless(made, has_regex=regex is not None, has_sources=source_labels is not None)
    return made


def _action(text: str) -> Action:
    try:
        return Action(casing.lower(text))
    except ValueError:
        known = ", ".join(action.value for action in Action)
        found = repr(text) if text else "nothing"
        raise RuleError(f"action: {found} is no action; write one of {known}") from None


def _text(key: str, text: str) -> str:
    try:
        text.encode()
    except UnicodeEncodeError:
        raise RuleError(f"{key}: {text!r} holds half a surrogate; write the character") from None
    return text


def _check_target(made: Rule) -> None:
    action, target = made.action, made.target_label
    if action not in _TARGETED:
        return
    if not target:
        raise RuleError(f"target_label: missing; action {action.value} needs one")
    _text("target_label", target)
    # The other actions take a dollar as it stands; that is how Prometheus 3.0.1 has it.
    if action is Action.REPLACE and "$" in target and not _NAME_TEMPLATE.matches(target):
        raise RuleError(
            f"target_label: {target!r} makes no label name; beside groups such as $1 or ${{1}}"
            " only letters, digits and _ may stand in it"
        )


def _check_modulus(made: Rule) -> None:
    if not 0 <= made.modulus <= _LARGEST_MODULUS:
        raise RuleError(f"modulus: {made.modulus}; write a whole number from 1 to 2^64-1")
    if made.action is Action.HASH_MOD and not made.modulus:
        raise RuleError("modulus: missing; action hashmod needs one, such as the number of shards")


def _check_needless(made: Rule, *, has_regex: bool, has_sources: bool) -> None:
    """Refuse keys that the action would not look at, where Prometheus does."""
    action = made.action
    needless = {"replacement": made.replacement != _REPLACEMENT}
    if action in EQUAL or action in _BY_NAME:
        needless |= {"separator": made.separator != _SEPARATOR, "modulus": made.modulus != 0}
    if action in EQUAL:
        needless["regex"] = has_regex
    elif action in _BY_NAME:
        needless |= {"source_labels": has_sources, "target_label": made.target_label != ""}
    elif action not in _CASE:
        return
    found = [key for key, is_set in needless.items() if is_set]
    if found:
        raise RuleError(f"{', '.join(found)}: leave out; action {action.value} does not use it")
