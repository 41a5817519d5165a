"""The command line of each overlay starts as its pod would start it.

Not in a cluster, but with the kernel's own means: a root file system that cannot be written, the
user and the rights of the security context, the mounts of the pod, and a network in which nothing
answers but, where a test says so, the cluster's API.
"""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
import trustme

from cwgpu.pace import shard
from tests.manifests import rendered
from tests.manifests.rendered import Json

ACCOUNT = "/var/run/secrets/kubernetes.io/serviceaccount"
_SIZES = {"16Mi": "16m", "512Mi": "512m", "1Ki": "4k"}  # a page is the least that tmpfs has
LISTENING: Json = {"event": "listening"}


def _identity(name: str) -> list[str]:
    """Give the command that takes the rights away; only root can become somebody else."""
    of_pod = rendered.pod(name).get("securityContext", {})
    context = {**of_pod, **rendered.container(name)["securityContext"]}
    user, group = context["runAsUser"], context["runAsGroup"]
    assert context["capabilities"] == {"drop": ["ALL"]}
    become = [f"--reuid={user}", f"--regid={group}", "--clear-groups"]
    return [
        shutil.which("setpriv") or "setpriv",
        *(become if os.geteuid() == 0 else []),
        "--no-new-privs",
        "--inh-caps=-all",
        "--bounding-set=-all",
        "--pdeathsig=KILL",
    ]


def _account(folder: Path) -> Path:
    """Write what kubelet mounts for an account: who we are, and whom to trust."""
    folder.mkdir()
    (folder / "namespace").write_text("amazon-cloudwatch", "utf-8")
    (folder / "token").write_text("a.b.c", "utf-8")
    trustme.CA().cert_pem.write_to_path(folder / "ca.crt")
    return folder


def _binds(name: str, folder: Path) -> list[tuple[str, str]]:
    """Give what is laid where: Python, the program, its configuration, its account."""
    package = rendered.ROOT / "cwgpu"
    places = {str(Path(each).absolute()) for each in (sys.base_prefix, sys.prefix, package)}
    # What lies below /usr is there already; of two that are nested the outer one comes first.
    binds = [(each, each) for each in sorted(places) if not each.startswith("/usr/")]
    binds += [(str(path), place) for place, path in rendered.write(name, folder / "config").items()]
    covered = {each["mountPath"] for each in rendered.container(name)["volumeMounts"]}
    if ACCOUNT not in covered:
        binds.append((str(folder / "account"), ACCOUNT))
    return binds


def _empty(name: str) -> list[tuple[str, str]]:
    volumes = {each["name"]: each for each in rendered.pod(name)["volumes"]}
    return [
        (each["mountPath"], _SIZES[volumes[each["name"]]["emptyDir"]["sizeLimit"]])
        for each in rendered.container(name)["volumeMounts"]
        if "emptyDir" in volumes[each["name"]]
    ]


def _started(
    name: str,
    folder: Path,
    events: Sequence[Json],
    cluster: Json | None = None,
    **environment: str,
) -> Json:
    """Start the overlay's container, await events, ask for its health, end it; give what was seen.

    Without a cluster there is only the address of one.
    """
    root = folder / "root"
    root.mkdir()
    order = {
        "root": str(root),
        "account": str(_account(folder / "account")),
        "binds": _binds(name, folder),
        "empty": _empty(name),
        "identity": _identity(name),
        "command": ["cwgpu", *rendered.container(name)["args"]],
        "port": 9464,
        "events": events,
        "cluster": cluster,
        "environment": {
            "PATH": str(Path(sys.prefix) / "bin"),
            "PYTHONUNBUFFERED": "1",
            "RUN_IN_CONTAINER": "True",
            # What kubelet gives every container.
            "KUBERNETES_SERVICE_HOST": "10.100.0.1",
            "KUBERNETES_SERVICE_PORT": "443",
            **rendered.environment(name),
            **environment,
        },
    }
    namespaces = ["--mount", "--net", *([] if os.geteuid() == 0 else ["--map-root-user"])]
    done = subprocess.run(
        ["unshare", *namespaces, sys.executable, "-m", "tests.manifests.inside"],
        cwd=rendered.ROOT,
        input=json.dumps(order),
        capture_output=True,
        text=True,
        timeout=50,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found: Json = json.loads(done.stdout)
    return found


@pytest.mark.parametrize("name", [*rendered.CLUSTER, "operator", "drop-in"])
def test_it_starts_is_well_and_ends(name: str, tmp_path: Path) -> None:
    """Nothing outside answers, and still it starts, says that it is well, and ends when told to.

    Its spool is where the volume is, which is for all to write, and there alone.
    """
    spool = {"event": "spool_opened", "directory": "/var/spool/cwgpu"}
    found = _started(name, tmp_path, [LISTENING, spool])
    assert found.get("health") == [200, 200, 200], found
    assert found["metrics"] == 200
    assert found["code"] == 0, found
    assert found["output"] == ""
    assert found["read_only"]
    assert found["NoNewPrivs"] == ["1"]
    assert {*found["CapEff"], *found["CapBnd"]} == {"0" * 16}
    if os.geteuid() == 0:
        assert {*found["Uid"], *found["Gid"]} == {"65532"}
        assert found["Groups"] == []
    faults = ("bug", "spool_failed", "samples_lost")
    assert [each for each in found["journal"] if each.get("event") in faults] == []


def _exporter(number: int) -> Json:
    """Make a pod of the GPU operator's exporter; number 7 is on the node that we are on."""
    template = rendered.workload("operator")["spec"]["template"]
    spec = {**template["spec"], "nodeName": f"node-{number}"}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": f"nvidia-dcgm-exporter-{number}",
            "namespace": "gpu-operator",
            "labels": template["metadata"]["labels"],
        },
        "spec": spec,
        "status": {"phase": "Running", "podIP": f"127.0.0.{number}"},
    }


