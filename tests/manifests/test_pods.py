"""What every pod promises: little rights, known sizes, an end that delivers."""

import json
import re
from pathlib import Path

import click
import pytest

from cwgpu.agent import stock
from cwgpu.cli.main import cli
from cwgpu.cli.run import command as run
from cwgpu.config import where
from cwgpu.spool import quarantine
from tests.manifests import plans, rendered
from tests.manifests.rendered import Json

WRITING_BYTES = 64 << 20
"""Events that are not batches yet, and batches that are being written: far less, usually."""
WORKING_BYTES = 120 << 20
"""Of an agent with a hundred nodes: docs/kubernetes.md, "Sizes"."""


def _security(name: str) -> Json:
    """Give what holds for our container: its own word before the pod's."""
    of_pod: Json = rendered.pod(name).get("securityContext", {})
    return {**of_pod, **rendered.container(name)["securityContext"]}


@pytest.mark.parametrize("name", rendered.ALL)
def test_our_container_can_do_little(name: str) -> None:
    """It runs as nobody, without capabilities, on a file system that it cannot write."""
    assert _security(name) == {
        "runAsNonRoot": True,
        "runAsUser": 65532,
        "runAsGroup": 65532,
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
        "seccompProfile": {"type": "RuntimeDefault"},
    }


@pytest.mark.parametrize("name", rendered.CLUSTER | rendered.DROP_IN)
def test_the_pod_has_nothing_of_its_node(name: str) -> None:
    """Pods of our own share no namespace and no path of the node, and have no other container."""
    pod = rendered.pod(name)
    assert not {"hostNetwork", "hostPID", "hostIPC", "initContainers"} & pod.keys()
    assert [each["name"] for each in pod["containers"]] == [rendered.container(name)["name"]]
    assert {kind for each in pod["volumes"] for kind in each} == {"name", "configMap", "emptyDir"}


@pytest.mark.parametrize("name", rendered.ALL)
def test_sizes_are_bounded(name: str) -> None:
    """Memory, processor, disk are asked for and limited; what can be written to has a size, too."""
    resources = rendered.container(name)["resources"]
    assert resources["requests"].keys() == {"cpu", "memory", "ephemeral-storage"}
    # Kubernetes holds such a limit against the pod, and so against an exporter beside us.
    beside = {"ephemeral-storage"} if name in rendered.SIDECARS else set()
    assert resources["limits"].keys() == resources["requests"].keys() - beside
    mounts = [each["name"] for each in rendered.container(name)["volumeMounts"]]
    volumes = [each for each in rendered.pod(name)["volumes"] if each["name"] in mounts]
    empty = [each["emptyDir"] for each in volumes if "emptyDir" in each]
    assert empty
    assert all("sizeLimit" in each for each in empty)


@pytest.mark.parametrize("name", rendered.ALL)
def test_the_end_has_time_to_deliver(name: str, tmp_path: Path) -> None:
    """Kubernetes waits longer than the agent may need, with time to spare."""
    usual = 30
    grace = rendered.pod(name).get("terminationGracePeriodSeconds", usual)
    assert grace >= plans.plan(name, tmp_path).shutdown_grace_s + 5


def _bytes(size: str) -> int:
    """Read a size as Kubernetes writes it."""
    units = {"Ki": 10, "Mi": 20}
    return int(size[:-2]) << units[size[-2:]]


def _spool(name: str) -> tuple[Json, Json]:
    """Give where the spool is mounted, and what."""
    place = rendered.environment(name)["CWGPU_SPOOL_DIR"]
    (mount,) = (
        each for each in rendered.container(name)["volumeMounts"] if each["mountPath"] == place
    )
    (volume,) = (each for each in rendered.pod(name)["volumes"] if each["name"] == mount["name"])
    return mount, volume


@pytest.mark.parametrize("name", rendered.ALL)
def test_the_spool_has_a_place(name: str) -> None:
    """The directory that the agent is told is a volume that it can write, and nobody else has."""
    (flag,) = (each for each in run.params if each.envvar == "CWGPU_SPOOL_DIR")
    assert flag.name == "spool_dir"
    mount, volume = _spool(name)
    assert not mount.get("readOnly", False)
    assert volume.keys() == {"name", "emptyDir"}  # writable for everybody, so also for 65532
    others = [each for each in rendered.pod(name)["containers"] if each["image"] != "cwgpu"]
    shared = [each["name"] for one in others for each in one.get("volumeMounts", ())]
    assert volume["name"] not in shared


@pytest.mark.parametrize("name", rendered.ALL)
def test_the_spool_never_fills_its_volume(name: str, tmp_path: Path) -> None:
    """Batches, quarantine and as much again for what is being written fit; the pod has room."""
    _, volume = _spool(name)
    size = _bytes(volume["emptyDir"]["sizeLimit"])
    assert (
        size >= plans.plan(name, tmp_path).spool.most_bytes + quarantine.MOST_BYTES + WRITING_BYTES
    )
    resources = rendered.container(name)["resources"]
    for which, found in resources.items():
        if "ephemeral-storage" in found:
            assert _bytes(found["ephemeral-storage"]) >= size, which


