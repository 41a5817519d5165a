"""The self metrics, read back by an independent parser."""

import pytest
from prometheus_client import parser
from prometheus_client.openmetrics import parser as openmetrics

import cwgpu
from cwgpu.model.drop import DropReason
from cwgpu.model.event import Outcome, StreamKey
from cwgpu.model.reading import Drop, Reading
from cwgpu.model.scrape import FailReason, Scrape, ScrapeFailed
from cwgpu.model.target import DroppedTarget, Target
from cwgpu.telemetry.metrics import Metrics

STREAM = StreamKey("group", "stream")
NOW = 1_700_000_000.5


@pytest.fixture
def metrics() -> Metrics:
    """Give metrics at a fixed time."""
    return Metrics(lambda: NOW)


def aim(url: str, job: str = "dcgm") -> Target:
    """Make a target."""
    return Target(job, url, {}, 60.0, 10.0)


def page(at_ms: int = 5_000) -> Scrape:
    """Make a page of 10 bytes that took a quarter of a second."""
    return Scrape(at_ms, b"x" * 10, "text/plain", 0.25)


READING = Reading(
    (), 10, 7, (Drop(DropReason.UNSELECTED, 2, ()), Drop(DropReason.BLANK, 1, ())), ()
)
FAILED = ScrapeFailed(5_000, FailReason.TIMEOUT, "slow", 10.0)


def read(metrics: Metrics) -> dict[str, float]:
    """Read the page and give every sample that is not zero, as name{labels} -> value."""
    body, _ = metrics.render()
    samples = {}
    for family in parser.text_string_to_metric_families(body.decode()):
        for sample in family.samples:
            labels = ",".join(f"{name}={value}" for name, value in sorted(sample.labels.items()))
            if sample.value and sample.name.startswith("cwgpu_"):
                samples[f"{sample.name}{{{labels}}}"] = sample.value
    return samples


def test_what_there_is_from_the_start(metrics: Metrics) -> None:
    """Before anything happened there is the build, and every drop reason stands at zero."""
    body = metrics.render()[0].decode()
    assert 'cwgpu_build_info{python="3.' in body
    assert f'version="{cwgpu.__version__}"' in body
    for reason in DropReason:
        assert f'cwgpu_dropped_samples_total{{reason="{reason.value}"}} 0.0' in body
    assert "process_resident_memory_bytes" in body
    assert "_created" not in body


def test_a_page_is_counted(metrics: Metrics) -> None:
    """A page gives its job's scrapes, time, bytes and samples, and the reasons of what it lost."""
    metrics.scraped(aim("a"), page(), READING)
    samples = read(metrics)
    assert samples["cwgpu_scrapes_total{job=dcgm,result=ok}"] == 1
    assert samples["cwgpu_scrape_duration_seconds_sum{job=dcgm}"] == 0.25
    assert samples["cwgpu_scraped_bytes_total{job=dcgm}"] == 10
    assert samples["cwgpu_samples_read_total{job=dcgm}"] == 10
    assert samples["cwgpu_samples_selected_total{job=dcgm}"] == 7
    assert samples["cwgpu_dropped_samples_total{reason=unselected}"] == 2
    assert samples["cwgpu_dropped_samples_total{reason=dcgm_blank}"] == 1
    assert samples["cwgpu_last_scrape_success_timestamp_seconds{}"] == 5


def test_a_page_without_samples_is_counted_as_empty(metrics: Metrics) -> None:
    """It is no failure, and no ordinary scrape either."""
    metrics.scraped(aim("a"), page(), Reading((), 0, 0, (), ()))
    samples = read(metrics)
    assert samples["cwgpu_scrapes_total{job=dcgm,result=page_empty}"] == 1
    assert "cwgpu_scrapes_total{job=dcgm,result=ok}" not in samples


def test_the_last_scrape_never_goes_back(metrics: Metrics) -> None:
    """Pages that end out of order leave the newest time."""
    metrics.scraped(aim("a"), page(5_000), READING)
    metrics.scraped(aim("b"), page(4_000), READING)
    assert read(metrics)["cwgpu_last_scrape_success_timestamp_seconds{}"] == 5


def test_a_failed_scrape_is_counted_by_its_reason(metrics: Metrics) -> None:
    """A failure has its reason's word and its duration, and no samples."""
    metrics.scrape_failed(aim("a"), FAILED)
    samples = read(metrics)
    assert samples["cwgpu_scrapes_total{job=dcgm,result=timeout}"] == 1
    assert samples["cwgpu_scrape_duration_seconds_sum{job=dcgm}"] == 10
    assert "cwgpu_samples_read_total{job=dcgm}" not in samples


