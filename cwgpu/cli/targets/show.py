"""What is shown of documents, and which exit code they come to."""

import contextlib
import json
from collections.abc import AsyncGenerator, Iterator
from typing import Any, TypeAlias

from cwgpu.cli import exits, streams
from cwgpu.cli.explain import answers
from cwgpu.cli.targets import changes, table
from cwgpu.telemetry import escape

Value: TypeAlias = dict[str, Any]


async def show(documents: AsyncGenerator[Value, None], form: str, *, watch: bool) -> int:
    """Print the first document, and then what changes if that is wanted; gives the exit code."""
    former: Value | None = None
    async with contextlib.aclosing(documents) as them:
        async for document in them:
            known = set(_said(former)) if former else set()
            for each in [each for each in _said(document) if each not in known]:
                streams.say(f"cwgpu: {escape.line(each)}\n")
            for text in _texts(former, document, form):
                answers.put(text)
            if not watch:
                return code(document)
            former = document
    return exits.RUNTIME  # documents do not end


def _texts(former: Value | None, document: Value, form: str) -> Iterator[str]:
    if former is None:
        yield _json(document) if form == "json" else table.text(document, form)
        return
    for change in changes.changes(former, document):
        yield _json(change) if form == "json" else table.change(change, form)


def _json(value: Value) -> str:
    """Write it in ASCII: labels of targets that are rejected may be no text."""
    return json.dumps(value, separators=(",", ":"))


def _said(document: Value) -> Iterator[str]:
    """Say what is wrong with where targets come from, and what is not known."""
    if not document["jobs"]:
        yield "the configuration has no jobs"
    for job in document["jobs"]:
        for place in job["silent"]:
            yield f"job {job['job']}: {place} has not answered yet; --timeout waits for longer"
        for each in (*job["faults"], *job["notes"]):
            yield f"job {job['job']}: {each}"


def code(document: Value) -> int:
    """Give the exit code: an answer that is not whole is no success, whatever is in it."""
    jobs = document["jobs"]
    if any(job["denied"] for job in jobs):
        return exits.PERMISSION
    if any(job["faults"] or job["silent"] for job in jobs):
        return exits.UNAVAILABLE
    return exits.OK if any(job["active"] for job in jobs) else exits.NOTHING_FOUND
