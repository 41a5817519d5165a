"""Where and how often a job scrapes."""

import pytest

from tests.config.lint import bench


def job(*lines: str, name: str = "gpu") -> list[str]:
    """Give "code: message: help" for each thing that is said about a job."""
    text = "\n  ".join([f"scrape_configs:\n- job_name: {name}", *lines])
    found = bench.said(jobs=bench.jobs(text))
    return [f"{each.code} {bench.excerpt(each)}: {each.message}: {each.help}" for each in found]


STATIC = "static_configs: [{targets: ['a:9400']}]"


@pytest.mark.parametrize(
    ("path", "whose"),
    [
        ("/api/v1/metrics/prometheus", ", which is Fluent Bit's"),
        ("/stats/prometheus", ", which is Envoy's"),
        ("/", ", which is the exporter's page for people"),
        ("/health", ", which is the exporter's health check"),
        ("/metric", ""),
        ("/Metrics", ""),
    ],
)
def test_a_path_that_the_exporter_has_not(path: str, whose: str) -> None:
    """Paths of other programs, and slips, are known."""
    (found,) = job(STATIC, f"metrics_path: {path}")
    assert found == (
        f"path-not-served {path}: dcgm-exporter has no metrics at {path}{whose}: "
        "write /metrics, or leave the key out: that is the default"
    )


@pytest.mark.parametrize(
    "lines",
    [
        ("metrics_path: /metrics",),
        ("metrics_path: /gpu/metrics",),
        ("metrics_path: /proxy/1",),
        (
            "metrics_path: /health",
            "relabel_configs: [{replacement: /metrics, target_label: __metrics_path__}]",
        ),
        (
            "metrics_path: /health",
            "relabel_configs: [{action: labelmap, regex: (.+), replacement: __$1}]",
        ),
    ],
)
def test_a_path_that_it_may_have(lines: tuple[str, ...]) -> None:
    """Behind a proxy the path may be any, and a rule may set another."""
    assert job(STATIC, *lines) == []


def test_a_path_that_static_labels_set() -> None:
    """A target's own path counts more than the job's."""
    labels = "static_configs: [{targets: ['a:9400'], labels: {__metrics_path__: /metrics}}]"
    assert job(labels, "metrics_path: /health") == []


def test_other_exporters_have_other_paths() -> None:
    """Only jobs that are for DCGM, by name, regex or port, are looked at."""
    other = ("static_configs: [{targets: ['a:2020']}]", "metrics_path: /api/v1/metrics/prometheus")
    assert job(*other) == []
    assert len(job(*other, name="my-DCGM")) == 1
    keeps = "relabel_configs: [{source_labels: [x], action: keep, regex: '(.*dcgm.*)?'}]"
    assert len(job(*other, keeps)) == 1
    port = "relabel_configs: [{source_labels: [x], replacement: '$1:9400', target_label: y}]"
    assert len(job(*other, port)) == 1
    drops = "relabel_configs: [{source_labels: [x], action: drop, regex: .*dcgm.*}]"
    assert job(*other, drops) == []
    assert job("static_configs: [{targets: ['a:19400']}]", "metrics_path: /health") == []


@pytest.mark.parametrize("target", ["10.0.0.1", "gpu-1.example", "'[::1]'"])
def test_a_target_without_port(target: str) -> None:
    """Prometheus 3 adds no port, so the scheme's own is asked; the exporter listens at 9400."""
    (found,) = job(f"static_configs: [{{targets: [{target}]}}]", name="dcgm")
    plain = target.strip("'")
    assert found == (
        f"target-without-port {target}: '{plain}' has no port, so that it is asked at 80: "
        f"write '{plain}:9400'"
    )


def test_a_target_of_another_exporter_without_port() -> None:
    """It may well be meant, so it is a note, without advice."""
    config = "scrape_configs: [{job_name: x, scheme: https, static_configs: [{targets: [a]}]}]"
    (found,) = bench.said(jobs=bench.jobs(config))
    assert (found.level.value, found.help) == ("note", "")
    assert found.message == "'a' has no port, so that it is asked at 443"


@pytest.mark.parametrize("target", ["a:9400", "'[::1]:9400'", "'::1'", "http://a", "''"])
def test_targets_that_are_not_spoken_of(target: str) -> None:
    """A port is there, or something else is wrong."""
    text = f"static_configs: [{{targets: [{target}]}}]"
    assert job(text, name="dcgm") == []


