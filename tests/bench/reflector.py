"""What knowing 5,000 pods costs: ``python -m tests.bench.reflector``.

A process of its own serves the pods and lets 2,000 of them change within a minute; this one watches
them and measures itself: CPU time and memory for the first list, in a stream and in pages, and CPU
time for the changes. The bars: half a second of CPU time and 30 MiB for the list, one hundredth of
a core for the changes. Ends with 1 when one of them is not met.
"""

import argparse
import asyncio
import gc
import json
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from cwgpu.kube.connection import Connection
from cwgpu.kube.reflector import Reflector
from cwgpu.kube.resource import NODES, PODS
from tests.fakes.kubernetes import FakeKubernetes
from tests.kube.stage import User, running, shown

Json = dict[str, Any]

ROOT = Path(__file__).parents[2]
RECORDED = ROOT / "tests/data/kube/list.json"
"""A pod of an exporter as a real server has it, with managedFields."""
LIST_S, LIST_MIB, CORE_PERCENT = 0.5, 30.0, 1.0


def say(line: str) -> None:
    """Print a line at once: somebody may wait for it."""
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def pod(number: int) -> Json:
    """Give a pod like the recorded one, in one of 50 namespaces, of one of 500 workloads."""
    made: Json = json.loads(RECORDED.read_text())["items"][0]
    workload, node = f"trainer-{number % 500}", f"ip-10-0-{number % 256}-1.ec2.internal"
    made["kind"], made["apiVersion"] = "Pod", "v1"
    meta, spec, status = made["metadata"], made["spec"], made["status"]
    meta |= {
        "name": f"{workload}-6d4cf56db6-{number:05d}",
        "namespace": f"team-{number % 50}",
        "uid": f"8b6f2f0e-0000-4000-8000-{number:012d}",
        "labels": {
            "app.kubernetes.io/name": workload,
            "app.kubernetes.io/instance": f"{workload}-prod",
            "app.kubernetes.io/managed-by": "Helm",
            "pod-template-hash": "6d4cf56db6",
        },
        "annotations": {"kubernetes.io/psp": "eks.privileged", "checksum/config": f"{number:064x}"},
        "ownerReferences": [
            {
                "apiVersion": "apps/v1",
                "kind": "ReplicaSet",
                "name": f"{workload}-6d4cf56db6",
                "uid": "1f53853a-eb9d-4ac0-88e2-b55c579d8e85",
                "controller": True,
            }
        ],
    }
    spec["nodeName"] = node
    spec["containers"].append(
        {
            **spec["containers"][0],
            "name": "sidecar",
            "env": [{"name": f"SETTING_{at}", "value": "a value" * 3} for at in range(20)],
        }
    )
    status |= {
        "podIP": f"10.{number >> 16}.{number >> 8 & 255}.{number & 255}",
        "hostIP": f"10.0.{number % 256}.1",
        "containerStatuses": [
            {
                "name": name,
                "containerID": f"containerd://{number:064x}",
                "ready": True,
                "restartCount": 0,
            }
            for name in ("nvidia-dcgm-exporter", "sidecar")
        ],
    }
    return made


# ---- the process that serves


def serve(count: int) -> None:
    """Serve the pods, and let them change when told how many in how many seconds."""
    with FakeKubernetes() as api:
        size = 0
        for number in range(count):
            size += len(json.dumps(api.put(pod(number))))
        say(json.dumps({"url": api.url, "token": api.admin, "bytes": size}))
        for line in sys.stdin:
            word, changes, seconds = line.split()
            if word == "pages":
                api.chaos.watch_lists = False
            for number in range(int(changes)):
                changed = pod(number)
                # Half of the changes are ones that nobody reads, as in a cluster.
                if number % 2:
                    changed["metadata"]["labels"]["round"] = "next"
                changed["status"]["startTime"] = "2026-11-30T00:00:00Z"
                api.put(changed)
                time.sleep(float(seconds) / int(changes))
            say(json.dumps({"version": api.version}))


# ---- the process that watches


