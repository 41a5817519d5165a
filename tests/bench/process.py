"""What a process costs, seen from outside: CPU time, memory, threads, open files.

From /proc (https://docs.kernel.org/filesystems/proc.html), so that what is measured need not know
of it, nor be ours. Looking costs the process that looks, not the one that is looked at.
"""

import time
from dataclasses import dataclass
from pathlib import Path
from typing import Self

# clock_getcpuclockid(3) in the C library: the clock of a process that is not ours, in nanoseconds.
# /proc/PID/stat has the same figure in ticks of 10 ms.
_OF_PROCESS, _BITS = 2, 3


@dataclass(frozen=True, slots=True)
class Look:
    """A process at one moment."""

    at_s: float
    """On the monotonic clock."""
    cpu_s: float
    """User and system time of all threads since the process began, those that ended too."""
    rss_bytes: int
    rss_peak_bytes: int
    """Since the process began, by the kernel's own mark: nothing between two looks is missed."""
    pss_bytes: int
    """Resident memory where each shared page counts in part, by how many processes share it."""
    threads: int
    fds: int


@dataclass(frozen=True, slots=True)
class Peak:
    """The most of each that was seen."""

    rss_bytes: int = 0
    pss_bytes: int = 0
    threads: int = 0
    fds: int = 0

    def with_(self, seen: Look) -> Self:
        """Give the peak with one more look."""
        return type(self)(
            rss_bytes=max(self.rss_bytes, seen.rss_peak_bytes),
            pss_bytes=max(self.pss_bytes, seen.pss_bytes),
            threads=max(self.threads, seen.threads),
            fds=max(self.fds, seen.fds),
        )


class Watched:
    """A process that is looked at now and then; the peaks are those of the looks."""

    def __init__(self, pid: int) -> None:
        """Look at it for the first time. Raises ProcessLookupError if it is not there."""
        self.pid = pid
        self.peak = Peak()
        self.first = self.last = self.look()

    def look(self) -> Look:
        """Look again. Raises ProcessLookupError once it has ended, reaped or not."""
        self.last = look(self.pid)
        self.peak = self.peak.with_(self.last)
        return self.last


def look(pid: int) -> Look:
    """Look at a process once. Raises ProcessLookupError if it has ended, reaped or not."""
    folder = Path("/proc", str(pid))
    try:
        status = _table(folder / "status")
        rollup = _table(folder / "smaps_rollup")
        return Look(
            at_s=time.monotonic(),
            cpu_s=cpu_s(pid),
            rss_bytes=_bytes(status["VmRSS"]),
            rss_peak_bytes=_bytes(status["VmHWM"]),
            pss_bytes=_bytes(rollup["Pss"]),
            threads=int(status["Threads"]),
            fds=sum(1 for _ in (folder / "fd").iterdir()),
        )
    except (FileNotFoundError, ProcessLookupError, KeyError) as error:
        raise ProcessLookupError(f"process {pid} has ended") from error


def cpu_s(pid: int) -> float:
    """Give the CPU time of a process so far. Raises ProcessLookupError if there is none."""
    try:
        return time.clock_gettime(~pid << _BITS | _OF_PROCESS)
    except OSError as error:
        raise ProcessLookupError(f"process {pid} has ended") from error


def _table(path: Path) -> dict[str, str]:
    pairs = (line.partition(":") for line in path.read_text("utf-8").splitlines())
    return {name: value.strip() for name, _, value in pairs}


def _bytes(text: str) -> int:
    return int(text.removesuffix("kB")) * 1024
