"""The fake's limits: which events of a batch are stored, counted as AWS counts."""

import pytest

from tests.fakes import limits
from tests.fakes.limits import LogEvent
from tests.fakes.refusal import Refused

NOW_MS = 1_790_000_000_000
DAY_MS = 86_400_000
OLD = NOW_MS - 14 * DAY_MS
NEW = NOW_MS + 7_200_000

WINDOWS: dict[str, tuple[list[int], int | None, dict[str, int], int]] = {
    "all young": ([NOW_MS - 1, NOW_MS], None, {}, 2),
    "edges are in": ([OLD], None, {}, 1),
    "the other edge too": ([NEW], None, {}, 1),
    "old": ([OLD - 2, OLD - 1, NOW_MS], None, {"tooOldLogEventEndIndex": 2}, 1),
    "new": ([NOW_MS, NEW + 1, NEW + 2], None, {"tooNewLogEventStartIndex": 1}, 1),
    "expired": ([NOW_MS - 2 * DAY_MS, NOW_MS], 1, {"expiredLogEventEndIndex": 1}, 1),
    "long retention": ([OLD - 1, NOW_MS], 30, {"tooOldLogEventEndIndex": 1}, 1),
    "all three": (
        [OLD - 1, NOW_MS - 2 * DAY_MS, NOW_MS, NEW + 1],
        1,
        {
            "tooOldLogEventEndIndex": 1,
            "expiredLogEventEndIndex": 2,
            "tooNewLogEventStartIndex": 3,
        },
        1,
    ),
    "nothing left": ([OLD - 1, NEW + 1], None, {"tooOldLogEventEndIndex": 1}, 0),
}


@pytest.mark.parametrize("case", WINDOWS)
def test_events_are_sorted_out_by_age_with_the_indexes_of_aws(case: str) -> None:
    """Old and expired ends are exclusive, the start of the too new is inclusive."""
    times, retention, rejected, stored = WINDOWS[case]
    window = limits.window([LogEvent(at_ms, "x") for at_ms in times], NOW_MS, retention)
    assert window.rejected().items() >= rejected.items()
    assert len(times[window.valid]) == stored


def test_a_day_is_the_longest_span_of_the_events_that_are_stored() -> None:
    """Rejected events do not count for the span, and one millisecond more than a day does."""
    limits.window([LogEvent(OLD - 1, "x"), LogEvent(NOW_MS, "x")], NOW_MS, None)
    limits.window([LogEvent(NOW_MS - DAY_MS, "x"), LogEvent(NOW_MS, "x")], NOW_MS, None)
    with pytest.raises(Refused, match="span more than 24 hours"):
        limits.window([LogEvent(NOW_MS - DAY_MS - 1, "x"), LogEvent(NOW_MS, "x")], NOW_MS, None)


def events(*messages: str) -> dict[str, object]:
    """Give a request of these messages, all of the same time."""
    return {"logEvents": [{"timestamp": NOW_MS, "message": text} for text in messages]}


LARGEST = 1_048_576 - 26
REFUSED: dict[str, tuple[dict[str, object], str]] = {
    "none": ({"logEvents": []}, "'logEvents' failed .* greater than or equal to 1"),
    "no list": ({}, "'logEvents' failed"),
    "10,001": (events(*["x"] * 10_001), "less than or equal to 10000"),
    "large event": (events("x" * (LARGEST + 1)), "Log event too large: 1048577 bytes"),
    "large sum": (events("x" * LARGEST, "x"), "Upload too large: 1048603 bytes"),
    "bytes, not characters": (events("ü" * (LARGEST // 2 + 1)), "Log event too large"),
    "empty message": (events("x", ""), "logEvents.2.member.message"),
    "no time": ({"logEvents": [{"message": "x"}]}, "logEvents.1.member.timestamp"),
    "before 1970": ({"logEvents": [{"timestamp": -1, "message": "x"}]}, "timestamp"),
    "no object": ({"logEvents": ["x"]}, "SerializationException"),
    "order": (
        {"logEvents": [{"timestamp": 2, "message": "x"}, {"timestamp": 1, "message": "x"}]},
        "chronological order",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_batch_beyond_a_limit_is_refused_whole(case: str) -> None:
    """Every limit but that of age makes the whole call fail."""
    request, reason = REFUSED[case]
    with pytest.raises(Refused, match=reason):
        limits.log_events(request)


def test_a_batch_at_its_limits_is_taken() -> None:
    """10,000 events, and 1,048,576 bytes with 26 for each event, are allowed."""
    assert len(limits.log_events(events(*["x"] * 10_000))) == 10_000
    assert len(limits.log_events(events("x" * LARGEST))) == 1


@pytest.mark.parametrize("name", ["", "a b", "ü", "x" * 513, "aws/x", "a:b"])
def test_log_group_names_that_aws_refuses_are_refused(name: str) -> None:
    """Letters, digits and .-_/# only, and nothing under aws/."""
    with pytest.raises(Refused, match="InvalidParameterException"):
        limits.new_group({"logGroupName": name})


@pytest.mark.parametrize("name", ["", "a:b", "a*", "x" * 513])
def test_log_stream_names_that_aws_refuses_are_refused(name: str) -> None:
    """Anything but a colon and a star."""
    with pytest.raises(Refused, match="InvalidParameterException"):
        limits.stream({"logStreamName": name})


@pytest.mark.parametrize("days", [0, 8, 14.5, "7", None])
def test_only_the_listed_retentions_are_taken(days: object) -> None:
    """CloudWatch Logs knows 22 retention times."""
    with pytest.raises(Refused, match="retentionInDays"):
        limits.retention_days({"retentionInDays": days})
    assert len(limits.RETENTION_DAYS) == 22
