"""What can be said about a regex without a text to try it on.

The syntax is RE2's, https://github.com/google/re2/wiki/Syntax, of which as much is understood as
people write in configuration. What is not understood gets the answer that raises no alarm.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TypeAlias

Possible: TypeAlias = Callable[[str], bool]
"""Says whether a character can stand in the texts that are compared."""

_CLASS = r"\[\^?\]?(?:\[:\^?\w+:\]|\\.|[^\]\\])*\]"
_OPENING = r"\((?:\?(?:P?<(?P<name>\w+)>|(?P<flags>[a-zA-Z-]*)(?P<end>[:)])))?"
_TOKEN = re.compile(rf"(?s:(?P<other>\\.|{_CLASS})|{_OPENING})")
_GROUP = re.compile(_OPENING)
_WHOLE_CLASS = re.compile(_CLASS, re.DOTALL)
_REPEAT = re.compile(r"(?:[*?+]|\{(\d+)(?:,\d*)?\})\??")
_RANGE = re.compile(r"(\\.|[^\\])(?:-(\\.|[^\\]))?", re.DOTALL)

_DIGITS = "0123456789"
_LETTERS = "abcdefghijklmnopqrstuvwxyz"
_CLASSES = {"d": _DIGITS, "w": f"{_DIGITS}_{_LETTERS}{_LETTERS.upper()}", "s": " \t\n\f\r"}
_ZERO_WIDTH = frozenset("bBAz")
# Brackets in brackets; RE2 takes a thousand, people write a few.
_DEEPEST = 20
# The widest range that somebody writes out of plain text.
_WIDEST = 0x80


class _UnclearError(Exception):
    """The pattern holds something that is not understood here. Never leaves this module."""


def needs(pattern: str, possible: Possible) -> bool:
    """Say whether every text that matches holds a character that cannot stand there."""
    try:
        reader = _Reader(pattern, possible)
        found = reader.alternatives()
    except _UnclearError:
        return False
    # A closing bracket too many is a pattern that undoes its wrapping.
    return found and reader.at == len(pattern)


def groups(pattern: str) -> tuple[int, frozenset[str]]:
    """Count the capturing groups, and give the names that some have."""
    opened = (each for each in _TOKEN.finditer(pattern) if not each["other"] and not each["end"])
    names = [each["name"] for each in opened]
    return len(names), frozenset(filter(None, names))


def lowered(pattern: str) -> str:
    """Write the pattern in lower case; what follows a backslash stays."""
    return "".join(
        part if part.startswith("\\") else part.lower()
        for part in re.split(r"(\\.)", pattern, flags=re.DOTALL)
    )


# A letter that is repeated where no word goes on: there "d+" is meant to be digits. A star is taken
# for that only behind a bracket and the like: "team-d*" is a glob by mistake.
_LOST = re.compile(r"(?:^|(?<=[(:;|/.^,-]))[dws](?=\+|\{\d)|(?<=[(:;,])[dws](?=\*)")


def restored(pattern: str) -> str | None:
    r"""Give the pattern with the backslashes that were lost, as in ``:d+``; None if none was."""
    masked = _TOKEN.sub(lambda found: "x" * len(found[0]) if found["other"] else found[0], pattern)
    places = [found.start() for found in _LOST.finditer(masked)]
    if not places:
        return None
    return "\\".join(
        pattern[start:end] for start, end in zip([0, *places], [*places, None], strict=True)
    )


@dataclass
class _Reader:
    """Walks a pattern once. Its methods say whether what they read needs what is impossible."""

    pattern: str
    possible: Possible
    at: int = 0
    depth: int = 0

    def alternatives(self) -> bool:
        needed = self.sequence()
        while self.take("|"):
            needed = self.sequence() and needed
        return needed

    def sequence(self) -> bool:
        needed = False
        while self.at < len(self.pattern) and self.pattern[self.at] not in "|)":
            item = self.item()
            there = self.repeated()
            needed = needed or (item and there)
        return needed

    def repeated(self) -> bool:
        """Read how often; False when none will do."""
        found = _REPEAT.match(self.pattern, self.at)
        if found is None:
            return True
        self.at = found.end()
        return int(found[1]) > 0 if found[1] else found[0].startswith("+")

    def item(self) -> bool:
        sign = self.pattern[self.at]
        if sign == "(":
            return self.group()
        if sign == "[":
            return self.character_class()
        if sign == "\\":
            self.at += 2
            return not self.any(_escaped(self.pattern[self.at - 1 : self.at]))
        self.at += 1
        return sign not in ".^$" and not self.possible(sign)

    def group(self) -> bool:
        found = _GROUP.match(self.pattern, self.at)
        if found is None or "i" in (found["flags"] or "") or self.depth > _DEEPEST:
            raise _UnclearError
        self.at = found.end()
        if found["end"] == ")":  # flags alone; what repeats them repeats what stands before
            if _REPEAT.match(self.pattern, self.at):
                raise _UnclearError
            return False
        if not found["end"] and not found["name"] and self.pattern[self.at : self.at + 1] == "?":
            raise _UnclearError
        self.depth += 1
        needed = self.alternatives()
        self.depth -= 1
        if not self.take(")"):
            raise _UnclearError
        return needed

    def character_class(self) -> bool:
        found = _WHOLE_CLASS.match(self.pattern, self.at)
        if found is None or "[:" in found[0]:
            raise _UnclearError
        self.at = found.end()
        inside = found[0][1:-1]
        return not inside.startswith("^") and not self.any("".join(_members(inside)))

    def any(self, characters: str) -> bool:
        """Say whether one of them is possible; nothing stands for a place without a character."""
        return not characters or any(map(self.possible, characters))

    def take(self, sign: str) -> bool:
        found = self.pattern[self.at : self.at + 1] == sign
        self.at += found
        return found


def _escaped(sign: str) -> str:
    """Give the characters that a backslash and this stand for; none for a place between them."""
    if sign in _CLASSES:
        return _CLASSES[sign]
    if sign in _ZERO_WIDTH:
        return ""
    if sign.isalnum() or not sign:
        raise _UnclearError
    return sign


def _members(inside: str) -> Iterator[str]:
    """Give the characters of a class."""
    for low, high in _RANGE.findall(inside):
        first = _escaped(low[1]) if low[1:] else low
        last = _escaped(high[1]) if high[1:] else high
        if not last:
            yield first
        elif len(first) == len(last) == 1 and ord(last) - ord(first) < _WIDEST:
            yield from map(chr, range(ord(first), ord(last) + 1))
        else:
            raise _UnclearError
