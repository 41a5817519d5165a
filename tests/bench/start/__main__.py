"""How soon the program works, and what it takes when it has little to do.

    python -m tests.bench.start
    python -m tests.bench.start --rest 0 --json start.json

The program is started again and again, each time as a process of its own, as a container or a
script starts it, and is looked at from outside. Its modules are compiled before. One agent is let
be for some minutes beside one exporter of 200 samples, from which it sends all that there is at
each scrape, over a spool. The best of several runs counts. Ends with 1 if a bar is missed.
"""

import argparse
import contextlib
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from tests.bench import process
from tests.cli.program import ROOT, environ

INTERVAL_S = 5
WARM_S = 20.0
"""Until what happens once has happened: pages read anew, connections opened."""
SETTLED = {"CLUSTER_NAME": "lab", "DCGM_EXPORTER_URL": "http://127.0.0.1:9400/metrics"}
"""With these the shipped configuration is whole, so that ``check`` has all of it to do."""
_MIB = 1 << 20


@dataclass(frozen=True, slots=True)
class Figure:
    """One thing that was measured in several runs, of which the best counts.

    What else the machine does makes a run longer, and none shorter.
    """

    name: str
    unit: str
    runs: Sequence[float]
    most: float | None = None
    """The bar; None: there is none."""

    @property
    def best(self) -> float:
        """What counts."""
        return min(self.runs)

    @property
    def met(self) -> bool:
        """Whether it is within its bar."""
        return self.most is None or self.best <= self.most

    def row(self) -> str:
        """Show it to a person."""
        median = f"median {statistics.median(self.runs):.4g}" if len(self.runs) > 1 else ""
        bar = f"{'met' if self.met else 'MISSED'}: at most {self.most:g}" if self.most else ""
        return f"{self.name:<46}{self.best:>9.4g} {self.unit:<10}{median:<18}{bar}".rstrip()

    def told(self) -> dict[str, Any]:
        """Give all of it to a program."""
        return {**asdict(self), "best": self.best, "met": self.met}


# ---- verbs that end by themselves


def verb(*arguments: str) -> tuple[float, float]:
    """Run it; gives seconds, and seconds of CPU."""
    began_s = time.monotonic()
    with subprocess.Popen(
        [sys.executable, "-m", "cwgpu", *arguments],
        cwd=ROOT,
        env=environ(SETTLED),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    ) as child:
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
    assert child.returncode == 0
    return time.monotonic() - began_s, usage.ru_utime + usage.ru_stime


def verbs(times: int) -> Iterator[Figure]:
    """Measure those that have a bar. Each runs once before: what it compiles is compiled then."""
    for arguments, most_ms in ((("--version",), 150), (("check", "config/cwagent.json"), 600)):
        verb(*arguments)
        took = [verb(*arguments) for _ in range(times)]
        name = f"cwgpu {' '.join(arguments)}"
        yield Figure(name, "ms", [wall_s * 1e3 for wall_s, _ in took], most_ms)
        yield Figure(f"{name}, CPU", "ms", [cpu_s * 1e3 for _, cpu_s in took])


# ---- the agent


def configuration(address: str) -> dict[str, Any]:
    """Give an agent's JSON that scrapes one exporter and sends all of it, at each scrape."""
    job = {
        "job_name": "dcgm",
        "scrape_interval": f"{INTERVAL_S}s",
        "scrape_timeout": f"{INTERVAL_S - 1}s",
        "static_configs": [{"targets": [address], "labels": {"Service": "dcgm"}}],
    }
    declaration = {
        "source_labels": ["Service"],
        "label_matcher": "dcgm",
        "dimensions": [["Service", "pod"]],
        "metric_selectors": ["^DCGM_"],
    }
    prometheus = {"cluster_name": "lab", "emf_processor": {"metric_declaration": [declaration]}}
    logs = {"metrics_collected": {"prometheus": prometheus}, "force_flush_interval": 5}
    return {"logs": logs, "cwgpu": {"scrape_configs": [job]}}


