"""Each way in which a scrape fails has its word: in the journal, in `/metrics`, in the dry run."""

import asyncio
import contextlib
import gzip
import json
import urllib.request
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import trustme

from tests.cli import program
from tests.fakes.secure import SecureExporter, server_context
from tests.scrape import raw

HEAD_END = b"\r\n\r\n"
PAGE = b"util 87\n"
REASONS = {
    "another_authority": "tls_untrusted",
    "expired": "tls_expired",
    "another_name": "tls_wrong_name",
    "unknown_client": "tls",
    "no_tls": "tls",
    "wrong_password": "unauthorized",
    "no_password": "credentials_unreadable",
    "no_proxy": "proxy",
    "circle": "redirect",
    "led_away": "redirect",
    "slow_headers": "timeout_in_headers",
    "slow_body": "timeout_in_body",
    "silent": "timeout",
    "huge": "body_too_large",
    "short": "body_cut_short",
    "cut_gzip": "bad_encoding",
    "html": "not_metrics",
    "gone": "connection_refused",
    "missing": "http_status",
}
"""The word for each job."""


def http(body: bytes, *fields: str, status: str = "200 OK", length: int | None = None) -> bytes:
    """Write an answer; ``length`` is what it claims to have."""
    size = len(body) if length is None else length
    lines = [f"HTTP/1.1 {status}", f"Content-Length: {size}", *fields]
    return "\r\n".join(lines).encode() + HEAD_END + body


