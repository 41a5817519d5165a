"""The real program finds exporters through a Kubernetes API on loopback, and scrapes them."""

import json
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from cwgpu.cli import exits
from tests.cli import program
from tests.fakes import cluster
from tests.fakes.exporter import FakeExporter
from tests.fakes.kubernetes import FakeKubernetes

SHIPPED = program.ROOT / "config/cwagent.json"
UTIL = "DCGM_FI_DEV_GPU_UTIL"
ONCE = ("--dry-run", "--once")


def page(pod: str, value: int) -> bytes:
    """Give a page on a GPU that a workload uses."""
    labels = f'gpu="0",UUID="GPU-{value}",pod="{pod}",namespace="ml",container="main"'
    return f"# TYPE {UTIL} gauge\n{UTIL}{{{labels}}} {value}\n".encode()


def exporter_pod(name: str, exporter: FakeExporter, **more: Any) -> cluster.Json:  # noqa: ANN401 - JSON
    """Write a pod of the GPU operator that is this exporter."""
    host, port = exporter.address.split(":")
    running = cluster.container("nvidia-dcgm-exporter", cluster.IMAGE, metrics=int(port))
    labels = {"app": "nvidia-dcgm-exporter"}
    return cluster.pod(name, running, namespace="gpu-operator", ip=host, labels=labels, **more)


@pytest.fixture
def api() -> Iterator[FakeKubernetes]:
    """Run an API server with pods that have nothing to do with it."""
    with FakeKubernetes(tls=True) as fake:
        for document in cluster.BYSTANDERS:
            fake.put(document)
        yield fake


@pytest.fixture
def config(api: FakeKubernetes, tmp_path: Path) -> str:
    """Write the shipped configuration, led to that server as a user who may read pods."""
    token = api.grant("agent", {"pods": ("list", "watch")})
    api.kubeconfig(tmp_path / "kubeconfig", token)
    return written(tmp_path, kubeconfig_file="kubeconfig")


def written(folder: Path, **keys: object) -> str:
    """Write the shipped configuration with these keys at its Kubernetes discovery."""
    document = json.loads(SHIPPED.read_text("utf-8"))
    document["logs"]["metrics_collected"]["prometheus"]["cluster_name"] = "lab"
    _, job = document["cwgpu"]["scrape_configs"]
    job["kubernetes_sd_configs"][0] |= keys
    path = folder / "agent.json"
    path.write_text(json.dumps(document), "utf-8")
    return str(path)


def test_exporters_are_found_and_scraped(api: FakeKubernetes, config: str) -> None:
    """The workload's pod is the page's, the exporter's namespace and node are the object's."""
    with FakeExporter(page("train-0", 87)) as one, FakeExporter(page("train-1", 12)) as two:
        api.put(exporter_pod("nvidia-dcgm-exporter-a", one))
        api.put(exporter_pod("nvidia-dcgm-exporter-b", two, node="node-2"))
        done = program.run("run", "-c", config, *ONCE)
    assert done.code == exits.OK
    told = [(each["pod"], each["NodeName"], each[UTIL]) for each in done.events]
    assert sorted(told) == [("train-0", "node-1", 87), ("train-1", "node-2", 12)]
    for event in done.events:
        assert event["Namespace"] == "gpu-operator"
        assert event["Service"] == "nvidia-dcgm-exporter"
        assert event["ClusterName"] == "lab"
        (directive,) = event["_aws"]["CloudWatchMetrics"]
        fleet = ["ClusterName", "Namespace", "Service", "job"]
        assert [sorted(names) for names in directive["Dimensions"]] == [[*fleet, "pod"], fleet]
    assert "2 found: 2 up, 0 down" in done.summary
    assert {each.user for each in api.requests} == {"agent"}


def test_an_agent_that_stays_follows_pods(api: FakeKubernetes, config: str) -> None:
    """A pod that comes is scraped; at the end nothing is left open, and nobody complains."""
    with FakeExporter(page("train-0", 1)) as one, FakeExporter(page("train-1", 2)) as two:
        api.put(exporter_pod("a", one))
        with program.started("run", "-c", config, "--dry-run") as process:
            one.wait(lambda: one.requests, program.AMPLE_S)
            api.put(exporter_pod("b", two))
            two.wait(lambda: two.requests, program.AMPLE_S)
            process.send_signal(signal.SIGTERM)
            done = program.ended(process)
    assert done.code == exits.OK
    assert {each["event"] for each in done.journal} == {"config_loaded", "targets_changed"}
    assert api.watches == []


def test_what_the_account_may_not(api: FakeKubernetes, tmp_path: Path) -> None:
    """The run ends, and what has to be granted to whom is in the journal and in the summary."""
    user = "system:serviceaccount:amazon-cloudwatch:cwgpu"
    api.kubeconfig(tmp_path / "kubeconfig", api.grant(user))
    done = program.run("run", "-c", written(tmp_path, kubeconfig_file="kubeconfig"), *ONCE)
    assert done.code == exits.NOTHING_FOUND
    (said,) = [each for each in done.journal if each["event"] == "discovery_failed"]
    assert said["job"] == "kubernetes-pod-dcgm-exporter"
    assert said["reason"].startswith("pods in all namespaces cannot be ")
    grant = 'add {apiGroups: [""], resources: [pods], verbs: [list, watch]} to a ClusterRole'
    assert grant in said["reason"]
    assert "the service account cwgpu in namespace amazon-cloudwatch" in said["reason"]
    assert grant in " ".join(done.summary.split())


def test_a_server_that_does_not_answer(tmp_path: Path) -> None:
    """Nobody waits for it for ever, and who it was is said."""
    config = written(tmp_path, api_server="http://127.0.0.1:1")
    done = program.run("run", "-c", config, *ONCE)
    assert done.code == exits.NOTHING_FOUND
    (said,) = [each for each in done.journal if each["event"] == "discovery_failed"]
    assert "127.0.0.1:1: connection refused; is the API server running?" in said["reason"]


def test_the_shipped_configuration_without_an_exporter() -> None:
    """Which variable names one is said in the summary and in its next step."""
    done = program.run("run", "-c", str(SHIPPED), *ONCE, env={"CLUSTER_NAME": "lab"})
    assert done.code == exits.NOTHING_FOUND
    why = "DCGM_EXPORTER_URL is not set, so static_configs make no target of it: set it to the"
    said = " ".join(done.summary.split())
    assert f"job dcgm-exporter: {why}" in said
    assert "Next No target was discovered. Set DCGM_EXPORTER_URL to where an exporter is" in said


def test_the_shipped_configuration_outside_of_a_cluster(tmp_path: Path) -> None:
    """One variable names an exporter; that there is no cluster is said once, and is no fault."""
    with FakeExporter(page("train-0", 87)) as exporter:
        env = {"DCGM_EXPORTER_URL": exporter.url, "CLUSTER_NAME": "lab"}
        done = program.run("run", "-c", str(SHIPPED), *ONCE, env=env)
    assert done.code == exits.OK
    assert [event[UTIL] for event in done.events] == [87]
    (said,) = [each for each in done.journal if each["event"] == "discovery_idle"]
    assert (said["level"], said["job"]) == ("info", "kubernetes-pod-dcgm-exporter")
    assert "this is no pod of a cluster" in " ".join(done.summary.split())
    assert {each["level"] for each in done.journal} == {"info"}
