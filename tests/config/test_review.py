"""Files reviewed together, as somebody gives them on the command line."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from cwgpu.config import review
from cwgpu.config.complaint import Complaint, Level
from cwgpu.config.content import Content
from tests.config import corpus

DATA = Path(__file__).parents[1] / "data"
JOBS = "scrape_configs:\n- job_name: dcgm\n  static_configs: [{targets: ['a:9400']}]\n"
BAD_JOBS = JOBS + "  metrics_path: /health\n  colour: red\n"


def config(path: Path, *, own: Mapping[str, Any] | None = None, **prometheus: Any) -> Path:  # noqa: ANN401 - JSON
    """Write an agent's file about which there is nothing to say."""
    declaration = {
        "source_labels": ["job"],
        "metric_selectors": ["^DCGM_FI_DEV_GPU_UTIL$"],
        "dimensions": [["ClusterName"]],
    }
    section = {
        "cluster_name": "lab",
        "emf_processor": {"metric_declaration": [declaration]},
        **prometheus,
    }
    whole = {
        "logs": {"metrics_collected": {"prometheus": section}},
        **({"cwgpu": own} if own else {}),
    }
    path.write_text(json.dumps(whole, indent=2), "utf-8")
    return path


def said(*files: Path, **settings: Any) -> list[str]:  # noqa: ANN401 - review's own
    """Give file, level and code of each complaint."""
    found = review.review(files, settings.pop("environ", {}), **settings)
    return [f"{Path(each.file).name} {each.level.value} {each.code}" for each in found]


@pytest.fixture
def jobs(tmp_path: Path) -> Path:
    """Write jobs with one fault of each kind."""
    path = tmp_path / "jobs.yaml"
    path.write_text(BAD_JOBS, "utf-8")
    return path


FAULTS = ["jobs.yaml warning path-not-served", "jobs.yaml error unknown-key"]


def test_both_halves_are_one_configuration(tmp_path: Path, jobs: Path) -> None:
    """Jobs given beside the agent's file are its jobs, in whatever order they are given."""
    agent = config(tmp_path / "a.json", prometheus_config_path="/nowhere/else.yaml")
    assert said(agent, jobs) == said(jobs, agent) == FAULTS


def test_complaints_stand_in_the_order_of_the_files(tmp_path: Path, jobs: Path) -> None:
    """The files come as they were given, and the lines of each as they stand."""
    agent = config(tmp_path / "a.json", cluster_name="")
    about_agent = ["a.json warning no-log-group"]
    assert said(agent, jobs) == about_agent + FAULTS
    assert said(jobs, agent) == FAULTS + about_agent


def test_jobs_alone(jobs: Path) -> None:
    """A prometheus.yml can be checked without the agent's file."""
    assert said(jobs) == FAULTS


def test_jobs_that_the_agents_file_names(tmp_path: Path, jobs: Path) -> None:
    """A file that is there is read without being given."""
    assert said(config(tmp_path / "a.json", prometheus_config_path="jobs.yaml")) == FAULTS
    jobs.write_text("scrape_configs: [", "utf-8")
    assert said(config(tmp_path / "a.json", prometheus_config_path="jobs.yaml")) == [
        "jobs.yaml error yaml-syntax"
    ]


@pytest.mark.parametrize("path", ["/nowhere/x.yaml", "file:/nowhere/x.yaml", "env:JOBS", None])
def test_jobs_that_only_the_cluster_has(tmp_path: Path, path: str | None) -> None:
    """A file that is not on this machine is no error: it is looked for where the agent runs."""
    named = {"prometheus_config_path": path} if path else {}
    (found,) = review.review([config(tmp_path / "a.json", own=None, **named)], {})
    assert (found.code, found.level) == ("jobs-not-here", Level.WARNING)
    assert found.file == str(tmp_path / "a.json")
    assert (path or "/etc/cwagentconfig/prometheus.yaml") in found.message
    assert bool(path) == ("prometheus_config_path" in found.excerpt)


def test_jobs_that_cannot_be_read(tmp_path: Path) -> None:
    """A file that is there but cannot be read is an error."""
    agent = config(tmp_path / "a.json", prometheus_config_path=str(tmp_path))
    assert said(agent) == [f"{tmp_path.name} error file-not-readable"]


def test_jobs_in_the_agents_file(tmp_path: Path, jobs: Path) -> None:
    """Then a prometheus.yml beside it is another configuration, unless it is to be used instead."""
    job = {"job_name": "dcgm", "static_configs": [{"targets": ["a"]}]}
    agent = config(tmp_path / "a.json", own={"scrape_configs": [job]})
    inline = "a.json warning target-without-port"
    assert said(agent) == [inline]
    assert said(agent, jobs) == [inline, *FAULTS]
    assert said(agent, prometheus=jobs) == ["a.json note overridden", *FAULTS]


