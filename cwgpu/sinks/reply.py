"""What CloudWatch Logs says, as answers: boto3's dictionaries read.

https://docs.aws.amazon.com/AmazonCloudWatchLogs/latest/APIReference/API_PutLogEvents.html
"""

from collections.abc import Mapping, Sequence
from email.utils import parsedate_to_datetime
from typing import Any

from cwgpu.logs.verdict import Answer, Rejected

REQUEST_ID = "x-amzn-requestid"
"""A header, in lower case, of every answer that is the service's own."""

STANDARD = "STANDARD"
"""The class of a log group that was made without one."""


def success(response: Mapping[str, Any]) -> Answer:
    """Read the response of a call that boto3 takes for a success."""
    rejected = response.get("rejectedLogEventsInfo")
    # boto3 checks no types: what stands between us and the service may have made this up.
    known = _rejected(rejected) if isinstance(rejected, Mapping) else None
    return Answer("", status=_status(response), rejected=known, date_s=_date_s(response))


def refusal(response: Mapping[str, Any]) -> Answer:
    """Read the response that a boto3 ClientError holds."""
    error = response.get("Error") or {}
    return Answer(
        code=str(error.get("Code") or "Unknown"),
        message=str(error.get("Message") or ""),
        status=_status(response),
        retry_after_s=_retry_after_s(response),
        date_s=_date_s(response),
    )


def log_class(response: Mapping[str, Any], group: str) -> str | None:
    """Read the class of a group from DescribeLogGroups; None if it is not among them.

    What does not know of classes, such as an imitation of the service, has the usual one.
    """
    groups = response.get("logGroups")
    for each in groups if isinstance(groups, Sequence) else ():
        if isinstance(each, Mapping) and each.get("logGroupName") == group:
            return str(each.get("logGroupClass") or STANDARD)
    return None


def _rejected(info: Mapping[str, Any]) -> Rejected:
    return Rejected(
        too_old_end=_index(info.get("tooOldLogEventEndIndex")),
        expired_end=_index(info.get("expiredLogEventEndIndex")),
        too_new_start=_index(info.get("tooNewLogEventStartIndex")),
    )


def _index(value: object) -> int | None:
    return value if isinstance(value, int) else None


def _status(response: Mapping[str, Any]) -> int:
    return int(response["ResponseMetadata"]["HTTPStatusCode"])


def _date_s(response: Mapping[str, Any]) -> float | None:
    """Read the service's clock: of its own answers, not of what stands between us and it."""
    headers = response["ResponseMetadata"]["HTTPHeaders"]
    if REQUEST_ID not in headers:
        return None
    try:
        at = parsedate_to_datetime(headers.get("date", ""))
        return None if at.tzinfo is None else at.timestamp()
    except (ValueError, TypeError, LookupError, OverflowError):
        return None


def _retry_after_s(response: Mapping[str, Any]) -> float | None:
    """Read AWS' own header, in milliseconds, or HTTP's, in seconds (its dates are not used)."""
    headers = response["ResponseMetadata"]["HTTPHeaders"]
    for name, units_in_second in (("x-amz-retry-after", 1000), ("retry-after", 1)):
        text = headers.get(name, "")
        if text.isdecimal():
            return float(text) / units_in_second  # of any number of digits, which an int is not
    return None
