"""Who takes part in a soak, and each thing that can happen to them."""

import contextlib
import json
import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from tests.bench.soak import agent, child
from tests.bench.soak.agent import Agent
from tests.bench.soak.child import Child
from tests.bench.soak.service import FAULTS
from tests.bench.soak.shape import Shape, configuration

_NETWORK = 18
"""Of 127.0.0.0/8, whose first addresses may be taken by others."""
_COME = 2
"""Targets that are replaced at a time."""


@dataclass(frozen=True, slots=True)
class Place:
    """A target: an address that nobody had before, and the name of a node."""

    number: int

    @property
    def address(self) -> str:
        """Where it listens."""
        return f"127.{_NETWORK}.{self.number // 250}.{self.number % 250 + 1}"

    @property
    def name(self) -> str:
        """What it is called."""
        return f"node-{self.number}"


@dataclass
class Stage:
    """All of them at work."""

    shape: Shape
    folder: Path
    exporters: Child
    service: Child
    dice: random.Random
    well: list[Place] = field(default_factory=list)
    """The longest there is the first."""
    others: list[Place] = field(default_factory=list)
    """Slow and dead ones."""
    down: list[Place] = field(default_factory=list)
    """Of those that are well, to be started again."""
    done: dict[str, int] = field(default_factory=dict)
    """How often each thing was done."""
    port: int = 0
    _numbers: int = 0
    _turned: bool = False
    agent: Agent = field(init=False)

    @property
    def config(self) -> Path:
        """The agent's JSON."""
        return self.folder / "config.json"

    @property
    def targets(self) -> Path:
        """The file of targets."""
        return self.folder / "targets.json"

    def open(self) -> None:
        """Start the exporters and write the files."""
        self.well = [self._begin("well") for _ in range(self.shape.targets)]
        slow = [self._begin(("late", "drip")[each % 2]) for each in range(self.shape.slow)]
        dead = [self._begin(("mute", "none")[each % 2]) for each in range(self.shape.dead)]
        self.others = slow + dead
        self._write_targets()
        self._write_config()

    # ---- what happens

    def turn_targets(self) -> None:
        """Let the oldest targets go, and as many come that were never there before."""
        for _ in range(min(_COME, len(self.well))):
            gone = self.well.pop(0)
            if gone in self.down:
                self.down.remove(gone)
            else:
                self.exporters.tell("stop", address=gone.address)
            self.well.append(self._begin("well"))
        self._write_targets()
        self._did("targets replaced", _COME)

    def stop_one(self) -> None:
        """Reset an exporter's connections, and let its address refuse others."""
        up = [place for place in self.well if place not in self.down]
        if up:
            place = self.dice.choice(up)
            self.exporters.tell("stop", address=place.address)
            self.down.append(place)
            self._did("exporters restarted")

    def start_again(self) -> None:
        """Start what was stopped; its counters begin anew."""
        for place in self.down:
            self._start(place, "well")
        self.down.clear()

    def hang_up(self) -> None:
        """Have the agent read the same configuration again."""
        self.agent.reload()
        self._did("SIGHUP")

    def turn_config(self) -> None:
        """Change the form of events."""
        self._turned = not self._turned
        self._write_config()
        self._did("configuration changed")

    def spoil_config(self) -> None:
        """Write a configuration that is none."""
        self.config.write_text('{"logs": {"metrics_collected": {"prometheus": 7}}', "utf-8")
        self._did("configuration spoilt")

    def mend_config(self) -> None:
        """Write it as it was before."""
        self._write_config()

    def trouble(self) -> None:
        """Let CloudWatch not take the next calls."""
        faults = list(FAULTS)
        fault = faults[self.done.get("CloudWatch away", 0) % len(faults)]
        self.service.tell("fail", fault=fault, times=self.shape.refusals)
        self._did("CloudWatch away")

    def withdraw(self) -> None:
        """Take all targets away."""
        empty = self.folder / "none.json"
        empty.write_text("[]", "utf-8")
        self._write_config(empty)  # another file is read at once, and not in five seconds
        self.agent.reload()

    # ---- how

    def _begin(self, kind: str) -> Place:
        place = Place(self._numbers)
        self._numbers += 1
        if kind != "none":
            self._start(place, kind)
        return place

    def _start(self, place: Place, kind: str) -> None:
        pod_s, late_s = self.shape.pod_s, self.shape.late_s
        told = self.exporters.tell(
            "start",
            address=place.address,
            name=place.name,
            kind=kind,
            pod_s=pod_s,
            late_s=late_s,
        )
        self.port = told["port"]

    def _write_targets(self) -> None:
        groups = [
            {
                "targets": [f"{place.address}:{self.port}"],
                "labels": {"Service": "dcgm", "node": place.name},
            }
            for place in self.well + self.others
        ]
        _replace(self.targets, json.dumps(groups))

    def _write_config(self, targets: Path | None = None) -> None:
        document = configuration(self.shape, targets or self.targets, turned=self._turned)
        _replace(self.config, json.dumps(document))

    def _did(self, what: str, times: int = 1) -> None:
        self.done[what] = self.done.get(what, 0) + times


def _replace(path: Path, text: str) -> None:
    """Write a file as those do who do not want half of it to be read."""
    fresh = path.with_suffix(".new")
    fresh.write_text(text, "utf-8")
    fresh.replace(path)


@contextlib.contextmanager
def opened(shape: Shape, folder: Path, seed: int) -> Iterator[Stage]:
    """Start all that takes part; nothing is left running at the end."""
    with (
        child.started("tests.bench.soak.exporters") as exporters,
        child.started("tests.bench.soak.service") as service,
    ):
        stage = Stage(shape, folder, exporters, service, random.Random(seed))  # noqa: S311
        stage.open()
        with agent.started(folder, stage.config, service.tell("environ")) as stage.agent:
            yield stage
