"""Reports about the bill: what is sent, how often, and who decides on it."""

import json
from collections import Counter
from pathlib import Path

import pytest

from cwgpu.config.complaint import Level
from cwgpu.digest.budget import Budget
from cwgpu.digest.page import Page
from cwgpu.digest.recipe import Recipe
from cwgpu.model.drop import DropReason
from cwgpu.model.event import StreamKey
from cwgpu.plan.plan import Budget as Limit
from cwgpu.plan.plan import Events
from cwgpu.sinks.access import Access
from cwgpu.sinks.cloudwatch import CloudWatchSink
from tests.cli import program
from tests.digest import kitchen
from tests.digest.kitchen import by_job, declared, points, read
from tests.fakes import faults
from tests.fakes.cloudwatch import FakeCloudWatch
from tests.fakes.exporter import FakeExporter
from tests.reports import files, rows
from tests.reports.files import agent, declaration
from tests.reports.rows import Json
from tests.sinks.stage import KEY

UTIL = "DCGM_FI_DEV_GPU_UTIL"
FAMILIES = "".join(
    f'# TYPE {name} gauge\n{name}{{gpu="0",pod="p"}} 1\n'
    for name in (UTIL, *(f"DCGM_FI_DEV_X{number:03}" for number in range(299)))
)
"""A page of 300 families."""


@rows.of("ISS-003", "ISS-122")
def test_what_is_not_selected_is_not_sent(report: Json, tmp_path: Path) -> None:
    """Of 300 families one metric is sent; a dry run counts the rest; to log all is a choice."""
    chosen = kitchen.plan(declared(f"^{UTIL}$"))
    reading = read(kitchen.page(chosen), FAMILIES)
    (event,) = reading.events
    assert [point.name for point in points(reading)] == [UTIL]
    assert b"X000" not in event.message
    everything = kitchen.plan(declared(f"^{UTIL}$"), log_unselected=True)
    (event,) = read(kitchen.page(everything), FAMILIES).events
    assert b"X000" in event.message
    with FakeExporter(FAMILIES.encode()) as exporter:
        path = program.configuration(tmp_path / "a.json", exporter.address, selects=f"^{UTIL}$")
        done = program.run("run", "-c", str(path), "--dry-run", "--once")
    assert "299 unselected: no metric_declaration selects it" in done.summary
    assert "bytes" in done.summary


@rows.of("ISS-039", "ISS-122")
def test_what_it_will_cost(report: Json, tmp_path: Path) -> None:
    """It is estimated from a page, by item, and with pods that are new all the time."""
    page = tmp_path / "page.prom"
    page.write_text(FAMILIES)
    path = program.configuration(tmp_path / "a.json", "127.0.0.1:9400", selects=f"^{UTIL}$")
    asked = ["cost", "-c", str(path), "--page", str(page), "-o", "json"]

    def estimate(*more: str) -> Json:
        done = program.run(*asked, *more)
        assert done.code == 0
        read: Json = json.loads(done.stdout)
        return read

    found = estimate()
    assert found["metrics"]["fleet"] == 1
    assert found["usd_per_month"].keys() >= {"custom_metrics", "log_ingestion", "total"}
    churning = estimate("--pods-per-day", "200")
    assert churning["month"]["metric_hours_of_pod_starts"] > 0
    assert churning["usd_per_month"]["total"] > found["usd_per_month"]["total"]


