"""Fetching one page from servers that behave, and from many that do not."""

import asyncio
import contextlib
import gzip
import re
import socket
import struct
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path
from typing import TypedDict, Unpack

import pytest
from aiohttp import abc
from hypothesis import given, settings
from hypothesis import strategies as st

import cwgpu
from cwgpu.model.scrape import FailReason, Scrape, ScrapeFailed
from cwgpu.model.target import Target
from cwgpu.plan.client import Authorization, BasicAuth, Client, OAuth2, Proxy, Secret
from cwgpu.plan.plan import Job
from cwgpu.scrape.fetch import Fetcher
from tests import leftovers
from tests.fakes.issuer import FakeIssuer
from tests.fakes.proxy import FakeProxy
from tests.scrape import raw
from tests.scrape.raw import Handler

PAGE = b"DCGM_FI_DEV_GPU_TEMP 41\n"
HEAD_END = b"\r\n\r\n"
CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked" + HEAD_END
# Short enough not to be waited for; used only where the time must run out.
BRIEF_S = 0.15
# The same, where something must have happened before.
LATER_S = 0.5
AMPLE_S = 30.0


def http(
    body: bytes = PAGE, *fields: str, status: str = "200 OK", length: int | None = None
) -> bytes:
    """Write an answer; ``length`` is what it claims to have."""
    size = len(body) if length is None else length
    lines = [f"HTTP/1.1 {status}", f"Content-Length: {size}", *fields]
    return "\r\n".join(lines).encode("latin-1") + HEAD_END + body


def aim(url: str, timeout_s: float = AMPLE_S) -> Target:
    """Make a target of a URL."""
    return Target(job="dcgm", url=url, labels={}, interval_s=60.0, timeout_s=timeout_s)


JOB = Job(name="dcgm", interval_s=60.0, timeout_s=10.0)


class More(TypedDict, total=False):
    """What a fetcher may be given besides its clocks."""

    resolver: abc.AbstractResolver | None


def fetcher(**more: Unpack[More]) -> Fetcher:
    """Make a fetcher whose clocks are ours: each look at the monotonic one is a second."""
    return Fetcher(lambda: 1_700_000_000.25, iter(range(1000)).__next__, **more)


async def once(
    url: str, job: Job = JOB, timeout_s: float = AMPLE_S, **more: Unpack[More]
) -> Scrape | ScrapeFailed:
    """Fetch one page with a fetcher of its own."""
    async with fetcher(**more) as fetch:
        return await fetch.fetch(aim(url, timeout_s), job)


async def good(url: str, job: Job = JOB, **more: Unpack[More]) -> Scrape:
    """Fetch a page that must come."""
    answer = await once(url, job, **more)
    assert isinstance(answer, Scrape), answer
    return answer


async def bad(
    url: str, job: Job = JOB, timeout_s: float = AMPLE_S, **more: Unpack[More]
) -> tuple[FailReason, str]:
    """Fetch a page that must not come; what is said about it must be fit to print."""
    answer = await once(url, job, timeout_s, **more)
    assert isinstance(answer, ScrapeFailed), answer
    assert 0 < len(answer.detail) <= 300
    assert answer.detail.isprintable()
    return answer.reason, answer.detail


class Names(abc.AbstractResolver):
    """A name service of our own."""

    def __init__(self, answer: Callable[[], Awaitable[list[str]]]) -> None:
        self._answer = answer

    async def resolve(
        self,
        host: str,
        port: int = 0,
        family: socket.AddressFamily = socket.AF_INET,  # noqa: ARG002 - the library gives it
    ) -> list[abc.ResolveResult]:
        """Give the addresses that our answer says."""
        return [
            abc.ResolveResult(
                hostname=host, host=address, port=port, family=socket.AF_INET, proto=0, flags=0
            )
            for address in await self._answer()
        ]

    async def close(self) -> None:
        """Do nothing."""


# --- What is asked, and what a good answer gives


