"""What some events hold, in words."""

import json
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cwgpu.logs import naming
from cwgpu.model.event import EmfEvent, StreamKey

STREAM = StreamKey("/lab/gpu", "dcgm")
NOON_MS = 1_796_040_000_000
AT = " at 2026-11-30T12:00:00Z"


def event(message: bytes, at_ms: int = NOON_MS) -> EmfEvent:
    """Make an event with this message."""
    return EmfEvent.of(STREAM, at_ms, message, 1, 1)


def emf(names: list[str], *sets: list[str], **fields: object) -> bytes:
    """Make a message of one directive."""
    directive = {
        "Namespace": "GPU",
        "Dimensions": sets,
        "Metrics": [{"Name": name} for name in names],
    }
    root: dict[str, Any] = {"_aws": {"Timestamp": NOON_MS, "CloudWatchMetrics": [directive]}}
    return json.dumps(root | fields).encode()


POD = emf(["UTIL", "TEMP", "POWER"], ["pod"], ["pod", "gpu"], [], pod="a", gpu="0", node="n")


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        (POD, "UTIL and 2 more metrics of pod=a, gpu=0"),
        (emf(["UTIL", "TEMP"], ["pod"], pod="a"), "UTIL and 1 more metric of pod=a"),
        (emf(["UTIL"], []), "UTIL"),
        (emf(["UTIL"]), "UTIL"),
        (emf(["UTIL"], ["pod", "gone", "number"], pod="a", number=5), "UTIL of pod=a"),
        (emf(["UTIL"], ["gone"]), "UTIL"),
        (emf([]), "a message without metrics"),
        (b"{}", "a message without metrics"),
        (b"[]", "a message without metrics"),
        (b'{"_aws":5}', "a message without metrics"),
        (
            b'{"_aws":{"CloudWatchMetrics":[5,{"Metrics":5},{"Metrics":[5,{},{"Name":5}]}]}}',
            "a message without metrics",
        ),
        (
            (
                b'{"_aws":{"CloudWatchMetrics":[{"Metrics":[{"Name":"A"}]},'
                b'{"Dimensions":[5,["p",%b]],"Metrics":[{"Name":"A"},{"Name":"B"}]}]},"p":"x"}'
            )
            % (b"[" * 1000 + b"]" * 1000),
            "A and 1 more metric of p=x",
        ),
        (b"", "a message that is no JSON"),
        (b"started\xff", "a message that is no JSON"),
    ],
    ids=range(14),
)
def test_an_event_is_named_by_its_metrics(message: bytes, expected: str) -> None:
    """The first metric, how many others, and the largest set of dimensions; then its time."""
    assert naming.told([event(message)]) == expected + AT


@pytest.mark.parametrize(
    ("others", "expected"),
    [(0, ""), (1, "; and 1 more event"), (9_999, "; and 9999 more events")],
)
def test_further_events_are_counted(others: int, expected: str) -> None:
    """Ten thousand that came too late are one line."""
    told = naming.told([event(POD)] + [event(b"")] * others)
    assert told == f"UTIL and 2 more metrics of pod=a, gpu=0{AT}{expected}"


def test_no_events_have_no_name() -> None:
    """Nothing was lost, and nothing is said."""
    assert naming.told([]) == ""


@pytest.mark.parametrize(
    ("at_ms", "expected"),
    [
        (0, "1970-01-01T00:00:00Z"),
        (NOON_MS + 999, "2026-11-30T12:00:00Z"),
        (-1, "1969-12-31T23:59:59Z"),
        (2**53, "9007199254740992 ms since 1970"),
        (10**30, f"{10**30} ms since 1970"),
    ],
)
def test_times_are_those_of_a_calendar(at_ms: int, expected: str) -> None:
    """In UTC and whole seconds; a time that no calendar has is a number."""
    assert naming.told([event(b"{}", at_ms)]) == f"a message without metrics at {expected}"


def test_what_is_long_is_cut() -> None:
    """A journal's line holds it, and the count at its end is still there."""
    names = [str(number) * 120 for number in range(9)]
    long = emf(names, names[1:], **dict.fromkeys(names, "v" * 1024))
    told = naming.told([event(long)] * 10_000)
    assert told == (f"{'0' * 77}... and 8 more metrics of {'1' * 117}...{AT}; and 9999 more events")
    assert len(told) <= 300
    short = emf(["UTIL"], ["pod", "gpu"], pod="v" * 1024, gpu="0")
    assert naming.told([event(short)]) == f"UTIL of pod={'v' * 57}..., gpu=0{AT}"


WORDS = st.sampled_from(
    ["_aws", "CloudWatchMetrics", "Metrics", "Name", "Dimensions", "UTIL", "pod", "x" * 500]
)
PLAIN = st.none() | st.booleans() | st.integers(-(2**63), 2**63) | st.text() | WORDS
JSON = st.recursive(PLAIN, lambda some: st.lists(some) | st.dictionaries(WORDS, some))
DIRECTIVES = st.fixed_dictionaries({}, optional={"Metrics": JSON, "Dimensions": JSON, "Name": JSON})
EMF = st.builds(
    lambda directives, members: {**members, "_aws": {"CloudWatchMetrics": directives}},
    JSON | st.lists(DIRECTIVES | JSON),
    st.dictionaries(WORDS, JSON),
)


@given((EMF | JSON).map(orjson.dumps) | st.binary(), st.integers(), st.integers(1, 3))
def test_it_never_fails_and_is_never_long(message: bytes, at_ms: int, count: int) -> None:
    """Whatever a message is: to say what was lost must not lose more."""
    told = naming.told([event(message, at_ms)] * count)
    assert told
    assert len(told) <= 260 + len(str(at_ms))
