"""The fake's reading of EMF: what CloudWatch would make of a message."""

import json
from typing import Any

import pytest

from tests.fakes import emf
from tests.fakes.emf import Datapoint, Extracted

NOW_MS = 1_790_000_000_000
DAY_MS = 86_400_000


def message(**changes: Any) -> dict[str, Any]:  # noqa: ANN401 - faults have any type
    """Give a good message of one metric in one set; ``_directive`` and others change it."""
    directive = {"Namespace": "GPU", "Dimensions": [["pod"]], "Metrics": [{"Name": "util"}]}
    directive |= changes.pop("directive", {})
    aws = {"Timestamp": NOW_MS, "CloudWatchMetrics": [directive]}
    return {"_aws": aws, "pod": "train-0", "util": 87, **changes}


def extract(document: object) -> Extracted:
    """Read a document that comes as its JSON text."""
    return emf.extract(json.dumps(document), NOW_MS)


def test_a_metric_becomes_one_datapoint_in_every_dimension_set() -> None:
    """A value counts once for each set of each directive that names it."""
    document = message(directive={"Dimensions": [["pod"], []]})
    assert extract(document).datapoints == (
        Datapoint("GPU", frozenset({("pod", "train-0")}), "util", 87.0, NOW_MS),
        Datapoint("GPU", frozenset(), "util", 87.0, NOW_MS),
    )


def test_an_array_gives_one_datapoint_for_every_member() -> None:
    """All members share the one timestamp of the event."""
    found = extract(message(util=[1, 2.5, 2.5])).datapoints
    assert [(point.value, point.at_ms) for point in found] == [
        (1.0, NOW_MS),
        (2.5, NOW_MS),
        (2.5, NOW_MS),
    ]


def test_unit_and_resolution_are_kept_and_none_is_no_unit() -> None:
    """``Unit: None`` is the same as no unit; the resolution is 60 seconds unless said."""
    metrics = [
        {"Name": "util", "Unit": "Percent", "StorageResolution": 1},
        {"Name": "plain", "Unit": "None"},
    ]
    found = extract(message(directive={"Metrics": metrics}, plain=1)).datapoints
    assert [(point.unit, point.resolution) for point in found] == [("Percent", 1), (None, 60)]


def test_the_form_of_the_cloudwatch_agent_is_read_too() -> None:
    """Version 0 has its head at the root, its time as text, and possibly an empty unit."""
    document = {
        "CloudWatchMetrics": [
            {
                "Namespace": "ContainerInsights/Prometheus",
                "Dimensions": [["ClusterName", "pod"]],
                "Metrics": [{"Name": "util", "Unit": "", "StorageResolution": 60}],
            },
        ],
        "Version": "0",
        "Timestamp": str(NOW_MS),
        "ClusterName": "lab",
        "pod": "train-0",
        "util": 87,
    }
    dimensions = frozenset({("ClusterName", "lab"), ("pod", "train-0")})
    assert extract(document).datapoints == (
        Datapoint("ContainerInsights/Prometheus", dimensions, "util", 87.0, NOW_MS),
    )


@pytest.mark.parametrize("text", ["plain words", '{"level": "info"}', "[1]", '{"a": NaN}'])
def test_an_ordinary_log_line_is_neither_metric_nor_error(text: str) -> None:
    """Only what claims to be EMF can break its rules."""
    assert emf.extract(text, NOW_MS) == Extracted()


def test_text_declared_as_emf_must_be_json() -> None:
    """The request header json/emf is a claim for all of its events."""
    assert emf.extract("plain words", NOW_MS, declared=True).error is not None


def _many(count: int) -> list[dict[str, str]]:
    return [{"Name": f"m{index}"} for index in range(count)]


def _definition(**members: object) -> dict[str, object]:
    return {"directive": {"Metrics": [{"Name": "util", **members}]}}


def _dimension(name: str, value: object = "x") -> dict[str, object]:
    return {"directive": {"Dimensions": [[name]]}, name: value}


