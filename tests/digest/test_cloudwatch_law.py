"""The law of the whole: CloudWatch takes every event, and no sample is lost without a reason.

Configurations are written as people write them, with the limits that they have; pages as exporters
serve them, and as none should. The batches go to a fake CloudWatch that knows nothing of ours.
"""

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from cwgpu.config import document, load
from cwgpu.config.document import Form
from cwgpu.config.where import Found
from cwgpu.digest.budget import Budget
from cwgpu.digest.page import Page
from cwgpu.digest.recipe import Recipe
from cwgpu.logs import batch, parcel
from cwgpu.model.event import EmfEvent, StreamKey
from cwgpu.model.reading import Refused
from cwgpu.plan.plan import Plan
from tests.config.inline import HERE
from tests.digest.kitchen import START_MS, STEP_MS, TARGET
from tests.fakes.service import Request, Service

Json = dict[str, Any]

DAY_MS = 86_400_000
WIDE = [f"l{number:02}" for number in range(30)]
"""As many labels as a dimension set may have."""

# --- What is configured ---------------------------------------------------------------------------

dimension_sets = st.sampled_from(
    [
        *([], ["job"], ["pod"], ["pod"], ["pod", "gpu"], ["ClusterName", "pod"], WIDE),
        *(["DCGM_A", "job"], ["prom_metric_type"], ["Version", "job"]),
    ]
)
declarations = st.fixed_dictionaries(
    {
        "source_labels": st.sampled_from([["job"], ["job", "gpu"]]),
        "metric_selectors": st.sampled_from([["."], ["."], ["^DCGM_"], ["_total$", "^s"]]),
        "dimensions": st.lists(dimension_sets, min_size=1, max_size=3),
    },
    optional={"label_matcher": st.sampled_from(["dcgm", "[01]"])},
)
rules = st.sampled_from(
    [
        {"action": "labeldrop", "regex": "gpu"},
        {"source_labels": ["pod"], "regex": "p", "action": "drop"},
        {"source_labels": ["__name__"], "regex": "DCGM_B", "target_label": "__name__"},
        {
            "source_labels": ["__name__"],
            "regex": "DCGM_B",
            "target_label": "__name__",
            "replacement": "DCGM_A",
        },
        {"target_label": "pod", "replacement": "équipe"},
    ]
)
plain_jobs = st.fixed_dictionaries(
    {"job_name": st.just("dcgm"), "scrape_interval": st.just("15s")},
    optional={
        "honor_labels": st.booleans(),
        "honor_timestamps": st.booleans(),
        "metric_relabel_configs": st.lists(rules, max_size=2),
    },
)
limits = st.fixed_dictionaries(
    {},
    optional={
        "strict": st.just(value=True),
        "sample_limit": st.sampled_from([5, 100]),
        "label_limit": st.sampled_from([6, 40]),
        "label_name_length_limit": st.just(8),
        "label_value_length_limit": st.sampled_from([30, 300, 2_000]),
    },
)
jobs = st.builds(dict.__or__, plain_jobs, st.one_of(st.just({}), st.just({}), limits))
events = st.fixed_dictionaries(
    {},
    optional={
        "group_by": st.sampled_from(["labels", "dimensions"]),
        "emit": st.sampled_from(["scrape", "60s"]),
        "labels": st.sampled_from(["all", "dimensions", ["gpu"]]),
        "precision": st.integers(0, 6),
    },
)
owns = st.fixed_dictionaries(
    {"scrape_configs": st.lists(jobs, min_size=1, max_size=1), "events": events},
    optional={
        "untyped": st.just("gauge"),
        "unselected": st.just("log"),
        "counters": st.sampled_from([{".": "rate"}, {"^c": "absolute", ".": "delta"}]),
        "storage_resolution": st.sampled_from([{"^DCGM_A": 1}, {".": 1}]),
        "log_stream_name": st.sampled_from(["{JobName}-{PodName}", "gpu"]),
        "budget": st.fixed_dictionaries(
            {"metrics": st.sampled_from([1, 5, 120]), "action": st.sampled_from(["warn", "drop"])}
        ),
        "dcgm": st.sampled_from([False, {"bounds": True, "units": True}]),
    },
)
processors = st.fixed_dictionaries(
    {"metric_declaration": st.lists(declarations, min_size=1, max_size=3)},
    optional={
        "metric_declaration_dedup": st.booleans(),
        "metric_unit": st.just({"DCGM_A": "Percent", "c_total": "Count"}),
    },
)


