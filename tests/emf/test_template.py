"""Event templates: what CloudWatch reads in the rendered events is what was asked for."""

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from operator import itemgetter
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cwgpu.emf import narrow, template
from cwgpu.emf.declare import DimensionSet
from cwgpu.emf.template import EventTemplate, Metric
from cwgpu.model import quoting
from cwgpu.model.drop import DropReason
from cwgpu.model.labels import LabelPairs, pairs

AT_MS = 1_765_000_000_000
NAMESPACE = "Container%Insights/Prometheus"
MOST_BYTES = 1_048_576 - 26 - 1024
WIDEST = b"-1.7976931348623157e+308".rjust(32)

LABELS = pairs({"ClusterName": "eks-lab", "job": "gpu", "pod": "train-7f"})
CLUSTER, JOB, POD = ("ClusterName",), ("job",), ("pod",)

Datapoint = tuple[str, tuple[tuple[str, str], ...], float]


def once(members: list[tuple[str, Any]]) -> dict[str, Any]:
    """Refuse an object that has a member twice."""
    names = [name for name, _ in members]
    assert len(names) == len(set(names)), names
    return dict(members)


def parse(message: bytes) -> dict[str, Any]:
    """Read an event, which is one JSON object of unique names and not too large."""
    assert len(message) <= MOST_BYTES
    event = json.loads(message, object_pairs_hook=once)
    assert isinstance(event, dict)
    return event


def check_metric(definition: dict[str, Any], event: dict[str, Any]) -> None:
    """Hold one metric definition against the specification."""
    assert set(definition) <= {"Name", "Unit", "StorageResolution"}
    assert 1 <= len(definition["Name"]) <= 255
    assert definition.get("StorageResolution", 60) in {1, 60}
    assert type(event[definition["Name"]]) in {int, float}


def check_set(names: list[str], event: dict[str, Any]) -> None:
    """Hold one dimension set against the specification."""
    assert len(names) == len(set(names)) <= 30
    for name in names:
        assert isinstance(event[name], str)
        assert event[name]


def extract(message: bytes) -> list[Datapoint]:
    """Make of an event the datapoints that the EMF specification makes of it."""
    event = parse(message)
    if "_aws" not in event:
        return []
    assert set(event["_aws"]) == {"Timestamp", "CloudWatchMetrics"}
    assert event["_aws"]["Timestamp"] == AT_MS
    assert event["_aws"]["CloudWatchMetrics"]
    datapoints: list[Datapoint] = []
    definitions = 0
    for directive in event["_aws"]["CloudWatchMetrics"]:
        assert set(directive) == {"Namespace", "Dimensions", "Metrics"}
        assert directive["Namespace"] == NAMESPACE
        assert directive["Dimensions"]
        names = [definition["Name"] for definition in directive["Metrics"]]
        assert 1 <= len(names) == len(set(names))
        definitions += len(names)
        for definition in directive["Metrics"]:
            check_metric(definition, event)
            for dimensions in directive["Dimensions"]:
                check_set(dimensions, event)
                values = tuple((name, event[name]) for name in dimensions)
                datapoints.append((definition["Name"], values, event[definition["Name"]]))
    assert definitions <= 100
    return datapoints


@dataclass(frozen=True, slots=True)
class Laid:
    """What became of metrics: those of ``narrow`` and ``template`` together."""

    templates: tuple[EventTemplate, ...]
    """With the places that the metrics had before both."""
    dropped: tuple[tuple[int, DropReason], ...] = ()
    skipped: tuple[tuple[int, DimensionSet], ...] = ()


def lay(metrics: Sequence[Metric], labels: LabelPairs = LABELS, most: int = 1) -> Laid:
    """Lay out in the tests' namespace what can be sent of a label set."""
    narrowed = narrow.narrow(labels, tuple(metrics))
    places = narrowed.places
    laid = template.layout(NAMESPACE, narrowed.labels, narrowed.metrics, most=most)
    templates = (
        replace(one, metrics=tuple(places[at] for at in one.metrics)) for one in laid.templates
    )
    dropped = [*narrowed.dropped, *((places[at], reason) for at, reason in laid.dropped)]
    return Laid(tuple(templates), tuple(sorted(dropped, key=itemgetter(0))), narrowed.skipped)


