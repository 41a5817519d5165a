"""The environment of a configuration that stands in a manifest with its container."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from cwgpu.config import manifest, review
from cwgpu.config.complaint import Complaint
from tests.manifests import rendered

Json: TypeAlias = dict[str, Any]

CONFIG: Json = {
    "apiVersion": "v1",
    "kind": "ConfigMap",
    "metadata": {"name": "config", "namespace": "gpu"},
    "data": {"cwagent.json": '{"cwgpu": {}}'},
}
ENV: Json = {
    "kind": "ConfigMap",
    "metadata": {"name": "env", "namespace": "gpu"},
    "data": {"CLUSTER_NAME": "lab", "ZONE": "a"},
}
ELSEWHERE = {**ENV, "metadata": {"name": "env", "namespace": "web"}, "data": {"ELSEWHERE": "1"}}
MOUNTS = [{"name": "config", "mountPath": "/etc/cwagentconfig"}]
VOLUME = {"name": "config", "configMap": {"name": "config"}}


def spec(volume: Json = VOLUME, **container: object) -> Json:
    """Give what a pod is made of, with another container before ours."""
    other = {"name": "other", "env": [{"name": "OTHER", "value": "1"}], "volumeMounts": [{}]}
    ours = {"name": "cwgpu", "volumeMounts": MOUNTS, **container}
    return {"volumes": [{"name": "tmp"}, volume], "containers": [other, ours]}


def workload(kind: str, pod: Json, namespace: str = "gpu") -> Json:
    """Give what makes such pods."""
    inner: Json = {"spec": pod} if kind == "Pod" else {"spec": {"template": {"spec": pod}}}
    if kind == "CronJob":
        inner = {"spec": {"jobTemplate": inner}}
    return {"kind": kind, "metadata": {"name": "cwgpu", "namespace": namespace}, **inner}


def environment(*objects: Json) -> Mapping[str, str]:
    """Read the objects, and give the environment of the only configuration."""
    whole = {"apiVersion": "v1", "kind": "List", "items": [CONFIG, *objects]}
    (found,) = manifest.read(json.dumps(whole).encode(), Path("pods.json")).environments
    return found


def variables(*env: Json, sources: Sequence[Json] = ()) -> Mapping[str, str]:
    """Give the variables of a Deployment's container, but for its pod's name."""
    pod = spec(env=env, envFrom=sources)
    found = environment(ELSEWHERE, ENV, workload("Deployment", pod))
    return {name: value for name, value in found.items() if name != "HOSTNAME"}


@pytest.mark.parametrize(
    ("kind", "pod"),
    [
        ("Pod", "cwgpu"),
        ("StatefulSet", "cwgpu-0"),
        ("Deployment", "cwgpu-xxxxx"),
        ("DaemonSet", "cwgpu-xxxxx"),
        ("CronJob", "cwgpu-xxxxx"),
    ],
)
def test_whatever_makes_the_pods(kind: str, pod: str) -> None:
    """The container that mounts the configuration is found, and told its pod's name."""
    env = [{"name": "POD", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}}]
    assert environment(workload(kind, spec(env=env))) == {"HOSTNAME": pod, "POD": pod}


def test_other_ways_to_mount() -> None:
    """A projected volume, and a container that begins before the others and stays."""
    projected = {
        "name": "config",
        "projected": {"sources": [{}, {"configMap": {"name": "config"}}]},
    }
    assert environment(workload("Deployment", spec(projected)))
    sidecar = spec()
    sidecar["initContainers"] = [sidecar["containers"].pop()]
    assert environment(workload("Deployment", sidecar))


@pytest.mark.parametrize(
    "objects",
    [
        [],
        [ENV],
        [workload("Deployment", spec(), namespace="web")],
        [workload("Deployment", spec({"name": "config", "configMap": {"name": "other"}}))],
        [workload("Deployment", spec(volumeMounts=[{"name": "tmp"}]))],
        [{"kind": "Deployment"}, {"kind": "Pod", "spec": {}}, {"kind": "Pod", "spec": None}],
    ],
)
def test_nobody_mounts_it(objects: Sequence[Json]) -> None:
    """Then nothing is known."""
    assert environment(*objects) == {}


def test_values() -> None:
    """They stand there, or in a ConfigMap of the namespace; others are set to what nobody knows."""
    found = variables(
        {"name": "A", "value": "1"},
        {"name": "EMPTY"},
        {"name": "NS", "valueFrom": {"fieldRef": {"fieldPath": "metadata.namespace"}}},
        {"name": "NODE", "valueFrom": {"fieldRef": {"fieldPath": "spec.nodeName"}}},
        {"name": "SECRET", "valueFrom": {"secretKeyRef": {"name": "s", "key": "k"}}},
        {"name": "MAP", "valueFrom": {"configMapKeyRef": {"name": "env", "key": "ZONE"}}},
        {"name": "KEY", "valueFrom": {"configMapKeyRef": {"name": "env", "key": "NO"}}},
        {"name": "AWAY", "valueFrom": {"configMapKeyRef": {"name": "away", "key": "ZONE"}}},
    )
    assert found == {
        "A": "1",
        "EMPTY": "",
        "NS": "gpu",
        "NODE": "unknown",
        "SECRET": "unknown",
        "MAP": "a",
        "AWAY": "unknown",
    }


def test_whole_maps() -> None:
    """A later one wins, and single variables win over them; one that is not here gives nothing."""
    sources: list[Json] = [
        {"configMapRef": {"name": "env"}},
        {"configMapRef": {"name": "env"}, "prefix": "P_"},
        {"configMapRef": {"name": "away"}},
        {"secretRef": {"name": "s"}},
    ]
    assert variables({"name": "ZONE", "value": "b"}, sources=sources) == {
        "CLUSTER_NAME": "lab",
        "ZONE": "b",
        "P_CLUSTER_NAME": "lab",
        "P_ZONE": "a",
    }


def overlay(name: str, path: Path, cluster: str) -> list[Complaint]:
    """Review what would be applied, with a cluster's name in it, on a machine that has another."""
    objects = json.loads(json.dumps(rendered.objects(name)))
    for each in objects:
        if "CLUSTER_NAME" in each.get("data", {}):
            each["data"]["CLUSTER_NAME"] = cluster
    path.write_text("\n---\n".join(map(json.dumps, objects)), "utf-8")
    environ = {"HOSTNAME": "laptop", "CLUSTER_NAME": "other"}
    return [
        each
        for each in review.review([path], environ)
        # Outside of a cluster there is an exporter of one's own; no overlay has its address.
        if "DCGM_EXPORTER_URL" not in each.message
    ]


@pytest.mark.parametrize("name", sorted({*rendered.CLUSTER, *rendered.SIDECARS}))
def test_what_we_ship(name: str, tmp_path: Path) -> None:
    """Nothing is said about any overlay in which the cluster has its name."""
    path = tmp_path / "applied.yaml"
    assert overlay(name, path, "lab") == []
    (unnamed,) = overlay(name, path, "")
    assert unnamed.code == "no-log-group"
