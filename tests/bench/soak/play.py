"""The order of events: what happens when, what is looked at meanwhile, and the end."""

import heapq
import itertools
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeAlias

from tests.bench import process
from tests.bench.soak import stage as stages
from tests.bench.soak.agent import Said
from tests.bench.soak.figures import CALM_SHARE, Account, Moment, Record
from tests.bench.soak.shape import Shape
from tests.bench.soak.stage import Stage

Act: TypeAlias = Callable[[Stage], None]

_SETTLED_S = 90.0
"""For the last batch to be delivered, after the longest wait between two tries."""
_BUGS = 3
"""Tracebacks that are kept of an agent with faults."""

PACES: tuple[tuple[float, float, Act], ...] = (
    (1 / 3, 0.30, Stage.turn_targets),
    (1 / 4, 0.20, Stage.stop_one),
    (1 / 4, 0.28, Stage.start_again),
    (3 / 2, 0.90, Stage.trouble),
    # A reload each minute, of three kinds.
    (4, 1.0, Stage.turn_config),
    (4, 2.0, Stage.hang_up),
    (4, 3.0, Stage.spoil_config),
    (4, 3.3, Stage.mend_config),
    (4, 4.0, Stage.hang_up),
)
"""Every how many minutes, first after how many, what."""
RELOADS = {Stage.turn_config, Stage.hang_up, Stage.spoil_config}
"""What makes the agent begin its pages anew, and so would hide that they forget nothing."""


def times(shape: Shape, duration_s: float) -> Iterator[tuple[float, Act | None]]:
    """Give what happens, in its order, with seconds since the start; None is a look.

    The last third is calm: pods and targets come and go, and the configuration is left alone.
    """
    minute_s = shape.minute_s
    streams = [
        zip(
            itertools.count(first * minute_s, every * minute_s),
            itertools.repeat(number),
            strict=False,
        )
        for number, (every, first, _) in enumerate(PACES)
    ]
    looks = zip(itertools.count(shape.look_s, shape.look_s), itertools.repeat(-1), strict=False)
    for at_s, number in heapq.merge(looks, *streams):
        if at_s > duration_s:
            return
        act = None if number < 0 else PACES[number][2]
        if act not in RELOADS or at_s <= duration_s * CALM_SHARE:
            yield at_s, act


def play(
    shape: Shape,
    duration_s: float,
    folder: Path,
    *,
    seed: int,
    tell: Callable[[str], None] = lambda _: None,
) -> Record:
    """Do it all once. Raises RuntimeError if the agent ends before it is asked to."""
    moments: list[Moment] = []
    with stages.opened(shape, folder, seed) as stage:
        began_s = time.monotonic()
        for at_s, act in times(shape, duration_s):
            if not stage.agent.runs_for(began_s + at_s - time.monotonic()):
                raise RuntimeError(f"the agent has ended:\n{stage.agent.last_words}")
            if act is not None:
                act(stage)
                continue
            moments.append(_look(stage, at_s))
            stage.service.tell("count")  # which forgets what it has counted
            tell(moments[-1].line)
        said = _settled(stage)
        came = stage.service.tell("count")
        cpu_s = process.cpu_s(stage.agent.process.pid)
        answers = stage.exporters.tell("count")
        code = stage.agent.end()
        return Record(
            shape=shape,
            duration_s=duration_s,
            moments=tuple(moments),
            account=_account(said, came, code, stage),
            cpu_s=cpu_s,
            done=stage.done,
            answers=answers,
            scrapes=said.by("cwgpu_scrapes_total"),
            reloads=said.by("cwgpu_config_reloads_total"),
            retried=said.by("cwgpu_retried_batches_total"),
            cloudwatch=came["answers"],
            bugs=stage.agent.bugs()[:_BUGS],
        )


def _look(stage: Stage, at_s: float) -> Moment:
    seen, said = process.look(stage.agent.process.pid), stage.agent.said()
    return Moment(
        at_s=at_s,
        rss_bytes=seen.rss_bytes,
        pss_bytes=seen.pss_bytes,
        fds=seen.fds,
        threads=seen.threads,
        cpu_s=seen.cpu_s,
        targets=said.by("cwgpu_targets"),
        queue_batches=said.total("cwgpu_queue_batches"),
        queue_bytes=said.total("cwgpu_queue_bytes"),
    )


def _settled(stage: Stage) -> Said:
    """Take all targets away and wait until nothing is held any more, or for long enough."""
    stage.withdraw()
    ends = time.monotonic() + _SETTLED_S
    said = stage.agent.said()
    while not _is_settled(said) and time.monotonic() < ends and stage.agent.runs_for(0.2):
        said = stage.agent.said()
    return said


def _is_settled(said: Said) -> bool:
    if said.by("cwgpu_targets") or said.total("cwgpu_queue_batches"):
        return False
    return said.total("cwgpu_samples_read_total") == _decided(said)


def _decided(said: Said) -> int:
    dropped = said.total("cwgpu_dropped_samples_total")
    return said.total("cwgpu_delivered_samples_total") + dropped


def _account(said: Said, came: dict[str, int], code: int, stage: Stage) -> Account:
    journal = stage.agent.journal()
    ends = [line for line in journal if line["event"] == "ended"]
    return Account(
        read=said.total("cwgpu_samples_read_total"),
        delivered=said.total("cwgpu_delivered_samples_total"),
        dropped=said.by("cwgpu_dropped_samples_total"),
        delivered_events=said.total("cwgpu_delivered_events_total"),
        taken_events=came["events"],
        delivered_datapoints=said.total("cwgpu_delivered_datapoints_total"),
        taken_datapoints=came["datapoints"],
        emf_errors=came["emf_errors"],
        bugs=len(stage.agent.bugs()),
        lost_at_the_end=ends[-1]["lost_samples"] if ends else -1,
        exit_code=code,
    )
