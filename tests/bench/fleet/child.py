"""Programs that a bench starts, asks, and ends: each by its own process id, whatever happens."""

import contextlib
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Self

ROOT = Path(__file__).parents[3]
PATIENCE_S = 60.0
"""For what takes a second or two on a machine that has nothing else to do."""


class FleetError(Exception):
    """The bench cannot go on; says why."""


class Helper:
    """A program of ours that answers each line of standard input with a line of JSON."""

    def __init__(self, *arguments: str) -> None:
        """Start a module by its name, with its arguments; it says a first line by itself."""
        self._name = arguments[0]
        self._process = subprocess.Popen(
            [sys.executable, "-m", *arguments],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.first = self._read()

    @property
    def pid(self) -> int:
        """Its process id."""
        return self._process.pid

    def ask(self, order: str) -> Any:  # noqa: ANN401 - JSON
        """Give an order, and what it is answered with."""
        assert self._process.stdin is not None
        self._process.stdin.write(f"{order}\n")
        self._process.stdin.flush()
        return self._read()

    def _read(self) -> Any:  # noqa: ANN401 - JSON
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise FleetError(f"{self._name} has ended")
        return json.loads(line)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """End it."""
        self._process.kill()
        self._process.communicate()


@contextlib.contextmanager
def started(
    command: Sequence[str], environ: Mapping[str, str], journal: Path
) -> Iterator[subprocess.Popen[bytes]]:
    """Start a program that writes to a file; who leaves the block leaves nothing running."""
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ}
    with (
        journal.open("wb") as file,
        subprocess.Popen(
            command, cwd=ROOT, env={**kept, **environ}, stdout=file, stderr=subprocess.STDOUT
        ) as process,
    ):
        try:
            yield process
        finally:
            process.kill()


def ended(process: subprocess.Popen[bytes], patience_s: float) -> int | None:
    """Ask a program to end, and give its exit code; None if it does not end in time."""
    process.terminate()
    try:
        return process.wait(patience_s)
    except subprocess.TimeoutExpired:
        return None


def until(
    condition: Callable[[], bool], patience_s: float, what: str, every_s: float = 0.1
) -> None:
    """Wait for something. Raises FleetError if it does not come."""
    deadline_s = time.monotonic() + patience_s
    while not condition():
        if time.monotonic() > deadline_s:
            raise FleetError(f"not in {patience_s:g} s: {what}")
        time.sleep(every_s)
