"""The CloudWatch agent's recorded configuration cases, and what is the same or better here."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from cwgpu.config import document, load
from cwgpu.config.complaint import Level
from cwgpu.config.document import Form
from cwgpu.config.load import Examined
from cwgpu.config.where import Found

_CASES = {
    row["id"].split("-")[0]: row
    for row in map(
        json.loads,
        (Path(__file__).parents[1] / "data/agent-config.jsonl").read_text().splitlines(),
    )
}
_JOB = b"scrape_configs: [{job_name: gpu, static_configs: [{targets: ['a:9400']}]}]"
_JOBS = Found(document.read(_JOB, "jobs.yml", Form.YAML).root, (), Path("/etc"), ())

NOT_OURS = {
    "C03": "the cluster's name from an EC2 tag: sinks/test_instance and cli/test_configure",
    "C04": "such a tag that does not count: sinks/test_instance and cli/test_configure",
    "C09": "the cluster's name from the metadata of an ECS task: cli/test_configure",
}
"""Cases that no configuration file decides."""
ELSEWHERE = {
    "C16": "test_where: the default path",
    "C17": "test_where: file:PATH",
    "C19": "test_where: env:NAME that is not set",
}


def examine(case: str) -> Examined:
    """Examine the configuration of a case in its environment, with no jobs."""
    row = _CASES[case]
    environ = {
        name: value
        for name, value in row["environment"].items()
        if isinstance(value, str) and name.isupper()
    }
    return examine_config(row["config_fragment"], environ)


def examine_config(config: Mapping[str, Any], environ: Mapping[str, str]) -> Examined:
    """Examine a configuration with a job that is right."""
    read = document.read(json.dumps(config).encode(), "cwagent.json", Form.JSON)
    return load.translated(Found(read.root, read.complaints, Path("/etc")), _JOBS, environ)


def errors(case: str) -> list[str]:
    """Give the codes of what is complained about."""
    found = examine(case)
    assert found.plan is None
    return [each.code for each in found.complaints]


def test_no_case_is_forgotten() -> None:
    """Every recorded case is tested here, or named with the reason why not."""
    text = Path(__file__).read_text("utf-8")
    tested = {case for case in _CASES if f'"{case}"' in text}
    assert tested == set(_CASES)


@pytest.mark.parametrize(
    ("case", "cluster", "group"),
    [
        ("C01", "lab-a", "/aws/containerinsights/lab-a/prometheus"),
        ("C02", "lab-a", "/aws/containerinsights/lab-a/prometheus"),
        ("C05", "lab-b", "/aws/containerinsights/lab-b/prometheus"),
        ("C06", "lab-a", "/gpu/lab"),
        ("C07", "lab-a", "/aws/containerinsights/lab-a/prometheus"),
    ],
)
def test_log_group_and_cluster_name_agree(case: str, cluster: str, group: str) -> None:
    """Better: one look-up gives both the label ClusterName and the log group."""
    plan = examine(case).plan
    assert plan is not None
    assert plan.emf.cluster_name == cluster
    assert plan.cloudwatch.log_group == group


@pytest.mark.parametrize(
    ("kubernetes", "environ", "expected"),
    [
        ("k", {"K8S_CLUSTER_NAME": "a", "CLUSTER_NAME": "b"}, "k"),
        (None, {"K8S_CLUSTER_NAME": "a", "CLUSTER_NAME": "b"}, "a"),
        (None, {"CLUSTER_NAME": "b"}, "b"),
        ("", {"K8S_CLUSTER_NAME": "", "CLUSTER_NAME": "b"}, "b"),
    ],
)
def test_the_cluster_name_is_looked_for_in_order(
    kubernetes: str | None, environ: dict[str, str], expected: str
) -> None:
    """Container Insights' own setting comes first, then the two variables."""
    collected: dict[str, object] = {"prometheus": {}}
    if kubernetes is not None:
        collected["kubernetes"] = {"cluster_name": kubernetes}
    plan = examine_config({"logs": {"metrics_collected": collected}}, environ).plan
    assert plan is not None
    assert plan.emf.cluster_name == expected


