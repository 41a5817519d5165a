"""The real program as a process: told by signals, and judged by what it says of itself."""

import contextlib
import json
import re
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.cli import program

_AMPLE_S = 60.0
_SERIES = re.compile(r"(?P<name>\w+)(?:\{(?P<labels>.*)\})? (?P<value>\S+)")
_VALUE = re.compile(r'="([^"]*)"')
_PROXY = urllib.request.build_opener(urllib.request.ProxyHandler({}))


@dataclass(frozen=True, slots=True)
class Said:
    """Its self metrics at a moment: by name, and by the values of the labels."""

    series: Mapping[tuple[str, ...], float]

    def total(self, name: str) -> int:
        """Sum up all series of a name."""
        return round(sum(value for key, value in self.series.items() if key[0] == name))

    def by(self, name: str) -> dict[str, int]:
        """Give a name's series that are not 0, by the last of their labels."""
        return {
            key[-1]: round(value) for key, value in self.series.items() if key[0] == name and value
        }


@dataclass(slots=True)
class Agent:
    """One run of it."""

    process: subprocess.Popen[bytes]
    journal_path: Path
    address: str = field(default="", init=False)

    def __post_init__(self) -> None:
        """Wait until it listens. Raises TimeoutError."""
        ends = time.monotonic() + _AMPLE_S
        while not self.address:
            for line in self.journal():
                if line["event"] == "listening":
                    self.address = line["address"]
            if self.process.poll() is not None or time.monotonic() > ends:
                raise TimeoutError(f"the agent does not listen:\n{self.last_words}")
            self.runs_for(0.1)

    def runs_for(self, seconds: float) -> bool:
        """Wait; tells whether it still runs then, and at once when it does not."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(max(0.0, seconds))
            return False
        return True

    def said(self) -> Said:
        """Ask for its self metrics."""
        with _PROXY.open(f"http://{self.address}/metrics", timeout=_AMPLE_S) as answer:
            text = answer.read().decode()
        found = {}
        for line in text.splitlines():
            match = _SERIES.fullmatch(line)
            if match is not None:
                found[match["name"], *_VALUE.findall(match["labels"] or "")] = float(match["value"])
        return Said(found)

    def reload(self) -> None:
        """Have it read its configuration again."""
        self.process.send_signal(signal.SIGHUP)

    def end(self) -> int:
        """Ask it to end; gives the exit code."""
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(_AMPLE_S)

    def journal(self) -> list[dict[str, Any]]:
        """Give the lines that it wrote."""
        lines = self.journal_path.read_text("utf-8").splitlines()
        return [json.loads(line) for line in lines if line.endswith("}")]

    def bugs(self) -> list[str]:
        """Give the tracebacks of what nobody expected."""
        return [line["traceback"] for line in self.journal() if line["event"] == "bug"]

    @property
    def last_words(self) -> str:
        """What it wrote at last, for a soak that fails."""
        return "\n".join(self.journal_path.read_text("utf-8").splitlines()[-20:])


@contextlib.contextmanager
def started(folder: Path, config: Path, environ: Mapping[str, str]) -> Iterator[Agent]:
    """Start it with a spool, at a port that is free; it does not outlive the block."""
    path = folder / "journal"
    command = [sys.executable, "-m", "cwgpu", "run", "-c", str(config), "--listen", "127.0.0.1:0"]
    with (
        path.open("wb") as journal,
        subprocess.Popen(
            [*command, "--spool-dir", str(folder / "spool"), "--log-format", "json"],
            cwd=program.ROOT,
            env=program.environ(environ),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=journal,
        ) as process,
    ):
        try:
            yield Agent(process, path)
        finally:
            process.kill()
