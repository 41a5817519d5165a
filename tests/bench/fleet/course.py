"""A program before the fleet, measured from outside: started, warmed up, watched, ended."""

import json
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tests.bench import process
from tests.bench.fleet import child, configuration, inside
from tests.bench.fleet.child import FleetError, Helper
from tests.bench.fleet.flags import Flags

COLD = 2
"""Scrapes of each target that are not measured: pages are read for the first time, and counters
have no differences yet."""
_COLD_S = 1e-3
"""For a sample that is read for the first time, at most: twelve times what it takes in peace."""
_LOOK_S = 1.0
"""Between two looks at memory, which the kernel adds up for each in a millisecond."""
_FLUSHED_S = configuration.FLUSH_S + 2
"""After the end of a minute: its events are out."""
_SETTLE_S = 10.0
"""For scrapes that were answered to be counted."""
_END_S = 40.0
"""The grace of an agent that is told to end is 30 s."""
_LAST_WORDS = 2_000
"""Characters of its journal that are shown when something is wrong."""


@dataclass(frozen=True, slots=True)
class Program:
    """What is measured."""

    name: str
    command: Sequence[str]
    environ: Mapping[str, str] = field(default_factory=dict)
    ours: bool = False
    """Whether it serves our self metrics, and says where."""
    by_minutes: bool = True
    """Whether what it sends may be that of whole minutes."""


@dataclass(frozen=True, slots=True)
class Moment:
    """Where things stand."""

    at_s: float
    """In seconds since 1970."""
    look: process.Look
    scrapes: int
    """Of all targets, so far."""
    exporters_cpu_s: float
    page: inside.Page
    """Self metrics; empty where nobody is asked."""


@dataclass(frozen=True, slots=True)
class Course:
    """What was seen."""

    warm_up_s: float
    begin: Moment
    end: Moment
    peak: process.Peak
    counts: list[int]
    """Scrapes of each target, when all was over."""
    code: int | None
    """The exit code; None: it had to be killed."""

    @property
    def seconds(self) -> float:
        """How long it was measured."""
        return self.end.look.at_s - self.begin.look.at_s

    @property
    def cpu_s(self) -> float:
        """What it took meanwhile."""
        return self.end.look.cpu_s - self.begin.look.cpu_s

    @property
    def scrapes(self) -> int:
        """How many of the pages it got meanwhile."""
        return self.end.scrapes - self.begin.scrapes


def run(program: Program, flags: Flags, exporters: Helper, folder: Path) -> Course:
    """Measure it. Raises FleetError if that cannot be done."""
    journal = folder / f"{program.name}.txt"
    exporters.ask("anew")
    with child.started(program.command, program.environ, journal) as running:
        try:
            return _Runner(program, flags, exporters, journal).run(running)
        except (FleetError, ProcessLookupError, OSError) as error:
            words = journal.read_text("utf-8", errors="replace")[-_LAST_WORDS:]
            raise FleetError(f"{program.name}: {error}; its last words:\n{words}") from error


class _Runner:
    def __init__(self, program: Program, flags: Flags, exporters: Helper, journal: Path) -> None:
        self._program = program
        self._flags = flags
        self._exporters = exporters
        self._journal = journal

    def run(self, running: subprocess.Popen[bytes]) -> Course:
        began_s = time.monotonic()
        watched = process.Watched(running.pid)
        self._warm_up(watched)
        page = self._pages(watched)
        warm_up_s = time.monotonic() - began_s
        begin = self._moment(watched, page)
        while (left_s := self._flags.duration - (time.monotonic() - begin.look.at_s)) > 0:
            time.sleep(min(_LOOK_S, left_s))
            watched.look()
        end = self._moment(watched, page)
        counts = self._exporters.ask("freeze")
        self._settle(page, sum(counts))
        code = child.ended(running, _END_S)
        return Course(warm_up_s, begin, end, watched.peak, counts, code)

    def _warm_up(self, watched: process.Watched) -> None:
        def warm() -> bool:
            watched.look()
            fewest, _ = self._exporters.ask("least")
            return bool(fewest >= COLD)

        samples = self._flags.targets * self._flags.samples
        patience_s = child.PATIENCE_S + (COLD + 1) * self._flags.interval + samples * _COLD_S
        child.until(warm, patience_s, f"every target was scraped {COLD} times", every_s=0.25)
        if self._flags.aligned and self._program.by_minutes:
            past_s = (time.time() - _FLUSHED_S) % configuration.MINUTE_S
            time.sleep(configuration.MINUTE_S - past_s)

    def _pages(self, watched: process.Watched) -> Callable[[], inside.Page]:
        if not self._program.ours:
            return dict
        lines = self._journal.read_text("utf-8").splitlines()
        said = [json.loads(line) for line in lines if '"listening"' in line]
        if not said:
            raise FleetError(f"process {watched.pid} does not say where it listens")
        return lambda: inside.read(said[0]["address"])

    def _moment(self, watched: process.Watched, page: Callable[[], inside.Page]) -> Moment:
        # To answer costs a few milliseconds, which are in the measuring at neither of its ends.
        asked = page()
        _, scrapes = self._exporters.ask("least")
        took_s = process.cpu_s(self._exporters.pid)
        return Moment(time.time(), watched.look(), scrapes, took_s, asked)

    def _settle(self, page: Callable[[], inside.Page], scrapes: int) -> None:
        """Wait until what was answered has been read, so that the end loses none of it."""
        if not self._program.ours:
            time.sleep(1)
            return
        child.until(
            lambda: inside.total(page(), "cwgpu_scrapes_total", 'result="ok"') >= scrapes,
            _SETTLE_S,
            f"{scrapes} scrapes, which were answered, are counted as good",
        )
