"""The rules together, on the files that people have."""

import re
from pathlib import Path

from cwgpu.config import default, document, load, manifest, where
from cwgpu.config.document import Form
from cwgpu.config.lint import judge
from cwgpu.config.where import Found
from tests.config.lint import bench

DATA = Path(__file__).parents[2] / "data"
ARTICLE = DATA / "article"


def test_the_article() -> None:
    """Each of its five faults is named at its place, and what idle GPUs will miss is noted."""
    agent = where.agent(ARTICLE / "cwagentconfig.json", {})
    jobs = where.prometheus(ARTICLE / "prometheus-dcgm-job.yaml")
    found = bench.said(agent, jobs)
    assert [(each.code, Path(each.file).name, each.line) for each in found] == [
        ("label-never-set", "cwagentconfig.json", 10),
        ("idle-gpus-unseen", "cwagentconfig.json", 13),
        ("path-not-served", "prometheus-dcgm-job.yaml", 5),
        ("relabel-never-matches", "prometheus-dcgm-job.yaml", 11),
        ("lost-backslash", "prometheus-dcgm-job.yaml", 14),
        ("unknown-meta-label", "prometheus-dcgm-job.yaml", 23),
    ]
    assert [bench.excerpt(each) for each in found] == [
        '"Service"',
        '"dimensions"',
        "/api/v1/metrics/prometheus",
        "'^DCGM.*$'",
        "([^:]+)(?::d+)?",
        "__meta_kubernetes_pod",
    ]


def test_the_article_with_its_faults_mended() -> None:
    """What the complaints say to write leaves nothing to complain about."""
    mended = (ARTICLE / "prometheus-dcgm-job.yaml").read_text("utf-8")
    for before, after in (
        ("/api/v1/metrics/prometheus", "/metrics"),
        ("'^DCGM.*$'", "'.*dcgm.*'"),
        ("(?::d+)?", "(?::\\d+)?"),
        (
            "source_labels: [__meta_kubernetes_pod]\n    action: replace\n    target_label: pod\n",
            '{"target_label": "Service", "replacement": "dcgm-exporter"}\n',
        ),
    ):
        assert before in mended
        mended = mended.replace(before, after)
    agent = where.agent(ARTICLE / "cwagentconfig.json", {})
    assert bench.codes(agent, bench.jobs(mended)) == ["idle-gpus-unseen"]


def test_the_shipped_default() -> None:
    """Nothing is to be said about our own configuration."""
    assert bench.codes(where.agent(default.path(), {})) == []


def test_the_stock_manifest() -> None:
    """Nothing is to be said about AWS' own jobs and declarations."""
    path = DATA / "manifests/prometheus-eks.yaml"
    read = manifest.read(path.read_bytes(), path)
    (agent,), (jobs,) = read.agents, read.jobs
    assert bench.codes(agent, jobs.found) == []


def test_the_stock_manifest_without_gpus() -> None:
    """AWS' own declarations select nothing of a GPU: ours was added to them."""
    path = DATA / "manifests/prometheus-eks.yaml"
    read = manifest.read(re.sub(rb'"\^DCGM_\w+\$"', b'"^x$"', path.read_bytes()), path)
    (agent,), (jobs,) = read.agents, read.jobs
    assert bench.codes(agent, jobs.found) == ["no-gpu-metric"]


def test_the_articles_other_job() -> None:
    """The job for Grafana has a word missing nowhere."""
    text = """\
scrape_configs:
- job_name: gpu-metrics
  scrape_interval: 1s
  metrics_path: /metrics
  scheme: http
  kubernetes_sd_configs:
  - role: endpoints
    namespaces:
      names:
      - gpu-operator
  relabel_configs:
  - source_labels: [__meta_kubernetes_pod_node_name]
    action: replace
    target_label: kubernetes_node
"""
    assert bench.codes(jobs=bench.jobs(text)) == []


def test_the_documentations_examples() -> None:
    """Each whole configuration on the page is one that nothing is said about."""
    page = (DATA.parents[1] / "docs/configuration.md").read_text("utf-8")
    examples = re.findall(r"(?s)```json\n(.*?)```", page)
    assert examples
    for text in examples:
        root = document.read(text.encode(), "example.json", Form.JSON).root
        assert bench.codes(Found(root, (), bench.HERE)) == []
    jobs = re.findall(r"(?s)```yaml\n(.*?)```", page)
    assert jobs
    for text in jobs:
        found = bench.jobs(text)
        assert load.prometheus_file(found)[1] == ()
        assert bench.codes(jobs=found) == []


def test_what_cannot_be_read_is_passed_over() -> None:
    """A broken half leaves the other to be looked at; what is refused gives no further word."""
    assert judge.complaints(None, None) == ()
    bad = document.read(b"{", "a.json", Form.JSON)
    broken = Found(bad.root, bad.complaints, bench.HERE)
    jobs = bench.rule("pod", source_labels=["__meta_kubernetes_pod"], target_label="x")
    assert bench.codes(broken, jobs) == ["unknown-meta-label"]
    assert bench.codes(bench.declaring(), broken) == []
    partly = bench.rule("pod", source_labels=["__meta_kubernetes_pod"], target_label="x", regx="a")
    assert bench.codes(jobs=partly) == ["unknown-meta-label"]
    refused = bench.rule("pod", source_labels=["__meta_kubernetes_pod"], regex="(")
    assert bench.codes(jobs=refused) == []


def test_rules_do_not_look_at_disabled_extraction() -> None:
    """Where nothing becomes a metric, declarations do not matter."""
    prometheus = {
        "disable_metric_extraction": True,
        "emf_processor": {"metric_declaration": [bench.declaration(["pod"])]},
    }
    config = bench.agent({"logs": {"metrics_collected": {"prometheus": prometheus}}})
    assert bench.codes(config) == []


def test_inline_jobs() -> None:
    """Jobs in the agent's file are looked at, and give way to a file of jobs."""
    job = {"job_name": "dcgm", "metrics_path": "/health", "static_configs": [{"targets": ["a:1"]}]}
    config = bench.declaring(scrape_configs=[job])
    assert bench.codes(config) == ["path-not-served"]
    assert bench.codes(config, bench.jobs("scrape_configs: []")) == []