@pytest.mark.parametrize("variable", ["K8S_CLUSTER_NAME", "CLUSTER_NAME"])
def test_a_cluster_name_that_is_no_text(variable: str) -> None:
    """Bytes of the environment that are not UTF-8 could not be written into any event."""
    config = {"logs": {"metrics_collected": {"prometheus": {"log_group_name": "g"}}}}
    found = examine_config(config, {variable: "a\udcffb"})
    assert found.plan is None
    (error,) = (each for each in found.complaints if each.level is Level.ERROR)
    assert error.path == "logs.metrics_collected.prometheus.cluster_name"
    assert r"'a\udcffb'" in error.message


def test_no_log_group_names_the_keys_to_write() -> None:
    """Better: without a group and a cluster the error says what to write where."""
    found = examine_config({"logs": {"metrics_collected": {"prometheus": {}}}}, {})
    (error,) = [each for each in found.complaints if each.code == "no-log-group"]
    assert '"log_group_name" or "cluster_name"' in error.help
    assert "logs.metrics_collected.prometheus" in error.help


def test_an_empty_log_group_is_made_of_the_namespace() -> None:
    """Same: ``log_group_name: ""`` ends in /metrics/NAMESPACE, with a warning."""
    found = examine("C08")
    assert found.plan is not None
    assert found.plan.cloudwatch.log_group == "/metrics/GpuLab"
    assert "empty-log-group" in [each.code for each in found.complaints]


@pytest.mark.parametrize(
    ("case", "advice"),
    [
        ("C10", "did you mean cwgpu.log_stream_name?"),
        ("C15", "did you mean logs.force_flush_interval?"),
        ("C21", "did you mean dimensions?"),
        ("C26", "did you mean cwgpu.log_retention_days?"),
    ],
)
def test_a_key_in_the_wrong_place_is_sent_to_the_right_one(case: str, advice: str) -> None:
    """Better: the agent refuses the file; here the error names the key that was meant."""
    found = examine(case)
    assert found.plan is None
    (error,) = [each for each in found.complaints if each.code == "unknown-key"]
    assert error.help == advice


def test_the_stream_is_the_job() -> None:
    """Same: logs.log_stream_name has no effect; better: cwgpu.log_stream_name has."""
    config = _CASES["C11"]["config_fragment"] | {"cwgpu": {"log_stream_name": "{PodName}"}}
    with_group = {"CLUSTER_NAME": "lab"}
    plain, ours = (
        examine_config(each, with_group).plan for each in (_CASES["C11"]["config_fragment"], config)
    )
    assert plain is not None
    assert ours is not None
    assert plain.cloudwatch.log_stream == "{JobName}"
    assert ours.cloudwatch.log_stream == "{PodName}"


@pytest.mark.parametrize(("case", "seconds"), [("C12", 5.0), ("C13", 30.0)])
def test_flush_interval(case: str, seconds: float) -> None:
    """Same: 5 seconds unless written."""
    plan = examine_config(_CASES[case]["config_fragment"], {"CLUSTER_NAME": "lab"}).plan
    assert plan is not None
    assert plan.flush_interval_s == seconds


def test_the_logs_role_beats_the_agents() -> None:
    """Same: logs.credentials wins over agent.credentials."""
    for case, role in (("C23", "logs-role"),):
        plan = examine_config(_CASES[case]["config_fragment"], {"CLUSTER_NAME": "lab"}).plan
        assert plan is not None
        assert plan.cloudwatch.role_arn == f"arn:aws:iam::111122223333:role/{role}"


def test_the_agents_role_is_used_alone() -> None:
    """Same: without a role under logs the agent's is assumed."""
    config = {
        "agent": {"credentials": {"role_arn": "arn:aws:iam::111122223333:role/agent-role"}},
        "logs": {"metrics_collected": {"prometheus": {}}},
    }
    plan = examine_config(config, {"CLUSTER_NAME": "lab"}).plan
    assert plan is not None
    assert plan.cloudwatch.role_arn == "arn:aws:iam::111122223333:role/agent-role"


