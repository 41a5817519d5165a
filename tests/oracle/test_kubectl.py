"""kubectl works against the fake Kubernetes API as it is: get, watch, apply, patch, delete."""

import json
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.fakes.kubernetes import FakeKubernetes
from tests.fakes.kubernetes.asking import pod
from tests.oracle import debian

Json = dict[str, Any]
Kubectl = Callable[..., str]

pytestmark = pytest.mark.oracle("kubectl")

GPU = "gpu-operator"
PATIENCE_S = 30


@pytest.fixture
def api() -> Iterator[FakeKubernetes]:
    """Serve with TLS."""
    with FakeKubernetes(tls=True) as api:
        for number in range(3):
            api.put(pod(f"p{number}", GPU, app="dcgm"))
        yield api


def command(api: FakeKubernetes, folder: Path, token: str | None = None) -> list[str]:
    """Give the beginning of every command; the cache of discovery is the test's own."""
    path = api.kubeconfig(folder / "config", token or api.admin, GPU)
    options = [f"--kubeconfig={path}", f"--cache-dir={folder / 'cache'}"]
    return [debian.program("kubectl"), *options]


@pytest.fixture
def kubectl(api: FakeKubernetes, tmp_path: Path) -> Kubectl:
    """Give a kubectl that says what it printed."""
    begun = command(api, tmp_path)

    def run(*words: str, document: Json | None = None) -> str:
        said = subprocess.run(
            [*begun, *words],
            input=json.dumps(document) if document else "",
            capture_output=True,
            text=True,
            timeout=PATIENCE_S,
            check=False,
        )
        assert said.returncode == 0, said.stderr
        return said.stdout

    return run


def test_get_lists_and_selects(api: FakeKubernetes, kubectl: Kubectl) -> None:
    """Short names, pages, selectors, and objects whole."""
    api.put(pod("other", GPU))
    chosen = ("-l", "app in (dcgm)", "--field-selector", "spec.nodeName=node-a")
    assert kubectl("get", "po", "-o", "name", "--chunk-size=2", *chosen).split() == [
        "pod/p0",
        "pod/p1",
        "pod/p2",
    ]
    shown = json.loads(kubectl("get", "pod", "p1", "-o", "json"))
    assert shown == api.get("pods", GPU, "p1")
    assert "Server Version: v1.36.2" in kubectl("version")
    assert kubectl("get", "pods", "-A").split()[:3] == ["NAMESPACE", "NAME", "AGE"]
    kinds = {line.split()[0] for line in kubectl("api-resources").splitlines()}
    assert {"pods", "endpointslices", "leases", "ingresses"} <= kinds


def test_get_watches(api: FakeKubernetes, tmp_path: Path) -> None:
    """``get -w`` prints what is there, then what comes and goes, as it happens."""
    words = ["get", "pods", "-w", "--output-watch-events", "-o", "json"]
    with subprocess.Popen([*command(api, tmp_path), *words], stdout=subprocess.PIPE) as process:
        api.wait(lambda: api.watches)
        api.put(pod("new", GPU))
        api.delete("pods", GPU, "p0")
        api.chaos.end()
        assert process.stdout is not None
        seen = [
            (event["type"], event["object"]["metadata"]["name"])
            for event in documents(process.stdout.read().decode())
        ]
    assert seen == [
        ("ADDED", "p0"),
        ("ADDED", "p1"),
        ("ADDED", "p2"),
        ("ADDED", "new"),
        ("MODIFIED", "p0"),
        ("DELETED", "p0"),
    ]


def documents(text: str) -> Iterator[Json]:
    """Read one JSON document after another."""
    decoder = json.JSONDecoder()
    while text := text.lstrip():
        document, end = decoder.raw_decode(text)
        yield document
        text = text[end:]


def test_apply_creates_changes_and_leaves(api: FakeKubernetes, kubectl: Kubectl) -> None:
    """With its own validation, and its strategic patch the second time."""
    ports = [{"name": "metrics", "port": 9400}, {"name": "health", "port": 8080}]
    service: Json = {
        "kind": "Service",
        "apiVersion": "v1",
        "metadata": {"name": "dcgm", "namespace": GPU, "labels": {"a": "1", "b": "1"}},
        "spec": {"ports": ports, "selector": {"app": "dcgm"}},
    }
    assert kubectl("apply", "-f", "-", document=service) == "service/dcgm created\n"
    del service["metadata"]["labels"]["b"]
    ports[0]["targetPort"] = 9401
    assert kubectl("apply", "-f", "-", document=service) == "service/dcgm configured\n"
    assert kubectl("apply", "-f", "-", document=service) == "service/dcgm unchanged\n"
    stored = api.get("services", GPU, "dcgm")
    assert stored is not None
    assert stored["metadata"]["labels"] == {"a": "1"}
    assert stored["spec"] == service["spec"]


def test_objects_are_changed_and_deleted(api: FakeKubernetes, kubectl: Kubectl) -> None:
    """Labels, a status as the kubelet writes it, a deletion that is waited for, a namespace."""
    kubectl("label", "pod", "p0", "app=other", "--overwrite")
    kubectl("patch", "pod", "p0", "--subresource=status", "-p", '{"status":{"phase":"Failed"}}')
    stored = api.get("pods", GPU, "p0")
    assert stored is not None
    assert (stored["metadata"]["labels"], stored["status"]["phase"]) == ({"app": "other"}, "Failed")
    assert "Name:         p1" in kubectl("describe", "pod", "p1")
    kubectl("delete", "pod", "p0")
    kubectl("delete", "pods", "-l", "app=dcgm", "--force")
    assert api.all("pods") == []
    kubectl("create", "namespace", "elsewhere")
    kubectl("delete", "namespace", "elsewhere")
    assert api.get("namespaces", "", "elsewhere") is None


def test_refusals_are_shown_as_of_a_real_server(api: FakeKubernetes, tmp_path: Path) -> None:
    """Forbidden, with who and what; not found; a field that nobody indexed."""
    token = api.grant("system:serviceaccount:amazon-cloudwatch:cwgpu", {"pods": ("get", "list")})
    begun = command(api, tmp_path, token)

    def refused(*words: str) -> str:
        said = subprocess.run([*begun, *words], capture_output=True, text=True, check=False)
        assert said.returncode == 1
        return said.stderr.strip()

    who = '"system:serviceaccount:amazon-cloudwatch:cwgpu"'
    assert refused("get", "nodes") == (
        f"Error from server (Forbidden): nodes is forbidden: User {who} cannot list resource "
        f'"nodes" in API group "" at the cluster scope'
    )
    assert refused("get", "pod", "x") == 'Error from server (NotFound): pods "x" not found'
    assert refused("get", "pods", "--field-selector=spec.color=x").endswith(
        "field label not supported: spec.color"
    )
    for verb, answer in (("list", "yes\n"), ("watch", "no\n")):
        question = [*begun, "auth", "can-i", verb, "pods"]
        said = subprocess.run(question, capture_output=True, text=True, check=False)
        assert said.stdout == answer
