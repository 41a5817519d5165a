"""Drawing cases and checking them, over and over: what the fuzz targets have in common.

A target draws a case, by a random number generator and by what it has seen before, and checks it;
whatever a check raises is a finding. Two findings that come from one place in the code are one.
The same seed and count give the same cases, so tests can run a few hundred of them everywhere::

    python -m tests.fuzz.exposition --seconds 600 --seed 1
"""

import argparse
import contextlib
import functools
import random
import signal
import sys
import time
import traceback
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from types import FrameType
from typing import Protocol, TypeAlias

# A case takes milliseconds; one that takes this long on a busy machine hangs.
_HANG_S = 20.0
_SHOWN = 4000
"""Characters of a case that are printed."""
_MOST = 20
"""Findings after which there is enough to do."""


class Target(Protocol):
    """Something that is fuzzed."""

    def draw(self, random: random.Random) -> object:
        """Make a case; its ``repr`` must be enough to make it again."""

    def check(self, case: object) -> None:
        """Raise if what must hold does not."""


Make: TypeAlias = Callable[[], Target]
"""Gives a target that has seen nothing."""


class HangError(Exception):
    """A check took too long."""


@dataclass(slots=True)
class Result:
    """What came of one target."""

    executions: int = 0
    findings: dict[str, str] = field(default_factory=dict)
    """By place in the code: the case, and what was raised."""


def run(make: Make, seed: int, more: Callable[[int], bool]) -> Result:
    """Fuzz a target as long as ``more`` says, which is asked with the number of cases so far."""
    target, chance, result = make(), random.Random(seed), Result()  # noqa: S311 - no secrets
    while more(result.executions) and len(result.findings) < _MOST:
        case = target.draw(chance)
        result.executions += 1
        try:
            target.check(case)
        except Exception as error:  # noqa: BLE001 - that is what is looked for
            what = "".join(traceback.format_exception(error, limit=-6))
            result.findings.setdefault(_place(error), f"{ascii(case)[:_SHOWN]}\n{what}")
    return result


def count(make: Make, cases: int, *, seed: int = 0) -> Result:
    """Fuzz a target with so many cases, the same ones every time."""
    return run(make, seed, lambda done: done < cases)


def main(targets: Mapping[str, Make]) -> int:
    """Fuzz each of the targets for its share of the time; for ``python -m``."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=600.0)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(2**32))
    flags = parser.parse_args()
    found = 0
    for name, make in targets.items():
        end_s = time.monotonic() + flags.seconds / len(targets)
        with _bounded():
            result = run(make, flags.seed, functools.partial(_ticking, end_s))
        found += len(result.findings)
        said = f"{result.executions:,} cases, {len(result.findings)} findings"
        sys.stdout.write(f"{name:<16} {said} (seed {flags.seed})\n")
        for place, finding in result.findings.items():
            sys.stdout.write(f"\n--- {place}\n{finding}\n")
        sys.stdout.flush()
    return 1 if found else 0


def _ticking(end_s: float, _: int) -> bool:
    """Say whether there is time for another case, and give it a bound."""
    signal.setitimer(signal.ITIMER_REAL, _HANG_S)
    return time.monotonic() < end_s


@contextlib.contextmanager
def _bounded() -> Iterator[None]:
    """Raise HangError wherever the program is when the timer is up."""
    former = signal.signal(signal.SIGALRM, _hang)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, former)


def _hang(_: int, __: FrameType | None) -> None:
    raise HangError(f"more than {_HANG_S:g} s")


def _place(error: Exception) -> str:
    frame = traceback.extract_tb(error.__traceback__)[-1]
    return f"{type(error).__name__} at {frame.filename}:{frame.lineno}"
