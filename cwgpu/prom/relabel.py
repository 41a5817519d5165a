"""Relabelling: the rules that choose targets and samples and rewrite their labels.

Syntax and meaning:
https://prometheus.io/docs/prometheus/latest/configuration/configuration/#relabel_config; details
after Prometheus 3.0.1, ``model/relabel/relabel.go``. Of two labels that a labelmap gives one name,
the last in order of name wins here; there, chance or the history of the label set decides.
"""

import functools
import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from cwgpu.model.labels import Labels
from cwgpu.prom import casing
from cwgpu.prom.regex import LONGEST, Anchored
from cwgpu.prom.rule import EQUAL, Action, Rule, rule
from cwgpu.prom.template import Template

T = TypeVar("T")

__all__ = ["Action", "Dropped", "Rule", "apply", "comparison", "rule", "sentence", "step", "value"]

_ON_MATCH = frozenset((Action.DROP, Action.DROP_EQUAL))
"""The actions that drop what matches; the others that drop, drop what does not."""
_CHOOSING = frozenset((Action.KEEP, Action.DROP, Action.KEEP_EQUAL, Action.DROP_EQUAL))
"""The actions that change no label."""
# The pods of a workload are kept or dropped for the same reason, told by the same sentence.
_MOST_KNOWN = 1 << 12
# RE2 takes microseconds to be called. A cluster's labels have some hundred names, and a plan has
# some rules that go by them.
_MOST_NAMES = 1 << 10
_MOST_REGEXES = 1 << 6


@dataclass(frozen=True, slots=True)
class Dropped:
    """A label set that a rule dropped."""

    rule_index: int
    """Counted from 0."""
    rule: Rule
    value: str
    """The source labels' values, joined: what the rule compared."""
    other: str = ""
    """What ``keepequal`` and ``dropequal`` compared it with: the value of the target label."""


def apply(labels: Labels, rules: Sequence[Rule]) -> dict[str, str] | Dropped:
    """Give the labels that the rules make of these; none of the result is empty."""
    # Most targets are dropped by the first rules: until one changes something there is no copy.
    current, copied = labels, False
    for index, each in enumerate(rules):
        if not copied and each.action not in _CHOOSING:
            current, copied = _filled(labels), True
        compared = value(current, each)
        changed = _ACTIONS[each.action](current, each, compared)
        if changed is None:
            other = current.get(each.target_label, "") if each.action in EQUAL else ""
            return Dropped(index, each, compared, other)
        current = changed
    return dict(current) if copied else _filled(labels)


def step(labels: Labels, rule: Rule) -> dict[str, str] | Dropped:
    """Apply one rule, as ``apply`` does; for explaining rule after rule."""
    return apply(labels, (rule,))


def sentence(dropped: Dropped) -> str:
    """Say which rule dropped a label set, counted from 1, and what decided."""
    return _sentence(dropped.rule_index, dropped.rule, dropped.value, dropped.other)


@functools.lru_cache(_MOST_KNOWN)
def _sentence(index: int, rule: Rule, value: str, other: str) -> str:
    compared = comparison(rule, value, other, matched=rule.action in _ON_MATCH)
    return f"rule {index + 1} ({rule.action.value}): {compared}"


def comparison(rule: Rule, value: str, other: str, *, matched: bool) -> str:
    """Say what a rule compared, with what, and how that ended."""
    compared = json.dumps(value, ensure_ascii=False)
    of = f" (of {', '.join(rule.source_labels)})" if rule.source_labels else ""
    if rule.action in EQUAL:
        verb = "equals" if matched else "differs from"
        given = json.dumps(other, ensure_ascii=False)
        return f"{compared}{of} {verb} {given} (of {rule.target_label})"
    verb = "matches" if matched else "does not match"
    return f"{compared}{of} {verb} the regex {rule.regex.pattern}"


def value(labels: Labels, rule: Rule) -> str:
    """Join the values of the source labels: what the rule compares, unless it goes by name."""
    names = rule.source_labels
    if len(names) == 1:
        return labels.get(names[0], "")
    return rule.separator.join([labels.get(name, "") for name in names])


