"""The inside of a container: run by ``unshare``, in namespaces of its own, as their root.

Makes a root file system of what a Python program needs and of the mounts that it is told, all of
it read-only but for the volumes; starts the program there as the user that it is told, and asks it
for its health. The network is a loopback that nobody else has. Prints what it saw as JSON.
"""

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
from pathlib import Path
from typing import Any, TypeAlias

Json: TypeAlias = dict[str, Any]

_ETC = ("group", "hosts", "ld.so.cache", "nsswitch.conf", "passwd")
# linux/sockios.h and linux/if.h.
_SIOCSIFFLAGS, _IFF_UP = 0x8914, 1


def _mount(*arguments: str | Path) -> None:
    subprocess.run(["mount", *map(str, arguments)], check=True)


def _bind(source: Path, target: Path) -> None:
    target.mkdir(parents=True, exist_ok=True)
    _mount("--bind", source, target)
    _mount("-o", "remount,bind,ro", target)


def _loopback_up() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asked:
        fcntl.ioctl(asked, _SIOCSIFFLAGS, struct.pack("16sH22x", b"lo", _IFF_UP))


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
    for source, target in order["binds"]:
        _bind(Path(source), root / target.strip("/"))
    for place, size in order["empty"]:
        (root / place.strip("/")).mkdir(parents=True, exist_ok=True)
        _mount("-t", "tmpfs", "-o", f"mode=1777,size={size}", "tmpfs", root / place.strip("/"))
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


def _listening(process: subprocess.Popen[str], journal: list[Json]) -> bool:
    """Read the journal until the program listens; False when it ended first."""
    assert process.stderr is not None
    for line in process.stderr:
        journal.append(json.loads(line) if line.startswith("{") else {"text": line})
        if journal[-1].get("event") == "listening":
            return True
    return False


def main() -> None:
    """Do as standard input says."""
    order = json.load(sys.stdin)
    _loopback_up()
    root = Path(order["root"])
    _furnish(root, order)
    command = ["chroot", root, *order["identity"], *order["command"]]
    journal: list[Json] = []
    process = subprocess.Popen(
        [shutil.which(command[0]) or "", *command[1:]],
        env=order["environment"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    found: Json = {"journal": journal}
    with process:
        if _listening(process, journal):
            found |= _seen(process.pid)
            found["health"] = [_ask(order["port"], "/healthz") for _ in range(3)]
            found["metrics"] = _ask(order["port"], "/metrics")
            process.send_signal(signal.SIGTERM)
        output, rest = process.communicate(timeout=30)
        found |= {"code": process.returncode, "output": output, "rest": rest}
    json.dump(found, sys.stdout)


if __name__ == "__main__":
    main()