async def test_the_request_is_that_of_prometheus() -> None:
    """Accept, encoding, timeout and the program's name stand in the request; nothing else does."""
    async with raw.serve(http()) as server:
        await good(server.url)
    line, *fields = server.requests[0].decode().strip().split("\r\n")
    assert line == "GET /metrics HTTP/1.1"
    assert dict(field.split(": ", 1) for field in fields) == {
        "Host": f"127.0.0.1:{server.port}",
        "Accept": (
            "application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.6,"
            "application/openmetrics-text;version=0.0.1;escaping=allow-utf-8;q=0.5,"
            "text/plain;version=1.0.0;escaping=allow-utf-8;q=0.4,"
            "text/plain;version=0.0.4;escaping=allow-utf-8;q=0.3,*/*;q=0.2"
        ),
        "Accept-Encoding": "gzip",
        "User-Agent": f"cwgpu/{cwgpu.__version__}",
        "X-Prometheus-Scrape-Timeout-Seconds": "30",
    }


@pytest.mark.parametrize(
    ("job", "accept"),
    [
        (
            Job("dcgm", 60, 10, formats=("PrometheusText0.0.4", "OpenMetricsText1.0.0")),
            (
                "text/plain;version=0.0.4;escaping=allow-utf-8;q=0.6,"
                "application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.5,*/*;q=0.4"
            ),
        ),
        (
            Job("dcgm", 60, 10, formats=("PrometheusProto", "PrometheusText1.0.0")),
            "text/plain;version=1.0.0;escaping=allow-utf-8;q=0.6,*/*;q=0.5",
        ),
        (Job("dcgm", 60, 10, formats=("PrometheusProto",)), "*/*;q=0.6"),
        (
            Job("dcgm", 60, 10, formats=("OpenMetricsText0.0.1",), legacy_names=True),
            "application/openmetrics-text;version=0.0.1;q=0.6,*/*;q=0.5",
        ),
    ],
)
async def test_formats_are_asked_for_in_the_jobs_order(job: Job, accept: str) -> None:
    """The first is weighed with 0.6; what is not read here, or not allowed, is not asked for."""
    async with raw.serve(http()) as server:
        await good(server.url, job)
    assert f"Accept: {accept}\r\n" in server.requests[0].decode()


@pytest.mark.parametrize(("timeout_s", "said"), [(10.0, b"10"), (0.5, b"0.5"), (12.345, b"12.345")])
async def test_the_timeout_is_said_in_seconds(timeout_s: float, said: bytes) -> None:
    """The exporter learns how long it has."""
    async with raw.serve(http()) as server:
        await once(server.url, timeout_s=timeout_s)
    assert b"X-Prometheus-Scrape-Timeout-Seconds: " + said + b"\r\n" in server.requests[0]


async def test_compression_can_be_refused() -> None:
    """``enable_compression: false`` asks for the page as it is."""
    async with raw.serve(http()) as server:
        await good(server.url, Job("dcgm", 60, 10, enable_compression=False))
    assert b"Accept-Encoding: identity\r\n" in server.requests[0]


async def test_path_and_query_are_asked_for_as_given() -> None:
    """Escapes in the URL stay what they are."""
    async with raw.serve(http()) as server:
        await good(f"{server.url}/a%2Fb?collect%5B%5D=x&y=1%2B1")
    assert server.requests[0].startswith(b"GET /metrics/a%2Fb?collect%5B%5D=x&y=1%2B1 HTTP/1.1\r\n")


async def test_a_page_comes_with_its_time_and_type() -> None:
    """A scrape has the wall-clock time of its beginning and the monotonic duration."""
    async with raw.serve(http(PAGE, "Content-Type: text/plain; version=0.0.4")) as server:
        answer = await good(server.url)
    assert answer == Scrape(1_700_000_000_250, PAGE, "text/plain; version=0.0.4", 1)


@pytest.mark.parametrize(
    ("answer", "page"),
    [
        (http(b""), b""),
        (http(b"", "Content-Encoding: gzip"), b""),
        (http(gzip.compress(PAGE, mtime=0), "Content-Encoding: gzip"), PAGE),
        (http(b"as it is", "Content-Encoding: GZIP"), b"as it is"),
        (http(b"as it is", "Content-Encoding: deflate"), b"as it is"),
        (http(b"as it is", "Content-Encoding: gzip, gzip"), b"as it is"),
        (
            CHUNKED + b"3\r\na 1\r\n1\r\n\n\r\n0\r\n\r\n",
            b"a 1\n",
        ),
        (b"HTTP/1.0 200 OK\r\n\r\na 1\n", b"a 1\n"),
        (b"HTTP/1.1 200\r\nContent-Length: 4\r\n\r\na 1\n", b"a 1\n"),
    ],
)
async def test_answers_that_are_pages(answer: bytes, page: bytes) -> None:
    """Empty, packed, chunked, ended by closing: each is the page it holds."""
    async with raw.serve(answer) as server:
        assert (await good(server.url)).body == page


