"""Reports about configuration: what was written, and what is made of it."""

import json
from pathlib import Path

import pytest
import trustme

from cwgpu.config.complaint import Level
from cwgpu.digest import stream
from cwgpu.digest.explain import Explanation, explain
from cwgpu.digest.page import Page
from cwgpu.digest.recipe import Recipe
from cwgpu.discovery import static
from cwgpu.model.drop import DropReason
from cwgpu.model.reading import Refused
from cwgpu.model.scrape import FailReason, Scrape, ScrapeFailed
from cwgpu.model.target import Target
from cwgpu.plan.plan import Plan
from cwgpu.prom import targeting
from cwgpu.scrape.fetch import Fetcher
from tests.digest import kitchen
from tests.fakes.exporter import FakeExporter
from tests.fakes.secure import SecureExporter, server_context
from tests.reports import files, rows
from tests.reports.files import JOB, agent, declaration
from tests.reports.rows import Json

RULE = {"source_labels": ["__address__"], "regex": "(.*):(.*)", "target_label": "x"}


def target(plan: Plan) -> Target:
    """Give the target of the static job."""
    (group, *_) = static.groups(plan.jobs[0])
    (found,) = targeting.targets(plan.jobs[0], group)
    assert isinstance(found, Target), found
    return found


def fetcher() -> Fetcher:
    """Make a fetcher whose clocks stand still."""
    return Fetcher(lambda: 1_700_000_000.0, lambda: 0.0)


@rows.of("ISS-001")
def test_labels_that_join_no_target(report: Json, tmp_path: Path) -> None:
    """The check names the entry; a run counts what it costs, and says which label is missing."""
    split = [{"targets": ["127.0.0.1:8404"]}, {"labels": {"service": "m"}}]
    config = agent(declaration(dimensions=[["service", "gpu"]], metric_selectors=["."]))
    written = files.write(tmp_path, config, {"job_name": "m", "static_configs": split})
    said = written.said("labels-without-targets")
    assert said.path == "scrape_configs[0].static_configs[1].labels"
    plan = written.plan()
    page = b'# TYPE u gauge\nu{gpu="0"} 1\n'
    found = explain(Recipe(plan, plan.jobs[0]), target(plan).labels, page)
    assert isinstance(found, Explanation)
    (fate,) = found.fates
    assert fate.reason is DropReason.DIMENSION_MISSING
    assert "service" in fate.detail


@rows.of("ISS-002")
def test_a_glob_for_a_regex(report: Json, tmp_path: Path) -> None:
    """It is refused with its place and the regex that was meant."""
    config = agent(declaration(source_labels=["node"], label_matcher="*"))
    (error,) = files.write(tmp_path, config).refused()
    assert error.code == "bad-regex"
    assert error.path.endswith("metric_declaration[0].label_matcher")
    assert error.help == "write .*"


@rows.of("ISS-005")
def test_dimensions_that_are_no_list_of_lists(report: Json, tmp_path: Path) -> None:
    """The error shows how they are written; a comma too many has its line and column."""
    config = agent(declaration(dimensions=["instance"], metric_selectors=["^custom.*"]))
    (error,) = files.write(tmp_path, config).refused()
    assert error.path.endswith("metric_declaration[0].dimensions[0]")
    assert error.help == 'dimensions is a list of lists: [["instance"]]'
    text = json.dumps(config, indent=1).replace('"job"\n', '"job",\n', 1)
    (error,) = files.write(tmp_path, text).refused()
    assert (error.code, error.help) == ("json-syntax", "remove the comma")
    line = text.splitlines()[error.line - 1]
    assert line[error.column - 1] == ","


@rows.of("ISS-022")
def test_names_of_groups_and_streams(report: Json, tmp_path: Path) -> None:
    """Both are templates; what CloudWatch does not take in a value is replaced."""
    config = agent(log_group_name="/org/{ClusterName}/gpu", own={"log_stream_name": "{JobName}"})
    made = files.write(tmp_path, config).plan().cloudwatch
    key = stream.resolve(made.log_group, made.log_stream, {"ClusterName": "a b", "job": "x:y*z"})
    assert (key.group, key.stream) == ("/org/a_b/gpu", "x_y_z")


