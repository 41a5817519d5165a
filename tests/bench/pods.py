"""Pods of a cluster that trains: those of workloads, with two containers and three ports."""

import json

from cwgpu.kube.decode import Reader
from cwgpu.kube.resource import PODS
from cwgpu.model.objects import Pod
from tests.fakes import cluster

_READER = Reader(PODS.type)


def read(document: cluster.Json) -> Pod:
    """Read a pod as it comes from the API server."""
    made = _READER.read(json.dumps(document).encode())
    assert isinstance(made, Pod)
    return made


def pod(number: int, *, phase: str = "Running") -> Pod:
    """Make one of the pods, with the labels that workloads have."""
    workload = f"trainer-{number // 10}"
    return read(
        cluster.pod(
            f"{workload}-6d4cf56db6-{number:05d}",
            cluster.container("main", http=8080, metrics=9090),
            cluster.container("proxy", admin=15090),
            namespace=f"team-{number % 20}",
            ip=f"10.0.{number >> 8}.{number & 255}",
            phase=phase,
            labels={
                "app.kubernetes.io/name": workload,
                "app.kubernetes.io/instance": "prod",
                "pod-template-hash": "6d4cf56db6",
            },
            annotations={"checksum/config": f"{number:064x}"},
            owner=("ReplicaSet", f"{workload}-6d4cf56db6"),
        )
    )