def _filled(labels: Labels) -> dict[str, str]:
    """Give the labels that are not empty."""
    return {name: value for name, value in labels.items() if value}


def _set(labels: Labels, name: str, value: str) -> Labels:
    """Give the labels with one of them changed; an empty value is no label."""
    if labels.get(name, "") == value:
        return labels
    changed = {**labels, name: value}
    if not value:
        del changed[name]
    return changed


# Each action gives the labels after it, or None to drop them all.


def _replace(labels: Labels, rule: Rule, value: str) -> Labels | None:
    match = rule.regex.match(value)
    if match is None:
        return labels
    target = rule.target.expand(match)
    return _set(labels, target, rule.result.expand(match)) if target else labels


def _keep(labels: Labels, rule: Rule, value: str) -> Labels | None:
    return labels if _matches(rule.regex, value) else None


def _drop(labels: Labels, rule: Rule, value: str) -> Labels | None:
    return None if _matches(rule.regex, value) else labels


def _matches(regex: Anchored, text: str) -> bool:
    return _remembered(regex, text) if len(text) <= LONGEST else regex.matches(text)


@functools.lru_cache(_MOST_KNOWN)
def _remembered(regex: Anchored, text: str) -> bool:
    return regex.matches(text)


def _keep_equal(labels: Labels, rule: Rule, value: str) -> Labels | None:
    return labels if labels.get(rule.target_label, "") == value else None


def _drop_equal(labels: Labels, rule: Rule, value: str) -> Labels | None:
    return None if labels.get(rule.target_label, "") == value else labels


def _hash_mod(labels: Labels, rule: Rule, value: str) -> Labels | None:
    digest = hashlib.md5(value.encode(), usedforsecurity=False).digest()
    # Prometheus takes the last 8 of the 16 bytes.
    return _set(labels, rule.target_label, str(int.from_bytes(digest[8:], "big") % rule.modulus))


def _label_map(labels: Labels, rule: Rule, _value: str) -> Labels | None:
    copied = _copied(rule.regex, rule.result)
    copies = [(name, copy) for name in labels if (copy := copied(name)) is not None]
    return {**labels, **{copy: labels[name] for name, copy in sorted(copies)}}


def _label_drop(labels: Labels, rule: Rule, _value: str) -> Labels | None:
    named = _named(rule.regex)
    return {name: value for name, value in labels.items() if not named(name)}


def _label_keep(labels: Labels, rule: Rule, _value: str) -> Labels | None:
    named = _named(rule.regex)
    return {name: value for name, value in labels.items() if named(name)}


@functools.lru_cache(_MOST_REGEXES)
def _named(regex: Anchored) -> Callable[[str], bool]:
    return _knowing(regex.matches)


@functools.lru_cache(_MOST_REGEXES)
def _copied(regex: Anchored, result: Template) -> Callable[[str], str | None]:
    return _knowing(lambda name: regex.replace(name, result.expand))


def _knowing(ask: Callable[[str], T]) -> Callable[[str], T]:
    """Remember what was said of names, but for those that are too long to be any."""
    known = functools.lru_cache(_MOST_NAMES)(ask)
    return lambda name: known(name) if len(name) <= LONGEST else ask(name)


def _lowercase(labels: Labels, rule: Rule, value: str) -> Labels | None:
    return _set(labels, rule.target_label, casing.lower(value))


def _uppercase(labels: Labels, rule: Rule, value: str) -> Labels | None:
    return _set(labels, rule.target_label, casing.upper(value))


_ACTIONS: Mapping[Action, Callable[[Labels, Rule, str], Labels | None]] = {
    Action.REPLACE: _replace,
    Action.KEEP: _keep,
    Action.DROP: _drop,
    Action.KEEP_EQUAL: _keep_equal,
    Action.DROP_EQUAL: _drop_equal,
    Action.HASH_MOD: _hash_mod,
    Action.LABEL_MAP: _label_map,
    Action.LABEL_DROP: _label_drop,
    Action.LABEL_KEEP: _label_keep,
    Action.LOWERCASE: _lowercase,
    Action.UPPERCASE: _uppercase,
}