async def test_a_content_type_that_is_no_text_can_be_printed() -> None:
    """Bytes that are no UTF-8 come escaped."""
    async with raw.serve(http(PAGE, "Content-Type: text/\xff")) as server:
        assert (await good(server.url)).content_type == "text/\\udcff"


async def test_the_environment_has_no_proxy_for_scrapes(monkeypatch: pytest.MonkeyPatch) -> None:
    """A scrape goes where its URL says, whatever http_proxy says."""
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    async with raw.serve(http()) as server:
        assert (await good(server.url)).body == PAGE


async def test_an_ipv6_address_is_a_host() -> None:
    """A URL with an IPv6 address in brackets is fetched, and named in brackets."""
    async with raw.serve(http()) as server:
        # IPv4 written as IPv6: it works where loopback has no ::1, too.
        url = f"http://[::ffff:127.0.0.1]:{server.port}/metrics"
        assert (await good(url)).body == PAGE
    assert (
        b"Host: [::ffff:7f00:1]:" in server.requests[0]
        or b"Host: [::ffff:127.0.0.1]:" in (server.requests[0])
    )
    _, detail = await bad(url)
    assert detail.startswith("[::ffff:")


# --- Connections between scrapes


async def answering(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Answer every request on a connection that stays open."""
    while True:
        await reader.readuntil(HEAD_END)
        writer.write(http())
        await writer.drain()


async def test_a_connection_serves_many_scrapes() -> None:
    """The connection of one scrape is used by the next."""
    async with raw.serve(answering) as server, fetcher() as fetch:
        answers = [await fetch.fetch(aim(server.url), JOB) for _ in range(3)]
    assert [type(answer) for answer in answers] == [Scrape] * 3
    assert server.connections == 1


def hanging_up(*, after: int) -> Handler:
    """Answer so many requests of a connection and hang up when the next one comes."""

    async def handler(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        for _ in range(after):
            await reader.readuntil(HEAD_END)
            writer.write(http())
            await writer.drain()
        await reader.readuntil(HEAD_END)

    return handler


async def test_a_restarted_exporter_is_no_failed_scrape() -> None:
    """A connection that dies when it is used again is replaced by a fresh one."""
    async with raw.serve(hanging_up(after=1)) as server, fetcher() as fetch:
        answers = [await fetch.fetch(aim(server.url), JOB) for _ in range(3)]
    assert [type(answer) for answer in answers] == [Scrape] * 3
    assert server.connections == 3


async def test_all_idle_connections_may_be_dead() -> None:
    """Several dead connections to one exporter do not fail the scrape that meets them all."""
    both = asyncio.Barrier(2)

    async def handler(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(HEAD_END)
        if server.connections <= 2:
            await both.wait()
        writer.write(http())
        await writer.drain()
        await reader.readuntil(HEAD_END)

    async with raw.serve(handler) as server, fetcher() as fetch:
        await asyncio.gather(*(fetch.fetch(aim(server.url), JOB) for _ in range(2)))
        answer = await fetch.fetch(aim(server.url), JOB)
    assert isinstance(answer, Scrape)
    assert server.connections == 3


async def test_a_fresh_connection_that_breaks_is_asked_once() -> None:
    """A server that hangs up on us is not asked again."""
    async with raw.serve(b"") as server:
        reason, detail = await bad(server.url)
    assert reason is FailReason.RESET
    assert "without an answer" in detail
    assert server.connections == 1


async def test_what_follows_a_page_is_not_the_next_page() -> None:
    """Bytes after the announced length do not reach the next scrape."""
    answer = http(PAGE + b"HTTP/1.1 200 OK\r\n", length=len(PAGE))
    async with raw.serve(answer) as server, fetcher() as fetch:
        answers = [await fetch.fetch(aim(server.url), JOB) for _ in range(2)]
    assert [answer.body for answer in answers if isinstance(answer, Scrape)] == [PAGE, PAGE]


async def test_cookies_are_not_kept() -> None:
    """A scrape leaves nothing behind for the next."""
    async with raw.serve(http(PAGE, "Set-Cookie: a=b")) as server, fetcher() as fetch:
        for _ in range(2):
            await fetch.fetch(aim(server.url), JOB)
    assert b"Cookie" not in server.requests[1]


# --- Redirects


def redirecting(hops: int, location: str = "") -> Handler:
    """Answer with redirects to /hop/1, /hop/2 ... and at last with the page."""

    async def handler(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        line = (await reader.readuntil(HEAD_END)).split(b" ")[1].decode()
        hop = int(line.rpartition("/")[2]) if line.rpartition("/")[2].isdigit() else 0
        if hop == hops:
            writer.write(http())
        else:
            to = location or f"/hop/{hop + 1}"
            writer.write(http(b"", f"Location: {to}", status="302 Found"))
        await writer.drain()

    return handler


async def test_nine_redirects_are_followed() -> None:
    """A chain of nine redirects, which are ten requests, ends at the page."""
    async with raw.serve(redirecting(9)) as server:
        assert (await good(server.url)).body == PAGE


@pytest.mark.parametrize(
    ("handler", "says"),
    [
        (redirecting(10), "again and again"),
        (redirecting(1, "/hop/0"), "again and again"),
        (redirecting(1, "ftp://127.0.0.1/x"), "no HTTP URL"),
        (redirecting(1, "http://[::1"), "no HTTP URL"),
        (redirecting(1, "http:///x"), "no HTTP URL"),
        (redirecting(1, "http://[]@"), "no HTTP URL"),
        (http(b"", status="302 Found"), "status 302, which is a redirect to nowhere"),
    ],
)
async def test_redirects_that_lead_nowhere(handler: Handler | bytes, says: str) -> None:
    """Ten redirects, a circle, and what is no HTTP URL fail as redirects."""
    async with raw.serve(handler) as server:
        reason, detail = await bad(server.url)
    assert reason is FailReason.REDIRECT
    assert says in detail


async def test_a_job_need_not_follow_redirects() -> None:
    """``follow_redirects: false`` fails the scrape, which says so."""
    async with raw.serve(redirecting(1)) as server:
        reason, detail = await bad(
            server.url, Job("dcgm", 60, 10, client=Client(follow_redirects=False))
        )
    assert reason is FailReason.REDIRECT
    assert "follow_redirects is false" in detail


# --- Answers that are no pages


@pytest.mark.parametrize(
    ("status", "body", "says"),
    [
        (
            "404 Not Found",
            b"404 page not found\n",
            "status 404 (404 page not found); check metrics_path: most exporters have /metrics",
        ),
        (
            "500 Internal Server Error",
            b"was collected before\nwith the same name",
            "before with the same",
        ),
        ("503 Unavailable", b"", "status 503; the exporter's log"),
        ("400 Bad Request", b"", "check scheme"),
        ("407 Proxy Authentication Required", b"", "status 407; the exporter's log"),
        ("201 Created", PAGE, "status 201"),
        ("204 No Content", b"", "status 204; check metrics_path"),
        ("304 Not Modified", b"", "status 304; check metrics_path"),
    ],
)
async def test_only_200_brings_a_page(status: str, body: bytes, says: str) -> None:
    """Any other status fails the scrape, with the exporter's own words and what to check."""
    async with raw.serve(http(body, status=status)) as server:
        reason, detail = await bad(server.url)
    assert reason is FailReason.STATUS
    assert says in detail


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (http(gzip.compress(b"words", mtime=0), "Content-Encoding: gzip", status="500 Oh"), False),
        (http(b"", status="500 Oh", length=10), False),
        (http(b"words" * 1000, status="500 Oh"), True),
    ],
)
async def test_a_refusal_needs_no_words(answer: bytes, said: bool) -> None:  # noqa: FBT001
    """Words that are packed, or do not come, are left out; many are cut."""
    async with raw.serve(answer) as server:
        reason, detail = await bad(server.url)
    assert reason is FailReason.STATUS
    assert ("words" in detail) is said


