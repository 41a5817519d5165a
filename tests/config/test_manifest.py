"""Configuration inside a Kubernetes manifest, with the manifest's places."""

import json
from pathlib import Path

import pytest

from cwgpu.config import manifest
from cwgpu.config.complaint import Level
from cwgpu.config.manifest import Manifest

PATH = Path("eks.yaml")
STOCK = Path(__file__).parents[1] / "data/manifests/prometheus-eks.yaml"


def read(text: str) -> Manifest:
    """Read a manifest."""
    return manifest.read(text.encode(), PATH)


def test_the_stock_manifest() -> None:
    """Both ConfigMaps are found among the other documents, each part at its place in the file."""
    made = manifest.read(STOCK.read_bytes(), STOCK)
    (agent,), (jobs,) = made.agents, made.jobs
    lines = STOCK.read_text("utf-8").splitlines()
    region, interval = agent.root.at("agent.region"), jobs.found.root.at("global.scrape_interval")
    assert made.complaints == agent.complaints == jobs.found.complaints == ()
    assert jobs.name == "prometheus.yaml"
    for node, text in ((region, '"eu-west-1"'), (interval, "1m")):
        assert node is not None
        place = node.place
        assert place.source.name == str(STOCK)
        assert lines[place.line - 1][place.column - 1 :][: place.width] == text


MAPS = """\
apiVersion: v1
kind: ConfigMap
data:
  {0}
---
kind: ConfigMap
apiVersion: v1
data:
  a.yml: {1}
"""


@pytest.mark.parametrize("header", ["|", "|-", "|+", "|2", ">-"])
def test_block_scalars(header: str) -> None:
    """However a block begins and ends, its lines are the manifest's; folded ones are not."""
    text = MAPS.format(
        f'a.json: {header}\n\n    {{"logs": {{\n      "prometheus": 1}} ? }}\n\n', "|\n"
    )
    if header == "|2":
        text = text.replace("    {", "      {")
    (found,) = read(text).agents
    (syntax,) = found.complaints
    assert syntax.code == "json-syntax"
    if header == ">-":
        assert syntax.file == "eks.yaml:a.json"
    else:
        assert (syntax.file, syntax.line, syntax.column) == ("eks.yaml", 7, 24)
        assert text.splitlines()[6][23] == "?"


def test_a_text_in_quotes() -> None:
    """It has no lines of its own in the manifest, so it is shown by itself."""
    text = json.dumps('{\n  "prometheus": oh\n}')
    (found,) = read(MAPS.format(f"a.json: {text}", "x")).agents
    (syntax,) = found.complaints
    assert (syntax.file, syntax.line, syntax.column) == ("eks.yaml:a.json", 2, 17)


def test_a_fault_of_yaml_inside() -> None:
    """The jobs' own syntax is complained about at the manifest's line."""
    (jobs,) = read(MAPS.format("x: y", "|\n    scrape_configs:\n    - job_name: *a\n")).jobs
    (syntax,) = jobs.found.complaints
    assert (syntax.code, syntax.file, syntax.line, syntax.column) == (
        "yaml-syntax",
        "eks.yaml",
        11,
        17,
    )


def test_a_fault_of_the_manifest() -> None:
    """A broken manifest is told to be so, and what stands before the fault is read."""
    made = read("apiVersion: v1\nkind: ConfigMap\ndata:\n  a.yml: |\n    scrape_configs:\n---\n\t")
    assert [each.code for each in made.complaints] == ["yaml-syntax"]
    assert [each.name for each in made.jobs] == ["a.yml"]


def test_files_of_one_map_are_one() -> None:
    """A ConfigMap is mounted as a directory, whose JSON files the agent merges."""
    one, other = '{"logs": {"prometheus": 1}}', '{"agent": {"region": "x"}}'
    data = f"a.json: '{one}'\n  b.json: '{other}'\n  c.json: ''\n  d.txt: x"
    (found,) = read(MAPS.format(data, "x")).agents
    assert found.root.at("agent.region") is not None
    assert found.root.at("logs.prometheus") is not None
    conflict = f"a.json: '{one}'\n  b.json: '{one.replace('1', '2')}'"
    (found,) = read(MAPS.format(conflict, "x")).agents
    assert [each.code for each in found.complaints] == ["conflicting-files"]


def test_a_list() -> None:
    """``kubectl get -o yaml`` wraps objects into a List; Lists may hold Lists."""
    item = {"kind": "ConfigMap", "data": {"a.json": '{"cwgpu": {}}', "p.yaml": "scrape_configs:\n"}}
    inner = {"kind": "ConfigMapList", "items": [item, {"kind": "List"}]}
    text = json.dumps({"apiVersion": "v1", "kind": "List", "items": [inner]})
    made = read(text)
    assert (len(made.agents), [each.name for each in made.jobs]) == (1, ["p.yaml"])


@pytest.mark.parametrize(
    "data",
    [
        """dashboard.json: '{"panels": []}'""",
        """cwagentconfig.json: '{"logs": {"metrics_collected": {"kubernetes": {}}}}'""",
        "rules.yaml: 'groups: []'",
        "prometheus.txt: 'scrape_configs: []'",
        "x:",
    ],
)
def test_what_is_not_ours(data: str) -> None:
    """Dashboards, alerting rules and the agent's other work are left alone."""
    made = read(MAPS.format(data, "''"))
    (nothing,) = made.complaints
    assert (nothing.code, nothing.level, nothing.file) == (
        "no-configuration",
        Level.ERROR,
        "eks.yaml",
    )
    assert (made.agents, made.jobs) == ((), ())


@pytest.mark.parametrize("text", ["", "kind: Pod\napiVersion: v1\n", "- a\n", "kind: ConfigMap\n"])
def test_no_config_map(text: str) -> None:
    """A manifest without a ConfigMap that holds something is told to be so."""
    assert [each.code for each in read(text).complaints] == ["no-configuration"]


def test_an_object_instead_of_a_text() -> None:
    """Who forgets the ``|`` is told, with the key's place."""
    (found,) = read(MAPS.format("a.json: {logs: {}}", "x")).complaints
    assert (found.code, found.line, found.column) == ("wrong-type", 4, 3)
    assert found.help == "write a.json: | and the text below it"
    assert [each.code for each in read(MAPS.format("a.txt: {b: c}", "x")).complaints] == [
        "no-configuration"
    ]
