"""A real agent whose every sample can be found again: at the exporter, in the spool, in CloudWatch.

The exporter numbers its pages, and every sample of a page has the page's number for its value. The
agent's runs are numbered too: each tells its number to the exporter in a header and to CloudWatch
by the key it signs with, so that neither takes the last words of one run for those of the next.
"""

import contextlib
import json
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from subprocess import Popen
from typing import Any, TypeAlias

from cwgpu.logs import parcel
from cwgpu.spool import batch, directory
from cwgpu.spool.survey import BATCHES, FOLDERS, PENDING
from tests.cli import program
from tests.fakes import sigv4
from tests.fakes.cloudwatch import SECRET, FakeCloudWatch
from tests.fakes.exporter import FakeExporter

Point: TypeAlias = tuple[str, int]
"""Which sample, and on which page."""

AMPLE_S = 50.0
"""For what comes about by itself; only a test that fails waits so long."""


@dataclass(frozen=True, slots=True)
class Shape:
    """What is scraped, and how."""

    jobs: int = 2
    """Each has a log stream of its own."""
    targets: int = 3
    """Of each job."""
    samples: int = 5
    """Of each page."""
    pages: int = 3000
    """After these, pages are empty."""
    interval: str = "200ms"
    """And the timeout."""
    flush_s: int = 1
    """The shortest there is."""

    def page(self, number: int) -> bytes:
        """Give a page."""
        lines = [f'util{{pod="p{pod}"}} {number}\n' for pod in range(self.samples)]
        return f"# TYPE util gauge\n{''.join(lines)}".encode()

    def points(self, number: int) -> set[Point]:
        """Give what a page holds."""
        return {(f"p{pod}", number) for pod in range(self.samples)}


@dataclass
class Run:
    """One process, from its start to its end."""

    number: int
    process: Popen[bytes]
    requests: int
    """That the exporter had from those before."""
    calls: int
    """That CloudWatch had from those before."""
    stderr: list[bytes] = field(default_factory=list)

    def __post_init__(self) -> None:
        """Read what it says as it says it."""
        self._reader = threading.Thread(target=self._read)
        self._reader.start()

    @property
    def began(self) -> bool:
        """Whether the agent is at work: it knows what is in its spool."""
        return b'"spool_opened"' in b"".join(self.stderr)

    @cached_property
    def journal(self) -> list[dict[str, Any]]:
        """Its lines; once it has ended."""
        whole = [line for line in self.stderr if line.startswith(b"{") and line.endswith(b"}\n")]
        return [json.loads(line) for line in whole]

    def brings(self, condition: Callable[[], object]) -> None:
        """Wait for what it brings about."""
        within(lambda: condition() or self.process.poll() is not None, AMPLE_S)
        assert condition(), self.last_words

    @property
    def last_words(self) -> str:
        """What it said at last, for a drill that fails."""
        return b"".join(self.stderr[-20:]).decode()

    def said(self, event: str) -> list[dict[str, Any]]:
        """Give the lines of this name; once it has ended."""
        return [line for line in self.journal if line["event"] == event]

    def end(self, number: int) -> int:
        """Send a signal and wait for the end; gives the exit code."""
        self.process.send_signal(number)
        return self.wait()

    def wait(self) -> int:
        """Wait for the end; gives the exit code."""
        code = self.process.wait(AMPLE_S)
        self._reader.join()
        return code

    def _read(self) -> None:
        assert self.process.stderr is not None
        with contextlib.suppress(ValueError):  # closed by whoever gave up
            self.stderr.extend(iter(self.process.stderr.readline, b""))


@dataclass(frozen=True, slots=True)
class Kept:
    """What lies in the spool of an agent that has ended."""

    batches: dict[str, frozenset[Point]]
    """By the names of their files."""
    streams: dict[str, str]
    """Of the same files."""
    noted: frozenset[Point]
    """In the write-ahead log, and in no batch."""
    segments: int
    pending: int
    """Files that say what counts: it was ended within a step of several."""
    faults: tuple[str, ...]
    """Of what cannot be used."""
    samples: int

    @property
    def points(self) -> frozenset[Point]:
        """All of it."""
        return self.noted.union(*self.batches.values())


@dataclass(frozen=True, slots=True)
class Arrival:
    """A call that CloudWatch accepted."""

    run: int
    stream: str
    points: frozenset[Point]


