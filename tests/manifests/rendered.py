"""What kubectl makes of the manifests: the objects that a cluster would get."""

import functools
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).parents[2]
KUBECTL = Path(sys.executable).with_name("kubectl")
"""The one beside our interpreter, whatever else this machine has."""

CLUSTER = {
    "base": "manifests/base",
    "ha": "manifests/overlays/ha",
    "daemonset": "manifests/overlays/daemonset",
    "sharded": "manifests/overlays/sharded",
}
"""Overlays that are whole, by name."""
SIDECARS = {
    "operator": "tests/data/deployers/operator",
    "chart": "tests/data/deployers/chart",
    "plain": "tests/data/deployers/plain",
}
"""The sidecar put into the DaemonSet of each deployer."""
DROP_IN = {"drop-in": "tests/data/deployers/aws"}
ALL = CLUSTER | SIDECARS | DROP_IN

Json = dict[str, Any]

_WORKLOADS = ("Deployment", "DaemonSet", "StatefulSet")
_OURS = ("cwgpu", "cloudwatch-agent")


@functools.cache
def build(folder: str | Path) -> tuple[Json, ...]:
    """Give the objects of a folder, named from the repository's root. Not to be changed."""
    done = subprocess.run(
        [KUBECTL, "kustomize", ROOT / folder],
        env={"PATH": os.environ["PATH"]},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return tuple(each for each in yaml.safe_load_all(done.stdout) if each)


def objects(name: str, kind: str = "") -> tuple[Json, ...]:
    """Give the objects of an overlay, all or those of a kind."""
    return tuple(each for each in build(ALL[name]) if kind in ("", each["kind"]))


def one(name: str, kind: str) -> Json:
    """Give the only object of a kind."""
    (found,) = objects(name, kind)
    return found


def workload(name: str) -> Json:
    """Give what makes the pods."""
    (found,) = (each for each in objects(name) if each["kind"] in _WORKLOADS)
    return found


def pod(name: str) -> Json:
    """Give the pods' spec."""
    spec: Json = workload(name)["spec"]["template"]["spec"]
    return spec


def container(name: str) -> Json:
    """Give our container."""
    (found,) = (each for each in pod(name)["containers"] if each["name"] in _OURS)
    return dict(found)


def data(name: str, config_map: str) -> Mapping[str, str]:
    """Give what a ConfigMap holds."""
    (found,) = (
        each for each in objects(name, "ConfigMap") if each["metadata"]["name"] == config_map
    )
    texts: Mapping[str, str] = found["data"]
    return texts


def mounted(name: str) -> dict[str, Mapping[str, str]]:
    """Give the files of the ConfigMaps that our container mounts, by the place of the mount."""
    volumes = {each["name"]: each for each in pod(name)["volumes"]}
    places = {each["mountPath"]: volumes[each["name"]] for each in container(name)["volumeMounts"]}
    return {
        place: data(name, volume["configMap"]["name"])
        for place, volume in places.items()
        if "configMap" in volume
    }


def environment(name: str) -> dict[str, str]:
    """Give our container's environment in a pod of a cluster called ``lab``."""
    texts: dict[str, str] = {}
    for each in container(name).get("envFrom", ()):
        texts |= data(name, each["configMapRef"]["name"])
    for each in container(name).get("env", ()):
        source = each.get("valueFrom")
        path = source["fieldRef"]["fieldPath"] if source else ""
        texts[each["name"]] = _field(name, path) if source else each["value"]
    if "CLUSTER_NAME" in texts:
        texts |= {"CLUSTER_NAME": "lab", "AWS_REGION": "eu-west-1"}
    return texts


def _field(name: str, path: str) -> str:
    """Give what the downward API would; a label that the pods do not have is empty."""
    found = workload(name)
    known: dict[str, str] = {
        "spec.nodeName": "node-7",
        "metadata.name": f"{found['metadata']['name']}-1",
        "metadata.namespace": found["metadata"]["namespace"],
    }
    for key, text in found["spec"]["template"]["metadata"]["labels"].items():
        known[f"metadata.labels['{key}']"] = text
    return known.get(path, "") if path.startswith("metadata.labels") else known[path]


def write(name: str, folder: Path) -> dict[str, Path]:
    """Write the mounted files below a folder, as kubelet would; give each place's folder."""
    written = {}
    for place, files in mounted(name).items():
        written[place] = folder / place.strip("/")
        written[place].mkdir(parents=True)
        for file, text in files.items():
            (written[place] / file).write_text(text, "utf-8")
    return written
