"""Neighbours of the agent that are processes of their own, and do what they are told.

An order is a line of JSON on standard input, ``{"order": NAME, ...}``, and its answer a line on
standard output. A process whose standard input ends, ends.
"""

import contextlib
import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[3]
_END_S = 10.0


class Child:
    """One that was started."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def tell(self, order: str, **given: object) -> dict[str, Any]:
        """Give an order; gives the answer."""
        process = self._process
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(json.dumps({"order": order, **given}) + "\n")
        process.stdin.flush()
        line = process.stdout.readline()
        if not line:
            raise RuntimeError(f"{process.args!r} has ended in the middle of {order}")
        answer: dict[str, Any] = json.loads(line)
        return answer


@contextlib.contextmanager
def started(module: str) -> Iterator[Child]:
    """Start a module; none is left at the end."""
    with subprocess.Popen(
        [sys.executable, "-m", module],
        cwd=ROOT,
        text=True,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as process:
        try:
            yield Child(process)
        finally:
            assert process.stdin is not None
            with contextlib.suppress(BrokenPipeError):
                process.stdin.close()
            try:
                process.wait(_END_S)
            finally:
                process.kill()


def obey(do: Callable[..., dict[str, Any]]) -> None:
    """Do what standard input says, until it ends."""
    for line in sys.stdin:
        sys.stdout.write(json.dumps(do(**json.loads(line))) + "\n")
        sys.stdout.flush()