def plan(processor: Json, own: Json) -> Plan:
    """Load an agent's file, as at start; it must be right."""
    prometheus = {"cluster_name": "lab", "emf_processor": processor}
    text = json.dumps({"logs": {"metrics_collected": {"prometheus": prometheus}}, "cwgpu": own})
    read = document.read(text.encode(), "agent.json", Form.JSON)
    examined = load.translated(Found(read.root, read.complaints, HERE), None, {})
    assert examined.plan is not None, examined.complaints
    return examined.plan


plans = st.builds(plan, processors, owns)

# --- What is exposed ------------------------------------------------------------------------------

names = st.sampled_from(
    [
        *(*["DCGM_A"] * 4, *["DCGM_B"] * 3, *["c_total"] * 3, "s", "s_sum", "h_bucket"),
        *("pod", "_aws", "m" * 256),
    ]
)
usual_labels = st.fixed_dictionaries(
    {"gpu": st.sampled_from(["0", "1"])}, optional={"pod": st.sampled_from(["p", "q"])}
)
odd_labels = st.fixed_dictionaries(
    {},
    optional={
        "pod": st.sampled_from(["", "équipe", "   ", "a\u0007b", "x" * 1_025]),
        "DCGM_A": st.just("a label"),
        "Version": st.just("0"),
        "_aws": st.just("{}"),
        "job": st.just("theirs"),
        "wide": st.just(""),
    },
)
label_sets = st.one_of(usual_labels, usual_labels, odd_labels)
values = st.sampled_from(
    [
        *("0", "1", "2.5", "97.123456", "1e3", "1e-7", "3", "4", "5.5", "1e6", "NaN", "+Inf"),
        *("bad", "1e309", "1e108", "2.4e108", "-1e200", "9223372036854775794", "5000000000"),
    ]
)
stamps = st.sampled_from(
    [""] * 8 + [f" {START_MS + ms}" for ms in (0, -5_000, -15 * DAY_MS, DAY_MS, 10**15)]
)


@dataclass(frozen=True)
class Shape:
    """All of a page but its values."""

    series: Sequence[tuple[str, Mapping[str, str], str]]
    """Name, labels, and the time that the page gives it, if it does."""
    families: int = 0
    """More metrics of one label set than an event may have."""
    gpus: int = 0
    """More values of one metric than an array may have."""
    large: int = 0
    """Characters of a label of two further series: near the limit of an event, or beyond it."""

    def text(self, numbers: Sequence[str]) -> bytes:
        """Write the page."""
        lines = [f"# TYPE {name} {kind}" for name, kind in _TYPES.items()]
        for (name, labels, stamp), number in zip(self.series, numbers, strict=False):
            lines.append(f"{name}{{{_written(labels)}}} {number}{stamp}")
        lines += [f"# TYPE M{n} gauge\nM{n} {n}" for n in range(self.families)]
        lines += [f'DCGM_B{{gpu="{number}",pod="p"}} {number}' for number in range(self.gpus)]
        if self.large:
            lines += [f'DCGM_{one}{{note="{"x" * self.large}"}} 1' for one in "AB"]
        return ("\n".join(lines) + "\n").encode()


_TYPES = {
    "DCGM_A": "gauge",
    "DCGM_B": "gauge",
    "pod": "gauge",
    "_aws": "gauge",
    "m" * 256: "gauge",
    "c_total": "counter",
    "s": "summary",
    "h": "histogram",
}


