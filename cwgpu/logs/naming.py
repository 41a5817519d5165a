"""What some events hold, in words for a person who has to know what CloudWatch did not take.

Read back from the messages, which have the form of
https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/CloudWatch_Embedded_Metric_Format_Specification.html
"""

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta

import orjson

from cwgpu.model.event import EmfEvent

# So that a text has 300 characters at most: a line of a journal, and not a batch in it.
_NAME = 80
_VALUE = 60
_DIMENSIONS = 120

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def told(events: Sequence[EmfEvent]) -> str:
    """Name the first event by its metrics, dimensions and time, and count the others.

    ``DCGM_FI_DEV_GPU_UTIL and 12 more metrics of pod=a, gpu=0 at 2026-11-30T12:00:00Z; and 3 more
    events``. Never fails, whatever the messages are; empty without any event.
    """
    if not events:
        return ""
    text = f"{_content(events[0].message)} at {_time(events[0].at_ms)}"
    others = len(events) - 1
    return f"{text}; and {_count(others, 'more event')}" if others else text


def _content(message: bytes) -> str:
    try:
        root = orjson.loads(message)
    except orjson.JSONDecodeError:
        return "a message that is no JSON"
    match root:
        case {"_aws": {"CloudWatchMetrics": [*directives]}}:
            names = list(dict.fromkeys(_names(directives)))
        case _:
            names = []
    if not names:
        return "a message without metrics"
    more = f" and {_count(len(names) - 1, 'more metric')}" if len(names) > 1 else ""
    dimensions = ", ".join(_dimensions(root, directives))
    of = f" of {_short(dimensions, _DIMENSIONS)}" if dimensions else ""
    return f"{_short(names[0], _NAME)}{more}{of}"


def _names(directives: Sequence[object]) -> Iterator[str]:
    for metric in _members(directives, "Metrics"):
        match metric:
            case {"Name": str(name)}:
                yield name


def _dimensions(root: Mapping[str, object], directives: Sequence[object]) -> Iterator[str]:
    """Write out the largest dimension set, which says most."""
    sets = [each for each in _members(directives, "Dimensions") if isinstance(each, list)]
    for name in max(sets, key=len, default=[]):
        if isinstance(name, str) and isinstance(value := root.get(name), str):
            yield f"{name}={_short(value, _VALUE)}"


def _members(directives: Sequence[object], name: str) -> Iterator[object]:
    """Give the members of all lists of this name."""
    for directive in directives:
        match directive:
            case {**members} if isinstance(some := members.get(name), list):
                yield from some


def _time(at_ms: int) -> str:
    try:
        at = _EPOCH + timedelta(milliseconds=at_ms)
    except OverflowError:  # before the year 1 or after 9999
        return f"{at_ms} ms since 1970"
    return f"{at.replace(tzinfo=None).isoformat(timespec='seconds')}Z"


def _count(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def _short(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 3]}..."
