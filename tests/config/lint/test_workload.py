"""The workload's labels, and the exporter's own."""

import json

import pytest

from cwgpu.config.where import Found
from tests.config.lint import bench

P = "__meta_kubernetes_"
TAKEN, MIXED, UNSEEN = "workload-label-taken", "idle-gpus-mixed-up", "idle-gpus-unseen"
POD = {"source_labels": [f"{P}pod_name"], "target_label": "pod"}


def pods(*rules: bench.Json, name: str = "dcgm", **keys: object) -> Found:
    """Read a job for pods with these rules."""
    job = {"job_name": name, "kubernetes_sd_configs": [{"role": "pod"}], "relabel_configs": rules}
    return bench.jobs(json.dumps({"scrape_configs": [job | keys]}))


def declared(*names: str) -> Found:
    """Read a declaration with these dimensions, and a set without any."""
    return bench.declaring(bench.declaration(list(names), ["ClusterName"]))


@pytest.mark.parametrize(
    ("source", "label"),
    [("pod_name", "pod"), ("namespace", "namespace"), ("pod_container_name", "container")],
)
def test_the_exporters_own_pod(source: str, label: str) -> None:
    """A target's label takes the name from the page's, which says who uses the GPU."""
    rule = {"source_labels": [P + source], "target_label": label}
    (found,) = bench.said(declared(label), pods(rule))
    assert (found.code, bench.excerpt(found)) == (TAKEN, f'"{label}"')
    assert found.message == (
        f"this makes {label} the exporter's own; what the page says of the workload becomes "
        f"exported_{label}"
    )
    assert "honor_labels: true" in found.help
    assert bench.codes(jobs=pods(rule)) == [TAKEN]


def test_labels_that_are_honoured() -> None:
    """Then only GPUs without a workload get the exporter's pod."""
    (found,) = bench.said(declared("pod"), pods(POD, honor_labels=True))
    assert (found.code, found.level.value) == (MIXED, "note")
    assert found.message == "a GPU that no pod uses gets the exporter's own pod through this rule"


@pytest.mark.parametrize(
    "rule",
    [
        {"source_labels": [f"{P}pod_name"], "target_label": "pod_name"},
        {"source_labels": ["exported_pod"], "target_label": "pod"},
        {"target_label": "pod", "replacement": "none"},
        {"source_labels": [f"{P}pod_name"], "target_label": "pod", "action": "lowercase"},
    ],
)
def test_rules_that_take_nothing(rule: bench.Json) -> None:
    """Other labels, and other sources, are let alone."""
    assert bench.codes(declared("pod"), pods(rule)) == []


def test_a_label_that_no_declaration_uses() -> None:
    """Nobody misses it then."""
    assert bench.codes(declared("gpu"), pods(POD)) == []


@pytest.mark.parametrize(
    ("rule", "codes"),
    [
        ({"source_labels": ["exported_pod"], "regex": "(.+)", "target_label": "pod"}, []),
        ({"action": "labelmap", "regex": "exported_(.+)"}, []),
        ({"action": "labelmap", "regex": "(.+)_x"}, [TAKEN]),
        ({"action": "labeldrop", "regex": "exported_(.+)"}, [TAKEN]),
    ],
)
def test_a_rule_that_moves_it_back(rule: bench.Json, codes: list[str]) -> None:
    """Who moves the label back by a rule for samples knows what happens."""
    assert bench.codes(declared("pod"), pods(POD, metric_relabel_configs=[rule])) == codes


def test_a_job_for_everything() -> None:
    """Any job may be meant if none is for DCGM by name, and a declaration uses the label."""
    both = json.dumps(
        {
            "scrape_configs": [
                {"job_name": name, "kubernetes_sd_configs": [{"role": "pod"}],
                 "relabel_configs": rules}
                for name, rules in (("all", [POD]), ("dcgm", []))
            ]
        }
    )  # fmt: skip
    assert bench.codes(declared("pod"), pods(POD, name="all")) == [TAKEN]
    assert bench.codes(jobs=pods(POD, name="all")) == []
    assert bench.codes(declared("pod"), bench.jobs(both)) == []


def test_a_source_that_there_is_not() -> None:
    """A rule that has nothing to write takes nothing; that is told in other words."""
    rule = {"source_labels": [f"{P}pod"], "target_label": "pod"}
    assert bench.codes(declared("pod"), pods(rule)) == ["unknown-meta-label"]
    unknown = pods(POD, kubernetes_sd_configs=[{"role": "pods"}])
    assert bench.codes(declared("pod"), unknown) == []


def test_idle_gpus() -> None:
    """Where every dimension set needs a pod, GPUs without one are not seen."""
    found = bench.said(
        bench.declaring(
            bench.declaration(["ClusterName", "pod"], ["gpu", "namespace"]),
            bench.declaration(["container"]),
        )
    )
    assert [each.code for each in found] == [UNSEEN, UNSEEN]
    assert found[0].level.value == "note"
    assert bench.excerpt(found[0]) == '"dimensions"'
    assert found[0].message == "GPUs that no pod uses have no label pod: nothing is sent about them"


@pytest.mark.parametrize(
    "declarations",
    [
        [bench.declaration(["pod"], ["gpu"])],
        [bench.declaration(["pod"]), bench.declaration(["gpu"])],
        [bench.declaration(["pod"], selectors=["^http_", "DCGM_"])],
        [{"source_labels": ["job"], "metric_selectors": ["^DCGM_"]}],
        [],
    ],
)
def test_idle_gpus_that_are_seen(declarations: list[bench.Json]) -> None:
    """One set without a pod is enough; other metrics than DCGM's are not spoken of."""
    assert bench.codes(bench.declaring(*declarations)) == []


def test_idle_gpus_with_a_label_of_the_target() -> None:
    """If the target has a pod, so have GPUs without a workload."""
    config = bench.declaring(bench.declaration(["pod"]))
    assert bench.codes(config, pods(POD, honor_labels=True)) == [MIXED]
    static = "scrape_configs: [{job_name: a, static_configs: [{targets: ['a:1'], labels: {%s}}]}]"
    assert bench.codes(config, bench.jobs(static % "pod: none")) == []
    assert bench.codes(config, bench.jobs(static % "")) == [UNSEEN]