@pytest.mark.parametrize(
    ("written", "url"),
    [
        (None, "https://logs.example.test"),
        ("logs.example.test", "https://logs.example.test"),
        ("http://127.0.0.1:4566", "http://127.0.0.1:4566"),
    ],
)
def test_the_endpoint_is_taken(written: str | None, url: str) -> None:
    """Same: logs.endpoint_override is CloudWatch Logs' address, https unless it says otherwise."""
    config = json.loads(json.dumps(_CASES["C24"]["config_fragment"]))
    if written is not None:
        config["logs"]["endpoint_override"] = written
    plan = examine_config(config, {"CLUSTER_NAME": "lab"}).plan
    assert plan is not None
    assert plan.cloudwatch.endpoint_url == url


def test_an_empty_matcher_is_an_error() -> None:
    """Better: the agent falls back to all labels as dimensions; here it does not start."""
    assert "empty-regex" in errors("C25")


def test_a_broken_selector_is_an_error() -> None:
    """Better: the agent crashes; here the error names the selector and what to write."""
    found = examine_config(_CASES["P43"]["config_fragment"], {"CLUSTER_NAME": "lab"})
    (error,) = found.complaints
    assert error.path.endswith("metric_declaration[0].metric_selectors[0]")
    assert error.help == "write .*"


def test_dedup_is_honoured() -> None:
    """Better: the agent never reads metric_declaration_dedup."""
    plan = examine_config(_CASES["C22"]["config_fragment"], {"CLUSTER_NAME": "lab"}).plan
    assert plan is not None
    assert plan.emf.dedup is False


def test_the_collection_interval_has_no_effect() -> None:
    """Same: agent.metrics_collection_interval does not change scraping; a note says so."""
    found = examine_config(_CASES["C27"]["config_fragment"], {"CLUSTER_NAME": "lab"})
    assert found.plan is not None
    notes = [each.message for each in found.complaints if each.code == "not-handled-here"]
    assert notes == ["nothing here acts on: agent.metrics_collection_interval"]


def test_a_declaration_is_translated() -> None:
    """Same: names are sorted and a missing matcher is ``.*``; better: the separator is honoured."""
    plan = examine("C28").plan
    assert plan is not None
    (made,) = plan.emf.declarations
    assert made.dimension_sets == (("ClusterName", "pod"),)
    assert made.source_labels == ("job",)
    assert made.separator == "|"
    assert made.matches("")
    assert made.selects("a")
    assert not made.selects("ab")


@pytest.mark.parametrize(
    ("environ", "cluster", "namespace"),
    [
        ({}, None, "CWAgent/Prometheus"),
        ({"RUN_IN_CONTAINER": "true"}, None, "CWAgent/Prometheus"),
        ({"RUN_IN_CONTAINER": "True"}, None, "ContainerInsights/Prometheus"),
        ({"KUBERNETES_SERVICE_HOST": "10.0.0.1"}, None, "ContainerInsights/Prometheus"),
        ({}, "lab", "ContainerInsights/Prometheus"),
    ],
)
def test_the_default_namespace(
    environ: dict[str, str], cluster: str | None, namespace: str
) -> None:
    """The namespace follows the platform, or a cluster that is known."""
    section = {"log_group_name": "g"} | ({"cluster_name": cluster} if cluster else {})
    plan = examine_config({"logs": {"metrics_collected": {"prometheus": section}}}, environ).plan
    assert plan is not None
    assert plan.emf.namespace == namespace


def test_extraction_can_be_disabled() -> None:
    """Same: disable_metric_extraction logs everything and makes no metric."""
    declaration = {"source_labels": ["a"], "metric_selectors": ["b"], "dimensions": [["a"]]}
    section = {
        "cluster_name": "lab",
        "disable_metric_extraction": True,
        "emf_processor": {"metric_declaration": [declaration]},
    }
    found = examine_config({"logs": {"metrics_collected": {"prometheus": section}}}, {})
    assert found.plan is not None
    assert found.plan.emf.declarations == ()
    assert found.plan.emf.log_unselected
    assert found.complaints == ()