def targets(metrics: Metrics) -> dict[str, float]:
    """Give the counts of targets that are not zero."""
    return {
        name.removeprefix("cwgpu_targets"): value
        for name, value in read(metrics).items()
        if name.startswith("cwgpu_targets")
    }


def test_targets_by_state(metrics: Metrics) -> None:
    """A target is unscraped, up or down as its last scrape was; dropped ones are counted apart."""
    dropped = [
        DroppedTarget("dcgm", {}, "rule 1"),
        DroppedTarget("dcgm", {}, "rule 1"),
        DroppedTarget("dcgm", {}, "no address", rejected=True),
    ]
    metrics.discovered([aim("a"), aim("b"), aim("c"), aim("a", "other")], dropped)
    assert targets(metrics) == {
        "{job=dcgm,state=unscraped}": 3,
        "{job=other,state=unscraped}": 1,
        "{job=dcgm,state=dropped}": 2,
        "{job=dcgm,state=rejected}": 1,
    }
    metrics.scraped(aim("a"), page(), READING)
    metrics.scraped(aim("a"), page(), READING)
    metrics.scrape_failed(aim("b"), FAILED)
    assert targets(metrics)["{job=dcgm,state=up}"] == 1
    assert targets(metrics)["{job=dcgm,state=down}"] == 1
    assert targets(metrics)["{job=dcgm,state=unscraped}"] == 1
    metrics.discovered([aim("a"), aim("b")], [])
    assert targets(metrics) == {"{job=dcgm,state=up}": 1, "{job=dcgm,state=down}": 1}
    metrics.scraped(aim("gone"), page(), READING)
    metrics.scraped(aim("b"), page(), READING)
    assert targets(metrics) == {"{job=dcgm,state=up}": 2}


def test_who_leads_no_more_knows_nothing_of_its_targets(metrics: Metrics) -> None:
    """Another agent scrapes them now; those that were dropped are dropped all the same."""
    metrics.discovered([aim("a"), aim("b")], [DroppedTarget("dcgm", {}, "rule 1")])
    metrics.scraped(aim("a"), page(), READING)
    metrics.scrape_failed(aim("b"), FAILED)
    metrics.lead_changed(leads=False)
    assert targets(metrics) == {"{job=dcgm,state=unscraped}": 2, "{job=dcgm,state=dropped}": 1}
    assert read(metrics)["cwgpu_lease_transitions_total{to=standby}"] == 1


def test_who_contends_is_asked_at_each_rendering(metrics: Metrics) -> None:
    """A process that stood still does not say that it leads; without a lease everybody does."""
    assert read(metrics)["cwgpu_leader{}"] == 1
    leads = True
    metrics.contends(lambda: leads)
    assert read(metrics)["cwgpu_leader{}"] == 1
    leads = False
    assert "cwgpu_leader{}" not in read(metrics)
    metrics.lease_failed()
    assert read(metrics)["cwgpu_lease_failures_total{}"] == 1


def test_the_count_of_shards_that_is_in_force(metrics: Metrics) -> None:
    """None before it is known."""
    assert "cwgpu_shards{}" not in read(metrics)
    metrics.shards_changed(3)
    assert read(metrics)["cwgpu_shards{}"] == 3


def test_targets_that_are_not_remembered_are_counted(metrics: Metrics) -> None:
    """What keep_dropped_targets leaves out is dropped or rejected all the same."""
    lost = [
        DroppedTarget("dcgm", {}, "rule 1"),
        DroppedTarget("dcgm", {}, "no host", rejected=True),
    ]
    metrics.discovered([], lost, {("dcgm", False): 3, ("dcgm", True): 4, ("other", False): 5})
    assert targets(metrics) == {
        "{job=dcgm,state=dropped}": 4,
        "{job=dcgm,state=rejected}": 5,
        "{job=other,state=dropped}": 5,
    }


