"""One GET of a metrics page, as Prometheus 3 asks for it.

What the other side does wrong comes back as ScrapeFailed, never as an exception.
https://prometheus.io/docs/prometheus/latest/configuration/configuration/#scrape_config and
https://github.com/prometheus/prometheus/blob/v3.0.1/scrape/scrape.go say what is sent.
"""

import asyncio
import contextlib
import ssl
from collections.abc import Callable
from types import SimpleNamespace, TracebackType
from typing import Self

import aiohttp
from aiohttp import ClientHandlerType, ClientMiddlewareType, ClientRequest, abc

import cwgpu
from cwgpu.model.scrape import Scrape, ScrapeFailed
from cwgpu.model.target import Target
from cwgpu.plan.plan import Job
from cwgpu.scrape import answer, body, fault
from cwgpu.scrape.fault import Progress
from cwgpu.scrape.resolve import Resolver

BUILT_IN_LIMIT_BYTES = 64 << 20
"""The bound where body_size_limit says none. The largest real page of an exporter of 8 GPUs with
1,000 fields each is about 4 MB; this is what one broken exporter may cost us in memory."""

# Prometheus 3 lists its formats in order of preference and ends with "anything".
_ACCEPT = (
    "application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.6,"
    "application/openmetrics-text;version=0.0.1;escaping=allow-utf-8;q=0.5,"
    "text/plain;version=1.0.0;escaping=allow-utf-8;q=0.4,"
    "text/plain;version=0.0.4;escaping=allow-utf-8;q=0.3,*/*;q=0.2"
)
# Redirects that are followed.
_REDIRECTS = 10
# Prometheus keeps idle connections for 5 minutes, which is longer than any sensible interval.
_IDLE_S = 300
# Longest status line and header field, and number of fields, that an answer may have: ten times
# what exporters and proxies in front of them send.
_HEADER_BYTES = 8190
_HEADER_FIELDS = 128
# The beginning of a refusing answer's text, and how long we wait for it.
_WORDS_BYTES = 512
_WORDS_S = 1.0


class Fetcher:
    """Fetches pages over connections that are kept between scrapes. An async context manager."""

    def __init__(
        self,
        now: Callable[[], float],
        monotonic: Callable[[], float],
        *,
        tls: ssl.SSLContext | bool = True,
        resolver: abc.AbstractResolver | None = None,
    ) -> None:
        """``now`` gives seconds since 1970; ``tls=True`` verifies by the system's certificates."""
        self._now = now
        self._monotonic = monotonic
        self._tls = tls
        self._resolver = resolver
        self._session: aiohttp.ClientSession | None = None

    async def __aenter__(self) -> Self:
        """Open the session; connections come with the first scrapes."""
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(
                limit=0,  # one scrape per target: the number of targets is the limit
                keepalive_timeout=_IDLE_S,
                resolver=self._resolver or Resolver(),
                ssl=self._tls,
            ),
            cookie_jar=aiohttp.DummyCookieJar(),
            auto_decompress=False,
            trust_env=False,  # no proxies and no .netrc: a scrape goes where its URL says
            timeout=aiohttp.ClientTimeout(),  # none of its own: ours covers everything
            max_line_size=_HEADER_BYTES,
            max_field_size=_HEADER_BYTES,
            max_headers=_HEADER_FIELDS,
            trace_configs=[_tracing()],
        )
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Close every connection."""
        if self._session is not None:
            await self._session.close()

    async def fetch(self, target: Target, job: Job) -> Scrape | ScrapeFailed:
        """Get the target's page. Everything must be there within the target's timeout."""
        at_ms = round(self._now() * 1000)
        began_s = self._monotonic()
        progress = Progress(limit_bytes=job.body_size_limit_bytes or BUILT_IN_LIMIT_BYTES)
        try:
            async with asyncio.timeout(target.timeout_s):
                page, content_type = await self._get(target, job, progress)
        except TimeoutError:
            reason, detail = fault.timed_out(target.url, target.timeout_s, progress)
        except _OUTSIDE as error:
            reason, detail = fault.explain(error, target.url, progress)
        else:
            return Scrape(at_ms, page, content_type, self._monotonic() - began_s)
        return ScrapeFailed(at_ms, reason, detail, self._monotonic() - began_s)

    async def _get(self, target: Target, job: Job, progress: Progress) -> tuple[bytes, str]:
        if self._session is None:
            raise RuntimeError("a Fetcher is used inside `async with`")
        request = self._session.get(
            target.url,
            headers=_headers(target, job),
            max_redirects=_REDIRECTS + 1,  # the library's number is the first that it refuses
            middlewares=(_persistent(progress),),
            trace_request_ctx=progress,
        )
        async with request as response:
            progress.status = response.status
            if response.status != fault.OK:
                raise answer.StatusError(response.status, await _words(response))
            page = await body.read(
                response.content.iter_any(),
                gzipped=response.headers.get("Content-Encoding") == "gzip",
                limit_bytes=progress.limit_bytes,
            )
            return page, _clean(response.headers.get("Content-Type", ""))


# What the outside can make the HTTP library raise; ValueError is its word for a bad URL.
_OUTSIDE = (aiohttp.ClientError, OSError, ValueError, answer.AnswerError)


def _headers(target: Target, job: Job) -> dict[str, str]:
    return {
        "Accept": _ACCEPT,
        "Accept-Encoding": "gzip" if job.enable_compression else "identity",
        "User-Agent": f"cwgpu/{cwgpu.__version__}",
        "X-Prometheus-Scrape-Timeout-Seconds": f"{target.timeout_s:.3f}".rstrip("0").rstrip("."),
    }


def _persistent(progress: Progress) -> ClientMiddlewareType:
    """Ask again when an idle connection from the last scrape turns out to be dead.

    An exporter that was restarted, or that closes idle connections, is no failed scrape. Each try
    uses up one idle connection, so this ends with a fresh one, whose failure is a real one.
    """

    async def send(request: ClientRequest, ask: ClientHandlerType) -> aiohttp.ClientResponse:
        while True:
            progress.connected = progress.reused = False
            try:
                return await ask(request)
            except aiohttp.ClientConnectorError:
                raise
            except (aiohttp.ClientConnectionError, ConnectionError) as error:
                if not progress.reused:
                    # The library would ask a second time; a server that hangs up on us said no.
                    raise fault.BrokenError from error

    return send


def _tracing() -> aiohttp.TraceConfig:
    """Note on the Progress of a request how its connection came about."""

    async def created(_: aiohttp.ClientSession, context: SimpleNamespace, __: object) -> None:
        context.trace_request_ctx.connected = True

    async def reused(_: aiohttp.ClientSession, context: SimpleNamespace, __: object) -> None:
        context.trace_request_ctx.connected = context.trace_request_ctx.reused = True

    config = aiohttp.TraceConfig()
    config.on_connection_create_end.append(created)
    config.on_connection_reuseconn.append(reused)
    return config


async def _words(response: aiohttp.ClientResponse) -> str:
    """Give the beginning of a refusing answer: exporters say there what ails them."""
    if "Content-Encoding" in response.headers:
        return ""
    with contextlib.suppress(aiohttp.ClientError, TimeoutError):
        async with asyncio.timeout(_WORDS_S):
            return (await response.content.read(_WORDS_BYTES)).decode(errors="replace")
    return ""


def _clean(header: str) -> str:
    # Bytes that are no UTF-8 come as lone surrogates, which nothing further on could print.
    return header.encode(errors="backslashreplace").decode()
