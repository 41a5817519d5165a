"""Labels of Kubernetes discovery that there are not."""

import json
from typing import Any

import pytest

from tests.config.lint import bench

P = "__meta_kubernetes_"
CODE = "unknown-meta-label"


@pytest.mark.parametrize(
    ("role", "name", "advice"),
    [
        ("pod", "pod", "did you mean __meta_kubernetes_pod_name?"),
        ("pod", "pod_container", "did you mean __meta_kubernetes_pod_container_name?"),
        ("endpoints", "service", "did you mean __meta_kubernetes_service_name?"),
        ("pod", "pod_hostip", "did you mean __meta_kubernetes_pod_host_ip?"),
        ("pod", "pod_label_app.kubernetes.io/name", "write __meta_kubernetes_pod_label_app_kub"),
        ("pod", "node_label_zone", "attach_metadata: {node: true} in kubernetes_sd_configs"),
        ("service", "node_label_zone", ""),
        ("pod", "zzz/zzz/zzz/zzz/zzz/zzz/zzz/zzz/zzz/zzz", ""),
    ],
)
def test_a_label_that_a_role_has_not(role: str, name: str, advice: str) -> None:
    """The role and the nearest label that it has are named."""
    config = bench.rule(role, source_labels=["job", P + name], target_label="x")
    (found,) = bench.said(jobs=config)
    assert found.code == CODE
    assert found.path == "scrape_configs[0].relabel_configs[0].source_labels[1]"
    assert found.message == f"role {role} has no label {P}{name}, so its value is always empty"
    assert advice in found.help
    assert bool(advice) == bool(found.help)


def test_a_label_of_another_discovery() -> None:
    """Whatever no discovery of the job gives is empty, misspelt beginnings included."""
    config = bench.rule("pod", source_labels=["__meta_kube_pod_name"], target_label="x")
    (found,) = bench.said(jobs=config)
    assert found.message.startswith("role pod has no label __meta_kube_pod_name,")


def test_the_exporters_own_pod_is_no_remedy() -> None:
    """Where the name that was meant would hide the workload, it is better to leave the rule out."""
    job: bench.Json = {
        "job_name": "dcgm",
        "kubernetes_sd_configs": [{"role": "pod"}],
        "relabel_configs": [{"source_labels": [f"{P}pod"], "target_label": "pod"}],
    }
    (found,) = bench.said(jobs=bench.jobs(json.dumps({"scrape_configs": [job]})))
    assert found.help == (
        "leave the rule out: pod is then the one on the exporter's page, that of the workload; "
        "__meta_kubernetes_pod_name would be the exporter's own"
    )
    job["honor_labels"] = True
    (found,) = bench.said(jobs=bench.jobs(json.dumps({"scrape_configs": [job]})))
    assert found.help == "did you mean __meta_kubernetes_pod_name?"


def test_a_job_without_kubernetes() -> None:
    """Static targets have no labels of Kubernetes but those that they are given."""
    (found,) = bench.said(
        jobs=bench.jobs("""\
scrape_configs:
- job_name: gpu
  static_configs:
  - targets: ['a:9400']
    labels: {__meta_kubernetes_namespace: gpu, __meta_kubernetes_pod_label_app: dcgm}
  relabel_configs:
  - source_labels: [__meta_kubernetes_namespace, __meta_kubernetes_pod_name]
    target_label: x
  - action: labelmap
    regex: __meta_kubernetes_pod_label_(.+)
""")
    )
    assert (found.line, found.column) == (7, 50)
    assert found.message.startswith("a job without kubernetes_sd_configs has no label")


@pytest.mark.parametrize(
    ("regex", "advice"),
    [
        ("__meta_kubernetes_pod_labels_(.+)", "did you mean __meta_kubernetes_pod_label_?"),
        ("^__meta_kubernetes_service_label_(.+)", ""),
        ("__meta_kubernetes_zzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzz(.+)", ""),
    ],
)
def test_a_labelmap_of_what_is_not_there(regex: str, advice: str) -> None:
    """A labelmap whose names no target has copies nothing."""
    (found,) = bench.said(jobs=bench.rule("pod", action="labelmap", regex=regex))
    assert (found.code, bench.excerpt(found)) == (CODE, json.dumps(regex))
    assert found.message.startswith("no label that role pod has begins with __meta_kubernetes_")
    assert advice in found.help
    assert bool(advice) == bool(found.help)