def rendered(event: EventTemplate, at_ms: int, values: Sequence[bytes]) -> bytes:
    """Render an event and read it; the template knows how much longer it is quoted."""
    text = event.render(at_ms, values)
    message = quoting.read(text)
    assert len(text) - event.quoting_bytes == len(message)
    return message


def render(laid: Laid) -> list[bytes]:
    """Render every event; the value of a metric is its place."""
    return [
        rendered(one, AT_MS, [b"%d" % place for place in one.metrics]) for one in laid.templates
    ]


def test_one_event_of_one_label_set() -> None:
    """Metrics of equal dimension sets share a directive of one event that has every label."""
    sets = ((("ClusterName", "pod"), CLUSTER),)
    laid = lay([Metric("util", sets, unit="Percent"), Metric("power", sets, resolution=1)])
    (event,) = laid.templates
    assert parse(rendered(event, AT_MS, [b"87", b"71.5"])) == {
        "_aws": {
            "Timestamp": AT_MS,
            "CloudWatchMetrics": [
                {
                    "Namespace": NAMESPACE,
                    "Dimensions": [["ClusterName", "pod"], ["ClusterName"]],
                    "Metrics": [
                        {"Name": "util", "Unit": "Percent"},
                        {"Name": "power", "StorageResolution": 1},
                    ],
                }
            ],
        },
        "ClusterName": "eks-lab",
        "job": "gpu",
        "pod": "train-7f",
        "util": 87,
        "power": 71.5,
    }
    assert (event.metrics, event.datapoints, laid.dropped, laid.skipped) == ((0, 1), 4, (), ())


def test_metrics_of_different_sets_get_different_directives() -> None:
    """One event, a directive for each combination of dimension sets."""
    laid = lay([Metric("a", ((CLUSTER,),)), Metric("b", ((POD,),)), Metric("c", ((CLUSTER,),))])
    (message,) = render(laid)
    directives = parse(message)["_aws"]["CloudWatchMetrics"]
    assert [
        (one["Dimensions"], [metric["Name"] for metric in one["Metrics"]]) for one in directives
    ] == [([["ClusterName"]], ["a", "c"]), ([["pod"]], ["b"])]


def test_a_metric_without_dimensions_has_the_empty_set() -> None:
    """``[[]]`` stands in the directive as it does in the configuration."""
    (message,) = render(lay([Metric("a", (((),),))]))
    assert parse(message)["_aws"]["CloudWatchMetrics"][0]["Dimensions"] == [[]]
    assert extract(message) == [("a", (), 0)]


def test_equal_directives_of_one_metric_are_kept_apart() -> None:
    """Without dedup a set that two declarations name gives two datapoints."""
    laid = lay([Metric("a", ((POD,), (POD,))), Metric("b", ((POD,),))])
    (message,) = render(laid)
    assert Counter(extract(message)) == Counter(
        {("a", (("pod", "train-7f"),), 0): 2, ("b", (("pod", "train-7f"),), 1): 1}
    )
    assert laid.templates[0].datapoints == 3


def test_plain_fields_alone_have_no_directive() -> None:
    """An event of unselected metrics only is a plain log event."""
    laid = lay([Metric("a", ()), Metric("b", ())])
    (message,) = render(laid)
    assert parse(message) == {**dict(LABELS), "a": 0, "b": 1}
    assert laid.templates[0].datapoints == 0


def test_plain_fields_stand_beside_metrics() -> None:
    """Unselected metrics are members of the event that no directive names."""
    (message,) = render(lay([Metric("a", ((POD,),)), Metric("b", ())]))
    assert parse(message)["b"] == 1
    assert [name for name, _, _ in extract(message)] == ["a"]


def test_a_label_set_without_labels_has_events_too() -> None:
    """Nothing but a metric is a valid event, with and without a directive."""
    assert render(lay([Metric("a", (((),),))], ()))[0].endswith(b',"a":0}')
    assert render(lay([Metric("a", ())], ())) == [b'{"a":0}']


