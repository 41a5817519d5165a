"""An hour that `cwgpu cost` plays, beside what CloudWatch makes of the same events."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from cwgpu.cli.cost import play, scene, variants
from cwgpu.cli.cost.play import HOUR_MS, START_MS, Player
from cwgpu.cli.cost.subject import Subject
from cwgpu.config import load
from cwgpu.logs import batch, parcel
from cwgpu.model.errors import ExpositionError
from cwgpu.model.event import EmfEvent, LogBatch, StreamKey
from cwgpu.plan.plan import Plan
from tests.fakes.service import Request, Service

DATA = Path(__file__).parents[1] / "data"
PAGE = DATA / "samples/02-h100x8-pods-4.8.1.prom"
LABELS = {
    "job": "dcgm-exporter",
    "instance": "10.0.12.34:9400",
    "Service": "dcgm-exporter",
    "Namespace": "gpu-operator",
}
PLAN = load.load(DATA / "cost/cwagent.json", None, {}).plan
END_MS = START_MS + HOUR_MS


def subject(interval_s: float = 15.0, body: bytes | None = None, **labels: str) -> Subject:
    """Give a node's page as the answer of a target that is scraped so often."""
    job = replace(PLAN.jobs[0], interval_s=interval_s)
    body = PAGE.read_bytes() if body is None else body
    return Subject("node", job, {**LABELS, **labels}, body, "text/plain; version=0.0.4")


def hour(one: Subject) -> Sequence[play.Scrape]:
    """Give its scrapes of an hour, and one before."""
    count = round(HOUR_MS / 1000 / one.job.interval_s)
    return scene.scene(one, count, (), scaled=True).itself.scrapes


def batches(events: Iterator[EmfEvent]) -> Iterator[LogBatch]:
    """Cut events that came in this hour."""
    by_stream: dict[StreamKey, list[EmfEvent]] = {}
    for event in events:
        if event.at_ms >= START_MS:
            by_stream.setdefault(event.stream, []).append(event)
    for some in by_stream.values():
        yield from batch.cut(some, END_MS).batches


def taken(plan: Plan, one: Subject) -> Service:
    """Let a fake CloudWatch take the same events as requests, each of which it checks."""
    service = Service(texts=False)
    for each in batches(Player(plan).events(one, hour(one))):
        members = json.loads(parcel.document(each))
        of_stream = {name: members[name] for name in ("logGroupName", "logStreamName")}
        stream = service.groups.get(each.stream.group)
        if stream is None:
            service.act(Request("CreateLogGroup", of_stream, {}, START_MS))
            service.act(Request("CreateLogStream", of_stream, {}, START_MS))
        headers = {"x-amzn-logs-format": "json/emf"}
        service.act(Request("PutLogEvents", members, headers, END_MS))
    return service


PACKINGS = {
    f"{one.events.group_by.value}-{one.events.window_s}-{one.events.labels}": one.plan
    for one in variants.packings(PLAN)
    if one.events
}


@pytest.mark.parametrize("packing", PACKINGS)
def test_an_hour_counts_what_cloudwatch_counts(packing: str) -> None:
    """Metrics, datapoints and events of a played hour are those that a CloudWatch makes."""
    plan, one = PACKINGS[packing], subject()
    played = Player(plan).play(one, hour(one))
    service = taken(plan, one)
    assert service.emf_errors == []
    created = {(each.namespace, each.dimensions, each.name) for each in service.datapoints}
    assert {(space, frozenset(sets), name) for space, sets, name in played.seen} == created
    assert len(played.seen) == len(created) == 14 * (3 + 1)
    assert played.usage.datapoints == len(service.datapoints)
    assert played.usage.samples == 14 * 8 * 240
    (group,) = service.groups.values()
    (stream,) = group.streams.values()
    assert played.usage.events == stream.taken


def test_bytes_are_those_that_are_billed() -> None:
    """Bytes are those of the messages, and 26 for each event."""
    one = subject()
    played = Player(PLAN).play(one, hour(one))
    events = [each for some in batches(Player(PLAN).events(one, hour(one))) for each in some.events]
    assert played.usage.size_bytes == sum(len(each.message) + 26 for each in events)


@pytest.mark.parametrize(
    ("packing", "most_bytes"),
    [("labels-None-dimensions", 105.0), ("dimensions-60.0-dimensions", 12.0)],
)
def test_bytes_of_a_sample(packing: str, most_bytes: float) -> None:
    """Every 5 s, 14 metrics: so much for an event of each GPU, and for arrays of a minute."""
    one = subject(5.0)
    usage = Player(PACKINGS[packing]).play(one, hour(one)).usage
    assert usage.samples == 14 * 8 * 720
    assert usage.size_bytes / usage.samples <= most_bytes


def test_the_same_page_gives_the_same_hour() -> None:
    """What is made up is made up of the page alone."""
    assert hour(subject()) == hour(subject())


def test_report_series_are_in_it() -> None:
    """A job that reports `up` and the like has them in its events, where they are declared."""
    plan = PACKINGS["labels-None-dimensions"]
    declared = replace(plan.emf.declarations[0], selects="up".__eq__)
    plan = replace(plan, emf=replace(plan.emf, declarations=(declared,)))
    one = subject()
    one = replace(one, job=replace(one.job, report_series=True))
    played = Player(plan).play(one, hour(one))
    assert {name for _, _, name in played.seen} == {"up"}
    assert played.usage.samples == 240


def test_gauges_of_our_own_are_in_it() -> None:
    """What is made of fields beside the page is counted where it is declared."""
    declared = replace(PLAN.emf.declarations[0], selects="cwgpu_xid_fatal".__eq__)
    plan = replace(
        PLAN,
        emf=replace(PLAN.emf, declarations=(declared,)),
        dcgm=replace(PLAN.dcgm, xid_fatal=True),
    )
    played = Player(plan).play(subject(), hour(subject()))
    assert {name for _, _, name in played.seen} == {"cwgpu_xid_fatal"}
    assert played.usage.samples == 8 * 240


def test_a_page_that_is_refused_is_no_estimate() -> None:
    """A page that the agent refuses is named, with the reason."""
    one = subject(body=b"<html>")
    with pytest.raises(ExpositionError, match=r"^node: the page is refused: .*no metrics page"):
        Player(PLAN).play(one, hour(one))


def test_what_cloudwatch_does_not_take_is_not_billed() -> None:
    """Samples whose own time is two weeks ago cost nothing; the newest time is taken for now."""
    gauge = b"# TYPE DCGM_FI_DEV_GPU_UTIL gauge\n"
    old = b'DCGM_FI_DEV_GPU_UTIL{pod="a"} 1 1000\nDCGM_FI_DEV_GPU_UTIL{pod="b"} 2 1300000000\n'
    played = Player(PLAN).play(subject(body=gauge + old), hour(subject(body=gauge + old)))
    assert {dict(sets).get("pod") for _, sets, _ in played.seen} == {"b", None}
    assert played.usage.samples == 240
