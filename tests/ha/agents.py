"""Several agents as processes, between one API server, one exporter and one CloudWatch.

Each tells the exporter its name and has a clock that is wrong by an hour. The lease's terms are so
short that a test takes seconds. Pages are numbered: what was scraped can be found in CloudWatch.
"""

import contextlib
import itertools
import json
import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.cli import program
from tests.fakes.cloudwatch import FakeCloudWatch
from tests.fakes.exporter import FakeExporter, Request
from tests.fakes.kubernetes import FakeKubernetes

DURATION_S, RETRY_S = 4.0, 0.3
LEASE = {
    "name": "gpu",
    "namespace": "lab",
    "duration": "4s",
    "renew_deadline": "3s",
    "retry_period": "300ms",
}
LEAST_PART = 0.8
"""Of the retry period: no look comes sooner after the last."""
AMPLE_S = 40.0
PAGES = 3000
VERBS = {"leases": ("get", "create", "update")}
SKEWS_S = {"a": -3600, "b": 3600}

_SKEW = """\
import os, time
_true = time.time
time.time = lambda: _true() + float(os.environ["SKEW_S"])
"""


@dataclass
class Agent:
    """One of them."""

    name: str
    process: subprocess.Popen[bytes]
    journal: list[dict[str, Any]] = field(default_factory=list)
    _reader: threading.Thread | None = None

    def __post_init__(self) -> None:
        """Read its journal as it is written."""
        self._reader = threading.Thread(target=self._read)
        self._reader.start()

    def said(self, event: str) -> list[dict[str, Any]]:
        """Give the journal's lines of this name."""
        return [line for line in self.journal if line.get("event") == event]

    def says(self, event: str, times: int = 1) -> dict[str, Any]:
        """Wait until it has said so; gives the last such line."""
        eventually(lambda: len(self.said(event)) >= times, f"{self.name}: {event}", self.journal)
        return self.said(event)[-1]

    def tell(self, number: signal.Signals) -> None:
        """Send a signal."""
        os.kill(self.process.pid, number)

    def end(self) -> int:
        """Ask it to end, and wait; gives its exit code."""
        self.tell(signal.SIGTERM)
        return self.process.wait(AMPLE_S)

    def leave(self) -> None:
        """Let nothing of it remain."""
        self.process.kill()
        self.process.wait()
        assert self._reader is not None
        self._reader.join()

    def _read(self) -> None:
        assert self.process.stderr is not None
        for line in self.process.stderr:
            if line.startswith(b"{"):
                self.journal.append(json.loads(line))


def eventually(condition: Callable[[], object], what: str, seen: object = "") -> None:
    """Wait for what other processes bring about; the limit is only for a test that fails."""
    ends = time.monotonic() + AMPLE_S
    while not condition():
        assert time.monotonic() < ends, f"it never came about: {what} {seen}"
        threading.Event().wait(0.01)


@dataclass(frozen=True)
class Job:
    """What is scraped; equal targets differ in a parameter."""

    targets: Sequence[str]
    interval: str = "200ms"


@dataclass
class Place:
    """Where they are."""

    folder: Path
    api: FakeKubernetes
    exporter: FakeExporter
    cloudwatch: FakeCloudWatch
    stack: contextlib.ExitStack

    def start(self, name: str, job: Job, *flags: str, **own: object) -> Agent:
        """Start an agent; ``own`` is of the object ``cwgpu``."""
        path = self.configure(name, job, **own)
        kubeconfig = self.folder / f"{name}.kubeconfig"
        self.api.kubeconfig(kubeconfig, self.api.grant(name, VERBS, "lab"))
        env = {
            **self.cloudwatch.environ,
            "KUBECONFIG": str(kubeconfig),
            "HOSTNAME": name,
            "PYTHONPATH": str(self.folder / "skew"),
            "SKEW_S": str(SKEWS_S.get(name, 0)),
        }
        flags = ("-c", str(path), "--listen", "127.0.0.1:0", *flags)
        process = self.stack.enter_context(program.started("run", *flags, env=env))
        agent = Agent(name, process)
        self.stack.callback(agent.leave)
        return agent

    def configure(self, name: str, job: Job, **own: object) -> Path:
        """Write what an agent is to do; one that is at work can be told to read it again."""
        path = program.configuration(self.folder / f"{name}.json")
        document = json.loads(path.read_text("utf-8"))
        document["cwgpu"].update(own)
        (written,) = document["cwgpu"]["scrape_configs"]
        written["scrape_interval"] = written["scrape_timeout"] = job.interval
        written["http_headers"] = {"X-Agent": {"values": [name]}}
        written["static_configs"] = [
            {"targets": [address], "labels": {"Service": "dcgm", "__param_n": f"{number}"}}
            for number, address in enumerate(job.targets)
        ]
        path.write_text(json.dumps(document), "utf-8")
        return path

    def scrapes(self, name: str = "") -> list[Request]:
        """Give the requests that the exporter had, of one agent or all."""
        came = list(self.exporter.requests)
        return [one for one in came if not name or one.headers["x-agent"] == name]

    def order(self) -> str:
        """Name the agents that scraped, one after the other, in their order."""
        names = (one.headers["x-agent"] for one in self.scrapes())
        return "".join(name for name, _ in itertools.groupby(names))

    def scraped(self, name: str, more: int) -> None:
        """Wait until an agent has scraped so often again."""
        least = len(self.scrapes(name)) + more
        eventually(lambda: len(self.scrapes(name)) >= least, f"{more} scrapes of {name}")

    def asked(self, more: int) -> None:
        """Wait until so many more questions have come to the API server, answered or not."""
        least = len(self.api.requests) + more
        eventually(lambda: len(self.api.requests) >= least, f"{more} questions")

    def looks(self, name: str, since: int, until: int | None = None) -> int:
        """Count an agent's looks at the lease, among the API's requests in this range."""
        asked = self.api.requests[since:until]
        return sum(one.user == name and one.verb == "get" for one in asked)

    def holder(self) -> str:
        """Name the agent that holds the lease."""
        lease = self.api.get("leases", "lab", "gpu")
        assert lease is not None
        return str(lease["spec"]["holderIdentity"]).partition("_")[0]

    def delivered(self) -> list[int]:
        """Give the numbers of the pages that are in CloudWatch."""
        return [int(one.value) for one in self.cloudwatch.datapoints if one.name == "util"]

    def pages(self, name: str) -> set[int]:
        """Give the numbers of the pages that an agent asked for."""
        numbered = enumerate(self.scrapes(), 1)
        return {number for number, one in numbered if one.headers["x-agent"] == name}


@contextlib.contextmanager
def place(folder: Path) -> Iterator[Place]:
    """Give a place without agents; whoever is there at the end is ended."""
    skew = folder / "skew" / "sitecustomize.py"
    skew.parent.mkdir()
    skew.write_text(_SKEW, "utf-8")
    pages = [program.page(number, number) for number in range(1, PAGES)]
    with contextlib.ExitStack() as stack:
        api = stack.enter_context(FakeKubernetes())
        api.put({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "lab"}})
        exporter = stack.enter_context(FakeExporter(*pages))
        cloudwatch = stack.enter_context(FakeCloudWatch())
        yield Place(folder, api, exporter, cloudwatch, stack)
