"""Scrape configurations become jobs with nothing left to interpret."""

from pathlib import Path

import pytest

from cwgpu.config import document, load
from cwgpu.config.complaint import errors_in
from cwgpu.config.document import Form
from cwgpu.config.where import Found
from cwgpu.plan.plan import FileDiscovery, Job
from cwgpu.prom.exposition import Format
from tests.config import corpus


def jobs(text: str) -> tuple[Job, ...]:
    """Make the jobs of a prometheus.yml in /etc/gpu that is right."""
    read = document.read(text.encode(), "prometheus.yml", Form.YAML)
    made, said = load.prometheus_file(Found(read.root, read.complaints, Path("/etc/gpu")))
    assert not errors_in(said)
    return made


def job(keys: str, before: str = "") -> Job:
    """Make the job of some keys."""
    (made,) = jobs(f"{before}scrape_configs:\n- job_name: gpu\n  {keys}\n")
    return made


def test_every_key_arrives() -> None:
    """Each key that works is in the plan as it was written."""
    path = corpus.FOLDER / "jobs.good.yaml"
    static, files = jobs(path.read_text())
    assert (static.name, static.scheme, static.metrics_path) == ("static", "https", "/federate")
    assert static.params == {"match[]": ('{job="gpu"}', "up")}
    assert (static.interval_s, static.timeout_s) == (30.0, 5.0)
    assert (static.honor_labels, static.honor_timestamps) == (True, False)
    assert (static.enable_compression, static.strict) == (False, True)
    assert static.fallback_format is Format.OPENMETRICS
    assert (static.sample_limit, static.body_size_limit_bytes) == (10_000, 4 * 1024**2)
    (group,) = static.static
    assert [each["__address__"] for each in group.targets] == ["a:9400", "[::1]:9400", "9400"]
    assert group.labels == {"Service": "dcgm-exporter", "tier": "1"}
    assert (files.name, files.interval_s, files.timeout_s, files.sample_limit) == (
        "files",
        60.0,
        5.0,
        16,
    )
    assert files.files == (
        FileDiscovery(("/etc/gpu/targets/*.json", "/etc/targets.yml"), refresh_s=60.0),
    )
    assert (len(files.relabel), len(files.metric_relabel)) == (1, 1)


@pytest.mark.parametrize(
    ("keys", "before", "interval_s", "timeout_s"),
    [
        ("", "", 60.0, 10.0),
        ("scrape_interval: 5s", "", 5.0, 5.0),
        ("scrape_interval: 0", "", 60.0, 10.0),
        ("scrape_timeout: 3s", "global: {scrape_interval: 20s}\n", 20.0, 3.0),
        ("", "global: {scrape_interval: 5s}\n", 5.0, 5.0),
        ("scrape_interval: 2m", "global: {scrape_timeout: 30s}\n", 120.0, 30.0),
        ("scrape_interval: 1s500ms", "", 1.5, 1.5),
        ("scrape_interval:", "global:\n", 60.0, 10.0),
    ],
)
def test_times(keys: str, before: str, interval_s: float, timeout_s: float) -> None:
    """An interval comes from the job, global or 1m; a timeout is never longer than it."""
    made = job(keys, before)
    assert (made.interval_s, made.timeout_s) == (interval_s, timeout_s)


def test_null_is_not_the_default() -> None:
    """A key without a value is the zero value, as Go reads it."""
    made = job("honor_timestamps:\n  metrics_path: ~\n  scheme: null\n  enable_compression:")
    assert (made.honor_timestamps, made.metrics_path, made.scheme) == (False, "", "")
    assert made.enable_compression is False


def test_null_in_a_rule_is_not_the_default_either() -> None:
    """A regex without a value matches only the empty text."""
    made = job("relabel_configs: [{target_label: a, regex: , separator: , replacement: }]")
    (rule,) = made.relabel
    assert (rule.regex.pattern, rule.separator, rule.replacement) == ("", "", "")


def test_scalars_are_taken_as_they_are_written() -> None:
    """A string field takes what stands there, whatever YAML makes of it."""
    made = job("relabel_configs: [{target_label: on, regex: 0x10, replacement: 1.50}]")
    (rule,) = made.relabel
    assert (rule.target_label, rule.regex.pattern, rule.replacement) == ("on", "0x10", "1.50")


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        ("sample_limit: 10.9", 10),
        ("sample_limit: 1e3", 1000),
        ("sample_limit: 0b11", 3),
        ("sample_limit:", 0),
    ],
)
def test_numbers_are_go_yamls(keys: str, expected: int) -> None:
    """Fractions are cut off, every base is read."""
    assert job(keys).sample_limit == expected


@pytest.mark.parametrize("keys", ["body_size_limit: -1MB", "body_size_limit: 0", ""])
def test_no_body_limit(keys: str) -> None:
    """Nothing, nought and less mean that there is no limit."""
    assert job(keys).body_size_limit_bytes == 0


def test_dollars_stay_in_prometheus_files() -> None:
    """Nothing of prometheus.yml is taken from the environment."""
    made = job("static_configs: [{targets: ['${HOME}:9400']}]")
    assert made.static[0].targets[0]["__address__"] == "${HOME}:9400"


def test_discoveries_of_later_versions_are_named() -> None:
    """A job says what it asks for that nothing acts on."""
    made = job("kubernetes_sd_configs: [{role: pod}]\n  dns_sd_configs: [{names: [a]}]")
    assert made.unsupported == ("kubernetes_sd_configs", "dns_sd_configs")


def test_a_discovery_by_http_is_checked() -> None:
    """A web service that is written rightly is named as not used."""
    made = job("http_sd_configs: [{url: 'https://inventory.example/targets'}]")
    assert made.unsupported == ("http_sd_configs",)
