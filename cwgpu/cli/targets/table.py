"""The document for a person: what is scraped first, then what is not, and why."""

import json
from collections.abc import Iterator, Sequence
from typing import Any, TypeAlias

from cwgpu.telemetry import escape

Value: TypeAlias = dict[str, Any]

_VALUES = {"table": 5, "wide": 50}
"""How many values are told of those that kept targets from being scraped."""
_LENGTH = {"table": 60, "wide": 1000}
"""Characters of each: one that joins a few labels and an image is longer than a line."""


def text(document: Value, form: str) -> str:
    """Write everything down."""
    lines = [line for job in document["jobs"] for line in _job(job, form)]
    return "\n".join(map(escape.line, lines))


def change(change: Value, form: str) -> str:
    """Write down what ``changes`` gives."""
    job, outcome = change["job"], change["outcome"].upper()
    if change["change"] == "count":
        line = f"~ {job}: {outcome} {change['count']} (was {change['was']}): {change['reason']}"
    else:
        mark = {"added": "+", "removed": "-", "health": "~"}[change["change"]]
        cells = _target(change, form) if outcome == "ACTIVE" else _other(change, form)
        why = f": {change['reason']}" if "reason" in change else ""
        line = f"{mark} {job}: {outcome} {'  '.join(cells)}{why}"
    return escape.line(line)


def _job(job: Value, form: str) -> Iterator[str]:
    known = "" if not (job["faults"] or job["silent"]) else "; not all is known"
    yield f"{job['job']}: {job['active']:,} of {job['found']:,} kept{known}"
    rows = [("  ACTIVE", *_target(each, form)) for each in job["targets"]]
    yield from _aligned(rows)
    for group in job["groups"]:
        yield from _group(group, form)


def _target(target: Value, form: str) -> Sequence[str]:
    cells = [target["url"], _source(target)]
    if health := target["health"]:
        cells.append("up" if health["up"] else f"down: {health['reason']}")
    if form == "wide":
        if health and health["detail"]:
            cells[-1] += f", {health['detail']}"
        labels = ", ".join(f"{name}={_quoted(value)}" for name, value in target["labels"].items())
        cells += [f"every {target['interval']}, timeout {target['timeout']}", f"{{{labels}}}"]
    return cells


def _group(group: Value, form: str) -> Iterator[str]:
    head, reason = f"  {group['outcome'].upper()} {group['count']:,}", group["reason"]
    if rule := group["dropped_by"]:
        name, _, reason = reason.partition(": ")
        head += f" by {name}" + (f", {rule['place']}" if rule["place"] else "")
    yield head
    yield f"      {reason}"
    if group["outcome"] == "rejected":
        yield from _reasons(group["values"], form)
    elif group["values"]:
        yield f"      values seen: {_seen(group['values'], form)}"
    if group["hint"]:
        yield f"      hint for {_compared(group['values'][0], form)}: {group['hint']}"
    rows = [("       ", *_other(each, form)) for each in group.get("targets", ())]
    yield from _aligned(rows)


def _other(target: Value, form: str) -> Sequence[str]:
    return (
        target["discovered"].get("__address__", "no address"),
        _source(target),
        _quoted(escape.cut(target["value"], _LENGTH[form])),
    )


def _reasons(values: Sequence[Value], form: str) -> Iterator[str]:
    for each in values[: _VALUES[form]]:
        times = f" ×{each['count']:,}" if each["count"] > 1 else ""  # noqa: RUF001 - one word
        yield f"      {each['value']}{times}"
    yield from (f"      {more}" for more in _more(values, form))


def _seen(values: Sequence[Value], form: str) -> str:
    told = [
        f"{_compared(each, form)} ×{each['count']:,}"  # noqa: RUF001 - one word
        for each in values[: _VALUES[form]]
    ]
    return ", ".join([*told, *_more(values, form)])


def _more(values: Sequence[Value], form: str) -> Iterator[str]:
    if len(values) > _VALUES[form]:
        yield f"and {len(values) - _VALUES[form]:,} more"


def _compared(seen: Value, form: str) -> str:
    other = f" (not {_quoted(seen['other'])})" if seen["other"] else ""
    return _quoted(escape.cut(seen["value"], _LENGTH[form])) + other


def _source(target: Value) -> str:
    """Name the object; of which kubernetes_sd_configs it comes tells nobody anything."""
    kind, _, rest = target["source"].partition("/")
    source: str = target["source"]
    return rest.partition("/")[2] if kind == "kubernetes" else source


def _aligned(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=False)]
    for row in rows:
        cells = [cell.ljust(width) for cell, width in zip(row, widths, strict=False)]
        yield "  ".join([*cells, *row[len(widths) :]]).rstrip()


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)
