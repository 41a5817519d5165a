"""One log record, one line: as text for people, JSON for CloudWatch Logs, logfmt for Loki & Co.

Logs Insights reads JSON lines by itself
(https://docs.aws.amazon.com/AmazonCloudWatch/latest/logs/CWL_AnalyzeLogData-discoverable-fields.html).
"""

import datetime as dt
import enum
import json
import logging
import math
import traceback
from collections.abc import Iterable, Mapping
from typing import TypeAlias

from cwgpu.telemetry import escape, mask

Value: TypeAlias = str | int | float | bool | None

EVENT = "cwgpu_event"
"""The attribute of a log record that holds an event's name; other libraries' records have none."""
FIELDS = "cwgpu_fields"
"""The attribute of a log record that holds its fields, in place of a message."""

# A field longer than this is no field but a document; a traceback's end says most.
_LONGEST_FIELD = 2_000
_LONGEST_TRACEBACK = 8_000
_HEAD = ("time", "level", "event", "logger")


class Style(enum.Enum):
    """How a line is written."""

    TEXT = "text"
    JSON = "json"
    LOGFMT = "logfmt"


def render(record: logging.LogRecord, style: Style) -> str:
    """Write a record as one line without its newline; secrets are masked."""
    if style is Style.JSON:
        return _json(record)
    return _text(record) if style is Style.TEXT else _logfmt(record)


def fields(record: logging.LogRecord) -> dict[str, Value]:
    """Give what a record says beside time, level, event and logger, fit to be written."""
    given: Mapping[str, object] | None = getattr(record, FIELDS, None)
    if given is None:
        given = {"message": record.getMessage()}
    said = {
        f"{name}_" if name in _HEAD else name: mask.MASK if mask.is_secret(name) else _value(value)
        for name, value in given.items()
    }
    if record.exc_info and record.exc_info[1]:
        trace = "".join(traceback.format_exception(record.exc_info[1])).strip()
        said["traceback"] = mask.text(trace[-2 * _LONGEST_TRACEBACK :])[-_LONGEST_TRACEBACK:]
    return said


def event(record: logging.LogRecord) -> str:
    """Give the stable name of a record; lines that other libraries write are all ``log``."""
    return str(getattr(record, EVENT, "log"))


def _value(value: object) -> Value:
    if isinstance(value, enum.Enum):
        return _value(value.value)
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if isinstance(value, Iterable) and not isinstance(value, str | bytes | Mapping):
        return ", ".join(str(_value(one)) for one in value)
    # Masked before it is cut: half a secret would not be recognised.
    return escape.cut(mask.text(str(value)[: 2 * _LONGEST_FIELD]), _LONGEST_FIELD)


def _time(record: logging.LogRecord) -> str:
    at = dt.datetime.fromtimestamp(record.created, dt.UTC)
    return at.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _json(record: logging.LogRecord) -> str:
    said = {
        "time": _time(record),
        "level": record.levelname.lower(),
        "event": event(record),
        "logger": record.name,
        **fields(record),
    }
    # ASCII only: JSON's own escapes make every character harmless. DEL is the one it leaves.
    return json.dumps(said, separators=(",", ":")).replace("\x7f", "\\u007f")


def _text(record: logging.LogRecord) -> str:
    foreign = {} if hasattr(record, EVENT) else {"logger": record.name}
    head = f"{_time(record)} {record.levelname.lower():<7} {escape.line(event(record))}"
    return " ".join([head, *_pairs({**fields(record), **foreign})])


def _logfmt(record: logging.LogRecord) -> str:
    head = {
        "time": _time(record),
        "level": record.levelname.lower(),
        "event": event(record),
        "logger": record.name,
    }
    return " ".join(_pairs({**head, **fields(record)}))


def _pairs(said: Mapping[str, Value]) -> Iterable[str]:
    for name, value in said.items():
        yield f"{_bare_name(name)}={_quoted(value)}"


def _bare_name(name: str) -> str:
    return "".join(c if c.isalnum() or c in "_.-" else "_" for c in name)


def _quoted(value: Value) -> str:
    if value is None:
        return "null"
    if not isinstance(value, str):
        return str(value).lower()
    text = escape.line(value.replace("\\", "\\\\") if _needs_quotes(value) else value)
    return '"' + text.replace('"', '\\"') + '"' if _needs_quotes(value) else text


def _needs_quotes(value: str) -> bool:
    return not value or any(c in ' ="\\' or not c.isprintable() for c in value)