@pytest.mark.parametrize("name", rendered.ALL)
def test_what_waits_fits_into_memory_when_the_disk_fails(name: str) -> None:
    """Beside an agent that is at work there is room for as much as is held then."""
    limit = _bytes(rendered.container(name)["resources"]["limits"]["memory"])
    assert limit >= WORKING_BYTES + stock.REFUGE_BYTES + stock.SPILL_BYTES


@pytest.mark.parametrize("name", rendered.ALL)
def test_probes_reach_the_port_that_is_listened_on(name: str) -> None:
    """Liveness is /healthz, at the port that the arguments open to all."""
    container = rendered.container(name)
    (listen,) = (each for each in container["args"] if each.startswith("--listen="))
    assert listen == "--listen=:9464"
    ports = {each["name"]: each["containerPort"] for each in container.get("ports", ())}
    for probe, path in (("livenessProbe", "/healthz"), ("readinessProbe", "/readyz")):
        if probe == "readinessProbe" and name in rendered.SIDECARS:
            continue
        get = container[probe]["httpGet"]
        assert get["path"] == path
        assert ports.get(get["port"], get["port"]) == 9464


@pytest.mark.parametrize("name", rendered.ALL)
def test_a_slow_minute_kills_nobody(name: str) -> None:
    """Liveness gives up only after a minute without an answer."""
    probe = rendered.container(name)["livenessProbe"]
    assert probe["periodSeconds"] * probe["failureThreshold"] >= 60


@pytest.mark.parametrize("name", rendered.ALL)
def test_the_image_is_the_one_that_the_dockerfile_makes(name: str) -> None:
    """User, verb and place of the configuration are those of the image."""
    dockerfile = (rendered.ROOT / "Dockerfile").read_text("utf-8")
    security, container = _security(name), rendered.container(name)
    assert f"USER {security['runAsUser']}:{security['runAsGroup']}" in dockerfile
    assert 'ENTRYPOINT ["cwgpu"]' in dockerfile
    assert "command" not in container
    assert container["args"][0] in cli.list_commands(click.Context(cli))
    (place,) = re.findall(r"COPY --from=build \S+ (/etc/\S+)/cwagent\.json", dockerfile)
    assert place == str(where.DEFAULT)
    assert place in rendered.mounted(name)


@pytest.mark.parametrize("name", rendered.ALL)
def test_the_image_is_for_you_to_name(name: str) -> None:
    """No registry is invented: the image is called cwgpu until a kustomization says where it is."""
    assert rendered.container(name)["image"] == "cwgpu"


@pytest.mark.parametrize("name", ["base", "drop-in"])
def test_one_agent_ends_before_the_next_begins(name: str) -> None:
    """Without a Lease there is one pod, and no other during an update."""
    spec = rendered.workload(name)["spec"]
    assert (spec["replicas"], spec["strategy"]) == (1, {"type": "Recreate"})


def test_two_agents_are_kept_apart() -> None:
    """With a Lease there are two, a new one comes before an old one goes, and a drain takes one."""
    spec = rendered.workload("ha")["spec"]
    assert spec["replicas"] == 2
    assert spec["strategy"]["rollingUpdate"] == {"maxSurge": 1, "maxUnavailable": 0}
    spread = spec["template"]["spec"]["topologySpreadConstraints"]
    assert "kubernetes.io/hostname" in [each["topologyKey"] for each in spread]
    assert rendered.one("ha", "PodDisruptionBudget")["spec"]["maxUnavailable"] == 1


def test_shards_are_as_many_as_pods() -> None:
    """The number of pods is the number of parts; they start at once and are told by a number."""
    workload = rendered.workload("sharded")
    (text,) = (
        text
        for name, text in rendered.mounted("sharded")["/etc/cwagentconfig"].items()
        if name == "shard.json"
    )
    assert workload["kind"] == "StatefulSet"
    assert workload["spec"]["replicas"] == json.loads(text)["cwgpu"]["shard"]["count"]
    assert workload["spec"]["podManagementPolicy"] == "Parallel"
    assert workload["spec"]["serviceName"] == rendered.one("sharded", "Service")["metadata"]["name"]


def test_gpu_nodes_have_an_agent_each() -> None:
    """The DaemonSet goes where GPUs are, taints or not, and knows its node."""
    workload, pod = rendered.workload("daemonset"), rendered.pod("daemonset")
    assert workload["kind"] == "DaemonSet"
    assert {"key": "nvidia.com/gpu", "operator": "Exists"} in pod["tolerations"]
    required = pod["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
    keys = [term["matchExpressions"][0]["key"] for term in required["nodeSelectorTerms"]]
    assert "nvidia.com/gpu.present" in keys
    assert rendered.environment("daemonset")["NODE_NAME"] == "node-7"
    assert rendered.objects("daemonset", "PodDisruptionBudget") == ()


@pytest.mark.parametrize("name", rendered.CLUSTER)
def test_the_network_lets_through_what_is_needed(name: str) -> None:
    """In: the port of probes and self metrics. Out: names, the API server, AWS and exporters."""
    policy = rendered.one(name, "NetworkPolicy")["spec"]
    assert policy["policyTypes"] == ["Ingress", "Egress"]
    assert _ports(policy["ingress"]) == {9464}
    assert _ports(policy["egress"]) == {53, 443, 6443, 9400}


def _ports(rules: list[Json]) -> set[int]:
    return {port["port"] for rule in rules for port in rule["ports"]}
