"""Target groups as Prometheus 3.0.1 makes them, object for object and label for label."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from cwgpu.model import objects
from cwgpu.model.labels import Labels
from cwgpu.model.target import Target
from cwgpu.plan.plan import Job
from cwgpu.prom import targeting
from cwgpu.prom.kubernetes import group
from cwgpu.prom.kubernetes.role import Role
from cwgpu.prom.relabel import Rule, rule
from tests.prom.kubernetes.known import Known, decoded

_ROWS = [
    json.loads(line)
    for line in (Path(__file__).parents[2] / "data/kubernetes_sd.jsonl").read_text().splitlines()
]
_OURS = "__meta_kubernetes_pod_workload_"
"""The labels that Prometheus does not have."""


def _groups(row: dict[str, Any]) -> dict[str, list[Labels]]:
    role = Role(row["sd_config"]["role"])
    attach = row["sd_config"].get("attach_metadata", {}).get("node", False)
    known = Known(row["objects"], attach_node=attach)
    # Namespaces and selectors are the API server's to apply: what it would not give is left out.
    wanted = {each["source"] for each in row["groups"]}
    chosen = "selectors" in row["sd_config"] or "namespaces" in row["sd_config"]
    found = {}
    for each in known.of(role):
        made = group.group(role, each, known)
        targets = [
            {name: value for name, value in {**made.labels, **target}.items() if _OURS not in name}
            for target in made.targets
        ]
        if targets and (made.source in wanted or not chosen):
            found[made.source] = _sorted(targets)
    return found


def _sorted(targets: list[Any]) -> list[Labels]:
    return sorted(targets, key=lambda labels: json.dumps(labels, sort_keys=True))


@pytest.mark.parametrize("row", _ROWS, ids=[row["id"] for row in _ROWS])
def test_objects_become_the_groups_that_prometheus_makes(row: dict[str, Any]) -> None:
    """Each group has its source, its targets and every label of theirs, and no more."""
    wanted = {each["source"]: _sorted(each["targets"]) for each in row["groups"]}
    assert _groups(row) == {source: targets for source, targets in wanted.items() if targets}


def test_every_recorded_row_is_taken() -> None:
    """No row is lost on the way, and each kind of object among them is decoded."""
    assert len(_ROWS) == 63
    kinds = {each["kind"] for row in _ROWS for each in row["objects"]}
    assert kinds == {"Pod", "Node", "Service", "Endpoints", "EndpointSlice", "Ingress"}
    assert all(isinstance(decoded(each), objects.Object) for each in _ROWS[0]["objects"])


def test_a_list_of_null_is_an_empty_list() -> None:
    """What the API server calls null, Go reads as nothing; so do we."""
    text = b'{"metadata":{"labels":null,"ownerReferences":null},"spec":{"containers":null}}'
    pod = msgspec.json.decode(text, type=objects.Pod)
    assert group.group(Role.POD, pod, Known([])).targets == ()


_PLAYED = [row for row in _ROWS if "active_targets" in row]


@pytest.mark.parametrize("row", _PLAYED, ids=[row["id"] for row in _PLAYED])
def test_rules_over_meta_labels_choose_the_targets_that_prometheus_chooses(
    row: dict[str, Any],
) -> None:
    """From objects over a job's rules to what is scraped, with its URL and public labels."""
    role = Role(row["sd_config"]["role"])
    known = Known(row["objects"])
    job = Job(row["id"], 60, 10, relabel=tuple(_rules(row["relabel_configs"])))
    active = [
        {"labels": dict(found.labels), "scrape_url": found.url}
        for each in known.of(role)
        for found in targeting.targets(job, group.group(role, each, known))
        if isinstance(found, Target)
    ]
    assert sorted(active, key=json.dumps) == sorted(row["active_targets"], key=json.dumps)


def _rules(written: list[dict[str, Any]]) -> Iterator[Rule]:
    for each in written:
        # YAML scalars that are no strings are taken as written: `regex: true` is the text "true".
        texts: dict[str, Any] = {
            name: text if isinstance(text, str | list) else json.dumps(text)
            for name, text in each.items()
        }
        yield rule(**{**texts, "source_labels": tuple(each.get("source_labels", ()))})
