"""CloudWatch is away for a day, and comes back: ``make load``.

A thousand GPUs give an event each, once a minute. In time that passes at once
(``tests.drill.swift``) the service answers 503 for 24 hours and then is well again. What the agent
holds is bounded, by default to 256 MiB and 24 hours. The laws:

* Kept is what is newest, as much as there is room for; what is dropped is older than all of it, and
  counted: put = delivered + dropped. Nothing comes twice.
* The first call after the healing comes within the longest pause between two tries, a minute; what
  was scraped since the healing comes with the first flush after that call, whatever is still held.
* What is late is sent at its rate, five calls a second.

The memory is this process's, before and at its most; a bar says how much more it may be where there
is a spool. Prints a table, and ends with 1 when a law is broken or the bar missed.
"""

import argparse
import asyncio
import dataclasses
import itertools
import logging
import random
import sys
import tempfile
import time
from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

import orjson

from cwgpu.agent.gate import BACKLOG_PER_S
from cwgpu.logs import parcel as packing
from cwgpu.logs.verdict import Answer
from cwgpu.model.event import EmfEvent, Parcel, StreamKey
from cwgpu.plan import plan
from cwgpu.plan.plan import SpoolMode
from tests.drill import flow, swift
from tests.drill.flow import START_S, Flow

STREAM = StreamKey("/aws/containerinsights/lab/prometheus", "dcgm")
FLUSH_S = 60.0
LONGEST_PAUSE_S = 60.0
CALL_S = 0.1
"""What a call takes."""
BURST = 5
"""Late calls that may come at once."""
MOST_MEMORY_MIB = 64.0
"""More than before the outage. Containers are small, and 256 MiB are held on the disk."""
_PARTS = 10
"""Of a minute, in each of which a part of the GPUs is scraped."""
_VALUES = 4_000
_ODD_S = 17.0
"""So that the outage does not end with a flush."""
_METRICS = (
    *("DCGM_FI_DEV_GPU_UTIL", "DCGM_FI_DEV_MEM_COPY_UTIL", "DCGM_FI_DEV_ENC_UTIL"),
    *("DCGM_FI_DEV_FB_USED", "DCGM_FI_DEV_FB_FREE", "DCGM_FI_DEV_GPU_TEMP"),
    *("DCGM_FI_DEV_MEMORY_TEMP", "DCGM_FI_DEV_POWER_USAGE", "DCGM_FI_DEV_SM_CLOCK"),
    *("DCGM_FI_PROF_GR_ENGINE_ACTIVE", "DCGM_FI_PROF_PIPE_TENSOR_ACTIVE"),
    *("DCGM_FI_PROF_DRAM_ACTIVE", "DCGM_FI_PROF_PCIE_TX_BYTES", "DCGM_FI_PROF_PCIE_RX_BYTES"),
)
"""Some of those that dashboards show; twelve values of each a minute."""
SAMPLES = 12 * len(_METRICS)


@dataclass(frozen=True, slots=True)
class Setting:
    """What happens."""

    gpus: int = 1000
    before_s: float = 600.0
    outage_s: float = 3600.0
    rules: plan.Spool = field(default_factory=plan.Spool)
    """Its directory is the drill's."""
    seed: int = 0


# ---- who takes part


