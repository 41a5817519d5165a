"""Which samples share an event, and what it keeps of their labels."""

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from cwgpu.digest.page import Page
from cwgpu.emf import limits
from cwgpu.model.drop import DropReason
from cwgpu.model.labels import Labels
from cwgpu.plan.plan import CloudWatch, Dcgm, Events, GroupBy
from cwgpu.prom import relabel
from tests.digest import kitchen

BY_DIMENSIONS = Events(GroupBy.DIMENSIONS)
SETS = (("job", "pod"), ("job",))
TYPES = "# TYPE DCGM_A gauge\n# TYPE DCGM_B gauge\n# TYPE gpu gauge\n"


def page(events: Events, sets: tuple[tuple[str, ...], ...] = SETS, **emf: Any) -> Page:  # noqa: ANN401 - fields of Emf
    """A page by a plan that packs events like this."""
    return kitchen.page(kitchen.plan(kitchen.declared(sets=sets), events=events, **emf))


def gauge(value: object, name: str = "DCGM_A", **labels: str) -> str:
    """Write a sample."""
    pairs = ",".join(f'{label}="{of}"' for label, of in labels.items())
    return f"{name}{{{pairs}}} {value}\n"


def messages(of: Page, *lines: str) -> list[dict[str, Any]]:
    """Read a page and give its events."""
    reading = kitchen.read(of, TYPES + "".join(lines))
    kitchen.points(reading)
    return [json.loads(event.message) for event in reading.events]


def labels(message: Mapping[str, Any]) -> Labels:
    """Give what an event keeps of labels."""
    return {name: value for name, value in message.items() if isinstance(value, str)}


EIGHT = [gauge(number, pod="p", gpu=str(number), Hostname="n1") for number in range(8)]


def test_the_gpus_of_a_pod_are_one_event() -> None:
    """Their values are an array, in the order of the page; what differs is no label of it."""
    (event,) = messages(page(BY_DIMENSIONS), *EIGHT)
    assert event["DCGM_A"] == list(range(8))
    assert labels(event) == {
        **kitchen.TARGET,
        "ClusterName": "lab",
        "pod": "p",
        "Hostname": "n1",
    }


def test_gpus_of_other_pods_and_of_none_are_events_of_their_own() -> None:
    """Where the dimension sets or their values differ, so do the events."""
    lines = [gauge(n, gpu=str(n), **({"pod": pod} if pod else {})) for n, pod in enumerate("pqp")]
    found = messages(page(BY_DIMENSIONS), *lines, gauge(3, gpu="3"))
    assert [event["DCGM_A"] for event in found] == [[0, 2], 1, 3]
    assert [event.get("pod") for event in found] == ["p", "q", None]


def test_metrics_of_equal_dimensions_share_the_event() -> None:
    """Each has as many values as it has series; one is a number and not an array."""
    lines = [*EIGHT[:2], gauge(7, "DCGM_B", pod="p", gpu="0")]
    (event,) = messages(page(BY_DIMENSIONS), *lines)
    assert (event["DCGM_A"], event["DCGM_B"]) == ([0, 1], 7)


def test_metrics_of_other_dimension_sets_do_not() -> None:
    """One name with two lists of sets cannot be one member of an event."""
    both = (
        kitchen.declared(sets=(("job",),), source="gpu", matcher="0"),
        kitchen.declared(sets=(("job",), ()), source="gpu", matcher="1"),
    )
    plan = kitchen.plan(*both, events=BY_DIMENSIONS)
    found = messages(kitchen.page(plan), *EIGHT[:2])
    sets = [event["_aws"]["CloudWatchMetrics"][0]["Dimensions"] for event in found]
    assert sets == [[["job"]], [["job"], []]]
    assert [event["DCGM_A"] for event in found] == [0, 1]


@pytest.mark.parametrize(
    ("kept", "expected"),
    [
        ("all", {"ClusterName", "Hostname", "Namespace", "Service", "gpu", "job", "pod"}),
        ("dimensions", {"job", "pod"}),
        ((), {"job", "pod"}),
        (("Hostname", "no such label"), {"Hostname", "job", "pod"}),
    ],
)
def test_an_event_of_one_label_set_keeps_what_is_asked_for(
    kept: Any,  # noqa: ANN401 - a literal or names
    expected: set[str],
) -> None:
    """What its dimension sets name stays always; the events are as many as before."""
    found = messages(page(Events(labels=kept)), *EIGHT)
    assert [set(labels(event)) for event in found] == [expected] * 8


def test_a_listed_label_that_differs_is_not_kept() -> None:
    """Grouped by dimensions a label is there only where it holds for all values."""
    found = messages(page(Events(GroupBy.DIMENSIONS, labels=("gpu", "Hostname"))), *EIGHT)
    assert [set(labels(event)) for event in found] == [{"job", "pod", "Hostname"}]


def test_plain_fields_stay_with_their_labels() -> None:
    """Without a dimension set the labels are all that says what a number is of."""
    events = Events(GroupBy.DIMENSIONS, labels="dimensions")
    found = messages(page(events, (("no such label",),), log_unselected=True), *EIGHT[:2])
    assert [(event["DCGM_A"], event["gpu"]) for event in found] == [(0, "0"), (1, "1")]