@contextlib.contextmanager
def agent(scrapes: int) -> Iterator[tuple[int, float, Callable[[], float]]]:
    """Start an agent and all that it needs; gives its pid, when it began, and a wait.

    That is for the first accepted event, and gives when it came.
    """
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        peer = stack.enter_context(
            _child([sys.executable, "-m", "tests.bench.start.peer", str(scrapes)], {})
        )
        assert peer.stdout is not None
        address, service = json.loads(peer.stdout.readline())
        config = folder / "config.json"
        config.write_text(json.dumps(configuration(address)), "utf-8")
        command = [sys.executable, "-m", "cwgpu", "run", "-c", str(config)]
        command += ["--listen", "127.0.0.1:0", "--spool-dir", str(folder / "spool")]
        began_s = time.monotonic()
        child = stack.enter_context(_child([*command, "--log-level", "error"], service))
        yield child.pid, began_s, lambda: float(peer.stdout.readline()) if peer.stdout else 0.0
        child.terminate()


@contextlib.contextmanager
def _child(command: Sequence[str], more: Mapping[str, str]) -> Iterator[subprocess.Popen[str]]:
    with subprocess.Popen(
        command,
        cwd=ROOT,
        env=environ(more),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as child:
        try:
            yield child
        finally:
            if child.stdin:
                child.stdin.close()
            child.terminate()


def first_event(times: int) -> Iterator[Figure]:
    """Measure from the start to the first event that CloudWatch has."""
    took, cpu = [], []
    for _ in range(1 + times):
        with agent(1) as (pid, began_s, accepted):
            took.append(accepted() - began_s)
            cpu.append(process.cpu_s(pid))
    yield Figure("start to the first event accepted", "s", took[1:], 1.5)
    yield Figure("start to the first event accepted, CPU", "s", cpu[1:])


def at_rest(seconds: float) -> Iterator[Figure]:
    """Measure an agent beside one exporter."""
    scrapes = int((WARM_S + seconds) / INTERVAL_S) + 2
    with agent(scrapes) as (pid, _, accepted):
        accepted()
        time.sleep(WARM_S)
        before, woken = process.look(pid), wakeups(pid)
        time.sleep(seconds)
        after, waked = process.look(pid), wakeups(pid)
    passed_s = after.at_s - before.at_s
    share = 100 * (after.cpu_s - before.cpu_s) / passed_s
    yield Figure("one exporter of 200 samples every 5 s, CPU", "% of core", [share], 0.3)
    yield Figure("the same, resident memory", "MiB", [after.rss_bytes / _MIB], 75)
    yield Figure("the same, its peak", "MiB", [after.rss_peak_bytes / _MIB])
    yield Figure("the same, memory shared in part", "MiB", [after.pss_bytes / _MIB])
    yield Figure("the same, threads", "", [after.threads])
    yield Figure("the same, wakeups", "a second", [(waked - woken) / passed_s])


def wakeups(pid: int) -> int:
    """Give how often the threads of a process have slept so far."""
    slept = 0
    for task in Path("/proc", str(pid), "task").iterdir():
        for line in (task / "status").read_text("utf-8").splitlines():
            name, _, value = line.partition(":")
            if name == "voluntary_ctxt_switches":
                slept += int(value)
    return slept


def main() -> int:
    """Measure, print, judge."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.start")
    parser.add_argument("--runs", type=int, default=7, help="of each that ends by itself")
    parser.add_argument("--rest", type=float, default=180, help="seconds at rest; 0: not at all")
    parser.add_argument("--json", type=Path, help="write the figures there, too")
    flags = parser.parse_args()
    figures: list[Figure] = []
    parts = [verbs(flags.runs), first_event(flags.runs)] if flags.runs else []
    for part in [*parts, *([at_rest(flags.rest)] if flags.rest else [])]:
        for figure in part:
            figures.append(figure)
            sys.stdout.write(figure.row() + "\n")
            sys.stdout.flush()
    sys.stdout.write(f"load average {os.getloadavg()[0]:.2f}\n")
    if flags.json:
        flags.json.write_text(json.dumps([each.told() for each in figures], indent=2) + "\n")
    return 0 if all(figure.met for figure in figures) else 1


if __name__ == "__main__":
    sys.exit(main())
