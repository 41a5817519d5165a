"""Input by input, answer by answer: the loop that every explanation of labels has."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import click

from cwgpu.cli import exits, streams
from cwgpu.cli.explain import sets
from cwgpu.cli.explain.sets import Fault
from cwgpu.model.labels import Labels

FORMS = ("text", "json", "jsonl")


@dataclass(frozen=True, slots=True)
class Answer:
    """Both forms of an answer, made when they are asked for."""

    text: Callable[[], str]
    value: Callable[[], dict[str, Any]]


def give(source: str, form: str, answer: Callable[[Labels], Answer]) -> int:
    """Answer every label set of ``source`` in one of the FORMS; 1 if one could not be read."""
    code, between = exits.OK, ""
    whole: list[dict[str, Any]] = []
    for each in sets.read(source, live=form == "jsonl"):
        if isinstance(each, Fault):
            streams.say(f"cwgpu: {each.place}: {each.message}\n")
            code = exits.RUNTIME
        elif form == "json":
            whole.append(answer(each).value())
        elif form == "jsonl":
            put(as_json(answer(each).value()))
        else:
            put(between + answer(each).text())
            between = "\n"
    if form == "json":
        put(as_json(whole))
    return code


def as_json(value: object) -> str:
    """Write a value as JSON, in one line."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def put(text: str) -> None:
    """Print a line, at once, and in UTF-8: whoever reads JSON expects no other."""
    click.echo(text.encode() + b"\n", nl=False)