BROKEN: dict[str, tuple[dict[str, Any], str]] = {
    "head no object": ({"_aws": 1}, "_aws is not an object"),
    "no directives": ({"_aws": {"Timestamp": NOW_MS}}, "CloudWatchMetrics is missing"),
    "no time": ({"_aws": {"CloudWatchMetrics": []}}, "Timestamp is not a whole number"),
    "text time": ({"_aws": {"CloudWatchMetrics": [], "Timestamp": "1"}}, "Timestamp is not"),
    "true time": ({"_aws": {"CloudWatchMetrics": [], "Timestamp": True}}, "Timestamp is not"),
    "old": ({"_aws": {"CloudWatchMetrics": [], "Timestamp": NOW_MS - 15 * DAY_MS}}, "outside"),
    "new": ({"_aws": {"CloudWatchMetrics": [], "Timestamp": NOW_MS + 7_200_001}}, "outside"),
    "directive": ({"_aws": {"CloudWatchMetrics": [1], "Timestamp": NOW_MS}}, "not an object"),
    "namespace missing": ({"directive": {"Namespace": None}}, "Namespace None"),
    "namespace chars": ({"directive": {"Namespace": "GPU util"}}, "Namespace 'GPU util'"),
    "namespace long": ({"directive": {"Namespace": "n" * 256}}, "does not match"),
    "namespace aws": ({"directive": {"Namespace": "AWS/EC2"}}, "reserved"),
    "namespace colon": ({"directive": {"Namespace": ":x"}}, "reserved"),
    "dimensions missing": ({"directive": {"Dimensions": None}}, "Dimensions is missing"),
    "no set": ({"directive": {"Dimensions": []}}, "at least one set"),
    "set no array": ({"directive": {"Dimensions": ["pod"]}}, "no array"),
    "31 names": ({"directive": {"Dimensions": [[str(n) for n in range(31)]]}}, "at most 30"),
    "name twice": ({"directive": {"Dimensions": [["pod", "pod"]]}}, "comes twice"),
    "name of digits": ({"directive": {"Dimensions": [[1]]}}, "dimension name 1"),
    "name colon": (_dimension(":x"), "dimension name ':x'"),
    "name blank": (_dimension(" "), "dimension name ' '"),
    "name long": (_dimension("n" * 251), "is not allowed"),
    "name umlaut": (_dimension("ü"), "is not allowed"),
    "value absent": ({"directive": {"Dimensions": [["node"]]}}, "node is no member"),
    "value number": (_dimension("gpu", 0), "value of dimension gpu"),
    "value empty": (_dimension("gpu", ""), "value of dimension gpu"),
    "value long": (_dimension("gpu", "v" * 1025), "value of dimension gpu"),
    "value control": (_dimension("gpu", "a\tb"), "value of dimension gpu"),
    "value umlaut": (_dimension("gpu", "ü"), "value of dimension gpu"),
    "metrics missing": ({"directive": {"Metrics": None}}, "Metrics is missing"),
    "101 metrics": ({"directive": {"Metrics": _many(101)}}, "more than 100 metrics"),
    "metric twice": ({"directive": {"Metrics": [{"Name": "util"}] * 2}}, "a name twice"),
    "metric no object": ({"directive": {"Metrics": ["util"]}}, "no object"),
    "metric absent": ({"directive": {"Metrics": [{"Name": "x"}]}}, "x is no member"),
    "metric name long": ({"directive": {"Metrics": [{"Name": "n" * 256}]}}, "is not allowed"),
    "metric name blank": ({"directive": {"Metrics": [{"Name": " "}]}}, "is not allowed"),
    "unit": (_definition(Unit="percent"), "Unit 'percent'"),
    "empty unit": (_definition(Unit=""), "Unit ''"),
    "resolution": (_definition(StorageResolution=5), "StorageResolution of util is 5"),
    "value text": ({"util": "87"}, "is no number"),
    "value true": ({"util": True}, "is no number"),
    "value null": ({"util": None}, "is no number"),
    "value object": ({"util": {"Values": [1], "Counts": [1]}}, "is no number"),
    "value huge": ({"util": 1e109}, "beyond 2^360"),
    "value infinite": ({"util": [float("inf")]}, "Infinity is no JSON"),
    "no values": ({"util": []}, "has 0 values"),
    "101 values": ({"util": [1] * 101}, "has 101 values"),
}


@pytest.mark.parametrize("case", BROKEN)
def test_what_breaks_a_rule_gives_no_datapoint_and_the_reason(case: str) -> None:
    """A faulty message yields nothing, and says which rule it broke."""
    changes, reason = BROKEN[case]
    found = extract(message(**changes))
    assert (found.datapoints, reason in str(found.error)) == ((), True), found.error


def test_hundred_metrics_are_counted_over_all_directives() -> None:
    """The quota is of the log event, not of the directive."""
    directives = [
        {"Namespace": "GPU", "Dimensions": [[]], "Metrics": [{"Name": f"{letter}{index}"}]}
        for letter in "ab"
        for index in range(51)
    ]
    values = {f"{letter}{index}": 1 for letter in "ab" for index in range(51)}
    whole = {"_aws": {"Timestamp": NOW_MS, "CloudWatchMetrics": directives}, **values}
    assert "more than 100" in str(extract(whole).error)
    whole["_aws"] = {"Timestamp": NOW_MS, "CloudWatchMetrics": directives[:100]}
    assert len(extract(whole).datapoints) == 100


def test_one_metric_has_one_resolution() -> None:
    """Two directives may share a metric but not disagree on its resolution."""
    directives = [
        {
            "Namespace": "GPU",
            "Dimensions": [[]],
            "Metrics": [{"Name": "util", "StorageResolution": resolution}],
        }
        for resolution in (1, 60)
    ]
    whole = {"_aws": {"Timestamp": NOW_MS, "CloudWatchMetrics": directives}, "util": 1}
    assert "two storage resolutions" in str(extract(whole).error)


def test_a_member_that_comes_twice_is_an_error() -> None:
    """Readers of JSON disagree about which one counts, so neither does."""
    text = json.dumps(message())[:-1] + ', "util": 1}'
    assert "comes twice" in str(emf.extract(text, NOW_MS).error)


def test_version_0_must_say_so() -> None:
    """CloudWatchMetrics at the root means nothing without its version."""
    assert 'needs "Version"' in str(extract({"CloudWatchMetrics": []}).error)
