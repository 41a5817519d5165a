"""YAML text to plain values.

It is taken from the parser's events and not from a loader: scalars stay text as written (where
Prometheus wants text, ``zone: 010`` is "010"), aliases share one value, and no tag makes anything
but text, lists and mappings. https://yaml.org/spec/1.1/
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Protocol

import yaml

from cwgpu.discovery.document import DocumentError, Value

# A file of 32 MiB that names real targets has fewer.
_MOST_VALUES = 1_000_000
_NULLS = frozenset({"", "~", "null", "Null", "NULL"})


def read(text: str) -> Value:
    """Read the first document, or None where there is none; raises DocumentError."""
    builder = _Builder()
    try:
        for event in _first_document(text):
            builder.take(event)
    except yaml.MarkedYAMLError as error:
        raise DocumentError(
            f"{_place(error.problem_mark)}this is no YAML ({error.problem})"
        ) from error
    except yaml.YAMLError as error:
        raise DocumentError(f"this is no YAML ({' '.join(str(error).split())})") from error
    return builder.document


def _first_document(text: str) -> Iterator[yaml.Event]:
    for event in yaml.parse(text, Loader=yaml.CSafeLoader):
        if isinstance(event, yaml.DocumentEndEvent):
            return
        yield event


class _Mark(Protocol):
    """A place as the parser names it; both count from 0."""

    line: int
    column: int


def _place(mark: _Mark | None) -> str:
    return f"line {mark.line + 1}, column {mark.column + 1}: " if mark else ""


@dataclass(slots=True)
class _Open:
    """A list or mapping whose end has not come yet."""

    value: list[Value] | dict[str, Value]
    key: str | None = None
    """The key whose value comes next, in a mapping."""


@dataclass(slots=True)
class _Builder:
    """Puts values together as the parser names their parts."""

    document: Value = None
    open: list[_Open] = field(default_factory=list)
    anchors: dict[str, Value] = field(default_factory=dict)
    values: int = 0

    def take(self, event: yaml.Event) -> None:
        """Take the next part."""
        match event:
            case yaml.ScalarEvent():
                self._put(_scalar(event), event)
            case yaml.SequenceStartEvent():
                self._begin([], event)
            case yaml.MappingStartEvent():
                self._begin({}, event)
            case yaml.CollectionEndEvent():
                self.open.pop()
            case yaml.AliasEvent():
                if event.anchor not in self.anchors:
                    raise _fault(event, f"*{event.anchor} names no anchor: write &{event.anchor}"
                                 " at what it stands for")  # fmt: skip
                self._put(self.anchors[event.anchor], event)

    def _begin(self, value: list[Value] | dict[str, Value], event: yaml.Event) -> None:
        self._put(value, event)
        self.open.append(_Open(value))

    def _put(self, value: Value, event: yaml.Event) -> None:
        self.values += 1
        if self.values > _MOST_VALUES:
            raise _fault(event, f"it holds more than {_MOST_VALUES} values: use several files")
        anchor = getattr(event, "anchor", None)
        if anchor and not isinstance(event, yaml.AliasEvent):
            self.anchors[anchor] = value
        if not self.open:
            self.document = value
            return
        inner = self.open[-1]
        if isinstance(inner.value, list):
            inner.value.append(value)
        elif inner.key is None:
            inner.key = _key(value, inner.value, event)
        else:
            inner.value[inner.key] = value
            inner.key = None


def _scalar(event: yaml.ScalarEvent) -> str | None:
    plain_without_tag = event.implicit[0]
    value: str = event.value
    return None if plain_without_tag and value in _NULLS else value


def _key(value: Value, mapping: dict[str, Value], event: yaml.Event) -> str:
    if not isinstance(value, str):
        raise _fault(event, "a key is no text: write a name before the colon")
    if value in mapping:
        raise _fault(event, f"the key {value!r} comes twice: remove one")
    return value


def _fault(event: yaml.Event, fault: str) -> DocumentError:
    return DocumentError(_place(event.start_mark) + fault)
