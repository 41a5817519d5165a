"""Static targets, as far as the environment has a say."""

import json
from pathlib import Path

from cwgpu.config import document, load
from cwgpu.config.document import Form
from cwgpu.config.load import Examined
from cwgpu.config.where import Found


def examined(labels: dict[str, str], *targets: str, **environ: str) -> Examined:
    """Examine an agent's file whose one group has these labels, and one target or these."""
    group = {"targets": targets or ["a:9400"], "labels": labels}
    job = {"job_name": "gpu", "static_configs": [group]}
    logs = {"metrics_collected": {"prometheus": {"cluster_name": "lab"}}}
    text = json.dumps({"logs": logs, "cwgpu": {"scrape_configs": [job]}})
    read = document.read(text.encode(), "agent.json", Form.JSON)
    return load.translated(Found(read.root, read.complaints, Path("/etc/gpu")), None, environ)


def test_labels_come_from_the_environment() -> None:
    """Variables within a label's value are filled in, commas and all; other texts stay."""
    found = examined({"a": "${NODE}/${POD}", "b": "x", "c": "$NODE"}, NODE="n,1", POD="p")
    assert found.plan is not None
    assert found.plan.jobs[0].static[0].labels == {"a": "n,1/p", "b": "x", "c": "$NODE"}
    assert "variable-not-set" not in [each.code for each in found.complaints]


def test_a_variable_that_is_not_set_is_empty_in_a_label() -> None:
    """The label loses that part and a note says so, once for each name."""
    found = examined({"a": "${NODE}-${NODE}-${POD}"}, POD="")
    assert found.plan is not None
    assert found.plan.jobs[0].static[0].labels == {"a": "--"}
    (note,) = (each for each in found.complaints if each.code == "variable-not-set")
    assert note.message == "NODE is not in the environment, and empty here"
    assert note.path == "cwgpu.scrape_configs[0].static_configs[0].labels.a"


def test_a_variable_that_is_not_set_makes_no_target() -> None:
    """The job knows those that its targets are missing for, each once; empty is not set."""
    found = examined({}, "${HOST}:${PORT}", "${PORT}", "${NODE}", "a:1", HOST="h", NODE=" , ")
    assert found.plan is not None
    (job,) = found.plan.jobs
    assert job.static[0].targets == ({"__address__": "a:1"},)
    assert job.unset == ("PORT", "NODE")


def test_a_prometheus_yml_has_no_variables() -> None:
    """There ``${NAME}`` in a label is text, as in Prometheus."""
    group = "{targets: [a], labels: {b: '${HOME}'}}"
    text = f"scrape_configs: [{{job_name: gpu, static_configs: [{group}]}}]"
    read = document.read(text.encode(), "prometheus.yml", Form.YAML)
    jobs, said = load.prometheus_file(Found(read.root, read.complaints, Path("/etc/gpu")))
    assert said == ()
    assert jobs[0].static[0].labels == {"b": "${HOME}"}
    assert jobs[0].unset == ()