async def test_a_refusal_whose_words_never_come_is_still_a_refusal() -> None:
    """When the time runs out after the status, the status is the reason."""

    async def handler(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(HEAD_END)
        writer.write(http(status="500 Oh", length=10, body=b""))
        await reader.read()

    async with raw.serve(handler) as server:
        reason, _ = await bad(server.url, timeout_s=LATER_S)
    assert reason is FailReason.STATUS


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (http(PAGE, length=len(PAGE) + 1), FailReason.SHORT),
        (CHUNKED + b"4\r\na 1\n\r\n", FailReason.SHORT),
        (CHUNKED + b"4\r\na 1", FailReason.SHORT),
        (b"HTTP/1.1 200 OK\r\nContent-Le", FailReason.RESET),
        (http(gzip.compress(PAGE, mtime=0)[:-3], "Content-Encoding: gzip"), FailReason.ENCODING),
        (http(PAGE, "Content-Encoding: gzip"), FailReason.ENCODING),
        (b"SSH-2.0-OpenSSH_9.2\r\n\r\n", FailReason.NOT_HTTP),
        (b"\x15\x03\x01\x00\x02\x02\x46", FailReason.TLS),
        (b"HTTP/1.1 abc\r\n\r\n", FailReason.NOT_HTTP),
        (http(PAGE, "Content-Length: 3"), FailReason.NOT_HTTP),
        (http(PAGE, "X: " + "x" * 20_000), FailReason.NOT_HTTP),
        (http(PAGE, *(f"X-{n}: 1" for n in range(200))), FailReason.NOT_HTTP),
    ],
)
async def test_answers_that_are_broken(answer: bytes, reason: FailReason) -> None:
    """Short, torn, mispacked, or no HTTP at all: each has its reason."""
    async with raw.serve(answer) as server:
        assert (await bad(server.url))[0] is reason