def _service() -> list[Json]:
    """Make the operator's Service, annotated as it is, and the one address behind it."""
    place = {"name": "nvidia-dcgm-exporter", "namespace": "gpu-operator"}
    scraped = {"annotations": {"prometheus.io/scrape": "true"}}
    port = {"name": "gpu-metrics", "port": 9400}
    pod = {"kind": "Pod", "namespace": "gpu-operator", "name": "nvidia-dcgm-exporter-7"}
    subset = {"addresses": [{"ip": "127.0.0.7", "targetRef": pod}], "ports": [port]}
    return [
        {
            "apiVersion": "v1",
            "kind": "Service",
            "metadata": place | scraped,
            "spec": {"ports": [port]},
        },
        {"apiVersion": "v1", "kind": "Endpoints", "metadata": place, "subsets": [subset]},
    ]


def _cluster(name: str, kinds: Sequence[str], objects: Sequence[Json]) -> Json:
    """Give a cluster of these objects, in which our account may what the overlay says."""
    roles = [*rendered.objects(name, "ClusterRole"), *rendered.objects(name, "Role")]
    return {
        "objects": [rendered.one(name, "Namespace"), *objects],
        "rights": [(each["metadata"].get("namespace"), each["rules"]) for each in roles],
        "namespace": "amazon-cloudwatch",
        "asks": [(verb, kind) for kind in kinds for verb in ("list", "watch")],
    }


def _allowed(cluster: Json) -> set[tuple[str, str, str]]:
    return {
        (namespace or "", resource, verb)
        for namespace, rules in cluster["rights"]
        for rule in rules
        for resource in rule.get("resources", ())
        for verb in rule["verbs"]
    }


def _asked(seen: Json) -> set[tuple[str, str, str]]:
    """Give what was asked; nothing may have been refused."""
    assert seen["code"] == 0, seen
    assert [each for each in seen["asked"] if each[3] in (401, 403)] == []
    return {(namespace, kind, verb) for namespace, kind, verb, _ in seen["asked"]}


@pytest.mark.parametrize(("name", "found"), [("base", 9), ("daemonset", 1), ("ha", 9)])
def test_rights_are_enough_and_all_used(name: str, found: int, tmp_path: Path) -> None:
    """With the rights of its account it finds its exporters; nothing is refused, none is spare."""
    cluster = _cluster(name, ["pods"], [_exporter(number) for number in range(1, 10)])
    events: list[Json] = [LISTENING, {"event": "targets_changed", "found": found}]
    if name == "ha":
        events.append({"event": "leader_began", "lease": "cwgpu"})
    seen = _started(name, tmp_path, events, cluster)
    assert _asked(seen) == _allowed(cluster)


def _lease(holder: str) -> Json:
    place = {"name": "cwgpu-shards", "namespace": "amazon-cloudwatch"}
    document = {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": place}
    return document | {"spec": {"holderIdentity": holder, "leaseDurationSeconds": 3600}}


def _share(index: int) -> int:
    return sum(shard.owner(f"127.0.0.{number}:9400", 3) == index for number in range(1, 10))


def test_shards_use_all_their_rights(tmp_path: Path) -> None:
    """Shard 0 makes the lease or changes it, the others read it; then each finds its part."""
    asked = set()
    exporters = [_exporter(number) for number in range(1, 10)]
    leases: list[tuple[int, list[Json]]]
    leases = [(0, []), (0, [_lease("2 shards")]), (1, [_lease("3 shards")])]
    for number, (index, found) in enumerate(leases):
        cluster = _cluster("sharded", ["pods"], [*exporters, *found])
        divided = {"event": "shards_changed", "count": 3, "part": f"{index} of 3"}
        targets = {"event": "targets_changed", "found": _share(index)}
        folder = tmp_path / f"{number}"
        folder.mkdir()
        events = [LISTENING, divided, targets]
        seen = _started("sharded", folder, events, cluster, POD_NAME=f"cwgpu-{index}")
        asked |= _asked(seen)
    assert asked == _allowed(cluster)


def test_aws_rights_are_enough(tmp_path: Path) -> None:
    """In AWS' own manifest it finds the exporter behind its Service, with the rights there."""
    objects = [_exporter(7), *_service()]
    cluster = _cluster("drop-in", ["pods", "services", "endpoints"], objects)
    targets = {"event": "targets_changed", "found": 1}
    seen = _started("drop-in", tmp_path, [LISTENING, targets], cluster)
    assert _asked(seen) <= _allowed(cluster)
