"""What a pod belongs to."""

from typing import Any

import pytest

from cwgpu.model.objects import Pod
from cwgpu.prom.kubernetes import pod, workload
from tests.prom.kubernetes.known import decoded


def _pod(owner: dict[str, Any] | None, labels: dict[str, str] | None = None) -> Pod:
    owners = [{"kind": "ConfigMap", "name": "no-controller"}, *([owner] if owner else [])]
    metadata = {"name": "p", "namespace": "ns", "labels": labels, "ownerReferences": owners}
    written = {"kind": "Pod", "metadata": metadata, "status": {"podIP": "127.0.0.1"}}
    made = decoded(written)
    assert isinstance(made, Pod)
    return made


def _owner(kind: str, name: str) -> dict[str, Any]:
    return {"kind": kind, "name": name, "controller": True}


_HASHED = {"pod-template-hash": "c68d8c774"}


@pytest.mark.parametrize(
    ("owner", "labels", "expected"),
    [
        (None, None, ("", "")),
        (_owner("DaemonSet", "dcgm"), None, ("DaemonSet", "dcgm")),
        (_owner("StatefulSet", "train"), None, ("StatefulSet", "train")),
        (_owner("ReplicaSet", "gpu-burn-c68d8c774"), _HASHED, ("Deployment", "gpu-burn")),
        (_owner("ReplicaSet", "by-hand"), _HASHED, ("ReplicaSet", "by-hand")),
        (_owner("ReplicaSet", "by-hand"), None, ("ReplicaSet", "by-hand")),
        (_owner("Job", "nightly-29012345"), None, ("CronJob", "nightly")),
        (_owner("Job", "a-29012345-1"), None, ("Job", "a-29012345-1")),
        (_owner("Job", "train-7b"), None, ("Job", "train-7b")),
        (_owner("RayCluster", "r"), None, ("RayCluster", "r")),
    ],
)
def test_a_pod_belongs_to_what_somebody_created(
    owner: dict[str, Any] | None, labels: dict[str, str] | None, expected: tuple[str, str]
) -> None:
    """ReplicaSets stand for their Deployment and scheduled Jobs for their CronJob."""
    assert workload.workload(_pod(owner, labels)) == expected


def test_the_workload_is_two_labels() -> None:
    """A pod of its own has neither."""
    name = "__meta_kubernetes_pod_workload_name"
    kind = "__meta_kubernetes_pod_workload_kind"
    labels = pod.labels(_pod(_owner("ReplicaSet", "gpu-burn-c68d8c774"), _HASHED))
    assert (labels[kind], labels[name]) == ("Deployment", "gpu-burn")
    assert not {kind, name} & pod.labels(_pod(None)).keys()