@rows.of("ISS-021")
async def test_how_long_events_are_kept(
    report: Json, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Groups that we make keep them as told, if we may tell; those of others as they were told."""
    wrong = agent(log_retention=7)
    (error,) = files.write(tmp_path, wrong).refused()
    assert error.help == "did you mean cwgpu.log_retention_days?"
    (error,) = files.write(tmp_path, agent(own={"log_retention_days": 8})).refused()
    assert error.help.startswith("write 7; it knows 1, 3, 5, 7")
    days = files.write(tmp_path, agent(own={"log_retention_days": 7})).plan().cloudwatch
    assert days.retention_days == 7
    async with FakeCloudWatch() as fake:
        for name, value in fake.environ.items():
            monkeypatch.setenv(name, value)
        sink = CloudWatchSink(Access(endpoint_url=fake.url), retention_days=7)
        fake.add("theirs", "x", retention_days=365)
        await sink.create(KEY)
        await sink.create(StreamKey("theirs", "s"))
        assert fake.groups[KEY.group].retention_days == 7
        assert fake.groups["theirs"].retention_days == 365
        fake.fail(faults.access_denied("logs:PutRetentionPolicy"), action="PutRetentionPolicy")
        answer = await sink.create(StreamKey("new", "s"))
        await sink.close()
    assert answer.code == ""
    assert "new keeps its events for ever" in answer.message


@rows.of("ISS-027")
def test_without_declarations(report: Json, tmp_path: Path) -> None:
    """Nothing becomes a metric, with a warning: never all labels as dimensions."""
    config = {"logs": {"metrics_collected": {"prometheus": {"cluster_name": "lab"}}}}
    written = files.write(tmp_path, config)
    assert written.said("nothing-selected").level is Level.WARNING
    (warning,) = written.plan().warnings
    assert "nothing will be sent" in warning
    labels = ",".join(f'l{number}="1"' for number in range(35))
    page = kitchen.page(written.plan(), {"job": "dcgm"})
    reading = read(page, f"# TYPE u gauge\nu{{{labels}}} 1\n")
    assert reading.events == ()


@rows.of("ISS-039")
def test_pods_that_are_new_all_the_time(report: Json) -> None:
    """By the workload they are a few metrics for ever, where by the pod each makes its own."""
    sets = {"pod": (("job", "pod"),), "workload": (("job", "workload"),)}
    found = {}
    for name, chosen in sets.items():
        identities = set()
        for number in range(200):
            target = {"job": "dcgm", "Service": "dcgm", "workload": "train"}
            page = kitchen.page(kitchen.plan(declared(sets=chosen)), target)
            text = f'# TYPE u gauge\nu{{pod="train-{number}"}} 1\n'
            identities |= {(point.name, point.dimensions) for point in points(read(page, text))}
        found[name] = len(identities)
    assert found == {"pod": 200, "workload": 1}


@rows.of("ISS-039")
def test_more_metrics_than_a_budget_allows(report: Json) -> None:
    """Those that were there stay; the samples of the others are counted, and nothing is paid."""
    plan = kitchen.plan(declared(sets=(("job", "pod"),)))
    budget = Budget()
    budget.follow(Limit(50, drops=True))
    page = Page(Recipe(plan, plan.jobs[0], budget), {"job": "dcgm", "Service": "dcgm"})
    identities, refused = set(), 0
    for number in range(200):
        reading = read(page, f'# TYPE u gauge\nu{{pod="train-{number}"}} 1\n')
        identities |= {(point.name, point.dimensions) for point in points(reading)}
        refused += sum(d.count for d in reading.dropped if d.reason is DropReason.OVER_BUDGET)
    assert (len(identities), refused) == (50, 150)


@rows.of("ISS-129")
def test_logs_without_metrics(report: Json, tmp_path: Path) -> None:
    """The same events can be sent for Logs Insights alone."""
    config = agent(declaration(metric_selectors=["."]), disable_metric_extraction=True)
    page = kitchen.page(files.write(tmp_path, config).plan(), {"job": "dcgm"})
    reading = read(page, '# TYPE u gauge\nu{gpu="0"} 1\n')
    assert points(reading) == []
    (event,) = reading.events
    message = json.loads(event.message)
    assert (message["u"], message["gpu"]) == (1, "0")


@rows.of("ISS-141")
def test_a_node_of_many_labels(report: Json) -> None:
    """They are fields of the event and no dimensions; the event is still one that is taken."""
    target = {"job": "dcgm", "Service": "dcgm", **{f"node_{n}": "x" * 60 for n in range(45)}}
    reading = read(kitchen.page(by_job(), target), "# TYPE u gauge\nu 1\n")
    (point,) = points(reading)
    assert dict(point.dimensions) == {"job": "dcgm"}
    (event,) = reading.events
    assert json.loads(event.message).keys() >= target.keys()
    few = by_job(events=Events(labels=("node_0",)))
    (event,) = read(kitchen.page(few, target), "# TYPE u gauge\nu 1\n").events
    assert json.loads(event.message).keys() == {"_aws", "job", "node_0", "u"}


@rows.of("ISS-154")
def test_labels_for_the_log_alone(report: Json) -> None:
    """What no dimension set names costs no metric, whatever its values are."""
    lines = "".join(
        f'u{{UUID="GPU-{n}",pci_bus_id="{n}",err_msg="m {n}"}} {n}\n' for n in range(20)
    )
    reading = read(kitchen.page(by_job()), f"# TYPE u gauge\n{lines}")
    assert len({(point.name, point.dimensions) for point in points(reading)}) == 1
    messages = [json.loads(event.message) for event in reading.events]
    assert {message["UUID"] for message in messages} == {f"GPU-{n}" for n in range(20)}
    chosen = read(kitchen.page(by_job(events=Events(labels=("UUID",)))), f"# TYPE u gauge\n{lines}")
    assert all(b"UUID" in event.message for event in chosen.events)
    assert not any(b"err_msg" in event.message for event in chosen.events)


@rows.of("ISS-155")
def test_metrics_of_one_gpu_share_an_event(report: Json) -> None:
    """Fourteen metrics with equal labels say these labels once."""
    labels = 'gpu="0",UUID="GPU-1",device="nvidia0",modelName="NVIDIA A10G",pod="p"'
    lines = "".join(f"# TYPE m{n} gauge\nm{n}{{{labels}}} {n}\n" for n in range(14))
    (event,) = read(kitchen.page(by_job()), lines).events
    assert (event.samples, event.datapoints) == (14, 14)
    assert Counter(event.message.split(b'"'))[b"GPU-1"] == 1