def _written(labels: Mapping[str, str]) -> str:
    pairs = dict(labels)
    if "wide" in pairs:
        del pairs["wide"]
        pairs.update(dict.fromkeys(WIDE, "1"))
    return ",".join(f'{name}="{value}"' for name, value in pairs.items())


shapes = st.builds(
    Shape,
    st.lists(st.tuples(names, label_sets, stamps), min_size=1, max_size=10),
    families=st.sampled_from([0] * 6 + [130]),
    gpus=st.sampled_from([0] * 3 + [120]),
    large=st.sampled_from([0] * 12 + [600_000, 1_100_000]),
)


@dataclass(frozen=True)
class Scrape:
    """One of the shapes, with values; and how long after the last it comes."""

    shape: int
    numbers: Sequence[str]
    after_ms: int


scrapes = st.lists(
    st.builds(
        Scrape,
        st.sampled_from([0, 0, 0, 1]),
        st.lists(values, min_size=10, max_size=10),
        st.sampled_from([0, STEP_MS, STEP_MS, 61_000]),
    ),
    min_size=1,
    max_size=5,
)

# --- What comes of it -----------------------------------------------------------------------------


@dataclass
class Account:
    """Where samples are."""

    read: int = 0
    kept: int = 0
    dropped: Counter[str] = field(default_factory=Counter)
    events: list[EmfEvent] = field(default_factory=list)


def scraped(of: Plan, pages: Sequence[Shape], given: Sequence[Scrape]) -> tuple[Account, int]:
    """Read one page after the other, to the end; gives the time of the last one, too."""
    budget = Budget() if of.budget else None
    if budget is not None:
        budget.follow(of.budget)
    page, found, at_ms = Page(Recipe(of, of.jobs[0], budget), TARGET), Account(), START_MS
    for scrape in given:
        at_ms += scrape.after_ms
        reading = page.read(pages[scrape.shape % len(pages)].text(scrape.numbers), at_ms)
        if isinstance(reading, Refused):
            assert reading.detail
            continue
        found.read += reading.samples
        found.events += reading.events
        found.dropped.update({drop.reason.value: drop.count for drop in reading.dropped})
        assert all(drop.names for drop in reading.dropped)
    found.events += page.close()
    return found, at_ms


def stored(found: Account, now_ms: int) -> Service:
    """Send the events to a CloudWatch, whose account must be ours."""
    service, streams = Service(texts=False), _by_stream(found.events)
    for stream, some in streams.items():
        named = {"logGroupName": stream.group, "logStreamName": stream.stream}
        if stream.group not in service.groups:
            service.act(Request("CreateLogGroup", named, {}, now_ms))
        service.act(Request("CreateLogStream", named, {}, now_ms))
        cut = batch.cut(some, now_ms)
        for event, reason in cut.dropped:
            found.dropped[reason.value] += event.samples
        for each in cut.batches:
            members = json.loads(parcel.document(each))
            headers = {"x-amzn-logs-format": "json/emf"}
            answer = service.act(Request("PutLogEvents", members, headers, now_ms))
            assert "rejectedLogEventsInfo" not in answer
            found.kept += sum(event.samples for event in each.events)
    return service


def _by_stream(some: Iterable[EmfEvent]) -> dict[StreamKey, list[EmfEvent]]:
    streams: dict[StreamKey, list[EmfEvent]] = {}
    for event in some:
        streams.setdefault(event.stream, []).append(event)
    return streams


@settings(max_examples=150, deadline=None)
@given(plans, st.lists(shapes, min_size=1, max_size=2), scrapes)
def test_cloudwatch_takes_all_that_has_no_reason_to_be_dropped(
    of: Plan, pages: list[Shape], given_scrapes: list[Scrape]
) -> None:
    """No event is refused or without its metrics; kept and dropped are all that was read."""
    found, now_ms = scraped(of, pages, given_scrapes)
    service = stored(found, now_ms)
    assert service.emf_errors == []
    assert found.read == found.kept + found.dropped.total()
    if of.budget is not None and of.budget.drops:
        made = {(each.dimensions, each.name) for each in service.datapoints}
        assert len(made) <= of.budget.metrics
