"""Label sets as they are handed over: one in JSON, a list of them, or a line each (JSONL).

A set that cannot be read costs itself: it is told with its place, and the others go on.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import click

from cwgpu.cli.explain import bound
from cwgpu.model.errors import UsageError
from cwgpu.model.labels import Labels

_STDIN = "-"
_EXAMPLE = '{"__address__": "10.0.12.34:9400"}'


@dataclass(frozen=True, slots=True)
class Fault:
    """An input that is no label set."""

    place: str
    message: str


def read(name: str, *, live: bool) -> Iterator[Labels | Fault]:
    """Give the label sets of a file, or of standard input if its name is ``-``.

    ``live``: what comes through a pipe is taken line by line, so that each can be answered before
    the next is written.
    """
    piped = name == _STDIN or not Path(name).is_file()
    shown = "stdin" if name == _STDIN else name
    try:
        with click.open_file(name, "rb") as file:
            if live and piped:
                yield from _lines(file, shown)
            else:
                yield from _whole(bound.whole(file, f"--labels {name}"), shown)
    except OSError as error:
        raise UsageError(f"--labels {name} cannot be read: {error.strerror or error}") from error


def _lines(file: IO[bytes], name: str) -> Iterator[Labels | Fault]:
    for number, line in enumerate(bound.lines(file, "--labels"), start=1):
        if number == 1 and _is_beginning(line):
            yield from _whole(line + bound.whole(file, "--labels"), name)
        else:
            yield from _line(line, f"{name}:{number}")


def _whole(data: bytes, name: str) -> Iterator[Labels | Fault]:
    lines = data.splitlines()
    if len(lines) > 1 and not _is_json(data) and _is_jsonl(lines):
        for number, line in enumerate(lines, start=1):
            yield from _line(line, f"{name}:{number}")
    elif data.strip():
        yield from _line(data, name)


def _is_beginning(line: bytes) -> bool:
    """Tell the first line of one text of several lines, as programs write it or a list begins."""
    return line.strip() == b"{" or (line.startswith(b"[") and not _is_json(line))


def _is_jsonl(lines: Sequence[bytes]) -> bool:
    """Tell JSONL, some of whose lines may be wrong, from one text that is wrong somewhere."""
    whole = (line for line in lines if line.startswith((b"{", b"[")) and _is_json(line))
    return not _is_beginning(lines[0]) and any(whole)


def _is_json(data: bytes) -> bool:
    try:
        _json(data)
    except ValueError:
        return False
    return True


def _line(data: bytes, place: str) -> Iterator[Labels | Fault]:
    """Read one JSON text."""
    try:
        value = _json(data.rstrip())
    except json.JSONDecodeError as error:
        where = f"{place}:{error.lineno}" if error.lineno > 1 else place
        empty = "an empty line; without labels it is {}"
        wanted = "" if data.lstrip().startswith((b"{", b"[")) else f"; write labels as {_EXAMPLE}"
        message = f"no JSON: {error.msg}, column {error.colno}{wanted}" if data.strip() else empty
        yield Fault(where, message)
    except ValueError as error:
        yield Fault(place, str(error))
    else:
        yield from _values(value, place)


def _json(data: bytes) -> Any:  # noqa: ANN401 - whatever JSON holds
    """Decode strictly; every way in which it can fail is a ValueError with a sentence."""
    try:
        # Numbers stay texts: none is wanted, and Python would refuse to read a very long one.
        return json.loads(
            data.decode("utf-8-sig"),
            object_pairs_hook=_unique,
            parse_int=_Number,
            parse_float=_Number,
            parse_constant=_Number,
        )
    except UnicodeDecodeError as error:
        raise ValueError(f"byte {error.start + 1} is no UTF-8") from None
    except RecursionError:
        raise ValueError("nested too deep; a label set is one object of strings") from None


class _Number(str):
    """A number as it is written."""

    __slots__ = ()


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"the label {json.dumps(twice)} stands twice")
    return made


def _values(value: object, place: str) -> Iterator[Labels | Fault]:
    if not isinstance(value, list):
        yield _labels(value, place)
    elif value:
        for index, each in enumerate(value):
            yield _labels(each, f"{place}[{index}]")
    else:
        yield Fault(place, "an empty list; without labels a set is {}")


def _labels(value: object, place: str) -> Labels | Fault:
    if not isinstance(value, dict):
        return Fault(place, f"wanted an object of labels, found {_named(value)}")
    for name, text in value.items():
        if not isinstance(text, str) or isinstance(text, _Number):
            advice = f': write "{text}"' if isinstance(text, _Number) else ""
            message = f"label {json.dumps(name)}: wanted a string, found {_named(text)}{advice}"
            return Fault(place, message)
        if not _is_text(name + text):
            return Fault(place, f"label {json.dumps(name)}: half of a \\u pair is no character")
    return value


def _named(value: object) -> str:
    if isinstance(value, _Number):
        return f"the number {value}"
    words = {str: "a string", list: "a list", dict: "an object", bool: json.dumps(value)}
    return words.get(type(value), "null")


def _is_text(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
