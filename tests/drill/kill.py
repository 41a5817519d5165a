"""kill -9 at random points of a real agent's life: nothing rendered is lost, little comes twice.

An agent with a spool is started again and again over one directory. Each time it is killed, at
once after something was seen of it or after some random time, with CloudWatch well, slow, silent or
refusing. The last one is let be until all is delivered. Then:

* What was rendered is accepted. A page has been for sure when its target was asked for the next one
  (``numbered.Ground.rendered``), and so has all that lay in the spool of one that was killed.
* What came twice was in a call in flight: its batch was accepted and still in the spool at the
  kill. Of each stream that is one batch for each kill at most.

``python -m tests.drill.kill --points 200`` prints how often each kind of moment was met. Ends with
1 when a law is broken.
"""

import argparse
import contextlib
import logging
import math
import random
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from cwgpu.agent.gate import BACKLOG_PER_S
from cwgpu.spool.survey import BATCHES, PENDING
from tests.drill import numbered
from tests.drill.numbered import Arrival, Ground, Kept, Point, Run, Shape
from tests.fakes import faults
from tests.fakes.cloudwatch import FakeCloudWatch

SHAPE = Shape(pages=40_000)
MOST_S = 3.0
"""A run is killed after so long if what is waited for has not come about."""

Moment: TypeAlias = Callable[[Ground, Run, random.Random], None]
"""Waits until the agent is to be killed."""


# ---- when


def _early(ground: Ground, run: Run, dice: random.Random) -> None:
    """At any time from the first instruction to the first flushes."""
    _pass(dice.uniform(0.0, 2.5))


def _recovery(ground: Ground, run: Run, dice: random.Random) -> None:
    """While what the last one left is put in order, or right after that."""
    _until(lambda: run.began, dice.uniform(0.0, 0.03))


def _scrape(ground: Ground, run: Run, dice: random.Random) -> None:
    """While a page is fetched, read or noted."""
    pages = dice.randint(1, 40)
    _until(lambda: ground.asked(run) >= pages, dice.uniform(0.0, 0.01))


def _commit(ground: Ground, run: Run, dice: random.Random) -> None:
    """While batches are written in the place of what was noted."""
    _scrape(ground, run, dice)
    _until(lambda: any((ground.spool / PENDING).iterdir()), dice.uniform(0.0, 0.02))


def _call(ground: Ground, run: Run, dice: random.Random) -> None:
    """When CloudWatch has a call and the agent its answer, or not yet."""
    calls = dice.randint(1, 4)
    _until(lambda: ground.called(run) >= calls, dice.uniform(0.0, 0.02))


def _unlink(ground: Ground, run: Run, dice: random.Random) -> None:
    """When a batch is being forgotten."""
    _call(ground, run, dice)
    new = ground.spool / BATCHES
    before = set(new.iterdir())
    _until(lambda: before.difference(new.iterdir()), dice.uniform(0.0, 0.002))


MOMENTS: Mapping[str, Moment] = {
    "any": _early,
    "recovery": _recovery,
    "scrape": _scrape,
    "commit": _commit,
    "call": _call,
    "unlink": _unlink,
}


def _until(condition: Callable[[], object], then_s: float) -> None:
    def seen() -> bool:
        with contextlib.suppress(FileNotFoundError):
            return bool(condition())
        return False  # the directory is not there yet

    numbered.within(seen, MOST_S)
    _pass(then_s)


def _pass(seconds: float) -> None:
    numbered.within(lambda: False, seconds)


# ---- in which state CloudWatch is


def _well(cloudwatch: FakeCloudWatch) -> None:
    """It answers at once."""


def _slow(cloudwatch: FakeCloudWatch) -> None:
    cloudwatch.fail(faults.Hold(0.1), action="PutLogEvents", times=math.inf)


def _silent(cloudwatch: FakeCloudWatch) -> None:
    """It takes everything and never says so."""
    cloudwatch.fail(faults.Hold(), action="PutLogEvents", times=math.inf)


def _refusing(cloudwatch: FakeCloudWatch) -> None:
    cloudwatch.fail(faults.server_error(503), action="PutLogEvents", times=math.inf)


STATES: Sequence[Callable[[FakeCloudWatch], None]] = (_well, _well, _slow, _silent, _refusing)


# ---- what came of it


@dataclass(frozen=True, slots=True)
class Death:
    """One kill."""

    run: int
    moment: str
    state: str
    kept: Kept
    """What the next process will find."""


@dataclass(frozen=True, slots=True)
class Story:
    """All that happened, and the laws that it broke."""

    deaths: Sequence[Death]
    rendered: int
    """Samples that were for sure."""
    accepted: int
    twice: int
    """Of those, came more than once."""
    broken: Sequence[str]

    def table(self) -> str:
        """Give it for a person."""
        lines = [f"{'killed':<10} {'times':>5} with noted batches  step calls in flight"]
        for moment in MOMENTS:
            some = [death for death in self.deaths if death.moment == moment]
            lines.append(
                f"{moment:<10} {len(some):>5} {_share(some, lambda kept: kept.noted):>10} "
                f"{_share(some, lambda kept: kept.batches):>7} "
                f"{_share(some, lambda kept: kept.pending):>5}"
            )
        states = Counter(death.state for death in self.deaths)
        torn = sum(len(death.kept.faults) for death in self.deaths)
        lines += [
            "CloudWatch was " + ", ".join(f"{state} {n}" for state, n in states.most_common()),
            f"lines of the log that were cut off: {torn}",
            f"samples rendered {self.rendered}, accepted {self.accepted}, twice {self.twice}",
        ]
        return "\n".join(lines) + "\n"


