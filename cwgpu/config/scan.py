"""Exact JSON with the place of every key and value (RFC 8259).

The standard library's parser tells neither places nor duplicate keys, so this reads the text
itself. A syntax error ends the reading; it is named for what people usually meant to write.
"""

import json
import re
from bisect import bisect_right
from dataclasses import dataclass, field

from cwgpu.config import limits, secret
from cwgpu.config.complaint import Complaint, at
from cwgpu.config.node import Kind, Loc, Member, Node, mapping, sequence, short
from cwgpu.config.source import Place, Source, line_starts

_BLANKS = re.compile(r"[ \t\n\r]*")
_UNENDED = re.compile(r'"(?:[^"\\\x00-\x1f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*')
_STRING = re.compile(_UNENDED.pattern + '"')
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?(?![\w.+-])")
_WORDS = {"true": Kind.BOOL, "false": Kind.BOOL, "null": Kind.NULL}
_WORD = re.compile(r"[\w.+-]+")

_SMALLEST = (
    'write {"logs": {"metrics_collected": {"prometheus": {}}}} at least; docs/configuration.md has '
    "a whole one"
)
_NO_JSON = (
    "this is to be the CloudWatch agent's JSON, which begins with {; a prometheus.yml beside it is "
    "given with --prometheus-config"
)


class _Fault(Exception):  # noqa: N818 - a way out of the recursion, not an error of the program
    def __init__(self, offset: int, message: str, advice: str = "") -> None:
        super().__init__(message)
        self.offset, self.message, self.advice = offset, message, advice


def read(text: str, source: Source) -> tuple[Node | None, list[Complaint]]:
    """Read one JSON text. Without a node there is an error among the complaints."""
    scanner = _Scanner(text, source)
    try:
        return scanner.whole(), scanner.complaints
    except _Fault as fault:
        place = scanner.place(fault.offset)
        scanner.complaints.append(
            at(
                place,
                "json-syntax",
                fault.message,
                loc=tuple(scanner.trail),
                advice=fault.advice,
            )
        )
        return None, scanner.complaints


