"""How samples are packed into log events: from ``cwgpu.events`` to the plan."""

import json
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from cwgpu.config.field import Whole, as_string, found, refuse
from cwgpu.config.node import Loc
from cwgpu.config.report import Report
from cwgpu.config.shape import Model
from cwgpu.model.errors import RuleError
from cwgpu.plan import plan
from cwgpu.plan.plan import GroupBy
from cwgpu.prom import duration

_EVENTS: Loc = ("cwgpu", "events")
_SCRAPE = "scrape"
_WORDS = ("all", "dimensions")
_MINUTE_MS = 60_000
"""What CloudWatch keeps metrics by. A shorter window would make no fewer datapoints of a minute,
and one that is no whole number of minutes would move values into a neighbour."""
_LONGEST_MS = 3_600_000
"""An hour: nobody waits longer for a graph, and kill -9 loses what waits."""


def _emit(value: object) -> int:
    """Read ``scrape``, which is 0, or a duration in milliseconds."""
    text = as_string(value)
    try:
        return 0 if text == _SCRAPE else duration.parse(text) or -1
    except RuleError:
        refuse("bad-duration", f'wanted "scrape" or a duration such as 60s, found {found(value)}')


def _labels(value: object) -> object:
    """Read one of the words, or a list of names."""
    if isinstance(value, list):
        return tuple(as_string(each) for each in value)
    text = as_string(value)
    if text not in _WORDS:
        message = f'wanted "all", "dimensions" or a list of label names, found {found(value)}'
        refuse("wrong-value", message, f"a list of one label is {json.dumps([text])}")
    return text


class Events(Model):
    """``events``."""

    group_by: Annotated[Literal["labels", "dimensions"], BeforeValidator(as_string)] = Field(
        "labels",
        description=(
            "Which samples share a log event: `labels`, those with all labels in common, so that "
            "each GPU has its own; `dimensions`, those with the labels in common that their "
            "dimension sets name, so that the eight GPUs of a pod are one event with value arrays. "
            "Default labels."
        ),
    )
    emit: Annotated[int, BeforeValidator(_emit)] = Field(
        0,
        description=(
            "When there is an event: `scrape`, for every scrape; or a whole number of minutes such "
            "as `60s`, for all scrapes of that time together, as value arrays. Metrics with a "
            "storage_resolution of 1 have one for every scrape. Default scrape; 1h at most."
        ),
    )
    labels: Annotated[Any, BeforeValidator(_labels)] = Field(
        "all",
        description=(
            "Which labels an event keeps beside those that its dimension sets name, for Logs "
            "Insights: `all`, `dimensions` for no others, or a list of names. An event of several "
            "label sets keeps none on which they differ. Default all."
        ),
    )
    precision: Whole | None = Field(
        None,
        ge=0,
        le=9,
        description=(
            "How many decimals values keep that are not whole; halves are rounded to even. "
            "Default: all that the page has."
        ),
    )


def events(written: Events, report: Report) -> plan.Events:
    """Make the plan's part."""
    here = (*_EVENTS, "emit")
    if written.emit % _MINUTE_MS or not 0 <= written.emit <= _LONGEST_MS:
        shown = duration.format(max(written.emit, 0))
        message = f"emit {shown} is no whole number of minutes from 1m to 1h"
        advice = 'write 60s, which is what CloudWatch keeps metrics by, or "scrape"'
        report.error(here, "wrong-value", message, advice)
    return plan.Events(
        group_by=GroupBy(written.group_by),
        window_s=written.emit / 1000 if written.emit else None,
        labels=written.labels,
        decimals=written.precision,
    )
