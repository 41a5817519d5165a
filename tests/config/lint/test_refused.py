"""What is not said because it follows from a key that was refused."""

import json

import pytest

from cwgpu.config import load
from tests.config.lint import bench

RULES: list[bench.Json] = [
    {"source_labels": ["__meta_kubernetes_namespace"], "target_label": "Namespace"},
    {"source_labels": ["__meta_kubernetes_pod_name"], "target_label": "pod"},
    {"action": "labelmap", "regex": "__meta_kubernetes_service_label_(.+)"},
]
JOB: bench.Json = {
    "job_name": "dcgm",
    "kubernetes_sd_configs": [{"role": "endpoints"}],
    "honor_labels": True,
    "relabel_configs": RULES,
}
CONFIG = bench.declaring(bench.declaration(["Namespace", "pod"]))


def said(job: bench.Json) -> list[str]:
    """Give the codes of all that is said about a job, its reader's and the rules'."""
    found = bench.jobs(json.dumps({"scrape_configs": [job]}))
    _, read = load.prometheus_file(found)
    return [each.code for each in read] + bench.codes(CONFIG, found)


def renamed(key: str, name: str) -> bench.Json:
    """Misspell a key of the job."""
    return {name if each == key else each: value for each, value in JOB.items()}


def test_the_whole_job() -> None:
    """About the job as it is meant there is one note."""
    assert said(JOB) == ["idle-gpus-mixed-up"]


@pytest.mark.parametrize(
    "job",
    [
        renamed("kubernetes_sd_configs", "kubernetes_sd_config"),
        renamed("kubernetes_sd_configs", "kubernets_sd_configs"),
        renamed("relabel_configs", "relabel_config"),
        renamed("honor_labels", "honor_label"),
        {**JOB, "kubernetes_sd_configs": [{"rule": "endpoints"}]},
        {**JOB, "relabel_configs": [{"replacement": "a", "target_labl": "Namespace"}]},
    ],
)
def test_a_slip_in_a_key(job: bench.Json) -> None:
    """It is the one thing that is said: where its targets are, and their labels, is not known."""
    assert [each for each in said(job) if each != "idle-gpus-mixed-up"] == ["unknown-key"]


def test_static_targets_and_a_slip_in_a_rule() -> None:
    """Without its regex a rule drops everything, which nobody meant."""
    rule: bench.Json = {"source_labels": ["__address__"], "regx": "b.*", "action": "drop"}
    job = {"job_name": "dcgm", "static_configs": [{"targets": ["a:9400"]}]}
    assert said({**job, "relabel_configs": [rule]}) == ["unknown-key"]
    rule["regex"] = rule.pop("regx").replace("b", "a")
    assert "static-targets-dropped" in said({**job, "relabel_configs": [rule]})


def test_a_key_that_gives_no_label() -> None:
    """What does not follow from it is still said."""
    job = {**renamed("honor_labels", "colour"), "relabel_configs": RULES[1:]}
    assert said(job) == ["unknown-key", "label-never-set", "workload-label-taken"]
    assert said({"job_name": "dcgm", "colour": "red"})[:2] == ["unknown-key", "no-targets"]