def holding(answer: bytes) -> raw.Handler:
    """Begin to answer, and go on no further."""

    async def handler(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(HEAD_END)
        writer.write(answer)
        await reader.read()

    return handler


async def shouting(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Answer what is no HTTP as servers of HTTP do."""
    await reader.read(100)
    writer.write(http(b"", status="400 Bad Request"))
    await writer.drain()


HTML = http(b"<html><body>Sign in</body></html>\n", "Content-Type: text/html")
ANSWERS: dict[str, tuple[raw.Handler | bytes, dict[str, Any]]] = {
    "no_tls": (shouting, {"scheme": "https"}),
    "no_proxy": (http(PAGE), {"proxy_url": "http://127.0.0.1:1"}),
    "circle": (http(b"", "Location: /metrics", status="302 Found"), {}),
    "led_away": (
        http(b"", "Location: /login", status="302 Found"),
        {"follow_redirects": False},
    ),
    "slow_headers": (holding(b"HTTP/1.1 200 OK\r\nContent-"), {}),
    "slow_body": (holding(http(PAGE, length=100)), {}),
    "silent": (holding(b""), {}),
    "huge": (http(PAGE * 1000), {"body_size_limit": "1KB"}),
    "short": (http(PAGE, length=100), {}),
    "cut_gzip": (http(gzip.compress(PAGE)[:-4], "Content-Encoding: gzip"), {}),
    "html": (HTML, {}),
    "missing": (http(b"404 page not found\n", status="404 Not Found"), {}),
}
"""Jobs over plain sockets: what is answered, and what the job says."""


@dataclass
class Lab:
    """Servers that all do something wrong, and the jobs that scrape them."""

    folder: Path
    jobs: dict[str, dict[str, Any]]

    def config(self, *names: str) -> str:
        """Write a configuration of some jobs."""
        path = program.configuration(self.folder / "agent.json", "127.0.0.1:1")
        document = json.loads(path.read_text("utf-8"))
        document["cwgpu"]["scrape_configs"] = [self.jobs[name] for name in names]
        path.write_text(json.dumps(document), "utf-8")
        return str(path)


def job(name: str, address: str, keys: dict[str, Any]) -> dict[str, Any]:
    """Write one job."""
    # Short where the time must run out; ample where it must not, on a busy machine, too.
    timeout = "2s" if REASONS[name].startswith("timeout") else "50s"
    times = {"scrape_interval": "1m", "scrape_timeout": timeout}
    return {"job_name": name, **times, "static_configs": [{"targets": [address]}], **keys}


def secure(folder: Path) -> Iterator[tuple[str, SecureExporter, dict[str, Any]]]:
    """Give jobs over TLS, each with its exporter; all but what is wrong is right."""
    ours, another = trustme.CA(), trustme.CA()
    (folder / "ca.crt").write_bytes(ours.cert_pem.bytes())
    (folder / "another.crt").write_bytes(another.cert_pem.bytes())
    (folder / "password").write_text("hunter2\n")
    good = server_context(ours.issue_cert("127.0.0.1"))
    year = datetime(2019, 1, 1, tzinfo=UTC), datetime(2020, 1, 1, tzinfo=UTC)
    expired = ours.issue_cert("127.0.0.1", not_before=year[0], not_after=year[1])
    ca = {"ca_file": str(folder / "ca.crt")}
    user = {"username": "me", "password_file": str(folder / "password")}
    yield (
        "another_authority",
        SecureExporter(good),
        {"tls_config": {"ca_file": str(folder / "another.crt")}},
    )
    yield "expired", SecureExporter(server_context(expired)), {"tls_config": ca}
    yield (
        "another_name",
        SecureExporter(good),
        {"tls_config": {**ca, "server_name": "dcgm.example"}},
    )
    yield (
        "unknown_client",
        SecureExporter(server_context(ours.issue_cert("127.0.0.1"), clients=ours)),
        {"tls_config": ca},
    )
    yield (
        "wrong_password",
        SecureExporter(good, user=("me", "hunter3")),
        {"tls_config": ca, "basic_auth": user},
    )
    yield (
        "no_password",
        SecureExporter(good),
        {"tls_config": ca, "basic_auth": {**user, "password_file": str(folder / "nowhere")}},
    )


@pytest.fixture
async def lab(tmp_path: Path) -> AsyncIterator[Lab]:
    """Start everything that is wrong."""
    jobs = {}
    async with contextlib.AsyncExitStack() as stack:
        for name, exporter, keys in secure(tmp_path):
            stack.enter_context(exporter)
            jobs[name] = job(name, exporter.address, {"scheme": "https", **keys})
        for name, (answer, keys) in ANSWERS.items():
            server = await stack.enter_async_context(raw.serve(answer))
            jobs[name] = job(name, f"127.0.0.1:{server.port}", keys)
        jobs["gone"] = job("gone", "127.0.0.1:1", {})
        yield Lab(tmp_path, jobs)


GROUPS = [sorted(REASONS)[start : start + 5] for start in range(0, len(REASONS), 5)]


@pytest.mark.parametrize("names", GROUPS, ids=lambda names: names[0])
async def test_each_failure_is_told_in_the_journal_and_the_dry_run(
    lab: Lab, names: list[str]
) -> None:
    """The journal names job, reason and what to check; the summary has the same words."""
    arguments = ("run", "-c", lab.config(*names), "--dry-run", "--once")
    done = await asyncio.to_thread(program.run, *arguments)
    told = {one["job"]: one for one in done.journal if one["event"] == "scrape_failed"}
    assert {name: one["reason"] for name, one in told.items()} == {
        name: REASONS[name] for name in names
    }
    summary = "".join(done.summary.split())
    for one in told.values():
        assert f"{one['reason']}:{one['detail']}".replace(" ", "") in summary
    assert "hunter" not in done.stderr


async def test_each_failure_is_counted(lab: Lab) -> None:
    """``cwgpu_scrapes_total`` has the words as values of ``result``."""
    arguments = ("run", "-c", lab.config(*sorted(REASONS)), "--dry-run", "--listen", "127.0.0.1:0")
    with program.started(*arguments) as process:
        text = await asyncio.to_thread(_metrics, process.stderr, set(REASONS), "scrape_failed")
    for name, reason in REASONS.items():
        assert f'cwgpu_scrapes_total{{job="{name}",result="{reason}"}}' in text


async def test_an_empty_page_is_told_everywhere(tmp_path: Path) -> None:
    """The journal, the metrics and the dry run tell of it, and none calls it a failure."""
    async with raw.serve(http(b"")) as server:
        targets = [{"targets": [f"127.0.0.1:{server.port}"]}]
        lab = Lab(tmp_path, {"empty": {"job_name": "empty", "static_configs": targets}})
        arguments = ("run", "-c", lab.config("empty"), "--dry-run")
        done = await asyncio.to_thread(program.run, *arguments, "--once")
        with program.started(*arguments, "--listen", "127.0.0.1:0") as process:
            text = await asyncio.to_thread(_metrics, process.stderr, {"empty"}, "page_empty")
    assert [one["event"] for one in done.journal if one.get("job") == "empty"] == ["page_empty"]
    assert "itspageisempty" in "".join(done.summary.split())
    assert 'cwgpu_scrapes_total{job="empty",result="page_empty"}' in text


def _metrics(journal: Any, jobs: set[str], told: str) -> str:  # noqa: ANN401 - a process' stream
    """Wait until an event has come of each job; give the self metrics."""
    address, seen = "", set()
    for line in journal:
        event = json.loads(line)
        address = event.get("address", address)
        if event["event"] == told:
            seen.add(event["job"])
        if seen == jobs:
            break
    with urllib.request.urlopen(f"http://{address}/metrics") as answer:
        return str(answer.read().decode())