def test_nothing_gives_no_event() -> None:
    """Without metrics there is nothing to send, whatever the labels are."""
    assert lay([]) == Laid(())


def test_members_of_the_old_format_are_ordinary_labels() -> None:
    """Only ``_aws`` is reserved; an ``_aws`` label is not written."""
    labels = pairs({"Version": "v9", "Timestamp": "never", "CloudWatchMetrics": "c", "_aws": "x"})
    laid = lay([Metric("a", ((("Version",), ("Timestamp",), ("_aws",)),))], labels)
    (message,) = render(laid)
    assert parse(message)["Timestamp"] == "never"
    assert extract(message) == [("a", (("Version", "v9"),), 0), ("a", (("Timestamp", "never"),), 0)]
    assert laid.skipped == ((0, ("_aws",)),)


def test_text_goes_through_unharmed() -> None:
    """Quotes, backslashes, per cent signs and other scripts mean nothing to a template."""
    labels = pairs({'%d"\\': '%b %% %s "\\\n', "größe": "№ ☃"})
    (message,) = render(lay([Metric("100%b", ((("größe",),),), unit="Percent")], labels))
    event = parse(message)
    assert event['%d"\\'] == '%b %% %s "\\\n'
    assert extract(message) == [("100%b", (("größe", "№ ☃"),), 0)]


def test_the_number_wins_over_a_label_of_its_name() -> None:
    """The label is not written; sets that need it are skipped and named."""
    metrics = [Metric("pod", ((CLUSTER, POD),)), Metric("x", ((POD,),)), Metric("y", ((JOB, POD),))]
    laid = lay(metrics)
    (message,) = render(laid)
    assert parse(message)["pod"] == 0
    assert [(name, dims) for name, dims, _ in extract(message)] == [
        ("pod", (("ClusterName", "eks-lab"),)),
        ("y", (("job", "gpu"),)),
    ]
    assert laid.dropped == ((1, DropReason.DIMENSION_MISSING),)
    assert laid.skipped == ((0, POD), (1, POD), (2, POD))


def test_a_metric_that_needs_the_label_it_hides_harms_only_itself() -> None:
    """A metric that is dropped hides no label from the others."""
    laid = lay([Metric("pod", ((POD,),)), Metric("x", ((POD,),))])
    (message,) = render(laid)
    assert extract(message) == [("x", (("pod", "train-7f"),), 1)]
    assert laid.dropped == ((0, DropReason.DIMENSION_MISSING),)


@pytest.mark.parametrize(
    ("metric", "reason"),
    [
        (Metric("_aws", ((POD,),)), DropReason.NAME_INVALID),
        (Metric("_aws", ()), DropReason.NAME_INVALID),
        (Metric("m" * 256, ((POD,),)), DropReason.NAME_INVALID),
        (Metric("a", ((("gone",),),)), DropReason.DIMENSION_MISSING),
        (Metric("a", ((("empty",),),)), DropReason.DIMENSION_MISSING),
        (Metric("a", ((tuple(map(str, range(31))),),)), DropReason.DIMENSION_INVALID),
        (Metric("a", tuple((POD,) for _ in range(101))), DropReason.TOO_LARGE),
        (Metric("m" * MOST_BYTES, ()), DropReason.TOO_LARGE),
    ],
)
def test_what_no_event_can_hold_is_dropped_alone(metric: Metric, reason: DropReason) -> None:
    """A metric that cannot be sent is named with its reason; the others are not touched."""
    labels = (("empty", ""), *LABELS, *((str(number), "1") for number in range(31)))
    laid = lay([Metric("first", ((POD,),)), metric, Metric("last", ((POD,),))], labels)
    assert laid.dropped == ((1, reason),)
    (message,) = render(laid)
    assert [name for name, _, _ in extract(message)] == ["first", "last"]
    assert "empty" not in parse(message)


def test_the_last_of_equally_named_metrics_counts() -> None:
    """An event holds a name once, so the earlier ones are dropped as duplicates."""
    laid = lay([Metric("a", ((POD,),)), Metric("b", ()), Metric("a", ((JOB,),))])
    (message,) = render(laid)
    assert extract(message) == [("a", (("job", "gpu"),), 2)]
    assert laid.dropped == ((0, DropReason.DUPLICATE),)