def test_jobs_beside_those_in_the_agents_file(tmp_path: Path) -> None:
    """Labels are looked for among the jobs of each file, as one takes the other's place."""
    labels = {"Service": "dcgm-exporter", "Namespace": "default"}
    shipped, jobs = Path("config/cwagent.json"), tmp_path / "jobs.yaml"
    jobs.write_text(JOBS, "utf-8")
    environ = {"CLUSTER_NAME": "lab", "DCGM_EXPORTER_URL": "a:9400"}
    beside = review.review([shipped, jobs], environ)
    assert [each.code for each in beside] == ["label-never-set"] * 2
    assert beside == review.review([jobs, shipped], environ)
    instead = review.review([shipped], environ, prometheus=jobs)
    assert [each for each in instead if each.code != "overridden"] == list(beside)
    for each, label in zip(beside, labels, strict=True):
        assert each.message.startswith(f"no rule of any job of {jobs} sets the label {label},")
    jobs.write_text(JOBS.replace("9400']", f"9400'], labels: {json.dumps(labels)}"), "utf-8")
    assert review.review([shipped, jobs], environ) == ()
    jobs.write_text(jobs.read_text("utf-8").replace("dcgm-exporter", "x"), "utf-8")
    (unmatched,) = review.review([shipped, jobs], environ)
    assert unmatched.code == "matcher-never-matches"
    assert unmatched.message.endswith(f"no value that Service can have with the jobs of {jobs}")


def test_jobs_for_another_file(tmp_path: Path, jobs: Path) -> None:
    """--prometheus-config takes the place of other jobs; those are checked all the same."""
    other = tmp_path / "other.yaml"
    other.write_text(JOBS, "utf-8")
    agent = config(tmp_path / "a.json", prometheus_config_path="/x/other.yaml")
    assert said(agent, jobs, prometheus=other) == FAULTS
    assert said(agent, other, prometheus=jobs) == FAULTS
    assert said(other, prometheus=jobs) == FAULTS
    assert said(agent, jobs, other) == FAULTS
    wanted = json.loads(agent.read_text("utf-8"))
    wanted["logs"]["metrics_collected"]["prometheus"]["emf_processor"]["metric_declaration"][0][
        "label_matcher"
    ] = "^x$"
    agent.write_text(json.dumps(wanted), "utf-8")
    assert said(agent, jobs, other) == ["a.json warning matcher-never-matches", *FAULTS]


def test_several_files_of_the_agent(tmp_path: Path, jobs: Path) -> None:
    """They are merged, as the agent merges those of its directory; a directory can be given too."""
    folder = tmp_path / "agent"
    folder.mkdir()
    one = config(folder / "one.json")
    other = folder / "two.json"
    other.write_text('{"logs": {"metrics_collected": {"prometheus": {"cluster_name": "x"}}}}')
    expected = ["two.json error conflicting-files", *FAULTS]
    assert said(one, other, jobs) == said(folder, jobs) == expected
    assert said(jobs, folder) == [*FAULTS, *expected[:1]]


def test_a_broken_half(tmp_path: Path, jobs: Path) -> None:
    """What is wrong with one file does not hide what is wrong with the other."""
    agent = tmp_path / "a.json"
    agent.write_text("{", "utf-8")
    assert said(agent, jobs) == ["a.json error json-syntax", *FAULTS]


def test_the_clusters_name(tmp_path: Path, jobs: Path) -> None:
    """The environment may tell it where the agent runs, so that it is missing is no error here."""
    jobs.write_text(JOBS, "utf-8")
    agent = config(tmp_path / "a.json", cluster_name="")
    (found,) = review.review([agent, jobs], {})
    assert (found.code, found.level) == ("no-log-group", Level.WARNING)
    assert found.message.endswith(" is known here")
    assert said(agent, jobs, environ={"CLUSTER_NAME": "lab"}) == []


def test_the_shard_of_another_machine(tmp_path: Path) -> None:
    """Which part is its own a pod of the StatefulSet will know."""
    path = corpus.FOLDER / "shard-index.bad.json"
    others = review.review([path], {"HOSTNAME": "cwgpu-1"})
    (found,) = [
        each for each in review.review([path], {"HOSTNAME": "laptop"}) if each not in others
    ]
    assert (found.code, found.level) == ("no-shard-index", Level.WARNING)
    assert found.message.endswith("'laptop' does not end in -0, -1 ... here")


