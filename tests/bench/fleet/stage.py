"""One measuring: the fleet, CloudWatch Logs, the agent, and then whom it is compared with."""

import shlex
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.bench.fleet import child, configuration, course, exporters, figures, record, verify
from tests.bench.fleet.course import Course, Program
from tests.bench.fleet.figures import Figures
from tests.bench.fleet.flags import Flags
from tests.load import exporters as loopback


@dataclass(frozen=True, slots=True)
class Run:
    """What came out."""

    agent: Figures
    floor: Figures | None
    peer: Figures | None
    wrong: list[str]
    """What of the agent's datapoints is not as it has to be, or its end is not."""
    datapoints: int


def measure(flags: Flags, folder: Path) -> Run:
    """Do it once, in an empty folder."""
    sizes = (str(flags.targets), str(flags.gpus), str(flags.fields))
    with (
        child.Helper("tests.bench.fleet.exporters", *sizes) as fleet,
        child.Helper("tests.bench.fleet.service") as service,
    ):
        hosts = loopback.addresses(flags.targets, exporters.NETWORK)
        files = configuration.write(
            folder,
            [f"{host}:{fleet.first}" for host in hosts],
            flags.interval,
            configuration.document(flags.mode, flags.emit, service.first["environ"]),
        )
        stage = _Stage(flags, folder, files, fleet, service)
        return stage.run()


@dataclass(frozen=True, slots=True)
class _Stage:
    flags: Flags
    folder: Path
    files: configuration.Files
    fleet: child.Helper
    service: child.Helper

    def run(self) -> Run:
        """Measure one after the other."""
        environ = self.service.first["environ"]
        seen, calls = self._measure(Program("agent", self._agent(), environ, ours=True))
        agent = figures.of(seen, calls, self.flags)
        wrong, datapoints = self._wrong(seen, calls)
        floor = peer = None
        if self.flags.floor:
            least = Program("floor", self._floor(agent), by_minutes=False)
            floor = figures.of(*self._measure(least), self.flags)
        if self.flags.peer:
            asked = self._measure(Program("peer", self._peer(environ), environ))
            peer = figures.of(*asked, self.flags)
        return Run(agent, floor, peer, wrong, datapoints)

    def _measure(self, program: Program) -> tuple[Course, Path]:
        calls = self.folder / f"{program.name}.calls"
        self.service.ask(str(calls))
        return course.run(program, self.flags, self.fleet, self.folder), calls

    def _wrong(self, seen: Course, calls: Path) -> tuple[list[str], int]:
        check = verify.points if self.flags.full else verify.sums
        wrong, datapoints = check(
            record.puts(calls), seen.counts, self.flags.gpus, self.flags.fields
        )
        if seen.code:
            wrong.append(f"the agent ended with exit code {seen.code}")
        if seen.code is None:
            wrong.append("the agent did not end when it was told to")
        return wrong, datapoints

    def _agent(self) -> list[str]:
        command = [sys.executable, "-m", "cwgpu", "run", "-c", str(self.files.config)]
        return [*command, "--listen", "127.0.0.1:0", "--log-format", "json"]

    def _floor(self, agent: Figures) -> list[str]:
        """Give the command for what the agent did, as little as it may be."""
        size = round(agent.wire_bytes / agent.calls) if agent.calls else 0
        words = [self.files.targets, self.flags.interval, self.service.first["sink"]]
        words += [agent.calls, size, agent.seconds]
        return [sys.executable, "-m", "tests.bench.fleet.floor", *map(str, words)]

    def _peer(self, environ: dict[str, Any]) -> list[str]:
        places = {
            "config": self.files.config,
            "prometheus": self.files.prometheus,
            "targets": self.files.targets,
            "endpoint": environ["AWS_ENDPOINT_URL_CLOUDWATCH_LOGS"],
            "region": environ["AWS_DEFAULT_REGION"],
        }
        command = self.flags.peer
        for name, value in places.items():
            command = command.replace(f"{{{name}}}", str(value))
        return shlex.split(command)