@pytest.mark.parametrize(
    "regex",
    [
        "__meta_kubernetes_pod_label_(.+)",
        "__meta_kubernetes_pod_label_(app)",
        "__meta_kubernetes_pod_labels?_(.+)",
        "__meta_kubernetes_pod_labels_(.+)|app",
        "__meta_kubernetes_(.+)",
        "__meta_kubernetes_pod_(?:label|annotation)_(.+)",
        "([a-z]+)",
        "(.+)",
    ],
)
def test_a_labelmap_of_what_may_be_there(regex: str) -> None:
    """A labelmap is let alone if some label may match."""
    assert bench.codes(jobs=bench.rule("pod", action="labelmap", regex=regex)) == []


@pytest.mark.parametrize(
    "discovery",
    [
        "file_sd_configs: [{files: [x.yml]}]",
        "kubernetes_sd_configs: [{role: pods}]",
        "dns_sd_configs: [{}]",
    ],
)
def test_what_is_not_known_is_not_judged(discovery: str) -> None:
    """Files and other services may give any label, and so may a role that nobody knows."""
    text = f"""\
scrape_configs:
- job_name: gpu
  {discovery}
  relabel_configs:
  - source_labels: [__meta_kubernetes_pod]
    target_label: x
  - action: labelmap
    regex: __meta_kubernetes_pod_labels_(.+)
  - action: labeldrop
    regex: __meta_kubernetes_x
"""
    assert bench.codes(jobs=bench.jobs(text)) == []


def local(action: str = "keepequal", **keys: Any) -> bench.Json:  # noqa: ANN401 - JSON
    """Write a job that keeps the targets of our own node."""
    rule = {"source_labels": [f"{P}pod_node_name"], "action": action, "target_label": NODE}
    return {
        "job_name": "gpu",
        "kubernetes_sd_configs": [{"role": "pod"}],
        "relabel_configs": [rule],
        **keys,
    }


NODE = "__meta_cwgpu_env_NODE_NAME"


def test_a_variable_that_is_not_listed() -> None:
    """A label of our environment is there only if ``cwgpu.meta_env`` names it."""
    missing = bench.declaring(bench.declaration(), scrape_configs=[local()])
    (found,) = bench.said(missing)
    assert found.code == CODE
    assert found.path == "cwgpu.scrape_configs[0].relabel_configs[0].target_label"
    assert found.help == 'write "meta_env": ["NODE_NAME"] in the object "cwgpu"'
    listed = bench.declaring(bench.declaration(), scrape_configs=[local()], meta_env=["NODE_NAME"])
    assert bench.said(listed) == []


def test_a_variable_of_an_agent_that_is_not_here() -> None:
    """Of jobs alone nobody can tell; a job without Kubernetes never has such labels."""
    alone = bench.jobs(json.dumps({"scrape_configs": [local("dropequal")]}))
    assert bench.said(jobs=alone) == []
    static = local(kubernetes_sd_configs=[], static_configs=[{"targets": ["a:9400"]}])
    found = bench.said(bench.declaring(bench.declaration(), scrape_configs=[static]))
    assert [each.message for each in found] == [
        f"a job without kubernetes_sd_configs has no label {name}, so its value is always empty"
        for name in (f"{P}pod_node_name", NODE)
    ]


def test_a_label_that_is_compared_with() -> None:
    """keepequal reads its target label as well."""
    (found,) = bench.said(
        jobs=bench.rule(
            "pod",
            source_labels=[f"{P}pod_name"],
            action="keepequal",
            target_label=f"{P}pod",
        )
    )
    assert found.path == "scrape_configs[0].relabel_configs[0].target_label"


def test_workloads_are_told_of_pods() -> None:
    """Our own labels are known."""
    for name in ("kind", "name"):
        config = bench.rule("pod", source_labels=[f"{P}pod_workload_{name}"], target_label="x")
        assert bench.said(jobs=config) == []
