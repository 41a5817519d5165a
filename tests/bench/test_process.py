"""What is seen of a process from outside."""

import os
import resource
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from tests.bench import process


def test_a_process_looks_from_outside_as_it_does_from_inside() -> None:
    """CPU time, memory, threads and files are those that the process itself knows of."""
    before = os.times()
    seen = process.look(os.getpid())
    after, usage = os.times(), resource.getrusage(resource.RUSAGE_SELF)
    tick_s, counted_by_cpu = 0.05, 4 << 20
    assert before.user + before.system - tick_s <= seen.cpu_s <= after.user + after.system + tick_s
    assert 0 < seen.pss_bytes <= seen.rss_peak_bytes + counted_by_cpu
    assert seen.rss_bytes <= seen.rss_peak_bytes <= usage.ru_maxrss * 1024 + counted_by_cpu
    assert seen.threads >= threading.active_count()
    assert seen.fds == sum(1 for _ in Path("/proc/self/fd").iterdir())


def test_peaks_are_those_of_all_looks() -> None:
    """What a process had at an earlier look and has no more is in its peak."""
    watched = process.Watched(os.getpid())
    begun = watched.first
    reader, writer = os.pipe()
    opened = watched.look()
    os.close(reader)
    os.close(writer)
    closed = watched.look()
    assert (opened.fds, closed.fds) == (begun.fds + 2, begun.fds)
    assert watched.peak.fds == opened.fds
    assert watched.peak.rss_bytes == closed.rss_peak_bytes
    assert closed.cpu_s >= opened.cpu_s >= begun.cpu_s


@pytest.mark.parametrize("reaped", [False, True])
def test_a_process_that_ended_is_said_to_have(reaped: bool) -> None:  # noqa: FBT001 - a case
    """An ended process has no figures, whether somebody asked for its exit code or not."""
    child = subprocess.Popen([sys.executable, "-c", ""], stdout=subprocess.PIPE)
    assert child.stdout is not None
    with child:
        child.stdout.read()
        os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
        if reaped:
            child.wait()
        with pytest.raises(ProcessLookupError, match=f"process {child.pid} has ended"):
            process.look(child.pid)
