"""boto3's dictionaries as answers, also when something else than the service wrote them."""

from typing import Any

import pytest

from cwgpu.logs.verdict import Answer, Rejected
from cwgpu.sinks import reply

META = {"HTTPStatusCode": 200, "HTTPHeaders": {}}


@pytest.mark.parametrize(
    ("info", "expected"),
    [
        (None, None),
        ({}, Rejected()),
        ({"tooOldLogEventEndIndex": 2, "other": 1}, Rejected(too_old_end=2)),
        ({"expiredLogEventEndIndex": "x", "tooNewLogEventStartIndex": 1e99}, Rejected()),
        ([1, 2], None),
        ("x", None),
    ],
)
def test_only_whole_numbers_reject_events(info: object, expected: Rejected | None) -> None:
    """What is no index says nothing about any event."""
    answer = reply.success({"ResponseMetadata": META, "rejectedLogEventsInfo": info})
    assert answer == Answer("", status=200, rejected=expected)


@pytest.mark.parametrize(
    ("error", "code", "message"),
    [
        ({"Code": "ThrottlingException", "Message": "m"}, "ThrottlingException", "m"),
        ({}, "Unknown", ""),
        ({"Code": ["x"], "Message": {"a": 1}}, "['x']", "{'a': 1}"),
        ({"Code": 5, "Message": None}, "5", ""),
    ],
)
def test_codes_and_messages_are_text(error: dict[str, Any], code: str, message: str) -> None:
    """Whatever stands in their place."""
    answer = reply.refusal({"ResponseMetadata": META, "Error": error})
    assert (answer.code, answer.message) == (code, message)