def test_samples_of_two_log_streams_are_never_one_event() -> None:
    """Where a placeholder is filled from a label that is no dimension."""
    plan = kitchen.plan(kitchen.declared(sets=(("job",),)), events=BY_DIMENSIONS)
    streams = CloudWatch("/lab/{ClusterName}", "{PodName}")
    of = kitchen.page(replace(plan, cloudwatch=streams))
    lines = [gauge(gpu, pod=pod, gpu=str(gpu)) for gpu, pod in enumerate("pqp")]
    reading = kitchen.read(of, TYPES + "".join(lines))
    sent = [(event.stream.stream, json.loads(event.message)["DCGM_A"]) for event in reading.events]
    assert sent == [("p", [0, 2]), ("q", 1)]


def test_a_metric_with_the_name_of_another_gpu_s_label() -> None:
    """An event holds a name once, and the number has it."""
    lines = [EIGHT[0], gauge(5, "gpu", pod="p", Hostname="n1")]
    (event,) = messages(page(BY_DIMENSIONS), *lines)
    assert (event["DCGM_A"], event["gpu"], event["Hostname"]) == (0, 5, "n1")


def test_the_same_series_twice_is_no_array() -> None:
    """It counts once, the last one, as ever."""
    reading = kitchen.read(page(BY_DIMENSIONS), TYPES + EIGHT[0] + EIGHT[1] + EIGHT[0])
    assert [(drop.reason, drop.count) for drop in reading.dropped] == [(DropReason.DUPLICATE, 1)]
    assert json.loads(reading.events[0].message)["DCGM_A"] == [0, 1]


def test_a_value_that_is_missing_makes_the_array_shorter() -> None:
    """The other GPUs' are there; a metric that none of them has is not."""
    lines = [
        gauge("NaN", pod="p", gpu="0"),
        gauge(2, pod="p", gpu="1"),
        gauge("NaN", "DCGM_B", pod="p", gpu="0"),
    ]
    reading = kitchen.read(page(BY_DIMENSIONS), TYPES + "".join(lines))
    (event,) = reading.events
    assert (event.samples, event.datapoints, reading.selected) == (1, 2, 1)
    message = json.loads(event.message)
    assert message["DCGM_A"] == 2
    assert "DCGM_B" not in message


def test_more_series_than_an_array_holds_are_several_events() -> None:
    """Each of them has the metrics that have so many values."""
    lines = [gauge(n, pod="p", gpu=str(n)) for n in range(201)]
    found = messages(page(BY_DIMENSIONS), *lines, gauge(7, "DCGM_B", pod="p"))
    assert [event["DCGM_A"] for event in found] == [[*range(100)], [*range(100, 200)], 200]
    assert ["DCGM_B" in event for event in found] == [True, False, False]


def test_metrics_that_do_not_fit_are_dropped_with_all_their_samples() -> None:
    """An event with arrays keeps room for as many values as there may be."""
    note = "x" * (limits.MESSAGE_BYTES - 3000)
    lines = [gauge(n, pod="p", gpu=str(n), note=note) for n in range(2)]
    plain = kitchen.read(page(Events()), TYPES + "".join(lines))
    assert (plain.selected, len(plain.events)) == (2, 2)
    reading = kitchen.read(page(BY_DIMENSIONS), TYPES + "".join(lines))
    assert (reading.selected, reading.events) == (0, ())
    assert [(drop.reason, drop.count) for drop in reading.dropped] == [(DropReason.TOO_LARGE, 2)]


@pytest.mark.parametrize("group_by", GroupBy)
def test_plain_fields_beside_metrics_keep_their_labels(group_by: GroupBy) -> None:
    """Labels that are not kept for metrics are all that a plain field has."""
    events = Events(group_by, labels="dimensions")
    declared = kitchen.declared("DCGM_A", (("job",),))
    plan = kitchen.plan(declared, events=events, log_unselected=True)
    lines = [gauge(1, pod="p", gpu="0"), gauge(2, "DCGM_B", pod="p", gpu="0")]
    metric, plain = messages(kitchen.page(plan), *lines)
    assert labels(metric) == {"job": "dcgm"}
    assert plain["DCGM_B"] == 2
    assert labels(plain)["gpu"] == "0"


def test_metrics_of_one_name_and_of_two_units_share_no_event() -> None:
    """Rules gave two fields one name; CloudWatch keeps the units apart, and so do the events."""
    rename = relabel.rule(
        source_labels=["__name__"],
        regex=".*(UTIL|FB_USED)",
        target_label="__name__",
        replacement="one",
    )
    plan = kitchen.by_job(dcgm=Dcgm(units=True), events=BY_DIMENSIONS)
    of = kitchen.page(plan, metric_relabel=(rename,))
    util, memory = "DCGM_FI_DEV_GPU_UTIL", "DCGM_FI_DEV_FB_USED"
    types = "".join(f"# TYPE {name} gauge\n" for name in (util, memory))
    lines = [gauge(gpu, name, gpu=f"{name} {gpu}") for gpu in (1, 2) for name in (util, memory)]
    found = kitchen.points(kitchen.read(of, types + "".join(lines)))
    assert sorted((str(one.unit), one.value) for one in found) == [
        ("Megabytes", 1),
        ("Megabytes", 2),
        ("Percent", 1),
        ("Percent", 2),
    ]
