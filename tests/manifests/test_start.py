"""The command line of each overlay starts as its pod would start it.

Not in a cluster, but with the kernel's own means: a root file system that cannot be written, the
user and the rights of the security context, the mounts of the pod, and a network in which nothing
answers: neither the API server nor AWS nor an exporter nor a name server.
"""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import trustme

from tests.manifests import rendered
from tests.manifests.rendered import Json

ACCOUNT = "/var/run/secrets/kubernetes.io/serviceaccount"
_SIZES = {"16Mi": "16m", "1Ki": "4k"}  # a page is the least that tmpfs has
_INSIDE = Path(__file__).with_name("inside.py")


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
        binds.append((str(_account(folder / "account")), ACCOUNT))
    return binds


def _empty(name: str) -> list[tuple[str, str]]:
    volumes = {each["name"]: each for each in rendered.pod(name)["volumes"]}
    return [
        (each["mountPath"], _SIZES[volumes[each["name"]]["emptyDir"]["sizeLimit"]])
        for each in rendered.container(name)["volumeMounts"]
        if "emptyDir" in volumes[each["name"]]
    ]


def _started(name: str, folder: Path) -> Json:
    """Start the overlay's container, ask for its health, end it; give what was seen."""
    root = folder / "root"
    root.mkdir()
    order = {
        "root": str(root),
        "binds": _binds(name, folder),
        "empty": _empty(name),
        "identity": _identity(name),
        "command": ["cwgpu", *rendered.container(name)["args"]],
        "port": 9464,
        "environment": {
            "PATH": str(Path(sys.prefix) / "bin"),
            "PYTHONUNBUFFERED": "1",
            "RUN_IN_CONTAINER": "True",
            # What kubelet gives every container.
            "KUBERNETES_SERVICE_HOST": "10.100.0.1",
            "KUBERNETES_SERVICE_PORT": "443",
            **rendered.environment(name),
        },
    }
    namespaces = ["--mount", "--net", *([] if os.geteuid() == 0 else ["--map-root-user"])]
    done = subprocess.run(
        ["unshare", *namespaces, sys.executable, _INSIDE],
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
    """Nothing outside answers, and still it starts, says that it is well, and ends when told to."""
    found = _started(name, tmp_path)
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
    assert [each for each in found["journal"] if each.get("event") == "bug"] == []