@dataclass
class Ground:
    """Where an agent runs, again and again, over one spool."""

    folder: Path
    shape: Shape
    exporter: FakeExporter
    cloudwatch: FakeCloudWatch
    own: dict[str, Any]
    """More for the object ``cwgpu`` of the configuration."""
    runs: list[Run] = field(default_factory=list)

    @property
    def spool(self) -> Path:
        """The directory."""
        return self.folder / "spool"

    @contextlib.contextmanager
    def running(self, *, spools: bool = True) -> Iterator[Run]:
        """Start a process; none is left at the end."""
        number = len(self.runs)
        key = f"AKID{number}"
        self.cloudwatch.secrets[key] = sigv4.Secret(SECRET)
        env = {**self.cloudwatch.environ, "AWS_ACCESS_KEY_ID": key}
        flags = ["-c", str(self._configured(number)), "--listen", "off"]
        flags += ["--spool-dir", str(self.spool)] * spools
        with program.started("run", *flags, env=env) as process:
            run = Run(number, process, len(self.exporter.requests), len(self.cloudwatch.calls))
            self.runs.append(run)
            try:
                yield run
            finally:
                process.kill()
                run.wait()

    def asked(self, run: Run) -> int:
        """Count the pages that a run has asked for."""
        return sum(1 for _ in self.requests(run))

    def called(self, run: Run) -> int:
        """Count the calls with events that a run has made, accepted or not."""
        return sum(
            call.action == "PutLogEvents" and _caller(call.headers) == run.number
            for call in self.cloudwatch.calls[run.calls :]
        )

    def rendered(self, run: Run) -> set[Point]:
        """Give what a run has rendered for sure: what was on pages after which it asked on.

        Visits of a target follow one another. One that failed is told in the journal before the
        next one, but only the first of its kind: then we know nothing of this target's pages.
        """
        failed = {line.get("target") for line in run.said("scrape_failed")}
        pages: dict[str, list[int]] = {}
        for number, path in self.requests(run):
            pages.setdefault(path, []).append(number)
        return {
            point
            for path, numbers in pages.items()
            if f"http://{self.exporter.address}{path}" not in failed
            for number in numbers[:-1]
            if number <= self.shape.pages
            for point in self.shape.points(number)
        }

    def kept(self) -> Kept:
        """Look at the spool of an agent that has ended."""
        if not (self.spool / FOLDERS[-1]).is_dir():
            return Kept({}, {}, frozenset(), 0, 0, (), 0)  # it was ended before it made one
        found = directory.look(self.spool)
        files = {slip.name: (self.spool / BATCHES / slip.name).read_bytes() for slip in found.slips}
        batches = {name: parcel.unpack(batch.decode(data)) for name, data in files.items()}
        noted = [event for _, events in found.segments for event in events]
        return Kept(
            {name: points(each.message for each in one.events) for name, one in batches.items()},
            {name: one.stream.stream for name, one in batches.items()},
            points(event.message for event in noted),
            len(found.segments),
            sum(1 for _ in (self.spool / PENDING).iterdir()),
            tuple(each.reason for each in found.quarantined),
            sum(one.samples for one in batches.values()) + sum(event.samples for event in noted),
        )

    def arrivals(self) -> list[Arrival]:
        """Give the calls that were accepted, in their order."""
        made = []
        for call in list(self.cloudwatch.calls):
            if call.action == "PutLogEvents" and not call.code:
                body = json.loads(call.body)
                messages = (event["message"] for event in body["logEvents"])
                run = _caller(call.headers)
                made.append(Arrival(run, body["logStreamName"], points(messages)))
        return made

    def accepted(self) -> set[Point]:
        """Give what CloudWatch made datapoints of."""
        return {
            (dict(one.dimensions)["pod"], int(one.value))
            for one in list(self.cloudwatch.datapoints)
            if one.name == "util"
        }

    def requests(self, run: Run) -> Iterator[tuple[int, str]]:
        """Give the numbers of the pages that a run asked for, and for which target."""
        for number, request in enumerate(self.exporter.requests[run.requests :], run.requests + 1):
            if request.headers["x-run"] == f"{run.number}":
                yield number, request.path

    def _configured(self, run: int) -> Path:
        path = program.configuration(self.folder / "config.json", selects="^util$", **self.own)
        document = json.loads(path.read_text("utf-8"))
        document["logs"]["force_flush_interval"] = self.shape.flush_s
        (job,) = document["cwgpu"]["scrape_configs"]
        job["scrape_interval"] = job["scrape_timeout"] = self.shape.interval
        job["http_headers"] = {"X-Run": {"values": [f"{run}"]}}
        document["cwgpu"]["scrape_configs"] = [
            {**job, "job_name": f"job-{number}", "static_configs": self._targets(number)}
            for number in range(self.shape.jobs)
        ]
        path.write_text(json.dumps(document), "utf-8")
        return path

    def _targets(self, job: int) -> list[dict[str, Any]]:
        labels = {"Service": "dcgm", "__param_job": f"{job}"}
        return [
            {"targets": [self.exporter.address], "labels": {**labels, "__param_n": f"{number}"}}
            for number in range(self.shape.targets)
        ]


@contextlib.contextmanager
def ground(folder: Path, shape: Shape, **own: object) -> Iterator[Ground]:
    """Give a place where nothing has happened yet."""
    pages = [shape.page(number) for number in range(1, shape.pages + 1)]
    with FakeExporter(*pages, b"# no more\n") as exporter, FakeCloudWatch() as cloudwatch:
        yield Ground(folder, shape, exporter, cloudwatch, dict(own))


def within(condition: Callable[[], object], most_s: float, every_s: float = 0.001) -> bool:
    """Wait for something, for so long at most; tells whether it came about."""
    ends = time.monotonic() + most_s
    while not condition():
        if time.monotonic() >= ends:
            return False
        threading.Event().wait(every_s)
    return True


def points(messages: Iterable[str | bytes]) -> frozenset[Point]:
    """Give what is in log events."""
    read = map(json.loads, messages)
    return frozenset((one["pod"], int(one["util"])) for one in read)


def _caller(headers: Mapping[str, str]) -> int:
    credential = headers.get("authorization", "").partition("Credential=AKID")[2]
    return int(credential.partition("/")[0])