@pytest.mark.parametrize(
    "answer", [CHUNKED + b"zz\r\na 1\n\r\n", http(b"a 1\nand what is no part of it", length=4)]
)
async def test_bodies_that_contradict_their_head(answer: bytes) -> None:
    """A chunk without a length, and more than was announced, fail the scrape."""
    async with raw.serve(answer) as server:
        # Which it is depends on how the network cuts the answer.
        reason, _ = await bad(server.url)
    assert reason in {FailReason.RESET, FailReason.NOT_HTTP, FailReason.SHORT}


async def test_a_body_of_the_limit_is_too_large() -> None:
    """The limit counts the unpacked page, and a page of exactly the limit fails."""
    limited = Job("dcgm", 60, 10, body_size_limit_bytes=1000)
    for size, packed in ((999, False), (999, True), (1000, False), (1000, True)):
        body = b"x" * size
        fields = ["Content-Encoding: gzip"] if packed else []
        async with raw.serve(http(gzip.compress(body) if packed else body, *fields)) as server:
            answer = await once(server.url, limited)
        if size < 1000:
            assert isinstance(answer, Scrape)
        else:
            assert isinstance(answer, ScrapeFailed)
            assert answer.reason is FailReason.TOO_LARGE
            assert "1000 bytes" in answer.detail


async def test_a_bomb_meets_the_built_in_bound() -> None:
    """Without a limit of its own a job still takes no page of 64 MiB."""
    bomb = gzip.compress(b"\0" * (64 << 20), 9)
    async with raw.serve(http(bomb, "Content-Encoding: gzip")) as server:
        reason, detail = await bad(server.url)
    assert reason is FailReason.TOO_LARGE
    assert "body_size_limit" in detail


