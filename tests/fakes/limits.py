"""What CloudWatch Logs takes, from its API model and its PutLogEvents page.

https://docs.aws.amazon.com/AmazonCloudWatchLogs/latest/APIReference/API_PutLogEvents.html
Written independently of ``cwgpu.logs``.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from tests.fakes.refusal import Refused

HOUR_MS = 3_600_000
DAY_MS = 24 * HOUR_MS

GROUP = re.compile(r"[.\-_/#A-Za-z0-9]{1,512}")
STREAM = re.compile(r"[^:*]{1,512}")
CLASSES = ("STANDARD", "INFREQUENT_ACCESS", "DELIVERY")
RETENTION_DAYS = {1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731, 1096, 1827} | {
    *(2192, 2557, 2922, 3288, 3653),
}
BATCH_BYTES = 1_048_576
OVERHEAD_BYTES = 26
BATCH_EVENTS = 10_000
BATCH_SPAN_MS = DAY_MS
OLDEST_MS = 14 * DAY_MS
NEWEST_MS = 2 * HOUR_MS


@dataclass(frozen=True, slots=True)
class LogEvent:
    """One stored log event."""

    at_ms: int
    message: str


@dataclass(frozen=True, slots=True)
class Window:
    """Which events of a batch are young enough, as AWS counts: ``old <= expired <= ... < new``."""

    old: int
    """Exclusive end of those older than 14 days."""
    expired: int
    """Exclusive end of those older than the group keeps events."""
    new: int
    """Inclusive start of those more than 2 hours ahead."""
    size: int

    @property
    def valid(self) -> slice:
        """The events that are stored."""
        return slice(max(self.old, self.expired), self.new)

    def rejected(self) -> dict[str, int]:
        """Give ``rejectedLogEventsInfo``; empty when nothing is."""
        info = {}
        if self.old:
            info["tooOldLogEventEndIndex"] = self.old
        if self.expired > self.old:
            info["expiredLogEventEndIndex"] = self.expired
        if self.new < self.size:
            info["tooNewLogEventStartIndex"] = self.new
        return info


def group(request: Mapping[str, Any]) -> str:
    """Read and check ``logGroupName``."""
    return _name(request, "logGroupName", GROUP)


def new_group(request: Mapping[str, Any]) -> str:
    """Read and check the name of a group that is to be created."""
    name = group(request)
    if name.startswith("aws/"):
        raise _invalid("Log groups starting with aws/ are reserved for AWS.")
    return name


def stream(request: Mapping[str, Any]) -> str:
    """Read and check ``logStreamName``."""
    return _name(request, "logStreamName", STREAM)


def _name(request: Mapping[str, Any], member: str, pattern: re.Pattern[str]) -> str:
    name = request.get(member)
    if not isinstance(name, str) or not pattern.fullmatch(name):
        raise _constraint(name, member, f"satisfy regular expression pattern: {pattern.pattern}")
    return name


def log_class(request: Mapping[str, Any]) -> str:
    """Read and check ``logGroupClass``."""
    given = request.get("logGroupClass", "STANDARD")
    if given not in CLASSES:
        raise _constraint(given, "logGroupClass", f"satisfy enum value set: {list(CLASSES)}")
    return str(given)


def retention_days(request: Mapping[str, Any]) -> int:
    """Read and check ``retentionInDays``."""
    days = request.get("retentionInDays")
    if days not in RETENTION_DAYS or not isinstance(days, int):
        raise _constraint(days, "retentionInDays", f"satisfy enum set: {sorted(RETENTION_DAYS)}")
    return days


def log_events(request: Mapping[str, Any]) -> list[LogEvent]:
    """Read and check ``logEvents``: everything but their age."""
    given = request.get("logEvents")
    if not isinstance(given, list) or not given:
        raise _constraint(given, "logEvents", "have length greater than or equal to 1")
    if len(given) > BATCH_EVENTS:
        raise _constraint("[...]", "logEvents", f"have length less than or equal to {BATCH_EVENTS}")
    events = [_log_event(index, item) for index, item in enumerate(given, 1)]
    _check_bytes(events)
    if any(later.at_ms < event.at_ms for event, later in pairwise(events)):
        raise _invalid(
            "Log events in a single PutLogEvents request must be in chronological order.",
        )
    return events


def _log_event(position: int, item: object) -> LogEvent:
    member = f"logEvents.{position}.member"
    if not isinstance(item, dict):
        raise Refused("SerializationException", f"Unexpected value at {member}")
    at_ms, message = item.get("timestamp"), item.get("message")
    if not isinstance(at_ms, int) or isinstance(at_ms, bool) or at_ms < 0:
        raise _constraint(at_ms, f"{member}.timestamp", "have value greater than or equal to 0")
    if not isinstance(message, str) or not message:
        raise _constraint(message, f"{member}.message", "have length greater than or equal to 1")
    return LogEvent(at_ms, message)


def _check_bytes(events: Sequence[LogEvent]) -> None:
    sizes = [len(event.message.encode()) + OVERHEAD_BYTES for event in events]
    for what, size in (("Log event", max(sizes)), ("Upload", sum(sizes))):
        if size > BATCH_BYTES:
            raise _invalid(f"{what} too large: {size} bytes exceeds limit of {BATCH_BYTES}")


def window(events: Sequence[LogEvent], now_ms: int, retention: int | None) -> Window:
    """Sort out by age; the events are in order of time. Raises when the rest spans a day."""
    kept_ms = OLDEST_MS if retention is None else min(OLDEST_MS, retention * DAY_MS)
    found = Window(
        old=sum(event.at_ms < now_ms - OLDEST_MS for event in events),
        expired=sum(event.at_ms < now_ms - kept_ms for event in events),
        new=sum(event.at_ms <= now_ms + NEWEST_MS for event in events),
        size=len(events),
    )
    valid = events[found.valid]
    if valid and valid[-1].at_ms - valid[0].at_ms > BATCH_SPAN_MS:
        raise _invalid(
            "The batch of log events in a single PutLogEvents request cannot span more than 24 "
            "hours.",
        )
    return found


def _constraint(value: object, member: str, constraint: str) -> Refused:
    return _invalid(
        f"1 validation error detected: Value '{value}' at '{member}' failed to satisfy "
        f"constraint: Member must {constraint}",
    )


def _invalid(message: str) -> Refused:
    return Refused("InvalidParameterException", message)