def memory_mib(name: str) -> float:
    """Give the memory that this process has now (VmRSS), or the most it ever had (VmHWM)."""
    gc.collect()
    lines = Path("/proc/self/status").read_text().splitlines()
    fields = dict(line.split(":", 1) for line in lines)
    return int(fields[name].split()[0]) / 1024


class Measured:
    """CPU time and memory from now on."""

    def __init__(self) -> None:
        self.before_mib = memory_mib("VmRSS")
        self._cpu_s = time.process_time()

    def cpu_s(self) -> float:
        """Give the CPU time since."""
        return time.process_time() - self._cpu_s


async def watch(server: "subprocess.Popen[str]", told: Json, seconds: float, changes: int) -> Json:
    """Watch until all is known, then while it changes."""
    user = User(told["url"], told["token"])
    async with Connection(user) as connection:
        idle = Reflector(connection, NODES)
        async with running(idle):
            await shown(idle, lambda: idle.synced)  # everything that is loaded late is loaded
            listed = Measured()
            view = Reflector(connection, PODS)
            async with running(view):
                await shown(view, lambda: view.synced)
                figures = {"objects": len(view.objects), "list_cpu_s": listed.cpu_s()}
                figures["list_mib"] = memory_mib("VmRSS") - listed.before_mib
                figures["list_peak_mib"] = memory_mib("VmHWM") - listed.before_mib
                if changes:
                    version, changing = view.version, Measured()
                    began_s = time.monotonic()
                    await tell(server, "churn", changes, seconds)
                    figures["changes_cpu_s"] = changing.cpu_s()
                    took_s = time.monotonic() - began_s
                    figures["core_percent"] = 100 * changing.cpu_s() / took_s
                    figures["versions"] = view.version - version
                    figures["changes_mib"] = memory_mib("VmRSS") - changing.before_mib
    return figures


async def tell(server: "subprocess.Popen[str]", word: str, changes: int, seconds: float) -> Json:
    """Have the server do something, and wait until it has."""
    assert server.stdin is not None
    assert server.stdout is not None
    server.stdin.write(f"{word} {changes} {seconds}\n")
    server.stdin.flush()
    answer: Json = json.loads(await asyncio.to_thread(server.stdout.readline))
    return answer


async def measure(way: str, count: int, changes: int, seconds: float) -> Json:
    """Start a server, and measure one way to list and then what changes cost."""
    command = [sys.executable, "-m", "tests.bench.reflector", "--serve", "--pods", str(count)]
    with subprocess.Popen(  # noqa: ASYNC220 - before anything is measured
        command, cwd=ROOT, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as server:
        assert server.stdout is not None
        assert server.stdin is not None
        told = json.loads(server.stdout.readline())
        if way == "pages":
            await tell(server, "pages", 0, 0)
        figures = await watch(server, told, seconds, changes)
        server.stdin.close()
    return {"way": way, "pod_bytes": told["bytes"] // count, **figures}


def missed(figures: Json) -> list[str]:
    """Name the bars that are not met."""
    bars = {"list_cpu_s": LIST_S, "list_mib": LIST_MIB, "core_percent": CORE_PERCENT}
    return [f"{name} > {bar}" for name, bar in bars.items() if figures.get(name, 0) > bar]


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure each way in a process of its own; give the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else "")
    parser.add_argument("--pods", type=int, default=5000)
    parser.add_argument("--changes", type=int, default=2000)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--way", choices=["stream", "pages"], help=argparse.SUPPRESS)
    given = parser.parse_args(arguments)
    if given.serve:
        serve(given.pods)
        return 0
    if given.way:
        say(json.dumps(asyncio.run(measure(given.way, given.pods, given.changes, given.seconds))))
        return 0
    failed = []
    for way in ("stream", "pages"):
        sizes = [f"--{name}={getattr(given, name)}" for name in ("pods", "changes", "seconds")]
        command = [sys.executable, "-m", "tests.bench.reflector", "--way", way, *sizes]
        printed = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)
        figures = json.loads(printed.stdout)
        failed += missed(figures)
        shown_as = (f"{name} {value:.4g}" for name, value in figures.items() if name != "way")
        say(f"{way}: {', '.join(shown_as)}")
    say("\n".join(failed) or "every bar is met")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