@rows.of("ISS-056")
@pytest.mark.parametrize("action", ["replace", "hashmod", "lowercase", "uppercase"])
def test_a_rule_without_a_target_label(report: Json, action: str, tmp_path: Path) -> None:
    """It is refused: it would make a label without a name."""
    rule = {"action": action, "source_labels": ["__address__"], "modulus": 2}
    job = {**JOB, "relabel_configs": [rule]}
    (error,) = files.write(tmp_path, agent(), job).refused()
    assert error.code == "bad-relabel-rule"
    assert error.path == "scrape_configs[0].relabel_configs[0].target_label"


@rows.of("ISS-058")
@pytest.mark.parametrize(
    ("replacement", "value"),
    [("$1:$2", "10.0.0.1:9400"), ("${1}:9", "10.0.0.1:9"), ("$$1:9400", "$1:9400")],
)
def test_groups_in_a_replacement(
    report: Json, replacement: str, value: str, tmp_path: Path
) -> None:
    """They are Prometheus', whatever the environment holds; what was escaped is warned of."""
    job = {**JOB, "relabel_configs": [{**RULE, "replacement": replacement}]}
    written = files.write(tmp_path, agent(), job, environ={"1": "x", "2": "x"})
    assert target(written.plan()).labels["x"] == value
    told = [each for each in written.check() if each.code == "literal-dollar"]
    assert len(told) == ("$$" in replacement)
    assert all(each.level is Level.WARNING for each in told)


@rows.of("ISS-059")
def test_a_variable_in_a_replacement(report: Json, tmp_path: Path) -> None:
    """It stays as it is, as in Prometheus, with a warning that names what takes its place."""
    rule = {
        "action": "replace",
        "replacement": "${env:ENVIRONMENT}",
        "target_label": "environment",
    }
    job = {**JOB, "metric_relabel_configs": [rule]}
    said = files.write(tmp_path, agent(), job, environ={"ENVIRONMENT": "p"}).said("literal-dollar")
    assert said.level is Level.WARNING
    assert "cwgpu.meta_env" in said.help


@rows.of("ISS-116")
def test_a_cluster_without_a_name(report: Json, tmp_path: Path) -> None:
    """No dimension is ever empty: without a log group it is an error, with one a warning."""
    config = agent(declaration(dimensions=[["ClusterName", "job"]]), cluster_name="")
    (error,) = files.write(tmp_path, config).refused()
    assert error.code == "no-log-group"
    named = agent(
        declaration(dimensions=[["ClusterName", "job"]], metric_selectors=["."]),
        cluster_name="",
        log_group_name="g",
    )
    written = files.write(tmp_path, named)
    assert written.said("no-cluster-name").level is Level.WARNING
    (warning,) = written.plan().warnings
    assert "ClusterName" in warning
    page = kitchen.page(written.plan(), {"job": "dcgm"})
    assert kitchen.story(page, "# TYPE u gauge\nu 1\n") == ["| dimension_missing=1"]
    known = files.write(tmp_path, named, environ={"CLUSTER_NAME": "lab"})
    assert known.plan().warnings == ()


@rows.of("ISS-139")
def test_a_page_of_more_samples_than_the_limit(report: Json, tmp_path: Path) -> None:
    """The whole scrape fails and nothing of it is sent; the limit counts what relabelling left."""
    rules = [{"source_labels": ["gpu"], "regex": "1", "action": "drop"}]
    job = {**JOB, "sample_limit": 10_000, "metric_relabel_configs": rules}
    plan = files.write(tmp_path, agent(declaration(metric_selectors=["."])), job).plan()
    page = Page(Recipe(plan, plan.jobs[0]), {"job": "dcgm"})
    lines = "".join(f'u{{gpu="0",n="{number}"}} 1\n' for number in range(11_967))
    refused = page.read(f"# TYPE u gauge\n{lines}".encode(), kitchen.START_MS)
    assert isinstance(refused, Refused)
    assert refused.reason is FailReason.SAMPLE_LIMIT
    assert "10000" in refused.detail
    fewer = lines.replace('gpu="0"', 'gpu="1"', 1_967)
    reading = kitchen.read(page, f"# TYPE u gauge\n{fewer}")
    assert reading.selected == 10_000


@rows.of("ISS-160")
def test_placeholders_that_there_are_not(report: Json, tmp_path: Path) -> None:
    """One that is unknown is an error that lists the others; one without a value has a word."""
    config = agent(own={"log_stream_name": "{JobName}-{NodeName}-{Foo}"})
    (error,) = files.write(tmp_path, config).refused()
    assert (error.code, error.path) == ("unknown-placeholder", "cwgpu.log_stream_name")
    assert "{Foo}" in error.message
    assert all(name in error.help for name in ("{ClusterName}", "{JobName}", "{NodeName}"))
    key = stream.resolve("/aws/{ClusterName}/prometheus", "{JobName}-{NodeName}", {"job": "a"})
    assert (key.group, key.stream) == ("/aws/undefined/prometheus", "a-undefined")


