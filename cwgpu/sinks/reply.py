"""What CloudWatch Logs says, as answers: boto3's dictionaries read.

https://docs.aws.amazon.com/AmazonCloudWatchLogs/latest/APIReference/API_PutLogEvents.html
"""

from collections.abc import Mapping
from typing import Any

from cwgpu.logs.verdict import Answer, Rejected

FOREIGN = "NotCloudWatchLogs"
"""A page for people with status 200: from a proxy, and nothing was stored."""


def success(response: Mapping[str, Any]) -> Answer:
    """Read the response of a call that boto3 takes for a success."""
    metadata = response["ResponseMetadata"]
    status, content_type = metadata["HTTPStatusCode"], _header(metadata, "content-type")
    if content_type.startswith("text/html"):
        return Answer(FOREIGN, f"the answer is {content_type}: is there a proxy?", status)
    rejected = response.get("rejectedLogEventsInfo")
    return Answer("", status=status, rejected=_rejected(rejected) if rejected else None)


def refusal(response: Mapping[str, Any]) -> Answer:
    """Read the response that a boto3 ClientError holds."""
    error, metadata = response["Error"], response["ResponseMetadata"]
    return Answer(
        code=error.get("Code") or "Unknown",
        message=error.get("Message", ""),
        status=metadata["HTTPStatusCode"],
        retry_after_s=_retry_after_s(metadata),
    )


def _rejected(info: Mapping[str, int]) -> Rejected:
    return Rejected(
        too_old_end=info.get("tooOldLogEventEndIndex"),
        expired_end=info.get("expiredLogEventEndIndex"),
        too_new_start=info.get("tooNewLogEventStartIndex"),
    )


def _retry_after_s(metadata: Mapping[str, Any]) -> float | None:
    """Read AWS' own header, in milliseconds, or HTTP's, in seconds (its dates are not used)."""
    for name, units_in_second in (("x-amz-retry-after", 1000), ("retry-after", 1)):
        text = _header(metadata, name)
        if text.isdecimal():
            return int(text) / units_in_second
    return None


def _header(metadata: Mapping[str, Any], name: str) -> str:
    return str(metadata["HTTPHeaders"].get(name, ""))