def test_a_rule_may_add_the_port() -> None:
    """Where rules make the address, targets need none."""
    rule = "{source_labels: [__address__], replacement: '$1:9400', target_label: __address__}"
    assert job("static_configs: [{targets: [a]}]", f"relabel_configs: [{rule}]") == []


def test_variables_stay_in_a_prometheus_yml() -> None:
    """Only jobs in the agent's file are filled in."""
    (found,) = job("static_configs: [{targets: ['${GPU}:9400']}]")
    assert found == (
        "variable-not-filled-in '${GPU}:9400': ${GPU} stays as it is: prometheus.yml knows no "
        "variables: jobs in cwgpu.scrape_configs of the agent's JSON do"
    )
    inline = {"job_name": "gpu", "static_configs": [{"targets": ["${GPU}"]}]}
    assert bench.codes(bench.declaring(scrape_configs=[inline])) == []


FAST = "scrape_configs:\n- job_name: dcgm\n  scrape_interval: 5s\n  " + STATIC
CODE = "interval-vs-resolution"


def test_seconds_that_nobody_will_see() -> None:
    """Who scrapes every few seconds without high resolution sees minutes."""
    (found,) = bench.said(bench.declaring(bench.declaration()), bench.jobs(FAST))
    assert (found.code, found.level.value, found.file, found.line) == (CODE, "note", "jobs.yaml", 3)
    assert found.message == "scraped every 5s, but CloudWatch keeps these metrics by the minute"
    assert '"storage_resolution": {"^DCGM_": 1}' in found.help
    assert "measures every 30s" in found.help


def test_seconds_of_all_jobs() -> None:
    """The global interval is spoken of once, and the exporter only where it is scraped."""
    text = f"""\
global: {{scrape_interval: 1s, scrape_timeout: 1s}}
scrape_configs:
- job_name: a
  static_configs: [{{targets: ['a:80']}}]
- job_name: b
  static_configs: [{{targets: ['b:80']}}]
- job_name: c
  scrape_interval: 15s
  {STATIC}
"""
    (found,) = bench.said(bench.declaring(bench.declaration()), bench.jobs(text))
    assert (found.code, found.line) == (CODE, 1)
    assert "30s" not in found.help


def test_jobs_alone_say_nothing_of_resolution() -> None:
    """Without the agent's file nobody knows at what resolution is stored."""
    assert bench.codes(jobs=bench.jobs(FAST)) == []


def test_high_resolution_of_minutes() -> None:
    """A resolution of seconds changes nothing if nothing is scraped so often."""
    config = bench.declaring(bench.declaration(), storage_resolution={"^A": 60, "^B": 1})
    slow = bench.jobs(FAST.replace("5s", "1m"))
    found = bench.said(config, slow)
    assert [each.code for each in found] == [CODE, "high-resolution-cost"]
    assert found[0].message == "no job is scraped more often than every 1m, so this changes nothing"
    assert bench.excerpt(found[1]) == "1"
    assert "3 hours" in found[1].message


def test_high_resolution_of_seconds() -> None:
    """Where both go together only the price is told."""
    config = bench.declaring(bench.declaration(), storage_resolution={"^B": 1})
    assert bench.codes(config, bench.jobs(FAST)) == ["high-resolution-cost"]
    assert bench.codes(config) == ["high-resolution-cost"]
    assert bench.codes(bench.declaring(storage_resolution={"^B": 60})) == []


def test_seconds_where_events_are_for_minutes() -> None:
    """Metrics that are stored by the second have an event for each scrape."""
    events = {"emit": "60s"}
    config = bench.declaring(storage_resolution={"^A": 60, "^B": 1}, events=events)
    found = bench.said(config, bench.jobs(FAST))
    assert [each.code for each in found] == ["high-resolution-cost", "events-per-scrape"]
    assert "12 in 1m in place of one" in found[1].message
    assert bench.excerpt(found[1]) == "1"
    slow = bench.jobs(FAST.replace("5s", "1m"))
    assert "events-per-scrape" not in bench.codes(config, slow)
    assert bench.codes(bench.declaring(events=events)) == []
    plain = bench.declaring(storage_resolution={"^B": 60}, events=events)
    assert "events-per-scrape" not in bench.codes(plain, bench.jobs(FAST))
