"""What CloudWatch Logs says, as answers: boto3's dictionaries read.

https://docs.aws.amazon.com/AmazonCloudWatchLogs/latest/APIReference/API_PutLogEvents.html
"""

from collections.abc import Mapping
from typing import Any

from cwgpu.logs.verdict import Answer, Rejected


def success(response: Mapping[str, Any]) -> Answer:
    """Read the response of a call that boto3 takes for a success."""
    rejected = response.get("rejectedLogEventsInfo")
    # boto3 checks no types: what stands between us and the service may have made this up.
    known = _rejected(rejected) if isinstance(rejected, Mapping) else None
    return Answer("", status=_status(response), rejected=known)


def refusal(response: Mapping[str, Any]) -> Answer:
    """Read the response that a boto3 ClientError holds."""
    error = response["Error"]
    return Answer(
        code=str(error.get("Code") or "Unknown"),
        message=str(error.get("Message") or ""),
        status=_status(response),
        retry_after_s=_retry_after_s(response),
    )


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


def _retry_after_s(response: Mapping[str, Any]) -> float | None:
    """Read AWS' own header, in milliseconds, or HTTP's, in seconds (its dates are not used)."""
    headers = response["ResponseMetadata"]["HTTPHeaders"]
    for name, units_in_second in (("x-amz-retry-after", 1000), ("retry-after", 1)):
        text = headers.get(name, "")
        if text.isdecimal():
            return int(text) / units_in_second
    return None
