"""``--samples``: what the parser read of a page, sample by sample.

The samples go to stdout and all faults to stderr, so that whoever compares parsers has data alone.
"""

import json
import math
from collections.abc import Iterable
from typing import Any

from cwgpu.cli import exits, streams
from cwgpu.cli.explain import answers
from cwgpu.cli.explain.source import Source
from cwgpu.model.errors import ExpositionError
from cwgpu.plan.plan import Job
from cwgpu.prom import content, number, samples
from cwgpu.prom.samples import Sample
from cwgpu.telemetry import escape

_KIND = 14
"""Width of the longest type, gaugehistogram."""


def give(source: Source, job: Job, form: str) -> int:
    """Print the samples, and on stderr each fault; 1 if the page fails by it."""
    try:
        fmt = content.choose(source.content_type, job.fallback_format)
    except ExpositionError as fault:
        streams.say(f"{source.name}: {escape.line(str(fault))}\n")
        return exits.RUNTIME
    listing = samples.read(source.body, fmt, strict=job.strict)
    _print(listing.samples, form)
    for each in listing.faults:
        streams.say(f"{source.name}:{each.line}:{each.column}: {each.text}\n")
    return exits.RUNTIME if job.strict and listing.faults else exits.OK


def _print(found: Iterable[Sample], form: str) -> None:
    if form == "json":
        answers.put(answers.as_json([_value(one) for one in found]))
        return
    for one in found:
        answers.put(_text(one) if form == "text" else answers.as_json(_value(one)))


def _value(sample: Sample) -> dict[str, Any]:
    item = sample.item
    return {
        "name": item.name,
        "labels": dict(item.labels),
        "value": json_number(item.value),
        "value_text": item.value.decode(),
        "timestamp": item.timestamp_ms,
        "kind": sample.kind.value,
    }


def json_number(text: bytes) -> float | str:
    """Give a sample's value; JSON has no NaN and no infinities, so these are words."""
    value = number.parse(text)
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "+Inf" if value > 0 else "-Inf"
    return value


def _text(sample: Sample) -> str:
    item = sample.item
    labels = ",".join(f"{name}={_quoted(value)}" for name, value in item.labels)
    series = item.name + (f"{{{labels}}}" if labels else "")
    time = "" if item.timestamp_ms is None else f" {item.timestamp_ms}"
    return escape.line(f"{sample.kind.value:<{_KIND}} {series} {item.value.decode()}{time}")


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)
