"""Regular expressions as Prometheus has them: RE2, behind two doors.

``anchored`` compiles what relabelling uses: the whole text must match and ``.`` matches a newline
too. ``searching`` compiles what matches anywhere. Neither falls back to Python's ``re``, which
reads ``$``, ``(?i)``, the classes of digits and words and a lot more in other ways.

Syntax: https://github.com/google/re2/wiki/Syntax. The wrapping is that of Prometheus 3.0.1,
``model/relabel/relabel.go`` (``NewRegexp``).
"""

import functools
import itertools
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Protocol

import re2  # type: ignore[import-untyped]

from cwgpu.model.errors import RuleError
from cwgpu.prom import advice

_OPTIONS = re2.Options()
_OPTIONS.log_errors = False
"""RE2 would print to standard error; what it says is in the exception anyway."""
_ROOMY = re2.Options()
_ROOMY.log_errors = False
_ROOMY.max_mem *= 16
"""For a pattern that was let in already, its names made longer."""
_MOST_GROUPS = 1000
"""RE2 bounds what a pattern takes, but not what it notes of the groups while it matches: the square
of their number. Go's RE2 refuses groups that nest deeper than this."""
_MOST_MATCHES = 1 << 10
"""Remembered: the samples of a page mostly have the same few values. Each takes half a kilobyte."""
LONGEST = 1 << 10
"""Characters of a text of which anything is remembered: a page may have megabytes in one label."""

_META = frozenset("\\.+*?()|[]{}^$")
_SEPARATE = frozenset((".", "[", "$", ""))
"""Signs, or the end, that have no say about the character before them."""
_ANYTHING: Mapping[str, Callable[[str], bool]] = {
    "(.*)": lambda _: True,
    ".*": lambda _: True,
    "(.+)": bool,
    ".+": bool,
}
"""Patterns that stand in most rules, and what they come to: any text, or any but the empty one."""
_ESCAPES = re.compile(r"\\Q.*?(?:\\E|\Z)|\\.", re.DOTALL)
_ANY_BYTE = "\\C"
_GROUP_NAME = re.compile(r"\(\?P?<(\w+)>")


class _Found(Protocol):
    """A match of google-re2; offsets are in bytes."""

    def span(self) -> tuple[int, int]: ...
    def groups(self) -> tuple[bytes | None, ...]: ...


class _Compiled(Protocol):
    """A regex of google-re2, compiled from bytes, which is three times faster than from str."""

    def search(self, text: bytes, pos: int = 0) -> _Found | None: ...
    @property
    def groups(self) -> int: ...
    @property
    def groupindex(self) -> Mapping[bytes, int]: ...


@dataclass(frozen=True, slots=True)
class Match:
    """What a regex matched."""

    groups: tuple[str | None, ...]
    """Group 0, the whole match, and then the others; None where a group took no part."""
    names: Mapping[str, tuple[int, ...]]

    def has(self, key: int | str) -> bool:
        """Tell whether the regex has such a group, whether or not it took part."""
        return key < len(self.groups) if isinstance(key, int) else key in self.names

    def group(self, key: int | str) -> str:
        """Give a group's text by number or name; empty if there is no such group or no part in it.

        Of several groups of one name, the first that took part counts, as in Go.
        """
        indexes = (key,) if isinstance(key, int) else self.names.get(key, ())
        for index in indexes:
            if index < len(self.groups) and self.groups[index] is not None:
                return self.groups[index] or ""
        return ""


@dataclass(frozen=True, slots=True)
class Anchored:
    """A regex that must match the whole text. Two of one pattern are equal."""

    pattern: str
    _compiled: _Compiled = field(compare=False, repr=False)
    _names: Mapping[str, tuple[int, ...]] = field(compare=False, repr=False)
    _head: str = field(compare=False, repr=False)
    """Every text that matches begins so: spares most of the calls that find nothing."""
    _exact: Callable[[str], bool] | None = field(compare=False, repr=False)
    """Decides without RE2, for patterns whose only groups, if any, hold the whole text."""

    def matches(self, text: str) -> bool:
        """Say whether the text matches; quicker than ``match``."""
        if self._exact is not None:
            return self._exact(text)
        return text.startswith(self._head) and self._compiled.search(text.encode()) is not None

    def match(self, text: str) -> Match | None:
        """Match the text; None when it does not."""
        if self._exact is not None:
            groups = (text, text) if self.pattern.startswith("(") else (text,)
            return Match(groups, self._names) if self._exact(text) else None
        if not text.startswith(self._head):
            return None
        return _matched(self, text) if len(text) <= LONGEST else self.anew(text)

    def anew(self, text: str) -> Match | None:
        """Do what ``match`` does, and remember nothing."""
        raw = text.encode()
        found = self._compiled.search(raw)
        return self._match(raw, found) if found is not None else None

    def replace(self, text: str, expand: Callable[[Match], str]) -> str | None:
        """Replace every match; None when there is none.

        That is once and the whole text, except for patterns such as ``a)|(b`` that undo the
        anchors. Walks as ``ReplaceAllString`` of https://pkg.go.dev/regexp does.
        """
        if not text.startswith(self._head):
            return None
        raw = text.encode()
        parts: list[str] = []
        done = start = 0
        while start <= len(raw) and (found := self._compiled.search(raw, start)) is not None:
            begin, end = found.span()
            parts.append(raw[done:begin].decode())
            # An empty match that touches the match before it is none.
            if end > done or begin == 0:
                parts.append(expand(self._match(raw, found)))
            done = end
            start = max(end, _after_character(raw, start))
        parts.append(raw[done:].decode())
        return "".join(parts) if len(parts) > 1 else None

    def _match(self, raw: bytes, found: _Found) -> Match:
        begin, end = found.span()
        groups = (raw[begin:end], *found.groups())
        texts = tuple(None if group is None else group.decode() for group in groups)
        return Match(texts, self._names)


