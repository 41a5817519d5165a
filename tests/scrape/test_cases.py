"""What Prometheus makes of answers, and what we make of them.

``tests/data/http.jsonl`` has answers that a real Prometheus 2.42 scraped, and what it said and
stored; 3.0.1 does the same with them.
"""

import asyncio
import base64
import json
from http import HTTPStatus
from pathlib import Path
from typing import Any

import pytest

from cwgpu.model.scrape import FailReason, Scrape, ScrapeFailed
from cwgpu.model.target import Target
from cwgpu.plan.client import Authorization, BasicAuth, Client, Secret
from cwgpu.plan.plan import Job
from cwgpu.prom import exposition
from cwgpu.prom.exposition import BadItem, Format, SeriesItem
from cwgpu.scrape.fetch import Fetcher
from tests.scrape import raw

DATA = Path(__file__).parents[1] / "data" / "http.jsonl"
ROWS: dict[str, dict[str, Any]] = {
    row["id"]: row for row in map(json.loads, DATA.read_text("utf-8").splitlines())
}
# Where the redirects of the rows lead to.
LED_TO = b'# HELP m A help.\n# TYPE m gauge\nm{a="1"} 2\n'
BRIEF_S = 0.15

REASONS = {
    "h_close_early": FailReason.SHORT,
    "h_close_no_response": FailReason.RESET,
    "h_gzip_broken": FailReason.ENCODING,
    "h_gzip_claimed_plain": FailReason.ENCODING,
    "h_redirect_loop": FailReason.REDIRECT,
    "h_slow": FailReason.TIMEOUT,
    "h_status_201": FailReason.STATUS,
    "h_status_301": FailReason.REDIRECT,
    "h_status_400": FailReason.STATUS,
    "h_status_401": FailReason.UNAUTHORIZED,
    "h_status_403": FailReason.UNAUTHORIZED,
    "h_status_404": FailReason.STATUS,
    "h_status_500": FailReason.STATUS,
}
"""Our word for each answer that Prometheus cannot read."""


def answering(row: dict[str, Any]) -> raw.Handler:
    """Answer as the row says, on its path; with a page elsewhere."""
    body = base64.b64decode(row["body_b64"])
    status = HTTPStatus(row["status"])
    fields = {"Content-Type": row["content_type"], **row["headers"]}
    if row["mode"] == "chunked":
        fields["Transfer-Encoding"] = "chunked"
        pieces = [body[:4], body[4:]]
        body = b"".join(b"%x\r\n%b\r\n" % (len(piece), piece) for piece in [*pieces, b""])
    else:
        fields["Content-Length"] = str(len(body) + (10 if row["mode"] == "short" else 0))
    lines = [f"HTTP/1.1 {status.value} {status.phrase}"]
    lines += [f"{name}: {value}" for name, value in fields.items()]
    answer = "\r\n".join(lines).encode() + b"\r\n\r\n" + body

    async def handler(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        assert not row["job"] or row["request_headers_seen"]["Authorization"] in head.decode()
        if row["mode"] == "close":
            return
        if row["mode"] == "slow":
            await reader.read()
        elsewhere = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n" + LED_TO
        writer.write(answer if head.split()[1] == f"/c/{row['id']}".encode() else elsewhere)
        await writer.drain()

    return handler


def client(job: dict[str, Any]) -> Client:
    """Read the row's keys of the configuration."""
    if "basic_auth" in job:
        pair = job["basic_auth"]
        return Client(BasicAuth(Secret(pair["username"]), Secret(pair["password"])))
    if "authorization" in job:
        given = job["authorization"]
        return Client(Authorization(given.get("type", "Bearer"), Secret(given["credentials"])))
    return Client()


async def scrape(row: dict[str, Any]) -> Scrape | ScrapeFailed:
    """Scrape the row's answer."""
    timeout_s = BRIEF_S if row["mode"] == "slow" else 30.0
    async with raw.serve(answering(row)) as server, Fetcher(lambda: 0.0, lambda: 0.0) as fetch:
        url = f"http://127.0.0.1:{server.port}/c/{row['id']}"
        target = Target(job="j", url=url, labels={}, interval_s=60.0, timeout_s=timeout_s)
        return await fetch.fetch(target, Job("j", 60, 30, client=client(row["job"])))


def samples(page: bytes) -> list[dict[str, Any]] | None:
    """Read a page as Prometheus does, whole or not at all."""
    items = list(exposition.scan(page, Format.TEXT))
    if any(isinstance(item, BadItem) for item in items):
        return None
    return [
        {"name": item.name, "labels": dict(item.labels), "value": item.value.decode()}
        for item in items
        if isinstance(item, SeriesItem)
    ]


def test_the_rows_are_there() -> None:
    """All of them; every failure has its word here."""
    assert len(ROWS) == 21
    failed = {name for name, row in ROWS.items() if not row["expected"]["up"]}
    assert failed == {*REASONS, "h_gzip_upper"}


@pytest.mark.parametrize("name", sorted(set(ROWS) - set(REASONS)))
async def test_what_prometheus_reads_is_read(name: str) -> None:
    """The page is the same, or just as unreadable."""
    answer = await scrape(ROWS[name])
    assert isinstance(answer, Scrape), answer
    expected = ROWS[name]["expected"]
    stored = [
        {key: sample[key] for key in ("name", "labels", "value")} for sample in expected["samples"]
    ]
    assert samples(answer.body) == (stored if expected["up"] else None)


@pytest.mark.parametrize("name", sorted(REASONS))
async def test_what_prometheus_cannot_read_has_a_reason(name: str) -> None:
    """Where Prometheus has an error of Go's, we have a word and a sentence."""
    answer = await scrape(ROWS[name])
    assert isinstance(answer, ScrapeFailed), answer
    assert answer.reason is REASONS[name]
