"""Names of log groups and streams, and how long a group may be told to keep events.

Sources: CreateLogGroup, CreateLogStream and PutRetentionPolicy in
https://docs.aws.amazon.com/AmazonCloudWatchLogs/latest/APIReference/API_Operations.html
"""

import re

_CHARACTERS = 512  # most, for both kinds of name
_GROUP = re.compile(r"[A-Za-z0-9_/.#-]+")
_STREAM = re.compile(r"[^:*]+", re.DOTALL)

RETENTION_DAYS = (
    *(1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731, 1096, 1827),
    *(2192, 2557, 2922, 3288, 3653),
)
"""The days that PutRetentionPolicy takes; without a policy a group keeps events for ever."""


def group_fault(name: str) -> str | None:
    """Say why CloudWatch Logs does not take this log group name; None when it does."""
    if fault := _length_fault(name):
        return fault
    if name.startswith("aws/"):
        return "begins with aws/, which is kept for AWS (/aws/ is allowed)"
    return None if _GROUP.fullmatch(name) else "holds characters other than A-Z a-z 0-9 _ / . # -"


def stream_fault(name: str) -> str | None:
    """Say why CloudWatch Logs does not take this log stream name; None when it does."""
    if fault := _length_fault(name):
        return fault
    return None if _STREAM.fullmatch(name) else "holds a colon or an asterisk"


def _length_fault(name: str) -> str | None:
    if not name:
        return "is empty"
    if len(name) > _CHARACTERS:
        return f"has {len(name)} characters, {_CHARACTERS} are allowed"
    return None
