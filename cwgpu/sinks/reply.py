"""What CloudWatch Logs says, as answers: boto3's dictionaries read.

https://docs.aws.amazon.com/AmazonCloudWatchLogs/latest/APIReference/API_PutLogEvents.html
"""

from collections.abc import Mapping
from typing import Any

from cwgpu.logs.verdict import Answer, Rejected


def success(response: Mapping[str, Any]) -> Answer:
    """Read the response of a call that boto3 takes for a success."""
    status, rejected = _status(response), response.get("rejectedLogEventsInfo")
    return Answer("", status=status, rejected=_rejected(rejected) if rejected else None)


def refusal(response: Mapping[str, Any]) -> Answer:
    """Read the response that a boto3 ClientError holds."""
    error = response["Error"]
    return Answer(
        code=error.get("Code") or "Unknown",
        message=error.get("Message", ""),
        status=_status(response),
        retry_after_s=_retry_after_s(response),
    )


def _rejected(info: Mapping[str, int]) -> Rejected:
    return Rejected(
        too_old_end=info.get("tooOldLogEventEndIndex"),
        expired_end=info.get("expiredLogEventEndIndex"),
        too_new_start=info.get("tooNewLogEventStartIndex"),
    )


def _status(response: Mapping[str, Any]) -> int:
    return int(response["ResponseMetadata"]["HTTPStatusCode"])


def _retry_after_s(response: Mapping[str, Any]) -> float | None:
    """Read AWS' own header, in milliseconds, or HTTP's, in seconds (its dates are not used)."""
    headers = response["ResponseMetadata"]["HTTPHeaders"]
    for name, units_in_second in (("x-amz-retry-after", 1000), ("retry-after", 1)):
        text = headers.get(name, "")
        if text.isdecimal():
            return int(text) / units_in_second
    return None