def test_a_given_kind(tmp_path: Path) -> None:
    """Whoever says what a file is, is believed."""
    path = tmp_path / "x"
    path.write_text('{"logs": {}}', "utf-8")
    assert said(path, kind=Content.PROMETHEUS) == ["x error unknown-key"]
    assert said(path, kind=Content.MANIFEST) == ["x error no-configuration"]
    path.write_text("scrape_configs: []", "utf-8")
    assert said(path, kind=Content.AGENT) == ["x error wrong-file"]


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    """Nothing is raised: it is an error among others."""
    assert said(tmp_path / "x.yaml") == ["x.yaml error file-not-readable"]
    assert said(tmp_path / "x.json") == ["x.json error file-not-readable"]
    assert said(tmp_path / "x", kind=Content.MANIFEST) == ["x error file-not-readable"]


def test_a_placeholder_is_named_once(tmp_path: Path, jobs: Path) -> None:
    """Where something else is said about a placeholder, that is enough."""
    jobs.write_text(JOBS, "utf-8")
    agent = config(tmp_path / "a.json", cluster_name="{{cluster_name}}")
    assert said(agent, jobs) == ["a.json error template-not-filled-in"]
    agent = config(tmp_path / "a.json", cluster_name="{{cluster_name}}", log_group_name="/x")
    assert said(agent, jobs) == ["a.json warning template-not-filled-in"]
    agent = config(tmp_path / "a.json", log_group_name="/x/{{cluster_name}}")
    assert said(agent, jobs) == ["a.json error template-not-filled-in"]
    agent = config(tmp_path / "a.json", log_group_name="/x/{{cluster_name}}/{Cluster}")
    assert said(agent, jobs) == ["a.json error template-not-filled-in"]


def review_manifest(name: str, replace: tuple[str, str], tmp_path: Path) -> list[Complaint]:
    """Review one of the manifests with something in it replaced."""
    text = (DATA / "manifests" / name).read_text("utf-8")
    assert replace[0] in text
    path = tmp_path / name
    path.write_text(text.replace(*replace), "utf-8")
    return list(review.review([path], {}))


def test_the_article_in_a_manifest() -> None:
    """Its faults are named at the manifest's lines."""
    path = DATA / "manifests/article.yaml"
    lines = path.read_text("utf-8").splitlines()
    found = review.review([path], {"CLUSTER_NAME": "lab"})
    pointed = {
        each.code: lines[each.line - 1][each.column - 1 :][: each.width]
        for each in found
        if each.level is Level.WARNING
    }
    assert pointed == {
        "label-never-set": '"Service"',
        "path-not-served": "/api/v1/metrics/prometheus",
        "relabel-never-matches": "'^DCGM.*$'",
        "lost-backslash": "([^:]+)(?::d+)?",
        "unknown-meta-label": "__meta_kubernetes_pod",
    }
    assert {each.file for each in found} == {str(path)}


STOCK = "prometheus-eks.yaml"


def test_jobs_are_found_by_name(tmp_path: Path) -> None:
    """Of several ConfigMaps with jobs, the one counts whose key is the file that is named."""
    assert review_manifest(STOCK, ("x", "x"), tmp_path) == []
    data = "  x.yaml: |\n    scrape_configs:\n    - a: b\n"
    more = f"kind: ConfigMap\napiVersion: v1\ndata:\n{data}---\n"
    found = review_manifest(STOCK, ("apiVersion: apps/v1", f"{more}apiVersion: apps/v1"), tmp_path)
    assert {each.code for each in found} == {"unknown-key", "missing-key", "no-targets"}
    assert len({each.line for each in found}) == 1


def test_jobs_under_another_name(tmp_path: Path) -> None:
    """The only jobs that there are are taken, but the agent would not find them."""
    (found,) = review_manifest(STOCK, ("  prometheus.yaml: |", "  prom.yaml: |"), tmp_path)
    assert (found.code, found.level) == ("jobs-not-here", Level.WARNING)
    assert found.message == (
        "no ConfigMap here has the file of /etc/prometheusconfig/prometheus.yaml, but one has "
        "prom.yaml"
    )
    assert "prometheus_config_path" in found.excerpt


def test_a_manifest_without_jobs(tmp_path: Path) -> None:
    """They are somewhere else then."""
    found = review_manifest(STOCK, ("    scrape_configs:", "    x:"), tmp_path)
    assert [each.code for each in found] == ["jobs-not-here"]


def test_a_manifest_with_other_jobs(tmp_path: Path, jobs: Path) -> None:
    """--prometheus-config counts for manifests too."""
    found = said(DATA / "manifests" / STOCK, prometheus=jobs)
    assert [each for each in found if "never" not in each] == FAULTS


def test_a_manifest_of_nothing(tmp_path: Path) -> None:
    """A manifest in which nothing is found is not one in which nothing is wrong."""
    path = tmp_path / "pod.yaml"
    path.write_text("apiVersion: v1\nkind: Pod\n", "utf-8")
    assert said(path) == ["pod.yaml error no-configuration"]