def test_plain_fields_may_have_names_that_metrics_may_not() -> None:
    """What CloudWatch Logs only stores need not be a CloudWatch name."""
    (message,) = render(lay([Metric("m" * 256, ())]))
    assert parse(message)["m" * 256] == 0


@pytest.mark.parametrize(
    ("directives", "metrics", "events"),
    [(1, 100, 1), (1, 101, 2), (1, 250, 3), (2, 50, 1), (2, 51, 2), (100, 2, 2), (0, 300, 1)],
)
def test_more_than_a_hundred_definitions_are_split(
    directives: int, metrics: int, events: int
) -> None:
    """No event has more than a hundred metric definitions, and none gets lost."""
    sets = tuple((POD,) for _ in range(directives))
    laid = lay([Metric(f"m{number}", sets) for number in range(metrics)])
    messages = render(laid)
    assert len(messages) == events
    assert sum(len(extract(message)) for message in messages) == directives * metrics
    assert sum(one.datapoints for one in laid.templates) == directives * metrics


def test_large_labels_split_by_bytes() -> None:
    """Each event repeats the labels; metrics are spread so that every event fits."""
    labels = pairs({"note": "%" * (MOST_BYTES - 2000), "pod": "p"})
    metrics = [Metric(f"{number:0200}", ((POD,),)) for number in range(20)]
    laid = lay(metrics, labels)
    assert laid.dropped == ()
    assert len(laid.templates) > 1
    assert [place for one in laid.templates for place in one.metrics] == list(range(20))
    for one in laid.templates:
        extract(rendered(one, AT_MS, [WIDEST] * len(one.metrics)))


def test_labels_that_fill_an_event_leave_no_room() -> None:
    """Where the labels alone are too large, every metric is dropped as too large."""
    laid = lay([Metric("a", ((POD,),)), Metric("b", ())], (*LABELS, ("x", "x" * MOST_BYTES)))
    assert laid.templates == ()
    assert laid.dropped == ((0, DropReason.TOO_LARGE), (1, DropReason.TOO_LARGE))


@pytest.mark.parametrize(("spare", "events"), [(-1, 0), (0, 0), (5, 1), (6, 1)])
def test_the_limit_is_used_but_for_a_few_bytes(spare: int, events: int) -> None:
    """A metric is sent when even its longest time and value leave five bytes of the event free."""
    metrics = [Metric("a", ((POD,),))]
    longest = -(2**63), [WIDEST]
    (bare,) = lay(metrics, (("fill", "x"), ("pod", "p"))).templates
    room = MOST_BYTES - len(rendered(bare, *longest)) + 1
    laid = lay(metrics, (("fill", "x" * (room - spare)), ("pod", "p")))
    sizes = [len(rendered(one, *longest)) for one in laid.templates]
    assert sizes == [MOST_BYTES - spare] * events


def test_a_wrong_number_of_values_is_not_rendered() -> None:
    """A template never renders an event that lacks a value or has one too many."""
    (event,) = lay([Metric("a", ((POD,),))]).templates
    for values in ([], [b"1", b"2"]):
        with pytest.raises(ValueError, match="size"):
            rendered(event, AT_MS, values)


WORDS = st.sampled_from(["a", "b", "c", "d", "e", "%", "%d", '"', "\\", "_aws", "ü", ""])
NAMES = st.one_of(WORDS, st.text(st.characters(exclude_categories=["Cs"]), max_size=4))
SETS = st.lists(
    st.lists(NAMES, unique=True, max_size=3).map(lambda names: tuple(sorted(names))),
    unique=True,
    min_size=1,
    max_size=3,
).map(tuple)
METRICS = st.lists(
    st.builds(
        Metric,
        NAMES,
        st.lists(SETS, max_size=3).map(tuple),
        st.sampled_from([None, "Percent"]),
        st.sampled_from([None, 1, 60]),
    ),
    max_size=8,
    unique_by=lambda metric: metric.name,
)
LABEL_SETS = st.dictionaries(NAMES, NAMES, max_size=6).map(pairs)


