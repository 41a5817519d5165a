"""A real vmagent on loopback: an independent reader of ``kubernetes_sd_configs``.

It sends nothing anywhere: what it would send goes to a closed port of loopback, and what it
scrapes are the addresses that a test gives, which must be loopback's too.
"""

import contextlib
import json
import subprocess
import threading
import time
import urllib.request
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from tests.oracle import debian, server

Json = dict[str, Any]

_PATIENCE_S = 30.0
_PAUSE_S = 0.05
"""It tells nobody when it has discovered something, so it is asked again and again."""


class Vmagent:
    """A running process."""

    def __init__(self, process: subprocess.Popen[bytes], port: int, log: Path) -> None:
        """Know where it listens and what it writes."""
        self._process = process
        self._log = log
        self._url = f"http://127.0.0.1:{port}/api/v1/targets"

    def said(self) -> str:
        """Give the end of its log."""
        return self._log.read_text("utf-8")[-2000:]

    def targets(self) -> tuple[list[Json], list[Json]]:
        """Give the active targets and the dropped ones, as its API lists them now."""
        with urllib.request.urlopen(self._url, timeout=_PATIENCE_S) as answer:  # noqa: S310 - ours
            data = json.load(answer)["data"]
        return data["activeTargets"] or [], data["droppedTargets"] or []

    def wait(self, until: Callable[[list[Json]], object]) -> list[Json]:
        """Give the active targets once they are as wanted."""
        end = time.monotonic() + _PATIENCE_S
        pause = threading.Event()
        active: list[Json] = []
        while time.monotonic() < end and self._process.poll() is None:
            with contextlib.suppress(OSError):  # it does not listen yet
                active = self.targets()[0]
                if until(active):
                    return active
            pause.wait(_PAUSE_S)
        raise TimeoutError(f"{len(active)} targets, and not as wanted; it said {self.said()}")


@contextlib.contextmanager
def running(folder: Path, jobs: Sequence[Mapping[str, Any]]) -> Iterator[Vmagent]:
    """Run a vmagent with these scrape configurations, and end it."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "prometheus.yml").write_text(json.dumps({"scrape_configs": list(jobs)}))
    port = server.free_port()
    command = [
        debian.program("vmagent"),
        f"-promscrape.config={folder / 'prometheus.yml'}",
        "-promscrape.kubernetesSDCheckInterval=1s",
        f"-httpListenAddr=127.0.0.1:{port}",
        f"-remoteWrite.url=http://127.0.0.1:{server.free_port()}/",
        f"-remoteWrite.tmpDataPath={folder / 'data'}",
    ]
    with (folder / "log").open("wb") as log, subprocess.Popen(command, stderr=log) as process:
        try:
            yield Vmagent(process, port, folder / "log")
        finally:
            process.terminate()
            process.wait(_PATIENCE_S)
