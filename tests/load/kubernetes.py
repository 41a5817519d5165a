"""An agent beside a large API server, and beside one that has much trouble: ``make load``.

Looking for targets with the shipped configuration, from the API's bytes to the targets that are
wanted, where a process of its own serves 5,000 pods of which each twentieth is an exporter. Bars:
knowing them costs at most half a second of CPU time and 30 MiB, and 2,000 changes in a minute at
most one hundredth of a core.

``--churn 50000`` has so many pods come and go instead: the memory must not grow after the first
part. ``--seeds 200`` plays so many minutes of chaos (``tests/agent/havoc.py``). Ends with 1 when
something is not as it should be.
"""

import argparse
import asyncio
import contextlib
import gc
import json
import logging
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from cwgpu.agent.clock import Clock
from cwgpu.agent.intake import Intake
from cwgpu.agent.observe import Observer
from cwgpu.config import load
from cwgpu.plan.client import Authorization, Client, Secret
from cwgpu.plan.kubernetes import Address, KubernetesDiscovery, Server
from cwgpu.plan.plan import Job, Plan
from cwgpu.prom.kubernetes.role import Role
from cwgpu.scrape.fetch import Fetcher
from cwgpu.telemetry.metrics import Metrics
from cwgpu.telemetry.summary import Summary
from tests.agent import havoc
from tests.bench import reflector
from tests.fakes.kubernetes import FakeKubernetes

Json = dict[str, Any]

ROOT = Path(__file__).parents[2]
LIST_S, LIST_MIB, CORE_PERCENT = 0.5, 30.0, 1.0
GROWTH_MIB = 4.0
"""An allocator keeps pages in another order each time."""
CHANGES, MINUTE_S = 2_000, 60.0
_SHARE = 20
"""One of so many pods is an exporter's."""
_ALIVE = 500
"""So many of the pods that come and go are there at a time."""
_PARTS = 20
_RATE = 250
"""Pods that come in a second, and as many go: 50,000 in three minutes and a half."""
_PATIENCE_S = 120.0
_ENVIRON = {"CLUSTER_NAME": "load"}


# ---- the process that serves


def document(number: int) -> Json:
    """Give a pod of a training job, or an exporter's."""
    made = reflector.pod(number)
    exports = number % _SHARE == 0
    for container in made["spec"]["containers"][exports:]:
        container |= {"image": "registry/trainer:1", "ports": []}
    if exports:
        made["metadata"]["labels"]["app.kubernetes.io/name"] = "dcgm-exporter"
    return made


def serve(count: int) -> None:
    """Serve so many pods, and let more happen as each line of the input says."""
    with FakeKubernetes() as api:
        api.put({"kind": "Node", "apiVersion": "v1", "metadata": {"name": "node-1"}})
        for number in range(count):
            api.put(document(number))
        reflector.say(json.dumps({"url": api.url, "token": api.admin}))
        for line in sys.stdin:
            word, first, many, seconds = line.split()
            acts = {"change": _change, "churn": _churn}
            _spread(api, acts[word], range(int(first), int(first) + int(many)), float(seconds))
            api.requests.clear()
            reflector.say("{}")


def _spread(
    api: FakeKubernetes,
    act: Callable[[FakeKubernetes, int], None],
    numbers: Sequence[int],
    seconds: float,
) -> None:
    began_s = time.monotonic()
    for count, number in enumerate(numbers):
        due_s = began_s + seconds * count / len(numbers)
        time.sleep(max(0.0, due_s - time.monotonic()))
        act(api, number)


def _change(api: FakeKubernetes, number: int) -> None:
    """Change what is read of a pod, or what nobody reads, in turn."""
    changed = document(number)
    if number % 2:
        changed["metadata"]["labels"]["round"] = "next"
    changed["status"]["startTime"] = "2026-11-30T00:00:00Z"
    api.put(changed)


def _churn(api: FakeKubernetes, number: int) -> None:
    """Let a pod come that was never there, and an older one go."""
    api.put(document(number))
    gone = document(number - _ALIVE)["metadata"]
    if api.get("pods", gone["namespace"], gone["name"]) is not None:
        api.delete("pods", gone["namespace"], gone["name"])


# ---- the process that looks for targets


@dataclass
class Looking:
    """An agent that looks for targets and scrapes none, and the server."""

    intake: Intake
    plan: Plan
    server: "subprocess.Popen[str]"

    async def tell(self, word: str, first: int, many: int, seconds: float) -> None:
        """Have the server do something, and wait until it has."""
        assert self.server.stdin is not None
        assert self.server.stdout is not None
        self.server.stdin.write(f"{word} {first} {many} {seconds}\n")
        self.server.stdin.flush()
        await asyncio.to_thread(self.server.stdout.readline)

    async def until(self, condition: Callable[[], object]) -> None:
        """Wait until the agent makes it true."""
        async with asyncio.timeout(_PATIENCE_S):
            while not condition():  # noqa: ASYNC110 - and the agent is left alone meanwhile
                await asyncio.sleep(0.05)