@dataclass
class _Scanner:
    text: str
    source: Source
    complaints: list[Complaint] = field(default_factory=list)
    trail: list[str | int] = field(default_factory=list)
    """The way to what is being read."""
    nodes: int = 0

    def __post_init__(self) -> None:
        self.starts = line_starts(self.text)

    def place(self, offset: int, end: int | None = None) -> Place:
        line = bisect_right(self.starts, offset)
        width = (end or offset + 1) - offset
        return self.source.place(line, offset - self.starts[line - 1] + 1, width)

    def blanks(self, offset: int) -> int:
        found = _BLANKS.match(self.text, offset)
        assert found  # noqa: S101 - the pattern matches nothing too
        return found.end()

    def whole(self) -> Node:
        first = self.blanks(0)
        if first == len(self.text):
            raise _Fault(0, "there is nothing in this file", _SMALLEST)
        node, end = self.value(first, 1)
        rest = self.blanks(end)
        if rest < len(self.text):
            raise _Fault(rest, f"after the end of the JSON text stands {self._here(rest)}",
                         "one file holds one JSON value; remove what follows it")  # fmt: skip
        return node

    def value(self, offset: int, depth: int) -> tuple[Node, int]:
        self.nodes += 1
        if self.nodes > limits.NODES:
            raise _Fault(offset, f"more than {limits.NODES} values in one file")
        first = self.text[offset : offset + 1]
        if first in ("{", "[") and depth > limits.DEPTH:
            raise _Fault(offset, f"nested more than {limits.DEPTH} deep")
        if first == "{":
            return self.mapping(offset, depth)
        if first == "[":
            return self.sequence(offset, depth)
        if first == '"':
            return self.string(offset)
        return self.word(offset)

    def string(self, offset: int) -> tuple[Node, int]:
        found = _STRING.match(self.text, offset)
        if not found:
            raise self._bad_string(offset)
        text = json.loads(found[0])
        # "\ud800" alone is JSON but no character, and cannot be sent anywhere.
        if any("\ud800" <= char <= "\udfff" for char in text):
            shown = "the text" if secret.private(self.trail) else short(found[0])
            raise _Fault(offset, f"{shown} holds half of a \\u pair")
        return Node(Kind.STR, self.place(offset, found.end()), text, '"'), found.end()

    def word(self, offset: int) -> tuple[Node, int]:
        if number := _NUMBER.match(self.text, offset):
            kind = Kind.FLOAT if number[1] or number[2] else Kind.INT
            return Node(kind, self.place(offset, number.end()), number[0]), number.end()
        word = _WORD.match(self.text, offset)
        if word and (known := _WORDS.get(word[0])):
            return Node(known, self.place(offset, word.end()), word[0]), word.end()
        raise self._no_value(offset)

    def sequence(self, start: int, depth: int) -> tuple[Node, int]:
        items: list[Node] = []
        offset = self.blanks(start + 1)
        more = self.text[offset : offset + 1] != "]"
        while more:
            self.trail.append(len(items))
            item, offset = self.value(offset, depth + 1)
            self.trail.pop()
            items.append(item)
            offset, more = self.after(offset, "]")
        return sequence(self.place(start), tuple(items)), offset + 1

    def mapping(self, start: int, depth: int) -> tuple[Node, int]:
        members: dict[str, Member] = {}
        offset = self.blanks(start + 1)
        more = self.text[offset : offset + 1] != "}"
        while more:
            member, offset = self.pair(offset, depth)
            if (first := members.setdefault(member.name, member)) is not member:
                self.complaints.append(repeated(first, member, (*self.trail, member.name)))
            offset, more = self.after(offset, "}", member.name)
        return mapping(self.place(start), tuple(members.values())), offset + 1

    def pair(self, offset: int, depth: int) -> tuple[Member, int]:
        if self.text[offset : offset + 1] != '"':
            raise _Fault(offset, f"wanted a key in double quotes, found {self._here(offset)}",
                         self._hint(offset))  # fmt: skip
        name, end = self.string(offset)
        colon = self.blanks(end)
        if self.text[colon : colon + 1] != ":":
            raise _Fault(colon, f"wanted : after the key {short(name.text)}, "
                         f"found {self._here(colon)}")  # fmt: skip
        self.trail.append(name.text)
        value, end = self.value(self.blanks(colon + 1), depth + 1)
        self.trail.pop()
        return Member(name.text, name.place, value), end

    def after(self, offset: int, close: str, name: str = "") -> tuple[int, bool]:
        """Find what follows an element: a comma (and where the next one begins) or the end.

        ``name`` is that of the member. What stands behind a secret may be a part of it.
        """
        offset = self.blanks(offset)
        found = self.text[offset : offset + 1]
        if found == close:
            return offset, False
        if found != ",":
            raise _Fault(offset, f"wanted , or {close}, found {self._here(offset, name)}",
                         self._hint(offset))  # fmt: skip
        following = self.blanks(offset + 1)
        if self.text[following : following + 1] == close:
            raise _Fault(offset, f"a comma stands before {close}", "remove the comma")
        return following, True

    def _bad_string(self, offset: int) -> _Fault:
        end = max(found.end() for found in [_UNENDED.match(self.text, offset)] if found)
        if self.text[end : end + 1] == "\\":
            bad = self.text[end : end + 2]
            return _Fault(end, f"{bad} is no escape in JSON",
                          f"for a backslash itself write two of them: \\{bad}")  # fmt: skip
        return _Fault(offset, "the string does not end on its line", 'close it with "')

    def _no_value(self, offset: int) -> _Fault:
        return _Fault(offset, f"wanted a value, found {self._here(offset)}",
                      self._hint(offset) or ("" if self.trail else _NO_JSON))  # fmt: skip

    def _here(self, offset: int, name: str = "") -> str:
        if offset >= len(self.text):
            return "the end of the file"
        if secret.private((*self.trail, name)):
            return "something else"
        word = _WORD.match(self.text, offset)
        return short(word[0] if word else self.text[offset])

    def _hint(self, offset: int) -> str:
        rest = self.text[offset : offset + 2]
        if rest in ("//", "/*") or rest.startswith("#"):
            return "JSON has no comments; remove it"
        if rest.startswith("'"):
            return "JSON strings stand in double quotes"
        if rest.startswith('"'):
            return "a comma is missing before it"
        return ""


def repeated(first: Member, second: Member, loc: Loc) -> Complaint:
    """Complain about a key that stands twice in one object."""
    return at(
        second.place,
        "duplicate-key",
        f"the key {short(second.name)} stands here a second time",
        loc=loc,
        advice=f"the first is on line {first.place.line}; keep one of them",
    )
