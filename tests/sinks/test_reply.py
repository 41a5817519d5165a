"""boto3's dictionaries as answers, also when something else than the service wrote them."""

from typing import Any

import pytest
from hypothesis import given, strategies

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


@pytest.mark.parametrize(
    ("date", "expected"),
    [
        ("Thu, 01 Jan 1970 00:01:00 GMT", 60.0),
        ("Thu, 01 Jan 1970 02:01:00 +0200", 60.0),
        ("Thu, 01 Jan 1970 00:01:00", None),  # of which place?
        ("Thu, 01 Jan 1970 00:01:00 -0000", None),
        ("Mon, 99 Foo 9999 99:99:99 GMT", None),
        ("", None),
        ("soon", None),
    ],
)
def test_the_services_clock_is_read(date: str, expected: float | None) -> None:
    """Whatever does not say when it is says nothing."""
    headers = {"date": date, "x-amzn-requestid": "1"}
    answer = reply.success({"ResponseMetadata": META | {"HTTPHeaders": headers}})
    assert answer.date_s == expected


@given(strategies.text() | strategies.from_regex(r"\w*,? ?\d+ \w{3} \d+ \d+:\d+:\d+ [-+]?\w+"))
def test_no_date_is_too_odd(date: str) -> None:
    """A header of whatever text is no reason to lose the answer."""
    headers = {"date": date, "x-amzn-requestid": "1"}
    answer = reply.success({"ResponseMetadata": META | {"HTTPHeaders": headers}})
    assert (answer.code, answer.status) == ("", 200)


@given(strategies.text() | strategies.integers(0).map(str) | strategies.just("9" * 5000))
def test_no_wait_is_too_long_to_be_read(wait: str) -> None:
    """A header of whatever text, and of any number of digits, is no reason to lose the answer."""
    headers = {"retry-after": wait}
    meta = {"HTTPStatusCode": 503, "HTTPHeaders": headers}
    answer = reply.refusal({"ResponseMetadata": meta, "Error": {"Code": "Busy"}})
    assert answer.code == "Busy"
    assert answer.retry_after_s is None or answer.retry_after_s >= 0


def test_the_clock_of_a_proxy_is_not_the_services() -> None:
    """Its pages carry no request's id of AWS."""
    meta = {"HTTPStatusCode": 502, "HTTPHeaders": {"date": "Thu, 01 Jan 1970 00:01:00 GMT"}}
    assert reply.refusal({"ResponseMetadata": meta, "Error": {"Code": "502"}}).date_s is None


@pytest.mark.parametrize(
    ("groups", "expected"),
    [
        ([{"logGroupName": "g", "logGroupClass": "DELIVERY"}], "DELIVERY"),
        ([{"logGroupName": "g"}], "STANDARD"),
        ([{"logGroupName": "g2", "logGroupClass": "DELIVERY"}, {"logGroupName": "g"}], "STANDARD"),
        ([{"logGroupName": "g2"}], None),
        ([], None),
        (None, None),
        (5, None),
        (["g", 5], None),
        ("g", None),
    ],
)
def test_the_class_of_a_group_is_read(groups: object, expected: str | None) -> None:
    """Of the group with this very name; one without a class has the usual one."""
    assert reply.log_class({"logGroups": groups}, "g") == expected
