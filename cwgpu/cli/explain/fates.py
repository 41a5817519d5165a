"""The explanation of a page as JSON: the members that docs/explain.md lists."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from cwgpu.cli.explain.listing import json_number
from cwgpu.cli.explain.source import Source
from cwgpu.digest.explain import Event, Explanation, Fate, Metric
from cwgpu.model.drop import DropReason
from cwgpu.model.labels import Labels
from cwgpu.model.reading import BadLine

Value: TypeAlias = dict[str, Any]

PLAIN = "gauge"
"""The treatment of what is no counter: the value is sent as it is."""


@dataclass(frozen=True, slots=True)
class Answer:
    """An explanation, and what was asked."""

    source: Source
    job: str
    target: Labels
    namespace: str
    found: Explanation
    absent: str = ""
    """Which labels the target has not that it may have, and how to give them."""


def whole(answer: Answer) -> Value:
    """Tell all in one object; a series names its event by its place in the list of events."""
    found = answer.found
    return {
        "page": answer.source.name,
        "content_type": answer.source.content_type,
        "job": answer.job,
        "target_labels": answer.target,
        "samples": found.samples,
        "selected": found.selected,
        "dropped": {drop.reason.value: drop.count for drop in found.dropped},
        "events": _events(answer),
        "series": _lines(found, range(len(found.events))),
    }


def lines(answer: Answer) -> list[Value]:
    """Tell each sample line of the page by itself, with the whole of its event."""
    return _lines(answer.found, _events(answer))


def _lines(found: Explanation, events: Sequence[Any]) -> list[Value]:
    """Keep the page's order, bad lines included."""
    each = [(bad.number, _bad(bad)) for bad in found.bad_lines]
    each += [(fate.line, _fate(fate, events)) for fate in found.fates]
    return [value for _, value in sorted(each, key=lambda pair: pair[0])]


def _events(answer: Answer) -> list[Value]:
    return [_event(event, answer.namespace) for event in answer.found.events]


def _event(event: Event, namespace: str) -> Value:
    return {
        "namespace": namespace,
        "log_group": event.stream.group,
        "log_stream": event.stream.stream,
        "timestamp": event.at_ms,
        "labels": event.labels,
    }


def _bad(bad: BadLine) -> Value:
    return {
        "line": bad.number,
        "outcome": "dropped",
        "reason": DropReason.BAD_LINE.value,
        "detail": bad.fault,
        "text": bad.text,
    }


def _fate(fate: Fate, events: Sequence[Any]) -> Value:
    return {
        "line": fate.line,
        "name": fate.name,
        "labels": dict(fate.labels),
        "value": json_number(fate.value.encode()),
        "value_text": fate.value,
        "timestamp": fate.at_ms,
        "kind": fate.kind.value,
        "outcome": "sent" if fate.reason is None else "dropped",
        "reason": None if fate.reason is None else fate.reason.value,
        "detail": fate.detail or None,
        **_metric(fate.metric, events),
    }


def _metric(metric: Metric | None, events: Sequence[Any]) -> Value:
    if metric is None:
        return {"metric": None}
    return {
        "metric": metric.name,
        "unit": metric.unit,
        "resolution": metric.resolution,
        "treatment": treatment(metric),
        "dimensions": metric.directives,
        "skipped": metric.skipped or None,
        "event": events[metric.event],
    }


def treatment(metric: Metric) -> str:
    """Say what is sent: ``gauge`` is the value itself, the others are of counters."""
    return PLAIN if metric.treatment is None else metric.treatment.value
