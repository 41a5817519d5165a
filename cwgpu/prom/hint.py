"""Near misses: why a rule probably did not do what was meant.

A suggestion to write another regex is made only where that regex does match.
"""

import functools
import re
from collections.abc import Iterable, Iterator
from difflib import SequenceMatcher

from cwgpu.model.errors import RuleError
from cwgpu.prom import lacking
from cwgpu.prom.regex import Anchored, anchored
from cwgpu.prom.rule import EQUAL, Action
from cwgpu.prom.trace import Step

_ALIKE = 0.8
"""How alike the parts in which two names differ must be: nam and name are, port and path not."""
_PIECE = 4
"""Shorter pieces stand in any two texts."""
_SHOWN = 3
"""How many names are told where many would do."""
_SIGN = re.compile(r"[^a-zA-Z0-9]")
_SIGNS = re.compile(r"[^a-zA-Z0-9]+")
_LOST = re.compile(r"(?<![\\\w])(?=[dws][+*{])")
"""A letter that is repeated, where a word does not go on: ``:d+`` was ``:\\d+``."""


def hint(step: Step) -> str:
    """Say what is nearly so, in a sentence without a full stop; nothing where nothing is."""
    if step.after is not None and step.matched is not False:
        return lacking.group(step)
    return "; ".join(_misnamed(step)) or _nearly(step) or "; ".join(_absent(step))


def near(step: Step) -> str:
    """Say the same of one target among thousands, most of which the rule was not made for.

    That a label is missing is no news there, least of all to a rule that joins some.
    """
    names = step.rule.source_labels
    joins = len(names) > 1 and any(name in step.before for name in names)
    return ("" if joins else "; ".join(_misnamed(step))) or _nearly(step)


def likeness(pattern: str, value: str) -> int:
    """Give the length of the longest piece, case and signs aside, that stands in both."""
    words, given = (_SIGNS.sub(" ", each).strip().lower() for each in (pattern, value))
    size = SequenceMatcher(None, words, given, autojunk=False).find_longest_match().size
    return size if size >= _PIECE else 0


def _misnamed(step: Step) -> Iterator[str]:
    for name in _missing(step):
        longer = sorted((each for each in step.before if each.startswith(f"{name}_")), key=len)
        if near := nearest(name, step.before):
            yield f"there is no label {name}; did you mean {near}?"
        elif longer:
            more = len(longer) - _SHOWN
            rest = f" and {more} more" if more > 0 else ""
            yield f"there is no label {name}; there are {', '.join(longer[:_SHOWN])}{rest}"


def _absent(step: Step) -> Iterator[str]:
    """Name what counted as empty, if that was the end of it; otherwise it is what rules expect."""
    if step.after is None:
        yield from (f"there is no label {name}, so it is empty" for name in _missing(step))


def _missing(step: Step) -> list[str]:
    rule = step.rule
    names = () if step.value is None else rule.source_labels
    wanted = (*names, rule.target_label) if rule.action in EQUAL else names
    return [name for name in dict.fromkeys(wanted) if name not in step.before]


def _nearly(step: Step) -> str:
    rule, texts = step.rule, _texts(step)
    if rule.action is Action.KEEP_EQUAL and _is_case(step.value or "", step.other or ""):
        return "they differ in upper and lower case alone; give both one case by a rule before"
    if rule.action is Action.DROP and rule.regex.pattern in ("(.*)", ".*"):
        return "this regex matches every text; write the values that are to be dropped"
    if step.regex is None or step.matched:
        return ""
    if any(rule.regex.matches(text.strip()) for text in texts):
        return "a blank stands before or after it"
    for words, pattern in _variants(rule.regex.pattern):
        if _matches(pattern, texts):
            return f"{words}; this matches: {pattern}"
    return ""


def _is_case(one: str, other: str) -> bool:
    """Tell whether two texts differ in nothing but their case."""
    return one.lower() == other.lower()


def _texts(step: Step) -> list[str]:
    """Give what the regex was held against, as far as there was anything."""
    if step.value is None:
        return list(step.before)
    present = any(name in step.before for name in step.rule.source_labels)
    return [step.value] if present else []


def _variants(pattern: str) -> Iterator[tuple[str, str]]:
    core = _bare(pattern)
    part = f".*(?:{core}).*" if "|" in core else f".*{core}.*"
    yield "upper and lower case differ", f"(?i){pattern}"
    yield "a backslash seems to be lost", _LOST.sub(r"\\", pattern)
    if core:
        yield "only a part is so, and a regex must match all of it", part
        yield "only a part is so, and upper and lower case differ", f"(?i){part}"


def _bare(pattern: str) -> str:
    """Leave out what speaks of the ends of the text, and what matches anything there."""
    core = pattern.removeprefix("^").removeprefix(".*")
    for end in ("$", ".*"):
        core = core.removesuffix(end) if not core.endswith(f"\\{end}") else core
    return core


def _matches(pattern: str, texts: Iterable[str]) -> bool:
    regex = _compiled(pattern)
    return regex is not None and any(map(regex.matches, texts))


@functools.lru_cache(maxsize=256)  # rules are few, and are asked about many label sets
def _compiled(pattern: str) -> Anchored | None:
    try:
        return anchored(pattern)
    except RuleError:
        return None


def nearest(name: str, known: Iterable[str]) -> str | None:
    """Find the label that a name was probably meant to be.

    Names of labels have long beginnings in common, so only where they differ is compared.
    """
    ordered = sorted(known)
    same = [other for other in ordered if _folded(other) == _folded(name)]
    if same:
        return same[0]
    ratio, best = max(((_likeness(name, other), other) for other in ordered), default=(0.0, ""))
    return best if ratio >= _ALIKE else None


def _folded(name: str) -> str:
    """Write a name as discovery writes it, case aside: ``app.kubernetes.io/name`` has no dots."""
    return _SIGN.sub("_", name).lower()


def _likeness(name: str, other: str) -> float:
    ours, theirs = _folded(name).split("_"), _folded(other).split("_")
    for end in (0, -1):
        while ours and theirs and ours[end] == theirs[end]:
            del ours[end], theirs[end]
    return SequenceMatcher(None, "_".join(ours), "_".join(theirs)).ratio()