def _share(deaths: Sequence[Death], met: Callable[[Kept], object]) -> int:
    return sum(bool(met(death.kept)) for death in deaths)


def play(
    folder: Path, kills: int, seed: int, tell: Callable[[str], None] = lambda _: None
) -> Story:
    """Kill so often, then let all be delivered, and judge."""
    dice = random.Random(seed)  # noqa: S311 - a drill
    moments = [list(MOMENTS)[number % len(MOMENTS)] for number in range(kills)]
    dice.shuffle(moments)
    with numbered.ground(folder, SHAPE) as ground:
        deaths = []
        for moment in moments:
            state = dice.choice(STATES)
            deaths.append(_killed(ground, moment, state, dice))
            tell(f"{len(deaths)} of {kills}: {moment}, CloudWatch {state.__name__[1:]}")
        _peace(ground)
        return _story(ground, deaths)


def _killed(
    ground: Ground, moment: str, state: Callable[[FakeCloudWatch], None], dice: random.Random
) -> Death:
    state(ground.cloudwatch)
    with ground.running() as run:
        MOMENTS[moment](ground, run, dice)
        assert run.end(signal.SIGKILL) == -signal.SIGKILL, run.last_words
    ground.cloudwatch.heal()
    return Death(run.number, moment, state.__name__[1:], ground.kept())


def _peace(ground: Ground) -> None:
    """Let one agent deliver all that the others have left."""
    left = ground.kept()
    most_s = numbered.AMPLE_S + 2 * len(left.batches) / BACKLOG_PER_S
    with ground.running() as run:
        numbered.within(lambda: left.points <= ground.accepted(), most_s, every_s=0.1)
        assert run.end(signal.SIGTERM) == 0, run.last_words


# ---- the laws


def _story(ground: Ground, deaths: Sequence[Death]) -> Story:
    accepted, arrivals = ground.accepted(), ground.arrivals()
    rendered = {point for run in ground.runs for point in ground.rendered(run)}
    came = Counter(point for arrival in arrivals for point in arrival.points)
    flights = [flight for death in deaths for flight in _in_flight(death, arrivals)]
    broken = [f"a bug: {run.said('bug')}" for run in ground.runs if run.said("bug")]
    broken += (
        [f"not delivered at the end: {len(held)} samples"] if (held := ground.kept().points) else []
    )
    broken += [f"lost: {len(lost)} samples of pages"] if (lost := rendered - accepted) else []
    for death in deaths:
        if left := death.kept.points - accepted:
            broken.append(f"lost: {len(left)} samples in the spool of run {death.run}")
        streams = Counter(stream for run, stream, _ in flights if run == death.run)
        broken += [f"run {death.run}: {n} calls of {each}" for each, n in streams.items() if n > 1]
        broken += [f"run {death.run}: {fault}" for fault in _odd(death.kept.faults)]
    excused = Counter(point for _, _, points in flights for point in points)
    if unexcused := [point for point, times in came.items() if times > 1 + excused[point]]:
        broken.append(f"twice, and in no call in flight: {len(unexcused)} samples")
    twice = sum(times > 1 for times in came.values())
    return Story(deaths, len(rendered), len(accepted), twice, broken)


def _in_flight(
    death: Death, arrivals: Sequence[Arrival]
) -> Iterator[tuple[int, str, frozenset[Point]]]:
    """Give run, stream and content of batches that were accepted and are still in the spool."""
    calls = {each.points for each in arrivals if each.run == death.run}
    for name, points in death.kept.batches.items():
        if points in calls:
            yield death.run, death.kept.streams[name], points


def _odd(faults: Sequence[str]) -> list[str]:
    """Leave out that a kill within a write cuts off its last line."""
    return [fault for fault in faults if "cut off" not in fault]


def main() -> int:
    """Play, print, judge."""
    parser = argparse.ArgumentParser(prog="python -m tests.drill.kill", description=__doc__)
    parser.add_argument("--points", type=int, default=200)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 32))
    flags = parser.parse_args()
    sys.stdout.write(f"seed {flags.seed}\n")
    logging.getLogger("aiohttp").setLevel(logging.CRITICAL)  # whose clients die all the time
    began_s = time.monotonic()

    def tell(what: str) -> None:
        sys.stderr.write(f"\r\x1b[K{what}" if sys.stderr.isatty() else "")

    with tempfile.TemporaryDirectory() as folder:
        story = play(Path(folder), flags.points, flags.seed, tell)
    sys.stdout.write(f"{story.table()}{time.monotonic() - began_s:.0f} s\n")
    sys.stdout.write("\n".join([*(story.broken or ["nothing was lost"]), ""]))
    return 1 if story.broken else 0


if __name__ == "__main__":
    sys.exit(main())
