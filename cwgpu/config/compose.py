"""YAML with the place of every key and value, composed from libyaml's events.

The reading is go-yaml's, which Prometheus uses: YAML 1.1, unquoted scalars keep their text,
duplicate keys are refused, ``<<`` merges. Nothing is constructed, so no tag can do anything.
Composing from events rather than with ``yaml.compose`` bounds depth and aliases.
"""

import base64
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Protocol

import yaml

from cwgpu.config import limits, scalar, secret
from cwgpu.config.complaint import Complaint, at
from cwgpu.config.node import Kind, Member, Node, describe, mapping, sequence, short
from cwgpu.config.scan import repeated
from cwgpu.config.source import Place, Source, line_starts

_CORE = "tag:yaml.org,2002:"
# The tags a plain scalar resolves to by itself: writing one out changes nothing here.
_RESOLVED = frozenset(_CORE + name for name in ("int", "float", "bool", "null", "timestamp"))
_BINARY = _CORE + "binary"
_STRINGS = frozenset({None, _CORE + "str"})
_COLLECTIONS = frozenset({None, "!", _CORE + "map", _CORE + "seq"})

# What YAML 1.1 allows in a stream (section 5.1).
_FORBIDDEN = re.compile("[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


class _Fault(Exception):  # noqa: N818 - a way out of the recursion, not an error of the program
    def __init__(self, place: Place, message: str, advice: str = "") -> None:
        super().__init__(message)
        self.place, self.message, self.advice = place, message, advice


def read(text: str, source: Source) -> tuple[list[Node], list[Complaint]]:
    """Read every document of a stream; a syntax error ends the reading with a complaint."""
    composer = _Composer(source)
    nodes: list[Node] = []
    try:
        composer.admit(text)
        for node in composer.documents(yaml.parse(text, Loader=yaml.CSafeLoader)):
            nodes.append(node)  # noqa: PERF402 - those before the fault are kept
    except _Fault as fault:
        composer.complain(fault.place, fault.message, fault.advice)
    except yaml.MarkedYAMLError as error:
        composer.complain(composer.place(error.problem_mark), *_sentence(error))
    return nodes, composer.complaints


def _sentence(error: yaml.MarkedYAMLError) -> tuple[str, str]:
    problem = error.problem or "this is no YAML"
    # The two that people meet: a tab for indentation, a regex in double quotes.
    if "cannot start any token" in problem:
        return problem, "YAML is indented with blanks, not tabs; a text that begins so needs quotes"
    if "unknown escape character" in problem:
        return problem, "put a regex in 'single quotes': there a backslash is a backslash"
    return f"{problem}, {error.context}" if error.context else problem, ""


class _Mark(Protocol):
    """A place as PyYAML gives it, both counted from 0; its two parsers have a class each."""

    line: int
    column: int


@dataclass
class _Composer:
    source: Source
    complaints: list[Complaint] = field(default_factory=list)
    anchors: dict[str, Node | None] = field(default_factory=dict)
    trail: list[str | int] = field(default_factory=list)
    """The way to what is being read."""
    nodes: int = 0

    def complain(self, place: Place, message: str, advice: str) -> None:
        loc = tuple(self.trail)
        self.complaints.append(at(place, "yaml-syntax", message, loc=loc, advice=advice))

    def place(self, mark: _Mark | None, end: _Mark | None = None) -> Place:
        if mark is None:
            return self.source.place(1, 1)
        width = end.column - mark.column if end and end.line == mark.line else 1
        return self.source.place(mark.line + 1, mark.column + 1, width)

    def shown(self, text: str) -> str:
        """Give a text, unless it may be a secret that wants quotes."""
        return secret.STARS if secret.private(self.trail) else text

    def meaningless(self, tag: str | None, place: Place) -> _Fault:
        return _Fault(
            place, f"the tag {self.shown(short(tag or ''))} means nothing here", "remove the tag"
        )

    def admit(self, text: str) -> None:
        """Refuse characters that YAML does not know, before libyaml does so without a place."""
        if found := _FORBIDDEN.search(text):
            starts = [start for start in line_starts(text) if start <= found.start()]
            place = self.source.place(len(starts), found.start() - starts[-1] + 1)
            raise _Fault(place, f"the character {found[0]!r} may not stand in YAML")

    def documents(self, events: Iterator[yaml.Event]) -> Iterator[Node]:
        for event in events:
            if isinstance(event, yaml.DocumentStartEvent):
                self.anchors = {}
                yield self.node(next(events), events)

    def node(self, event: yaml.Event, events: Iterator[yaml.Event]) -> Node:
        place = self.place(event.start_mark, event.end_mark)
        if isinstance(event, yaml.AliasEvent):
            return self.alias(event.anchor or "", place)
        anchor = event.anchor if isinstance(event, yaml.NodeEvent) else None
        if anchor:
            self.anchors[anchor] = None
        self.nodes += 1
        if self.nodes > limits.NODES:
            raise _too_many(place)
        made = self.made(event, events, place)
        if made.size > limits.NODES:
            raise _too_many(place)
        if anchor:
            self.anchors[anchor] = made
        return made

    def alias(self, anchor: str, place: Place) -> Node:
        if anchor not in self.anchors:
            raise _Fault(place, f"no anchor {self.shown(f'&{anchor}')} stands before this alias")
        found = self.anchors[anchor]
        if found is None:
            raise _Fault(
                place, f"the alias {self.shown(f'*{anchor}')} stands inside its own anchor"
            )
        if len(self.trail) + found.height > limits.DEPTH:
            raise _too_deep(place)
        return found

    def made(self, event: yaml.Event, events: Iterator[yaml.Event], place: Place) -> Node:
        if isinstance(event, yaml.ScalarEvent):
            style = event.style if event.style in ("'", '"', "|", ">") else ""
            if event.tag == _BINARY:
                return Node(Kind.STR, place, self.decoded(event.value, place), style)
            return Node(self.kind(event, place), place, event.value, style)
        tag = event.tag if isinstance(event, yaml.CollectionStartEvent) else None
        if tag not in _COLLECTIONS:
            raise self.meaningless(tag, place)
        if len(self.trail) >= limits.DEPTH:
            raise _too_deep(place)
        if isinstance(event, yaml.SequenceStartEvent):
            return sequence(place, tuple(self.items(events)))
        return mapping(place, self.members(events))

    def decoded(self, text: str, place: Place) -> str:
        try:
            return base64.b64decode(text).decode()
        except ValueError:
            raise _Fault(place, "this is no text in base64, which !!binary announces") from None

    def kind(self, event: yaml.ScalarEvent, place: Place) -> Kind:
        plain, _ = event.implicit
        if plain or event.tag in _RESOLVED:
            return scalar.kind(event.value)
        if event.tag in _STRINGS:
            return Kind.STR
        raise self.meaningless(event.tag, place)

    def items(self, events: Iterator[yaml.Event]) -> Iterator[Node]:
        for index, event in enumerate(events):
            if isinstance(event, yaml.SequenceEndEvent):
                return
            self.trail.append(index)
            yield self.node(event, events)
            self.trail.pop()

    def members(self, events: Iterator[yaml.Event]) -> tuple[Member, ...]:
        own: dict[str, Member] = {}
        merged: dict[str, Member] = {}
        for event in events:
            if isinstance(event, yaml.MappingEndEvent):
                break
            member = self.pair(event, events)
            if member.name == "<<" and isinstance(event, yaml.ScalarEvent) and event.implicit[0]:
                for inherited in self.inherited(member):
                    merged.setdefault(inherited.name, inherited)
            elif (first := own.setdefault(member.name, member)) is not member:
                self.complaints.append(repeated(first, member, (*self.trail, member.name)))
        return tuple((merged | own).values())

    def pair(self, event: yaml.Event, events: Iterator[yaml.Event]) -> Member:
        key = self.node(event, events)
        if key.kind in (Kind.MAPPING, Kind.SEQUENCE):
            raise _Fault(key.place, f"a key must be a word, this is {describe(key)}")
        name = "" if key.kind is Kind.NULL else key.text
        self.trail.append(name)
        value = self.node(next(events), events)
        self.trail.pop()
        return Member(name, key.place, value)

    def inherited(self, merge: Member) -> Iterator[Member]:
        sources = merge.value.items or (merge.value,)
        for each in sources:
            if each.kind is not Kind.MAPPING:
                raise _Fault(merge.place, f"<< wants an object to merge, found {describe(each)}")
            yield from each.members


def _too_many(place: Place) -> _Fault:
    return _Fault(place, f"more than {limits.NODES} values, aliases followed")


def _too_deep(place: Place) -> _Fault:
    return _Fault(place, f"nested more than {limits.DEPTH} deep")