@dataclass(frozen=True, slots=True)
class Searching:
    """A regex that may match anywhere in the text. Two of one pattern are equal."""

    pattern: str
    _compiled: _Compiled = field(compare=False, repr=False)
    _exact: Callable[[str], bool] | None = field(compare=False, repr=False)
    """Decides without RE2."""

    def __call__(self, text: str) -> bool:
        """Say whether the text holds a match."""
        if self._exact is not None:
            return self._exact(text)
        return _found(self, text) if len(text) <= LONGEST else self.anew(text)

    def anew(self, text: str) -> bool:
        """Say the same, and remember nothing."""
        return self._compiled.search(text.encode()) is not None


def anchored(pattern: str) -> Anchored:
    """Compile a regex for relabelling; RuleError says what is wrong with it."""
    compiled = _compile(pattern, f"^(?s:{pattern})$")
    exact = _ANYTHING.get(pattern) or _literals(pattern)
    return Anchored(pattern, compiled, _names(pattern, compiled), _head(pattern), exact)


@functools.lru_cache(_MOST_MATCHES)
def _matched(regex: Anchored, text: str) -> Match | None:
    return regex.anew(text)


@functools.lru_cache(_MOST_MATCHES)
def _found(regex: Searching, text: str) -> bool:
    return regex.anew(text)


def searching(pattern: str) -> Searching:
    """Compile a regex that searches, as for label matchers and metric selectors; RuleError."""
    whole = pattern.startswith("^") and pattern.endswith("$") and "|" not in pattern
    exact = _literals(pattern[1:-1]) if whole else None
    return Searching(pattern, _compile(pattern, pattern), exact)


def _compile(pattern: str, wrapped: str) -> _Compiled:
    # Go's RE2 refuses two things that the C++ one takes: \C, and group names beyond ASCII.
    if _ANY_BYTE in _ESCAPES.findall(pattern):
        raise RuleError(advice.sentence(pattern, f"invalid escape sequence: {_ANY_BYTE}"))
    try:
        compiled: _Compiled = re2.compile(wrapped.encode(), _OPTIONS)
    except UnicodeEncodeError:
        raise RuleError(advice.sentence(pattern, "lone surrogate")) from None
    except re2.error as error:
        fault = _fault(pattern) or _words(error)
        raise RuleError(advice.sentence(pattern, fault)) from None
    if compiled.groups > _MOST_GROUPS:
        raise RuleError(advice.sentence(pattern, f"{compiled.groups} groups, too many"))
    for name in compiled.groupindex:
        if not name.isascii():
            fault = f"invalid named capture group: {name.decode()}"
            raise RuleError(advice.sentence(pattern, fault))
    return compiled


def _fault(pattern: str) -> str | None:
    """Say what RE2 refuses in the pattern by itself, without what Prometheus puts around it."""
    try:
        re2.compile(pattern.encode(), _OPTIONS)
    except re2.error as error:
        return _words(error)
    return None


def _words(error: Exception) -> str:
    return bytes(error.args[0]).decode()


def _names(pattern: str, compiled: _Compiled) -> Mapping[str, tuple[int, ...]]:
    """Give the numbers of the groups of each name.

    google-re2 tells only the first group of a name. So where a name may stand twice, each place
    gets a name of its own to see which group it is, if it is one and not text of a class or a
    quotation.
    """
    places: list[str] = _GROUP_NAME.findall(pattern)
    if len(compiled.groupindex) == len(places):
        return {name.decode(): (index,) for name, index in compiled.groupindex.items()}
    number = itertools.count()
    renamed = _GROUP_NAME.sub(lambda _: f"(?P<_{next(number)}>", pattern)
    indexes = re2.compile(f"^(?s:{renamed})$".encode(), _ROOMY).groupindex
    names: dict[str, tuple[int, ...]] = {}
    for place, name in enumerate(places):
        index = indexes.get(b"_%d" % place)
        if index is not None:
            names[name] = (*names.get(name, ()), index)
    return names


def _head(pattern: str) -> str:
    """Give text that every match begins with: what stands before the first sign with a meaning."""
    if "|" in pattern or _fault(pattern):
        # A pattern that is wrong by itself is one that undoes the anchors, such as a)*(b.
        return ""
    body = pattern.removeprefix("^")
    end = next((index for index, sign in enumerate(body) if sign in _META), len(body))
    # The last character may be what a sign repeats, even across flags: in ab(?U)* that is the b.
    sign, after = body[end : end + 1], body[end + 1 : end + 2]
    alone = sign in _SEPARATE or (sign == "(" and after != "?")
    return body[:end] if alone else body[: max(end - 1, 0)]


def _literals(pattern: str) -> Callable[[str], bool] | None:
    """Match plain words, or one of several with ``|`` between them, without RE2."""
    words = pattern.split("|")
    return None if _META.intersection("".join(words)) else frozenset(words).__contains__


def _after_character(raw: bytes, start: int) -> int:
    """Give the offset after the UTF-8 character at ``start``."""
    after = start + 1
    while after < len(raw) and raw[after] & 0xC0 == 0x80:  # noqa: PLR2004 - UTF-8's continuation
        after += 1
    return after