@contextlib.asynccontextmanager
async def looking(pods: int) -> AsyncIterator[Looking]:
    """Have everything loaded and connected, with a job that looks for nodes."""
    logging.disable(logging.CRITICAL)
    command = [sys.executable, "-m", "tests.load.kubernetes", "--serve", str(pods)]
    with subprocess.Popen(  # noqa: ASYNC220 - before anything is measured
        command, cwd=ROOT, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        told = json.loads(process.stdout.readline())
        bearer = Authorization("Bearer", Secret(told["token"]))
        server = Address(told["url"], Client(credentials=bearer))
        plan = _led_to(load.load(ROOT / "config/cwagent.json", None, _ENVIRON).plan, server)
        observer = Observer(Metrics(time.time), Summary())
        async with Fetcher(time.time, time.monotonic) as fetcher:
            intake = Intake(fetcher, lambda _: None, observer, Clock(), leads=lambda: False)
            running = asyncio.create_task(intake.run())
            try:
                found = Looking(intake, plan, process)
                nodes = KubernetesDiscovery(Role.NODE, server)
                intake.follow(replace(plan, jobs=(Job("n", 60.0, 10.0, kubernetes=(nodes,)),)))
                await found.until(lambda: not intake.unready)
                gc.freeze()  # as the program does when it has started
                yield found
            finally:
                running.cancel()
                await asyncio.wait([running])
                process.stdin.close()


def _led_to(plan: Plan, server: Server) -> Plan:
    jobs = (
        replace(job, kubernetes=tuple(replace(each, server=server) for each in job.kubernetes))
        for job in plan.jobs
        if job.kubernetes
    )
    return replace(plan, jobs=tuple(jobs))


async def cost(pods: int, changes: int, seconds: float) -> Json:
    """Measure what knowing pods costs, and then their changes."""
    async with looking(pods) as agent:
        listed = reflector.Measured()
        agent.intake.follow(agent.plan)
        exporters = -(-pods // _SHARE)
        await agent.until(lambda: len(agent.intake.wanted) == exporters)
        figures = {
            "pods": pods,
            "targets": len(agent.intake.wanted),
            "list_cpu_s": listed.cpu_s(),
            "list_mib": reflector.memory_mib("VmRSS") - listed.before_mib,
            "list_peak_mib": reflector.memory_mib("VmHWM") - listed.before_mib,
        }
        changing, began_s = reflector.Measured(), time.monotonic()
        await agent.tell("change", 0, changes, seconds)
        figures["core_percent"] = 100 * changing.cpu_s() / (time.monotonic() - began_s)
        figures["memory_mib"] = reflector.memory_mib("VmRSS")
    return figures


async def churn(pods: int, many: int) -> list[float]:
    """Give the memory after each part of so many pods that come and go, in MiB."""
    memory = []
    async with looking(pods) as agent:
        agent.intake.follow(agent.plan)
        await agent.until(lambda: agent.intake.wanted)
        part = many // _PARTS
        for first in range(pods, pods + part * _PARTS, part):
            await agent.tell("churn", first, part, part / _RATE)
            gc.collect()
            memory.append(round(reflector.memory_mib("VmRSS"), 1))
            reflector.say(f"{first + part - pods} pods came and went: {memory[-1]} MiB")
    return memory


def missed(figures: Json) -> list[str]:
    """Name the bars that are not met."""
    bars = {"list_cpu_s": LIST_S, "list_mib": LIST_MIB, "core_percent": CORE_PERCENT}
    return [f"{name} > {bar}" for name, bar in bars.items() if figures[name] > bar]


def grown(memory: Sequence[float]) -> list[str]:
    """Tell whether the second half of a churn took more memory than the end of the first."""
    settled = max(memory[_PARTS // 4 : _PARTS // 2])
    most = max(memory[_PARTS // 2 :])
    return [f"from {settled} to {most} MiB"] * (most > settled + GROWTH_MIB)


def played(seeds: int) -> list[str]:
    """Give the seeds whose play ended badly, and why."""
    logging.disable(logging.CRITICAL)
    failed = []
    for seed in range(seeds):
        with tempfile.TemporaryDirectory() as folder:
            playing = havoc.play(seed, Path(folder))
            end = asyncio.run(asyncio.wait_for(playing, _PATIENCE_S))
        if end.wanted != end.expected:
            odd, missing = end.wanted - end.expected, end.expected - end.wanted
            failed.append(f"seed {seed}: odd {odd}, missing {missing}, after {end.acts}")
    reflector.say(f"{seeds - len(failed)} of {seeds} minutes of chaos ended well")
    return failed


def main() -> int:
    """Do what is asked, print, judge."""
    parser = argparse.ArgumentParser(prog="python -m tests.load.kubernetes", description=__doc__)
    parser.add_argument("--pods", type=int, default=5_000)
    parser.add_argument("--changes", type=int, default=CHANGES)
    parser.add_argument("--seconds", type=float, default=MINUTE_S)
    parser.add_argument("--churn", type=int, help="let so many pods come and go")
    parser.add_argument("--seeds", type=int, help="play so many minutes of chaos")
    parser.add_argument("--serve", type=int, help=argparse.SUPPRESS)
    flags = parser.parse_args()
    if flags.serve is not None:
        serve(flags.serve)
        return 0
    if flags.seeds:
        failed = played(flags.seeds)
    elif flags.churn:
        failed = grown(asyncio.run(churn(flags.pods, flags.churn)))
    else:
        figures = asyncio.run(cost(flags.pods, flags.changes, flags.seconds))
        reflector.say(", ".join(f"{name} {value:.4g}" for name, value in figures.items()))
        failed = missed(figures)
    reflector.say("\n".join(failed) or "all is as it should be")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
