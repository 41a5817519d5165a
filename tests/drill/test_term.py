"""SIGTERM while there is much to do: what was rendered is accepted, spooled, or counted as lost.

How long the end takes is not asserted (the grace is, by the agent itself); it is in the test's
output, and in docs/performance.md.
"""

import math
import signal
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.drill import numbered
from tests.drill.numbered import Ground, Run, Shape
from tests.fakes import faults
from tests.fakes.cloudwatch import FakeCloudWatch

LOAD = Shape(jobs=3, targets=8, samples=200, pages=1000, interval="1s")
"""Twenty-four exporters, 4,800 samples a second."""
GRACE = "7s"
"""Two of them are for sending."""


def _slow(cloudwatch: FakeCloudWatch) -> None:
    cloudwatch.fail(faults.Hold(0.7), action="PutLogEvents", times=math.inf)


def _silent(cloudwatch: FakeCloudWatch) -> None:
    cloudwatch.fail(faults.Hold(), action="PutLogEvents", times=math.inf)


def _throttling(cloudwatch: FakeCloudWatch) -> None:
    cloudwatch.fail(faults.throttled(), action="PutLogEvents", times=math.inf)


def _term(run: Run) -> int:
    """Ask it to end; gives the exit code, and tells how long that took."""
    began_s = time.monotonic()
    code = run.end(signal.SIGTERM)
    print(f"ended {time.monotonic() - began_s:.1f} s after SIGTERM")  # noqa: T201 - a figure
    return code


@pytest.mark.parametrize("state", [_slow, _silent, _throttling])
def test_a_spool_takes_what_is_not_accepted(
    state: Callable[[FakeCloudWatch], None], tmp_path: Path
) -> None:
    """Whatever CloudWatch does meanwhile; the process ends well and says how much is left."""
    with numbered.ground(tmp_path, LOAD, shutdown_grace=GRACE) as ground:
        with ground.running() as run:
            _loaded(ground, run, lambda: ground.called(run) > 0)
            state(ground.cloudwatch)
            pages = ground.asked(run)
            run.brings(lambda: ground.asked(run) > pages + 2 * LOAD.jobs * LOAD.targets)
            assert _term(run) == 0
        kept, accepted, rendered = ground.kept(), ground.accepted(), ground.rendered(run)
        assert rendered <= accepted | kept.points
        assert rendered
        ended = run.journal[-1]
        assert (ended["event"], ended["lost_samples"]) == ("ended", 0)
        assert (ended["spooled_samples"], kept.noted) == (kept.samples, frozenset())


def test_without_a_spool_the_last_line_says_what_is_lost(tmp_path: Path) -> None:
    """To the sample: it is all that was rendered and is not in CloudWatch; the exit code is 1."""
    shape = Shape(jobs=3, targets=8, samples=200, pages=72, interval="2s")
    with numbered.ground(tmp_path, shape, shutdown_grace=GRACE) as ground:
        with ground.running(spools=False) as run:
            _loaded(ground, run, lambda: ground.called(run) > 2)
            _throttling(ground.cloudwatch)
            run.brings(lambda: _all_read(ground, run))
            assert _term(run) == 1
        rendered, accepted = ground.rendered(run), ground.accepted()
        assert len(rendered) == shape.pages * shape.samples
        ended = run.journal[-1]
        assert ended["event"] == "ended"
        assert ended["lost_samples"] == len(rendered - accepted) > 0
        assert "cwgpu.spool.dir" in ended["reason"]


def _loaded(ground: Ground, run: Run, condition: Callable[[], bool]) -> None:
    pages = 2 * ground.shape.jobs * ground.shape.targets
    run.brings(lambda: ground.asked(run) >= pages)
    run.brings(condition)


def _all_read(ground: Ground, run: Run) -> bool:
    """Tell whether each target that got a page has asked for another."""
    paths = [path for _, path in ground.requests(run)]
    return len(paths) > ground.shape.pages and set(paths[: ground.shape.pages]) == set(
        paths[ground.shape.pages :]
    )