def asked(metrics: Sequence[Metric], laid: Laid, labels: dict[str, str]) -> list[Datapoint]:
    """List the datapoints asked for, less those that the layout says it gives up."""
    dropped, skipped = dict(laid.dropped), set(laid.skipped)
    return [
        (metric.name, tuple((name, labels[name]) for name in names), place)
        for place, metric in enumerate(metrics)
        if place not in dropped
        for sets in metric.sets
        for names in sets
        if (place, names) not in skipped
    ]


@given(LABEL_SETS, METRICS)
@settings(max_examples=200, deadline=None)
def test_what_is_asked_is_extracted_or_accounted_for(
    labels: LabelPairs, metrics: list[Metric]
) -> None:
    """CloudWatch reads exactly what was asked for, less what the layout names as lost."""
    laid = lay(metrics, labels)
    messages = render(laid)
    found = Counter(datapoint for message in messages for datapoint in extract(message))
    assert found == Counter(asked(metrics, laid, dict(labels)))
    assert sum(one.datapoints for one in laid.templates) == found.total()
    places = [place for one in laid.templates for place in one.metrics]
    assert sorted([*places, *dict(laid.dropped)]) == list(range(len(metrics)))
    for place, names in laid.skipped:
        hidden = {"_aws", *(metric.name for metric in metrics)}
        assert not set(names) <= dict(labels).keys() - hidden, (place, names)


@given(LABEL_SETS, METRICS)
def test_equal_inputs_give_equal_bytes(labels: LabelPairs, metrics: list[Metric]) -> None:
    """A layout depends on nothing but what is handed in."""
    assert lay(metrics, labels) == lay(list(metrics), tuple(labels))


@given(
    st.lists(
        st.builds(
            Metric,
            st.integers(0, 10**6).map("m{}".format),
            st.lists(
                st.sampled_from([(POD,), (JOB, POD), (CLUSTER,)]), min_size=1, max_size=40
            ).map(tuple),
        ),
        max_size=12,
        unique_by=lambda metric: metric.name,
    ),
    st.integers(0, MOST_BYTES),
)
@settings(max_examples=50, deadline=None)
def test_splitting_loses_nothing(metrics: list[Metric], ballast: int) -> None:
    """However many directives and bytes come together, events hold the limits and every metric."""
    labels = (*LABELS, ("z", "x" * ballast))
    laid = lay(metrics, labels)
    for one in laid.templates:
        parse(rendered(one, AT_MS, [WIDEST] * len(one.metrics)))
    found = Counter(datapoint for message in render(laid) for datapoint in extract(message))
    assert found == Counter(asked(metrics, laid, dict(labels)))
    assert set(dict(laid.dropped).values()) <= {DropReason.TOO_LARGE}


@pytest.mark.parametrize("most", [1, 2, 100])
@pytest.mark.parametrize(("spare", "events"), [(0, 0), (6, 1)])
def test_arrays_have_their_room(most: int, spare: int, events: int) -> None:
    """A metric is sent when its longest array, too, leaves the event within the limit."""
    array = b"[%b]" % b",".join([WIDEST] * most) if most > 1 else WIDEST
    metrics = [Metric("a", ((POD,),))]
    (bare,) = lay(metrics, (("fill", "x"), ("pod", "p"))).templates
    room = MOST_BYTES - len(rendered(bare, -(2**63), [array])) + 1
    laid = lay(metrics, (("fill", "x" * (room - spare)), ("pod", "p")), most)
    sizes = [len(rendered(one, -(2**63), [array])) for one in laid.templates]
    assert sizes == [MOST_BYTES - spare] * events


def test_a_value_has_a_weight() -> None:
    """It is a datapoint for each of its metric's dimension sets; a plain field is none."""
    (event,) = lay(
        [Metric("a", ((POD, JOB), (POD,))), Metric("b", ()), Metric("c", ((JOB,),))]
    ).templates
    assert (event.weights, event.datapoints) == ((3, 0, 1), 4)