@rows.of("ISS-166")
async def test_a_path_that_the_exporter_has_not(report: Json, tmp_path: Path) -> None:
    """The check knows it; a run says who answered 404, and the path that there is."""
    async with FakeExporter(b"u 1\n") as exporter:
        job = {
            "job_name": "dcgm",
            "metrics_path": "/api/v1/metrics/prometheus",
            "static_configs": [{"targets": [exporter.address]}],
        }
        written = files.write(tmp_path, agent(), job)
        assert written.said("path-not-served").help.startswith("write /metrics")
        plan = written.plan()
        async with fetcher() as fetch:
            failed = await fetch.fetch(target(plan), plan.jobs[0])
    assert isinstance(failed, ScrapeFailed)
    assert failed.reason is FailReason.STATUS
    assert failed.detail.startswith(f"{exporter.address}: answered with HTTP status 404")
    assert failed.detail.endswith("check metrics_path: most exporters have /metrics")
    plain = files.write(tmp_path, agent()).plan()
    assert plain.jobs[0].metrics_path == "/metrics"


@rows.of("ISS-183")
def test_a_whole_prometheus_yml(report: Json, tmp_path: Path) -> None:
    """What only a Prometheus acts on is accepted with one line; a slip is an error."""
    others = {
        "global": {"evaluation_interval": "1m", "external_labels": {}},
        "rule_files": ["rules.yml"],
        "alerting": {},
        "remote_write": [{"url": "http://127.0.0.1"}],
    }
    written = files.write(tmp_path, agent(), others=others)
    assert written.plan().warnings == ()
    said = written.said("not-handled-here")
    assert said.level is Level.NOTE
    assert all(name in said.message for name in ("rule_files", "alerting", "remote_write"))
    (error,) = files.write(tmp_path, agent(), others={"rule_file": []}).refused()
    assert (error.code, error.help) == ("unknown-key", "did you mean rule_files?")


@rows.of("ISS-186")
async def test_an_exporter_behind_tls_and_a_password(report: Json, tmp_path: Path) -> None:
    """Both are a job's own, also for a target that is an address."""
    authority = trustme.CA()
    leaf = authority.issue_cert("dcgm.example")
    authority.cert_pem.write_to_path(str(tmp_path / "ca.pem"))
    with SecureExporter(server_context(leaf), user=("gpu", "hunter2")) as exporter:
        job = {
            "job_name": "dcgm",
            "scheme": "https",
            "basic_auth": {"username": "gpu", "password": "hunter2"},
            "tls_config": {"ca_file": "ca.pem", "server_name": "dcgm.example"},
            "static_configs": [{"targets": [exporter.address]}],
        }
        plan = files.write(tmp_path, agent(), job).plan()
        async with fetcher() as fetch:
            good = await fetch.fetch(target(plan), plan.jobs[0])
        assert isinstance(good, Scrape), good
        trustme.CA().cert_pem.write_to_path(str(tmp_path / "ca.pem"))
        async with fetcher() as fetch:
            failed = await fetch.fetch(target(plan), plan.jobs[0])
        assert isinstance(failed, ScrapeFailed)
        assert failed.reason is FailReason.TLS_UNTRUSTED
        job["tls_config"] = {"insecure_skip_verify": True}
        plan = files.write(tmp_path, agent(), job).plan()
        async with fetcher() as fetch:
            good = await fetch.fetch(target(plan), plan.jobs[0])
        assert isinstance(good, Scrape), good


@rows.of("ISS-198")
def test_a_slip_in_static_configs(report: Json, tmp_path: Path) -> None:
    """It is an error with the key that was meant; a job without targets is warned of."""
    job = {"job_name": "jmx", "static_config": {"targets": ["127.0.0.1:8080"]}}
    (error,) = files.write(tmp_path, agent(), job).refused()
    assert (error.code, error.help) == ("unknown-key", "did you mean static_configs?")
    empty = files.write(tmp_path, agent(), {"job_name": "jmx"})
    assert empty.said("no-targets").level is Level.WARNING