def test_delivery_is_counted(metrics: Metrics) -> None:
    """An outcome gives events, samples, datapoints and bytes, and what was lost on the way."""
    metrics.outcome(Outcome(STREAM, 3, 30, 60, ((DropReason.TOO_OLD, 4),)), size_bytes=900)
    samples = read(metrics)
    assert samples["cwgpu_delivered_events_total{}"] == 3
    assert samples["cwgpu_delivered_samples_total{}"] == 30
    assert samples["cwgpu_delivered_datapoints_total{}"] == 60
    assert samples["cwgpu_delivered_bytes_total{}"] == 900
    assert samples["cwgpu_dropped_samples_total{reason=too_old}"] == 4
    assert samples["cwgpu_last_delivery_success_timestamp_seconds{}"] == NOW


def test_a_lost_batch_is_no_delivery(metrics: Metrics) -> None:
    """A batch of which nothing arrived counts as lost only."""
    metrics.outcome(Outcome(STREAM, 0, 0, 0, ((DropReason.REJECTED, 4),)), size_bytes=900)
    samples = read(metrics)
    assert samples["cwgpu_dropped_samples_total{reason=rejected}"] == 4
    assert not [name for name in samples if "deliver" in name]


def test_retries_and_reloads(metrics: Metrics) -> None:
    """Retries count by cause, ambiguous ones twice; the configuration shows what is now."""
    metrics.delivery.retried("throttled")
    metrics.delivery.retried("network", ambiguous=True)
    metrics.reloaded(ok=True)
    metrics.reloaded(ok=False)
    samples = read(metrics)
    assert samples["cwgpu_retried_batches_total{cause=throttled}"] == 1
    assert samples["cwgpu_retried_batches_total{cause=network}"] == 1
    assert samples["cwgpu_ambiguous_batches_total{}"] == 1
    assert samples["cwgpu_config_reloads_total{result=success}"] == 1
    assert samples["cwgpu_config_reloads_total{result=failure}"] == 1
    assert "cwgpu_config_last_reload_successful{}" not in samples
    assert samples["cwgpu_config_last_reload_success_timestamp_seconds{}"] == NOW


@pytest.mark.parametrize(
    ("accept", "content_type"),
    [
        ("", "text/plain; version=0.0.4"),
        ("*/*", "text/plain; version=0.0.4"),
        (
            "application/openmetrics-text; version=1.0.0",
            "application/openmetrics-text; version=1.0.0",
        ),
        ("application/openmetrics-text", "application/openmetrics-text; version=1.0.0"),
        ("application/openmetrics-text; version=one", "text/plain; version=0.0.4"),
        (
            "application/openmetrics-text; version=99; escaping=odd",
            "application/openmetrics-text; version=99",
        ),
        ("text/plain; version=", "text/plain; version=0.0.4"),
    ],
)
def test_the_reader_chooses_the_format(metrics: Metrics, accept: str, content_type: str) -> None:
    """Text is the default, OpenMetrics comes when asked for, nonsense is not an error."""
    metrics.scraped(aim("a"), page(), READING)
    body, given = metrics.render(accept)
    assert given.startswith(content_type)
    if "openmetrics" in given:
        families = list(openmetrics.text_string_to_metric_families(body.decode()))  # type: ignore[no-untyped-call]
        assert "cwgpu_scrapes" in [family.name for family in families]


def test_two_agents_in_one_process_do_not_meet() -> None:
    """Each has a registry of its own."""
    first, second = Metrics(lambda: NOW), Metrics(lambda: NOW)
    first.delivery.retried("network")
    assert "cwgpu_retried_batches_total{cause=network}" not in read(second)


def test_many_pages_are_counted_as_each_is(metrics: Metrics) -> None:
    """However many come before somebody asks, and of whatever jobs."""
    jobs = ("dcgm", "other")
    for number in range(500):
        reading = READING if number % 5 else Reading((), 0, 0, (), ())
        metrics.scraped(aim(f"http://{number}", jobs[number % 2]), page(1_000 * number), reading)
    found = read(metrics)
    for job in jobs:
        assert found[f"cwgpu_scrapes_total{{job={job},result=ok}}"] == 200
        assert found[f"cwgpu_scrapes_total{{job={job},result=page_empty}}"] == 50
        assert found[f"cwgpu_scraped_bytes_total{{job={job}}}"] == 2_500
        assert found[f"cwgpu_samples_read_total{{job={job}}}"] == 2_000
        assert found[f"cwgpu_samples_selected_total{{job={job}}}"] == 1_400
        assert found[f"cwgpu_scrape_duration_seconds_sum{{job={job}}}"] == 62.5
    assert found["cwgpu_dropped_samples_total{reason=unselected}"] == 800
    assert found["cwgpu_last_scrape_success_timestamp_seconds{}"] == 499
