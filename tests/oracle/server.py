"""A real Prometheus on loopback, and the exporter that it scrapes.

The exporter has a page for each target, which may be changed at any time; a sample is known to be
stored when its target is asked the next time, so nothing has to wait for a clock.
"""

import contextlib
import json
import socket
import subprocess
import threading
import time
import urllib.parse
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from tests.oracle import debian

Json = dict[str, Any]

# After its start Prometheus takes up to two periods of 5 seconds until it scrapes.
_PATIENCE_S = 40.0


@dataclass(slots=True)
class Slot:
    """One target's page."""

    body: bytes = b""
    content_type: str = "text/plain"
    asked_ms: list[int] = field(default_factory=list)
    """When it was asked, since the page changed."""
    before_ms: int = 0
    """When it was asked last before that."""


class Exporter:
    """Serves slot N at /N."""

    def __init__(self, slots: int) -> None:
        """Listen on a free port."""
        self.slots = [Slot() for _ in range(slots)]
        self._asked = threading.Condition()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self.address = "{}:{}".format(*self._server.server_address[:2])

    @contextlib.contextmanager
    def running(self) -> Iterator[None]:
        """Serve in a thread."""
        thread = threading.Thread(target=self._server.serve_forever, args=(0.05,))
        thread.start()
        try:
            yield
        finally:
            self._server.shutdown()
            thread.join()
            self._server.server_close()

    def put(self, pages: Sequence[tuple[bytes, str]]) -> None:
        """Change the pages of the first slots."""
        with self._asked:
            for slot, (body, content_type) in zip(self.slots, pages, strict=False):
                slot.before_ms = max([slot.before_ms, *slot.asked_ms])
                slot.body, slot.content_type, slot.asked_ms = body, content_type, []

    def wait(self, times: int, slots: int) -> bool:
        """Wait until each of the first slots was asked so many times since it changed."""
        with self._asked:
            return self._asked.wait_for(
                lambda: all(len(slot.asked_ms) >= times for slot in self.slots[:slots]),
                _PATIENCE_S,
            )

    def _answer(self, number: int) -> tuple[bytes, str]:
        with self._asked:
            slot = self.slots[number]
            slot.asked_ms.append(time.time_ns() // 1_000_000)
            self._asked.notify_all()
            return slot.body, slot.content_type

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        exporter = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                body, content_type = exporter._answer(int(self.path[1:]))
                self.send_response(200)
                self.send_header("Content-Type", content_type)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: object) -> None:
                """Say nothing."""

        return Handler


class Prometheus:
    """A running process."""

    def __init__(self, port: int, log: Path) -> None:
        """Know where it listens and what it writes."""
        self._log = log
        self._url = f"http://127.0.0.1:{port}/api/v1/query"

    def said(self) -> str:
        """Give the end of its log."""
        return self._log.read_text("utf-8")[-2000:]

    def query(self, text: str, at_s: float) -> list[Json]:
        """Ask for a range of samples."""
        form = urllib.parse.urlencode({"query": text, "time": at_s}).encode()
        with urllib.request.urlopen(self._url, form, _PATIENCE_S) as answer:  # noqa: S310 - ours
            result: list[Json] = json.load(answer)["data"]["result"]
        return result


@contextlib.contextmanager
def running(folder: Path, config: Mapping[str, Any]) -> Iterator[Prometheus]:
    """Run a Prometheus with this configuration, and end it."""
    (folder / "prometheus.yml").write_text(json.dumps(config))
    port = free_port()
    command = [
        debian.program("prometheus"),
        f"--config.file={folder / 'prometheus.yml'}",
        f"--storage.tsdb.path={folder / 'data'}",
        f"--web.listen-address=127.0.0.1:{port}",
    ]
    with (folder / "log").open("wb") as log, subprocess.Popen(command, stderr=log) as process:
        try:
            yield Prometheus(port, folder / "log")
        finally:
            process.terminate()
            process.wait(_PATIENCE_S)


def free_port() -> int:
    """Give a port on which nobody listens."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
