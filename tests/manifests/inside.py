"""The inside of a container: run by ``unshare``, in namespaces of its own, as their root.

Makes a root file system of what a Python program needs and of the mounts that it is told, all of
it read-only but for the volumes; starts the program there as the user that it is told, and asks it
for its health. The network is a loopback that nobody else has, on which the cluster's API may be.
Prints what it saw as JSON.
"""

import contextlib
import fcntl
import http.client
import json
import os
import shutil
import signal
import socket
import struct
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TypeAlias

from tests.fakes.kubernetes import FakeKubernetes

Json: TypeAlias = dict[str, Any]

_ETC = ("group", "hosts", "ld.so.cache", "nsswitch.conf", "passwd")
# linux/sockios.h and linux/if.h.
_SIOCSIFFLAGS, _IFF_UP = 0x8914, 1
_PATIENCE_S = 30.0


def _mount(*arguments: str | Path) -> None:
    subprocess.run(["mount", *map(str, arguments)], check=True)


def _bind(source: Path, target: Path) -> None:
    target.mkdir(parents=True, exist_ok=True)
    _mount("--bind", source, target)
    _mount("-o", "remount,bind,ro", target)


def _loopback_up() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asked:
        fcntl.ioctl(asked, _SIOCSIFFLAGS, struct.pack("16sH22x", b"lo", _IFF_UP))


def _mounts(order: Json) -> list[tuple[str, Path | str]]:
    """Give where what is mounted, what lies above first: the program may itself lie in /tmp."""
    binds = [(target, Path(source)) for source, target in order["binds"]]
    return sorted([*binds, *order["empty"]], key=lambda mount: len(Path(mount[0]).parts))


def _furnish(root: Path, order: Json) -> None:
    """Make the file system: an image's part read-only, then each volume at its place."""
    _mount("-t", "tmpfs", "-o", "mode=755", "tmpfs", root)
    for place in (Path("/") / name for name in ("usr", "bin", "sbin", "lib", "lib64")):
        if place.is_symlink():
            (root / place.name).symlink_to(place.readlink())
        elif place.is_dir():
            _bind(place, root / place.name)
    (root / "etc").mkdir()
    for file in (Path("/etc") / name for name in _ETC):
        if file.exists():
            shutil.copy(file, root / "etc")
    for where, what in _mounts(order):
        target = root / where.strip("/")
        if isinstance(what, Path):
            _bind(what, target)
        else:
            target.mkdir(parents=True, exist_ok=True)
            _mount("-t", "tmpfs", "-o", f"mode=1777,size={what}", "tmpfs", target)
    (root / "proc").mkdir()
    _mount("--rbind", "/proc", root / "proc")
    (root / "dev").mkdir()
    _mount("--rbind", "/dev", root / "dev")
    _mount("-o", "remount,ro", root)


def _ask(port: int, path: str) -> int:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    connection.request("GET", path)
    status = connection.getresponse().status
    connection.close()
    return status


def _seen(pid: int) -> Json:
    """Tell what the kernel says about the process."""
    status = Path(f"/proc/{pid}/status").read_text("utf-8")
    fields = dict(line.split(":\t", 1) for line in status.splitlines() if ":\t" in line)
    names = ("Uid", "Gid", "Groups", "CapEff", "CapBnd", "NoNewPrivs")
    root = os.statvfs(f"/proc/{pid}/root")
    return {
        **{name: fields[name].split() for name in names},
        "read_only": bool(root.f_flag & os.ST_RDONLY),
    }


def _read(events: list[Json], process: subprocess.Popen[str], journal: list[Json]) -> bool:
    """Read the journal until each event came, in any order; False when the program ended first."""
    assert process.stderr is not None
    for line in process.stderr:
        journal.append(json.loads(line) if line.startswith("{") else {"text": line})
        events = [each for each in events if not each.items() <= journal[-1].items()]
        if not events:
            return True
    return False


@contextlib.contextmanager
def _cluster(order: Json) -> Iterator[FakeKubernetes | None]:
    """Serve the API of a cluster, where there is one, to an account with just these rights."""
    if order["cluster"] is None:
        yield None
        return
    with FakeKubernetes(tls=True) as api:
        # A list that comes as a watch would not need the right to list.
        api.chaos.watch_lists = False
        for each in order["cluster"]["objects"]:
            api.put(each)
        for namespace, rules in order["cluster"]["rights"]:
            token = api.grant("agent", rules, namespace)
        api.service_account(Path(order["account"]), token, order["cluster"]["namespace"])
        order["environment"] |= api.environ
        yield api


def _wait(api: FakeKubernetes, order: Json) -> None:
    """Wait until everything was asked that is asked before the end."""
    wanted = {tuple(each) for each in order["cluster"]["asks"]}
    api.wait(lambda: wanted <= {(each.verb, each.resource) for each in api.requests})


def _asked(api: FakeKubernetes | None) -> list[list[str | int]]:
    every = api.requests if api else []
    return [[each.namespace, each.resource, each.verb, each.status] for each in every]


def _live(process: subprocess.Popen[str], order: Json, api: FakeKubernetes | None) -> Json:
    """See the program come, be well, and end."""
    journal: list[Json] = []
    found: Json = {"journal": journal}
    # A program that hangs is ended, so that its journal is shown.
    watchdog = threading.Timer(_PATIENCE_S, process.kill)
    watchdog.start()
    if _read(order["events"], process, journal):
        if api:
            _wait(api, order)
        found |= _seen(process.pid)
        found["health"] = [_ask(order["port"], "/healthz") for _ in range(3)]
        found["metrics"] = _ask(order["port"], "/metrics")
        process.send_signal(signal.SIGTERM)
    output, rest = process.communicate()
    watchdog.cancel()
    return found | {"code": process.returncode, "output": output, "rest": rest}


def main() -> None:
    """Do as standard input says."""
    order = json.load(sys.stdin)
    _loopback_up()
    root = Path(order["root"])
    with _cluster(order) as api:
        _furnish(root, order)
        command = ["chroot", root, *order["identity"], *order["command"]]
        with subprocess.Popen(
            [shutil.which(command[0]) or "", *command[1:]],
            env=order["environment"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        ) as process:
            try:
                found = _live(process, order, api)
            finally:
                process.kill()
        found["asked"] = _asked(api)
    json.dump(found, sys.stdout)


if __name__ == "__main__":
    main()