class Gpus:
    """Give events such as those of real GPUs, each with a time of its own."""

    def __init__(self, count: int) -> None:
        """Make what they consist of."""
        dice = random.Random(1)  # noqa: S311 - it has to look like measured values
        self._heads = [_head(number) for number in range(count)]
        self._values = [_values(dice) for _ in range(_VALUES)]
        self._numbers = itertools.count()
        self.parts = 0
        """That were scraped."""

    def times(self, part: int) -> list[int]:
        """Give the times of the events of a part, of which each minute has ten."""
        some, step_ms = len(self._heads[part % _PARTS :: _PARTS]), 60_000 // _PARTS
        start_ms = round(START_S * 1000) + step_ms * part
        return [start_ms + step_ms * place // some for place in range(some)]

    def events(self, part: int) -> Iterator[EmfEvent]:
        """Give the events of a part."""
        heads = self._heads[part % _PARTS :: _PARTS]
        for at_ms, head in zip(self.times(part), heads, strict=True):
            values = self._values[next(self._numbers) * 7 % _VALUES]
            message = b'{"_aws":{"Timestamp":%d,%s,%s}' % (at_ms, head, values)
            yield EmfEvent.of(STREAM, at_ms, message, SAMPLES, SAMPLES)

    async def live(self, agent: Flow) -> None:
        """Be scraped for ever."""
        for part in itertools.count():
            await asyncio.sleep(60.0 / _PARTS)
            agent.outflow.put(list(self.events(part)))
            self.parts = part + 1

    def put(self) -> list[int]:
        """Give the times of all events that were."""
        return [at_ms for part in range(self.parts) for at_ms in self.times(part)]


def _head(number: int) -> bytes:
    """Give what an event of this GPU begins with, after its time."""
    metrics = [{"Name": name} for name in _METRICS]
    directive = {
        "Namespace": "ContainerInsights/Prometheus",
        "Dimensions": [["ClusterName", "Namespace", "pod", "gpu"]],
        "Metrics": metrics,
    }
    labels = {
        "ClusterName": "lab",
        "Hostname": f"ip-10-0-{number // 8 // 250}-{number // 8 % 250}.us-west-2.compute.internal",
        "Namespace": f"team-{number % 17}",
        "UUID": f"GPU-{number * 2654435761 % (1 << 32):08x}-7c1f-4a8b-9d3e-{number:012x}",
        "gpu": f"{number % 8}",
        "pod": f"train-{number // 8}-{number * 40503 % 65536:04x}",
    }
    return orjson.dumps({"CloudWatchMetrics": [directive]})[1:] + b"," + orjson.dumps(labels)[1:-1]


def _values(dice: random.Random) -> bytes:
    """Give a minute of values."""
    known: Mapping[str, Callable[[], float]] = {
        "UTIL": lambda: dice.randint(80, 100),
        "TEMP": lambda: dice.randint(55, 64),
        "FB_": lambda: dice.choice([71_234, 71_236, 9_876]),
        "POWER": lambda: round(dice.gauss(612, 25), 3),
        "CLOCK": lambda: dice.choice([1980, 1965, 1950]),
        "ACTIVE": lambda: round(dice.random(), 6),
        "BYTES": lambda: dice.randint(10**8, 10**9),
    }
    made: dict[str, Any] = {}
    for name in _METRICS:
        give = next(each for word, each in known.items() if word in name)
        made[name] = [give() for _ in range(12)]
    return orjson.dumps(made)[1:-1]


@dataclass
class Cloud:
    """The service, as a sink."""

    down: bool = False
    refused: int = 0
    accepted: "list[tuple[float, array[int]]]" = field(default_factory=list)
    """When a batch came, and the times of its events."""

    async def send(self, parcel: Parcel) -> Answer:
        """Take a batch, or not."""
        await asyncio.sleep(CALL_S)
        if self.down:
            self.refused += 1
            return Answer("ServiceUnavailableException", "Service is unavailable.", 503)
        times = array("q", (event.at_ms for event in packing.unpack(parcel).events))
        self.accepted.append((swift.loop().now_s, times))
        return Answer("")

    async def create(self, _: StreamKey) -> Answer:
        """There is always a stream."""
        return Answer("")

    async def renew(self) -> None:
        """There are no credentials."""

    async def close(self) -> None:
        """Nothing is held."""


# ---- what came of it


@dataclass(frozen=True, slots=True)
class Figures:
    """What came out."""

    put: int
    kept: int
    """Events that were held when the service came back."""
    kept_batches: int
    kept_bytes: int
    kept_s: float
    """From the oldest of them to the healing."""
    refused: int
    """Calls during the outage."""
    full: int
    """Events that were dropped because there were too many bytes."""
    old: int
    """And because they were too old."""
    probe_s: float
    """From the healing to the first call that was accepted."""
    live_s: float
    """From the healing to the first call with events scraped since."""
    behind_s: float
    """How old the newest event in CloudWatch was at its worst, from then on."""
    backlog_calls: int
    drained_s: float
    """From the first accepted call to the last with events from before the healing."""
    memory_mib: tuple[float, float]
    """Before the outage and at its most."""
    broken: Sequence[str]

    def table(self) -> str:
        """Give it for a person."""
        before, most = self.memory_mib
        rows = [
            ("put", f"{self.put} events"),
            ("kept", f"{self.kept} events of the last {self.kept_s / 3600:.2f} h"),
            ("in", f"{self.kept_batches} batches of {self.kept_bytes / (1 << 20):.1f} MiB"),
            ("dropped", f"{self.full} events for the bytes, {self.old} for their age"),
            ("calls while away", f"{self.refused}"),
            ("first call", f"{self.probe_s:.1f} s after the healing"),
            ("live data", f"{self.live_s:.1f} s after the healing, then {self.behind_s:.1f} s old"),
            ("drained", f"{self.backlog_calls} calls in {self.drained_s:.1f} s"),
            ("memory", f"{before:.1f} MiB before, {most:.1f} MiB at most"),
        ]
        return "".join(f"{name:<18} {value}\n" for name, value in rows)


def measure(setting: Setting, folder: Path) -> Figures:
    """Do it all once."""
    return swift.run(_play(setting, folder))


async def _play(setting: Setting, folder: Path) -> Figures:
    cloud, gpus = Cloud(), Gpus(setting.gpus)
    spool = None if setting.rules.mode is SpoolMode.OFF else f"{folder / 'spool'}"
    rules = dataclasses.replace(setting.rules, directory=spool)
    async with flow.flowing(cloud, rules, seed=setting.seed, flush_s=FLUSH_S) as agent:
        living = asyncio.create_task(gpus.live(agent))
        await asyncio.sleep(setting.before_s)
        before_mib = most_mib = memory_mib()
        cloud.down = True
        ends_s = swift.loop().now_s + setting.outage_s
        while swift.loop().now_s < ends_s:
            await asyncio.sleep(min(600.0, ends_s - swift.loop().now_s))
            most_mib = max(most_mib, memory_mib())
        cloud.down = False
        healed_s = swift.loop().now_s
        held = {
            "batches": round(agent.value("cwgpu_queue_batches")),
            "bytes": round(agent.value("cwgpu_queue_bytes")),
        }
        await asyncio.sleep(2 * LONGEST_PAUSE_S)
        await agent.rests(setting.outage_s)
        await asyncio.sleep(2 * FLUSH_S)
        living.cancel()
        await agent.outflow.finish(60.0)
        most_mib = max(most_mib, memory_mib())
        return _judged(setting, _Seen(cloud, gpus, agent, healed_s, held, (before_mib, most_mib)))


@dataclass(frozen=True, slots=True)
class _Seen:
    cloud: Cloud
    gpus: Gpus
    agent: Flow
    healed_s: float
    held: dict[str, int]
    memory_mib: tuple[float, float]


def _judged(setting: Setting, seen: _Seen) -> Figures:
    healed_ms = round((START_S + seen.healed_s) * 1000)
    after = [(at_s, times) for at_s, times in seen.cloud.accepted if at_s > seen.healed_s]
    live = [(at_s, times) for at_s, times in after if times[-1] >= healed_ms]
    late = [at_s for at_s, times in after if times[-1] < healed_ms]
    kept = sorted(ms for _, times in after for ms in times if ms < healed_ms)
    figures = Figures(
        put=len(seen.gpus.put()),
        kept=len(kept),
        kept_batches=seen.held["batches"],
        kept_bytes=seen.held["bytes"],
        kept_s=(healed_ms - kept[0]) / 1000,
        refused=seen.cloud.refused,
        full=seen.agent.lost("queue_full") // SAMPLES,
        old=seen.agent.lost("queue_age") // SAMPLES,
        probe_s=after[0][0] - seen.healed_s,
        live_s=live[0][0] - seen.healed_s,
        behind_s=max(now[0] - (last[1][-1] / 1000 - START_S) for last, now in pairwise(live)),
        backlog_calls=len(late),
        drained_s=late[-1] - after[0][0],
        memory_mib=seen.memory_mib,
        broken=(),
    )
    broken = [*_accounted(seen, kept), *_bounded(setting, figures), *_in_time(figures, late)]
    return dataclasses.replace(figures, broken=broken)


def _accounted(seen: _Seen, kept: Sequence[int]) -> Iterator[str]:
    """Every event has come once or was counted, and the oldest were dropped."""
    put = seen.gpus.put()
    accepted = [ms for _, times in seen.cloud.accepted for ms in times]
    dropped = seen.agent.lost() // SAMPLES
    if len(put) != len(accepted) + dropped:
        yield f"{len(put)} events were put, {len(accepted)} accepted and {dropped} dropped"
    if len(set(accepted)) != len(accepted):
        yield f"{len(accepted) - len(set(accepted))} events came twice"
    if missing := {ms for ms in put if ms >= kept[0]}.difference(accepted):
        yield f"{len(missing)} events were dropped that are newer than the oldest that was kept"


def _bounded(setting: Setting, figures: Figures) -> Iterator[str]:
    """What is kept is as much as may be."""
    least = setting.rules.most_bytes - 2 * figures.kept_bytes // figures.kept_batches
    if figures.kept_bytes > setting.rules.most_bytes or (
        figures.full and figures.kept_bytes < least
    ):
        yield f"{figures.kept_bytes} bytes were kept, and {setting.rules.most_bytes} is the bound"
    if figures.old and abs(figures.kept_s - setting.rules.most_age_s) > 2 * FLUSH_S:
        yield f"{figures.kept_s} s were kept, and {setting.rules.most_age_s} is the bound"


def _in_time(figures: Figures, late: Sequence[float]) -> Iterator[str]:
    """What is new does not wait for what is old, which goes at its rate."""
    slack_s = 10 * CALL_S
    if figures.probe_s > LONGEST_PAUSE_S + slack_s:
        yield f"the first call came {figures.probe_s} s after the healing"
    if figures.live_s > figures.probe_s + FLUSH_S + slack_s:
        yield f"live data came {figures.live_s} s after the healing"
    if figures.behind_s > FLUSH_S + 60.0 / _PARTS + slack_s:
        yield f"live data was {figures.behind_s} s old"
    ten = [end - start for start, end in zip(late, late[10:], strict=False)]
    if ten and min(ten) < (10 - BURST) / BACKLOG_PER_S:
        yield f"ten late calls came in {min(ten)} s"
    if figures.drained_s > 1.25 * len(late) / BACKLOG_PER_S + LONGEST_PAUSE_S:
        yield f"{len(late)} late calls took {figures.drained_s} s"


def memory_mib() -> float:
    """Give the memory that this process has now."""
    status = Path("/proc/self/status").read_text("utf-8")
    return int(status.partition("VmRSS:")[2].split()[0]) / 1024


def main() -> int:
    """Measure, print, judge."""
    parser = argparse.ArgumentParser(prog="python -m tests.load.outage", description=__doc__)
    parser.add_argument("--gpus", type=int, default=1000)
    parser.add_argument("--hours", type=float, default=24.0)
    parser.add_argument("--mode", choices=[mode.value for mode in SpoolMode], default="always")
    flags = parser.parse_args()
    logging.getLogger("cwgpu").propagate = False
    rules = plan.Spool(mode=SpoolMode(flags.mode))
    setting = Setting(flags.gpus, outage_s=flags.hours * 3600 + _ODD_S, rules=rules)
    began_s, cpu_s = time.monotonic(), time.process_time()
    with tempfile.TemporaryDirectory() as folder:
        figures = measure(setting, Path(folder))
    before, most = figures.memory_mib
    broken = [*figures.broken]
    if flags.mode != "off" and most > before + MOST_MEMORY_MIB:
        broken.append(f"{most - before:.1f} MiB more than before, wanted {MOST_MEMORY_MIB}")
    sys.stdout.write(figures.table())
    took = f"{time.monotonic() - began_s:.0f} s, {time.process_time() - cpu_s:.0f} s of CPU"
    sys.stdout.write(f"{'took':<18} {took}\n")
    sys.stdout.write("\n".join([*broken, ""]))
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
