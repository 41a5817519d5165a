"""Files of one kind in the place of another."""

from pathlib import Path

import pytest

from cwgpu.config import where
from cwgpu.config.complaint import Complaint
from cwgpu.config.where import Found

DATA = Path(__file__).parents[1] / "data"
STOCK = DATA / "manifests/prometheus-eks.yaml"
CONFIG_MAP = '{"kind": "ConfigMap", "apiVersion": "v1", "data": {}}'
JOBS = "# ours\nglobal: {scrape_interval: 1m}\nscrape_configs: []\n"


def only(found: Found) -> Complaint:
    """Give what is said, which is one thing; nothing else is left of the file."""
    (complaint,) = found.complaints
    assert found.broken
    assert found.root.members == ()
    return complaint


def written(tmp_path: Path, text: str, name: str = "x.json") -> Path:
    """Write a file."""
    path = tmp_path / name
    path.write_text(text, "utf-8")
    return path


def test_a_manifest_where_the_agents_json_is_wanted(tmp_path: Path) -> None:
    """It is told to be one, and how to get the JSON out of it; in JSON and among others too."""
    manifests = [STOCK, written(tmp_path, CONFIG_MAP), tmp_path]
    for path in manifests:
        said = only(where.agent(path, {}))
        assert said.code == "wrong-file"
        assert said.message.startswith("this is a Kubernetes manifest, which only cwgpu check")
        assert said.message.endswith("; wanted the CloudWatch agent's JSON")
        assert (
            r"get configmap prometheus-cwagentconfig -o jsonpath='{.data.cwagentconfig\.json}'"
            in (said.help)
        )
    assert only(where.agent(STOCK, {})).excerpt == "apiVersion: v1"


def test_a_manifest_where_jobs_are_wanted(tmp_path: Path) -> None:
    """The same, with the other ConfigMap; also where a fault comes behind the first document."""
    broken = written(tmp_path, "kind: List\napiVersion: v1\n---\n\t", "x.yaml")
    for path in (STOCK, written(tmp_path, CONFIG_MAP), broken):
        said = only(where.prometheus(path))
        assert (said.code, said.message.rpartition("; ")[2]) == (
            "wrong-file",
            "wanted a prometheus.yml",
        )
        assert (
            r"get configmap prometheus-config -o jsonpath='{.data.prometheus\.yaml}'" in said.help
        )


def test_jobs_where_the_agents_json_is_wanted(tmp_path: Path) -> None:
    """Then the flag that takes them is named."""
    said = only(where.agent(written(tmp_path, JOBS), {}))
    assert (said.code, said.line) == ("wrong-file", 2)
    assert said.message == "this is a prometheus.yml; wanted the CloudWatch agent's JSON"
    assert "--prometheus-config" in said.help


def test_yaml_where_the_agents_json_is_wanted(tmp_path: Path) -> None:
    """The right keys in the wrong language."""
    said = only(where.agent(written(tmp_path, "logs:\n  metrics_collected: {}\n"), {}))
    assert said.message == "this is YAML; wanted the CloudWatch agent's JSON"


@pytest.mark.parametrize(
    "text",
    [
        '# ours\n{"logs": {}}',
        '{"logs": {"kind": 1, "apiVersion": 2},}',
        '\ufeff// ours\n{"logs": {}}',
        "{logs: {}}",
        "words",
        "",
    ],
)
def test_json_with_a_fault_is_not_mixed_up(tmp_path: Path, text: str) -> None:
    """Comments, commas and quotes are faults of JSON, also where YAML allows them."""
    found = where.agent(written(tmp_path, text), {})
    assert "json-syntax" in [each.code for each in found.complaints]


def test_jobs_with_a_fault_are_not_mixed_up(tmp_path: Path) -> None:
    """A fault of YAML stays one."""
    found = where.prometheus(written(tmp_path, JOBS + "\t- a"))
    assert [each.code for each in found.complaints] == ["yaml-syntax"]