async def test_a_reset_in_the_middle() -> None:
    """A connection that is reset fails the scrape as broken."""

    async def handler(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(HEAD_END)
        writer.write(http(PAGE, length=10_000))
        await writer.drain()
        linger = struct.pack("ii", 1, 0)  # closing with unsent data dropped is a reset
        writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
        writer.transport.abort()

    async with raw.serve(handler) as server:
        reason, _ = await bad(server.url)
    assert reason is FailReason.RESET


# --- Who asks


@pytest.mark.parametrize(
    ("client", "says"),
    [
        (Client(), "we sent no credentials; are they right?"),
        (
            Client(BasicAuth(Secret(text="u"), Secret(text="hunter2"))),
            "we sent basic_auth with password; are they right?",
        ),
        (
            Client(Authorization("Bearer", Secret(file="{path}"))),
            "we sent authorization of type Bearer with credentials_file {path}; are they right?",
        ),
    ],
)
async def test_401_says_what_was_sent(tmp_path: Path, client: Client, says: str) -> None:
    """Kind and file of the credentials are told, never what stands in them."""
    path = tmp_path / "token"
    path.write_text("hunter2")
    if isinstance(client.credentials, Authorization):
        client = Client(Authorization("Bearer", Secret(file=str(path))))
    job = Job("dcgm", 60, 10, client=client)
    async with raw.serve(http(b"go away", status="401 Unauthorized")) as server:
        reason, detail = await bad(server.url, job)
    assert reason is FailReason.UNAUTHORIZED
    assert f"status 401 (go away); {says.format(path=path)}" in detail
    assert "hunter2" not in detail


async def test_403_is_a_matter_of_who_asks_too() -> None:
    """Control characters of the refusal are left out."""
    async with raw.serve(http(b"\x1b[31m\x00", status="403 Forbidden")) as server:
        reason, detail = await bad(server.url)
    assert reason is FailReason.UNAUTHORIZED
    assert "status 403 ([31m); we sent no credentials; may they" in detail


async def test_401_of_a_stranger_says_why_nothing_was_sent() -> None:
    """Who was redirected to another server learns that credentials do not go along."""
    job = Job("dcgm", 60, 10, client=Client(BasicAuth(Secret(text="u"), Secret(text="p"))))
    async with raw.serve(http(b"", status="401 Unauthorized")) as stranger:
        to = http(b"", f"Location: {stranger.url}", status="302 Found")
        async with raw.serve(to) as server:
            reason, detail = await bad(server.url, job)
    assert reason is FailReason.UNAUTHORIZED
    assert "which stay with the host that the job names" in detail


async def test_a_file_that_cannot_be_read_fails_its_own_jobs_scrapes(tmp_path: Path) -> None:
    """The scrape fails before anything is asked, names the file, and heals with it."""
    path = tmp_path / "password"
    secretive = Job(
        "dcgm", 60, 10, client=Client(BasicAuth(Secret(text="u"), Secret(file=str(path))))
    )
    async with raw.serve(http()) as server:
        reason, detail = await bad(server.url, secretive)
        assert reason is FailReason.CREDENTIALS
        assert f"{path} cannot be read (No such file or directory)" in detail
        assert server.requests == []
        await good(server.url)
        path.write_text("p:w\n")
        await good(server.url, secretive)
    assert b"Authorization: Basic dTpwOnc=\r\n" in server.requests[1]


async def test_an_issuer_that_does_not_answer_fails_its_own_jobs_scrapes() -> None:
    """Waiting for a token is within the timeout; another job is scraped meanwhile."""
    async with raw.serve(http()) as server, FakeIssuer(held=asyncio.Event()) as issuer:
        credentials = OAuth2("cwgpu", Secret(text="s3cret"), issuer.url)
        job = Job("dcgm", 60, 10, client=Client(credentials))
        async with fetcher() as fetch:
            slow, quick = await asyncio.gather(
                fetch.fetch(aim(server.url, BRIEF_S), job), fetch.fetch(aim(server.url), JOB)
            )
    assert isinstance(quick, Scrape)
    assert isinstance(slow, ScrapeFailed)
    assert slow.reason is FailReason.CREDENTIALS
    assert f"no token from 127.0.0.1:{issuer.port} in 0.15 s" in slow.detail


async def test_a_proxy_that_wants_a_password() -> None:
    """407 of a proxy is the proxy's, over plain HTTP as well."""
    async with FakeProxy(user="me:pw") as proxy:
        job = Job("dcgm", 60, 10, client=Client(proxy=Proxy(url=proxy.url)))
        reason, detail = await bad("http://node-1.example:9400/metrics", job)
    assert reason is FailReason.PROXY
    assert "407; write user and password in proxy_url" in detail


async def test_a_proxy_that_does_not_answer() -> None:
    """When no tunnel comes about in time that is said of the proxy."""
    async with raw.serve(silent) as server:
        job = Job("dcgm", 60, 10, client=Client(proxy=Proxy(url=server.url)))
        reason, detail = await bad("https://node-1.example/metrics", job, timeout_s=BRIEF_S)
    assert reason is FailReason.PROXY
    assert f"through the proxy 127.0.0.1:{server.port}: no connection in 0.15 s" in detail


# --- Answers that do not come


async def silent(reader: asyncio.StreamReader, _: asyncio.StreamWriter) -> None:
    """Take the connection and say nothing."""
    await reader.read()


async def half_a_head(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Begin to answer and stop."""
    writer.write(b"HTTP/1.1 200 OK\r\nContent-")
    await reader.read()


async def dripping(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Send a body one byte at a time."""
    await reader.readuntil(HEAD_END)
    writer.write(http(b"", length=1 << 30))
    while True:
        writer.write(b"x")
        await writer.drain()
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(reader.read(), BRIEF_S / 20)


@pytest.mark.parametrize(
    ("handler", "reason", "says"),
    [
        (silent, FailReason.TIMEOUT, r"did not answer in 0.5 s"),
        (half_a_head, FailReason.SLOW_HEADERS, r"the headers did not end in 0.5 s"),
        (dripping, FailReason.SLOW_BODY, r"not all of the page came \(\d+ bytes did\) in 0.5 s"),
    ],
)
async def test_one_timeout_covers_all(handler: Handler, reason: FailReason, says: str) -> None:
    """Silence, half a head and a body in drops end with the timeout; each has its reason."""
    async with raw.serve(handler) as server:
        found, detail = await bad(server.url, timeout_s=LATER_S)
    assert found is reason
    assert re.search(says, detail)


async def test_a_page_that_stops_in_the_middle_says_how_much_came() -> None:
    """The bytes of the body are counted as they were sent."""

    async def stopping(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(HEAD_END)
        writer.write(http(PAGE, length=10_000))
        await reader.read()

    async with raw.serve(stopping) as server:
        reason, detail = await bad(server.url, timeout_s=LATER_S)
    assert reason is FailReason.SLOW_BODY
    assert f"({len(PAGE)} bytes did)" in detail


async def test_a_connection_that_does_not_come_about() -> None:
    """The timeout covers the time before there is a connection, too."""

    async def never() -> list[str]:
        return await asyncio.get_running_loop().create_future()  # type: ignore[no-any-return]

    reason, detail = await bad(
        "http://node-1:9400/metrics", timeout_s=BRIEF_S, resolver=Names(never)
    )
    assert reason is FailReason.TIMEOUT
    assert detail.startswith("node-1:9400: no connection to it in 0.15 s;")


async def test_nothing_is_sent_that_is_not_wanted_any_more() -> None:
    """Not even over a connection that is kept: whoever connects may stand still for long."""
    wanted = True

    async def here() -> list[str]:
        nonlocal wanted
        wanted = False
        return ["127.0.0.1"]

    async with raw.serve(http()) as server, fetcher(resolver=Names(here)) as fetch:
        kept = aim(server.url)
        assert isinstance(await fetch.fetch(kept, JOB, wanted=lambda: wanted), Scrape)
        for target in (aim(server.url.replace("127.0.0.1", "node-1")), kept):
            answer = await fetch.fetch(target, JOB, wanted=lambda: wanted)
            assert isinstance(answer, ScrapeFailed)
            assert answer.detail.endswith("it was not sent: it is not wanted any more")
    assert len(server.requests) == 1


async def test_a_name_that_does_not_resolve() -> None:
    """A failed look-up has its own reason and names the name."""

    async def unknown() -> list[str]:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    reason, detail = await bad("http://node-1:9400/metrics", resolver=Names(unknown))
    assert reason is FailReason.DNS
    assert detail.startswith("node-1:9400: the name does not resolve (Name or service not known)")


async def test_a_port_where_nobody_listens() -> None:
    """A refused connection is told from the others."""
    async with raw.serve(b"") as server:
        pass
    reason, detail = await bad(server.url)
    assert reason is FailReason.REFUSED
    assert detail.startswith(f"127.0.0.1:{server.port}: connection refused;")


async def test_a_refused_connection_leaves_nothing_behind() -> None:
    """The library's frames, which know the error that went through them, go at once."""
    async with raw.serve(http()) as server:
        target = aim(server.url)
    async with fetcher() as asking:
        await asking.fetch(target, JOB)  # what is loaded late leaves cycles of its own
        with leftovers.looked_for() as found:
            answer = await asking.fetch(target, JOB)
    assert isinstance(answer, ScrapeFailed)
    assert answer.reason is FailReason.REFUSED
    assert found == []


async def test_an_address_without_a_way_to_it() -> None:
    """A connection that the system itself refuses to make says so."""
    reason, detail = await bad("http://255.255.255.255:9400/metrics")
    assert reason is FailReason.OTHER
    assert "no connection" in detail


@pytest.mark.parametrize(
    "url",
    [
        "",
        "/metrics",
        "http://",
        "http:///metrics",
        "ftp://127.0.0.1/",
        "http://[::1",
        "http://127.0.0.1:99999/",
        "http://a b/",
        "http://2130706433:9400/metrics",
        "http://" + "a" * 300 + "/",
        "http://\x00/",
    ],
)
async def test_what_is_no_url_fails_the_scrape(url: str) -> None:
    """A URL that cannot be fetched is a failed scrape like any other."""

    async def unknown() -> list[str]:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    reason, _ = await bad(url, resolver=Names(unknown))
    assert reason in {FailReason.OTHER, FailReason.DNS}


async def test_no_secret_is_repeated() -> None:
    """Neither a URL's password nor its parameters stand in what is said about it."""
    async with raw.serve(b"") as server:
        secret = f"http://me:hunter2@127.0.0.1:{server.port}/m?token=hunter3"
        details = [(await bad(secret))[1]]
    details.append((await bad(secret))[1])
    details.append((await bad("ftp://me:hunter2@127.0.0.1/?token=hunter3"))[1])
    details.append((await bad("http://me:hunter2@127.0.0.1:99999/?token=hunter3"))[1])
    assert not [detail for detail in details if "hunter" in detail]


REPEATING = [
    Client(BasicAuth(Secret("me"), Secret("hunter2"))),
    Client(Authorization("Token", Secret("hunter2"))),
    Client(headers={"X-Key": (Secret("hunter2"),)}),
]


@pytest.mark.parametrize("client", REPEATING)
@pytest.mark.parametrize("begin", ["HTTP/1.1 401 No\r\n\r\n" + " " * 100, "HTTP/1.1 no "])
async def test_what_a_server_repeats_is_not_repeated(client: Client, begin: str) -> None:
    """A server that writes our request into its error does not write it into the journal."""
    heard: list[bytes] = []

    async def repeating(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        heard.append(await reader.readuntil(HEAD_END))
        lines = heard[-1].decode().split("\r\n")
        told = [line for line in lines if line.startswith(("Authorization", "X-Key"))]
        writer.write((begin + f"you said {told[0].partition(': ')[2]}\r\n\r\n").encode())
        await writer.drain()

    async with raw.serve(repeating) as server:
        _, detail = await bad(server.url, replace(JOB, client=client))
    assert "you said" in detail
    assert "hunter2" not in detail
    assert "bWU6aHVudGVyMg==" not in detail


async def test_a_urls_password_is_not_repeated() -> None:
    """Nor is what stood in the URL, in the form in which it was sent."""
    async with raw.serve(http(b"bWU6aHVudGVyMg== hunter2", status="500 Oh")) as server:
        _, detail = await bad(server.url.replace("//", "//me:hunter2@"))
    assert "status 500 (*** ***)" in detail


# --- The rest


async def test_a_fetcher_must_be_opened() -> None:
    """Using it outside ``async with`` is a bug, not a failed scrape."""
    with pytest.raises(RuntimeError, match="async with"):
        await fetcher().fetch(aim("http://127.0.0.1:1/"), JOB)


async def test_a_cancelled_fetch_is_cancelled() -> None:
    """Cancelling is not taken for a failure of the outside."""
    asked = asyncio.Event()

    async def handler(reader: asyncio.StreamReader, _: asyncio.StreamWriter) -> None:
        await reader.readuntil(HEAD_END)
        asked.set()
        await reader.read()

    async with raw.serve(handler) as server, fetcher() as fetch:
        task = asyncio.create_task(fetch.fetch(aim(server.url), JOB))
        await asked.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task


@given(st.one_of(st.binary(max_size=300), st.binary(max_size=200).map(lambda b: http()[:40] + b)))
@settings(max_examples=100, deadline=None)
async def test_no_bytes_are_an_exception(answer: bytes) -> None:
    """Whatever bytes a server sends, the answer is a page or a failed scrape."""
    async with raw.serve(answer) as server:
        assert isinstance(await once(server.url), Scrape | ScrapeFailed)


@given(st.binary(max_size=30) | st.binary(max_size=20).map(b"http://".__add__))
@settings(max_examples=100, deadline=None)
async def test_no_location_is_an_exception(location: bytes) -> None:
    """Wherever a server leads, the answer is a page or a failed scrape."""

    async def unknown() -> list[str]:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    led = b"HTTP/1.1 302 Found\r\nContent-Length: 0\r\nLocation: " + location + HEAD_END
    async with raw.serve(led) as server:
        assert isinstance(await once(server.url, resolver=Names(unknown)), Scrape | ScrapeFailed)
