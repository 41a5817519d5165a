"""Reports about events that CloudWatch did not take, and datapoints that were not true."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from cwgpu.config.complaint import Level
from cwgpu.digest.page import Page
from cwgpu.emf.delta import Treatment
from cwgpu.logs import batch
from cwgpu.model.drop import DropReason
from cwgpu.model.event import EmfEvent, StreamKey
from cwgpu.model.reading import Reading
from cwgpu.plan.plan import Dcgm, Events, GroupBy
from tests.digest import kitchen
from tests.digest.kitchen import START_MS, STEP_MS, by_job, declared, points, read
from tests.reports import files, rows
from tests.reports.files import agent, declaration
from tests.reports.rows import Json

DAY_MS = 86_400_000
BY_DIMENSIONS = Events(GroupBy.DIMENSIONS)


def messages(reading: Reading) -> list[dict[str, Any]]:
    """Give the events as CloudWatch Logs stores them."""
    return [json.loads(event.message) for event in reading.events]


def values(reading: Reading) -> Counter[tuple[str, float]]:
    """Give the datapoints by name and value; every event must be valid."""
    return Counter((point.name, point.value) for point in points(reading))


def gauges(*names: str, labels: str = 'gpu="0",pod="p"') -> str:
    """Write a page of gauges, each with the value 1."""
    return "".join(f"# TYPE {name} gauge\n{name}{{{labels}}} 1\n" for name in names)


@rows.of("ISS-008")
def test_the_first_sample_of_a_counter(report: Json) -> None:
    """It is the baseline, and said to be; no energy of a lifetime is ever one huge increase."""
    page = kitchen.page(by_job())
    told = ("7", "9", "9")
    assert kitchen.story(page, *(f"# TYPE c_total counter\nc_total {one}\n" for one in told)) == [
        "| counter_baseline=1",
        "c_total=2",
        "c_total=0",
    ]
    energy = "DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION"
    page = kitchen.page(by_job())
    lifetime = f'# TYPE {energy} counter\n{energy}{{gpu="0"}} 9876543210\n'
    assert kitchen.story(page, lifetime) == ["| counter_baseline=1"]


@rows.of("ISS-012")
def test_a_counter_that_does_not_grow(report: Json) -> None:
    """Its increase is 0; who wants the total says so by selector."""
    text = '# TYPE fetched_bytes counter\nfetched_bytes{mountpoint="/a"} 775792\n'
    delta = kitchen.page(by_job())
    assert kitchen.story(delta, text, text)[1] == "fetched_bytes=0"
    absolute = by_job(counters=((lambda name: "fetched" in name, Treatment.ABSOLUTE),))
    assert kitchen.story(kitchen.page(absolute), text, text) == ["fetched_bytes=775792"] * 2


@rows.of("ISS-013", "ISS-014")
def test_more_metrics_than_an_event_may_have(report: Json) -> None:
    """They are split: same dimensions, same time, none lost, none twice, every event valid."""
    names = [f"DCGM_X_{number:03}" for number in range(130)]
    reading = read(kitchen.page(), gauges(*names))
    assert [event.samples for event in reading.events] == [100, 30]
    found = points(reading)
    assert Counter(point.name for point in found) == Counter(names)
    assert len({(point.dimensions, point.at_ms) for point in found}) == 1


@rows.of("ISS-014")
def test_nothing_invalid_is_ever_sent(report: Json) -> None:
    """What breaks a rule of the format is left out before it is sent, counted by its reason."""
    long, odd = "m" * 256, "é" * 3
    text = gauges("good", long) + f'# TYPE other gauge\nother{{gpu="0",pod="{odd}"}} 1\n'
    reading = read(kitchen.page(), text)
    assert values(reading) == Counter({("good", 1.0): 1})
    assert {(drop.reason, drop.count) for drop in reading.dropped} == {
        (DropReason.NAME_INVALID, 1),
        (DropReason.DIMENSION_INVALID, 1),
    }


@pytest.mark.parametrize(
    ("events", "count"), [(Events(), 150), (BY_DIMENSIONS, 2)], ids=["labels", "dimensions"]
)
@rows.of("ISS-015")
def test_more_values_than_an_array_may_have(report: Json, events: Events, count: int) -> None:
    """150 samples of one metric with equal dimensions all count, in events that are valid."""
    lines = "".join(f'u{{gpu="{number}",pod="p"}} {number}\n' for number in range(150))
    reading = read(kitchen.page(kitchen.plan(events=events)), f"# TYPE u gauge\n{lines}")
    assert len(reading.events) == count
    assert values(reading) == Counter(("u", float(number)) for number in range(150))
    arrays = [message["u"] for message in messages(reading)]
    assert all(len(one) <= 100 for one in arrays if isinstance(one, list))


@rows.of("ISS-015", "ISS-158")
def test_a_histogram_is_left_out_whole(report: Json) -> None:
    """It has no form here; it is counted, and never a statistic whose least and most are 0."""
    buckets = "".join(f'lat_bucket{{le="{number}"}} {number}\n' for number in range(160))
    tail = 'lat_bucket{le="+Inf"} 160\nlat_sum 130\nlat_count 160\n'
    reading = read(kitchen.page(by_job()), f"# TYPE lat histogram\n{buckets}{tail}")
    assert reading.events == ()
    assert [(drop.reason, drop.count) for drop in reading.dropped] == [
        (DropReason.UNSUPPORTED_TYPE, 163)
    ]


@pytest.mark.parametrize(
    "value", ["NaN", "nan", "+Inf", "-Inf", "Inf", "1e309", "-1e309", "1e109", "-2.5e108"]
)
@rows.of("ISS-016", "ISS-017")
def test_a_value_that_json_or_cloudwatch_does_not_know(report: Json, value: str) -> None:
    """That sample is dropped and counted; the others of its event are sent."""
    text = f'# TYPE m gauge\nm{{gpu="0",pod="p"}} {value}\n{gauges("util")}'
    for page in (kitchen.page(), replayed(text)):
        reading = read(page, text, START_MS + STEP_MS)
        assert values(reading) == Counter({("util", 1.0): 1})
        ((reason, count),) = [(drop.reason, drop.count) for drop in reading.dropped]
        # What no 64-bit float can be is no number to Prometheus either.
        beyond = DropReason.BAD_LINE if "e309" in value else DropReason.OUT_OF_RANGE
        assert (reason, count) == (beyond if "e" in value else DropReason.NOT_FINITE, 1)


def replayed(text: str) -> Page:
    """Give a page that has seen this text with good values."""
    page = kitchen.page()
    good = "".join(
        f"{line.rpartition(' ')[0]} 1\n" if line[:1] != "#" else f"{line}\n"
        for line in text.splitlines()
    )
    read(page, good)
    return page


@rows.of("ISS-019", "ISS-117", "ISS-151")
def test_labels_are_strings_whatever_they_say(report: Json) -> None:
    """Numbers, infinities and dates in labels stay texts; every metric is a number."""
    labels = 'gpu="0",GPU_I_ID="7",pod="404",power="Infinity",at="2026-01-01",none="null"'
    (message,) = messages(read(kitchen.page(), gauges("u", labels=labels)))
    assert {name: message[name] for name in ("gpu", "GPU_I_ID", "pod", "power", "at", "none")} == {
        "gpu": "0",
        "GPU_I_ID": "7",
        "pod": "404",
        "power": "Infinity",
        "at": "2026-01-01",
        "none": "null",
    }
    assert message["u"] == 1
    (point,) = points(read(kitchen.page(), gauges("u", labels=labels)))
    assert ("pod", "404") in point.dimensions


@rows.of("ISS-020")
def test_more_dimensions_than_a_set_may_have(report: Json, tmp_path: Path) -> None:
    """31 are an error of the configuration; 30 are sent."""
    names = [f"l{number}" for number in range(31)]
    config = agent(declaration(dimensions=[names]))
    (error,) = files.write(tmp_path, config).refused()
    assert error.code == "too-many-dimensions"
    labels = ",".join(f'{name}="1"' for name in names)
    of = kitchen.plan(declared(sets=(tuple(names[:30]),)))
    (point,) = points(read(kitchen.page(of), gauges("u", labels=labels)))
    assert len(point.dimensions) == 30


@rows.of("ISS-025")
def test_where_an_event_goes_is_not_in_it(report: Json) -> None:
    """PutLogEvents names group and stream; the event holds directives and time alone."""
    (message,) = messages(read(kitchen.page(), gauges("u")))
    assert message["_aws"].keys() == {"Timestamp", "CloudWatchMetrics"}
    assert not message.keys() & {"LogGroupName", "LogStreamName"}


@pytest.mark.parametrize("events", [Events(), BY_DIMENSIONS], ids=["labels", "dimensions"])
@rows.of("ISS-028")
def test_two_gpus_of_one_pod(report: Json, events: Events) -> None:
    """Both values count: average 50, maximum 90, two samples, however events are made."""
    util = "DCGM_FI_DEV_GPU_UTIL"
    text = f'# TYPE {util} gauge\n{util}{{gpu="0",pod="p"}} 10\n{util}{{gpu="1",pod="p"}} 90\n'
    reading = read(kitchen.page(kitchen.plan(events=events)), text)
    found = points(reading)
    assert sorted(point.value for point in found) == [10, 90]
    assert len({(point.name, point.dimensions, point.at_ms) for point in found}) == 1
    gpus = [message["gpu"] for message in messages(reading) if "gpu" in message]
    assert sorted(gpus) == ([] if events.arrays else ["0", "1"])


@rows.of("ISS-029", "ISS-121")
def test_an_empty_label_is_an_absent_one(report: Json) -> None:
    """No dimension is empty: the set that needs a pod is skipped, a smaller one is used."""
    text = gauges("u", labels='gpu="0",UUID="GPU-x",container="",namespace="",pod=""')
    needing = kitchen.page(kitchen.plan(declared(sets=(("job", "pod"),))))
    assert kitchen.story(needing, text) == ["| dimension_missing=1"]
    both = kitchen.page(kitchen.plan(declared(sets=(("job", "pod"), ("job",)))))
    reading = read(both, text)
    assert [dict(point.dimensions) for point in points(reading)] == [{"job": "dcgm"}]
    (message,) = messages(reading)
    assert not message.keys() & {"pod", "namespace", "container"}


@rows.of("ISS-081")
def test_times_are_milliseconds_of_these_days(report: Json) -> None:
    """What CloudWatch would refuse, as microseconds taken for milliseconds, is never sent."""
    now_ms = START_MS
    (event,) = read(kitchen.page(), gauges("u")).events
    assert event.at_ms == START_MS
    assert json.loads(event.message)["_aws"]["Timestamp"] == START_MS
    key = StreamKey("g", "s")

    def at(at_ms: int) -> EmfEvent:
        return EmfEvent.of(key, at_ms, b"{}", 1, 1)

    good = [at(now_ms - 13 * DAY_MS), at(now_ms)]
    bad = [at(now_ms * 1000), at(now_ms // 1000), at(now_ms - 15 * DAY_MS), at(now_ms + DAY_MS)]
    cut = batch.cut([*good, *bad], now_ms)
    assert Counter(reason for _, reason in cut.dropped) == {
        DropReason.TOO_NEW: 2,
        DropReason.TOO_OLD: 2,
    }
    assert [one.at_ms for part in cut.batches for one in part.events] == [e.at_ms for e in good]


@rows.of("ISS-119")
def test_samples_have_the_time_of_their_scrape(report: Json) -> None:
    """Two scrapes never share an event, whenever they are flushed; a time that is told counts."""
    page, text = kitchen.page(), gauges("u")
    readings = [read(page, text, START_MS + after_ms) for after_ms in (0, 30_000)]
    assert [point.at_ms for one in readings for point in points(one)] == [
        START_MS,
        START_MS + 30_000,
    ]
    told = f'# TYPE u gauge\nu{{pod="p"}} 1 {START_MS - 5_000}\n'
    assert [point.at_ms for point in points(read(kitchen.page(), told))] == [START_MS - 5_000]


@rows.of("ISS-120")
def test_two_pods_on_one_page(report: Json) -> None:
    """Each has its value: an event holds one value of a dimension."""
    text = '# TYPE x gauge\nx{pod="a"} 1\nx{pod="b"} 2\n'
    found = {
        (dict(point.dimensions)["pod"], point.value) for point in points(read(kitchen.page(), text))
    }
    assert found == {("a", 1), ("b", 2)}


@rows.of("ISS-127")
def test_metrics_of_every_five_seconds(report: Json, tmp_path: Path) -> None:
    """The check says that they are kept by the minute, and what a resolution of 1 costs."""
    job = {**files.JOB, "scrape_interval": "5s", "scrape_timeout": "5s"}
    assert files.write(tmp_path, agent(), job).said("interval-vs-resolution").level is Level.NOTE
    own = {"storage_resolution": {"^DCGM_": 1}}
    config = agent(declaration(metric_selectors=["."]), own=own)
    written = files.write(tmp_path, config, job)
    assert written.said("high-resolution-cost").level is Level.NOTE
    reading = read(kitchen.page(written.plan(), {"job": "dcgm"}), gauges("DCGM_X", "other"))
    assert {point.name: point.resolution for point in points(reading)} == {"DCGM_X": 1, "other": 60}
    wrong = agent(own={"storage_resolution": {"^DCGM_": 5}})
    (error,) = files.write(tmp_path, wrong, job).refused()
    assert (error.code, error.help) == ("wrong-value", "write 1 or 60")


@rows.of("ISS-128")
def test_units_that_cloudwatch_does_not_know(report: Json, tmp_path: Path) -> None:
    """They are an error that lists those it knows; what has no unit has none."""
    power, util = "DCGM_FI_DEV_POWER_USAGE", "DCGM_FI_DEV_GPU_UTIL"

    def written(units: dict[str, str]) -> files.Files:
        processor = {
            "metric_unit": units,
            "metric_declaration": [declaration(metric_selectors=["."])],
        }
        return files.write(tmp_path, agent(emf_processor=processor))

    errors = written({power: "Watts", "DCGM_FI_DEV_GPU_TEMP": "Celsius"}).refused()
    assert [error.code for error in errors] == ["unknown-unit"] * 2
    assert all("Percent" in error.help for error in errors)
    plan = written({util: "Percent"}).plan()
    reading = read(kitchen.page(plan, {"job": "dcgm"}), gauges(power, util))
    assert {point.name: point.unit for point in points(reading)} == {power: None, util: "Percent"}
    ours = by_job(dcgm=Dcgm(units=True), units={util: "Count"})
    fields = (util, "DCGM_FI_DEV_MEM_COPY_UTIL", "DCGM_FI_PROF_PCIE_TX_BYTES", power)
    made = read(kitchen.page(ours), gauges(*fields))
    assert [point.unit for point in points(made)] == ["Count", "Percent", "Bytes/Second", None]


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        ("équipe", DropReason.DIMENSION_INVALID),
        ("p" * 1_100, DropReason.DIMENSION_INVALID),
        ("   ", DropReason.DIMENSION_INVALID),
        ("a\u0007b", DropReason.DIMENSION_INVALID),
    ],
    ids=["not ASCII", "too long", "blank", "control character"],
)
@rows.of("ISS-152")
def test_a_label_that_is_no_dimension(report: Json, value: str, reason: DropReason) -> None:
    """It costs its own samples alone, and is named: a value that was altered would be another.

    As a field beside the dimensions any text is good.
    """
    text = f'# TYPE u gauge\nu{{pod="{value}"}} 1\nu{{pod="good"}} 2\n'
    reading = read(kitchen.page(), text)
    assert values(reading) == Counter({("u", 2.0): 1})
    ((said, count, rule),) = [(drop.reason, drop.count, drop.detail) for drop in reading.dropped]
    assert (said, count) == (reason, 1)
    assert rule.startswith("the value of pod ")
    field = read(kitchen.page(by_job()), f'# TYPE u gauge\nu{{modelName="{value}"}} 1\n')
    assert values(field) == Counter({("u", 1.0): 1})
    assert messages(field)[0]["modelName"] == value


@rows.of("ISS-152")
def test_a_dimension_set_that_cannot_be(report: Json) -> None:
    """It costs its own datapoint, and is named; the sample is sent by the other sets."""
    both = declared(sets=(("job", "pod"), ("job",)))
    text = '# TYPE u gauge\nu{pod="é"} 1\n# TYPE pod gauge\npod{gpu="0",pod="p"} 2\n'
    page = kitchen.page(kitchen.plan(both))
    for at_ms in (START_MS, START_MS + STEP_MS):
        reading = read(page, text, at_ms)
        assert values(reading) == Counter({("u", 1.0): 1, ("pod", 2.0): 1})
        assert (reading.selected, reading.dropped) == (2, ())
        ((reason, count, names, rule),) = [
            (drop.reason, drop.count, drop.names, drop.detail) for drop in reading.partly
        ]
        assert (reason, count, names) == (DropReason.DIMENSION_INVALID, 2, ("u", "pod"))
        assert rule == "[job, pod]: the value of pod holds a character outside ASCII"
    hidden = text[text.index("# TYPE pod") :]
    (drop,) = read(kitchen.page(kitchen.plan(both)), hidden).partly
    assert drop.detail == "[job, pod]: a metric of the event has the name of a label"


@rows.of("ISS-156")
def test_two_declarations_that_select_one_metric(report: Json) -> None:
    """Each dimension set counts once, in whichever order its names are written."""
    util, sets = "DCGM_FI_DEV_GPU_UTIL", (("job", "pod"),)
    both = (declared("^DCGM_", sets), declared(f"^{util}$", (("pod", "job"),)))
    reading = read(kitchen.page(kitchen.plan(*both)), gauges(util))
    assert values(reading) == Counter({(util, 1.0): 1})


@pytest.mark.parametrize("events", [Events(), BY_DIMENSIONS], ids=["labels", "dimensions"])
@rows.of("ISS-157")
def test_a_name_is_listed_once(report: Json, events: Events) -> None:
    """No event defines a metric twice, however often a page has it."""
    lines = "".join(f'u{{gpu="{number}",pod="p"}} {number}\n' for number in range(4))
    repeated = '# TYPE again gauge\nagain{pod="p"} 1\nagain{pod="p"} 2\n'
    page = kitchen.page(kitchen.plan(events=events))
    reading = read(page, f"# TYPE u gauge\n{lines}{repeated}")
    for message in messages(reading):
        (directive,) = message["_aws"]["CloudWatchMetrics"]
        names = [metric["Name"] for metric in directive["Metrics"]]
        assert len(names) == len(set(names))
    assert values(reading) == Counter([*(("u", float(n)) for n in range(4)), ("again", 2.0)])


@rows.of("ISS-159")
def test_sums_and_counts_are_increases(report: Json) -> None:
    """Of a summary over three scrapes CloudWatch gets what came in between."""
    page = kitchen.page(by_job())
    texts = [
        f'# TYPE s summary\ns{{quantile="0.5"}} 1\ns_sum {count * 2}\ns_count {count}\n'
        for count in (10, 12, 15)
    ]
    assert kitchen.story(page, *texts) == [
        "s=1 | counter_baseline=2",
        "s=1 s_count=2 s_sum=4",
        "s=1 s_count=3 s_sum=6",
    ]


@rows.of("ISS-161")
def test_an_exporter_that_began_anew(report: Json) -> None:
    """After a reset all of the total is new; another target with equal labels begins afresh."""
    texts = [f'# TYPE c counter\nc{{pod="p"}} {total}\n' for total in (100, 3, 5)]
    page = kitchen.page(by_job())
    assert kitchen.story(page, *texts) == ["| counter_baseline=1", "c=3", "c=2"]
    assert kitchen.story(kitchen.page(by_job()), texts[2]) == ["| counter_baseline=1"]


@rows.of("ISS-194")
def test_a_series_that_is_gone(report: Json) -> None:
    """Nothing is sent for it: no NaN, no zero, not its last value."""
    page = kitchen.page(by_job())
    assert kitchen.story(page, gauges("a", "b"), gauges("b"), gauges("b"), gauges("a", "b")) == [
        "a=1 b=1",
        "b=1",
        "b=1",
        "a=1 b=1",
    ]
