"""One GET of a metrics page, as Prometheus 3 asks for it.

What the other side does wrong comes back as ScrapeFailed, never as an exception.
https://prometheus.io/docs/prometheus/latest/configuration/configuration/#scrape_config and
https://github.com/prometheus/prometheus/blob/v3.0.1/scrape/scrape.go say what is sent.
"""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from types import TracebackType
from typing import Self

import aiohttp
from aiohttp import abc

from cwgpu.client import clients, redirect
from cwgpu.client.clients import Clients
from cwgpu.client.connect import Progress
from cwgpu.client.fault import forget
from cwgpu.model.scrape import Scrape, ScrapeFailed
from cwgpu.model.target import Identity, Target
from cwgpu.plan.plan import Job
from cwgpu.scrape import answer, body, fault, wire
from cwgpu.scrape.deadline import Deadlines
from cwgpu.scrape.message import Gone, Unusual
from cwgpu.scrape.wire import Wire

BUILT_IN_LIMIT_BYTES = 64 << 20
"""The bound where body_size_limit says none. The largest real page of an exporter of 8 GPUs with
1,000 fields each is about 4 MB; this is what one broken exporter may cost us in memory."""

_MEDIA_TYPES = {
    "OpenMetricsText1.0.0": "application/openmetrics-text;version=1.0.0",
    "OpenMetricsText0.0.1": "application/openmetrics-text;version=0.0.1",
    "PrometheusText1.0.0": "text/plain;version=1.0.0",
    "PrometheusText0.0.4": "text/plain;version=0.0.4",
}
# Prometheus weighs what it likes best with 0.6, whatever that is.
_BEST_TENTHS = 6
# As long as the library and Prometheus keep idle connections: longer than any sensible interval.
_IDLE_S = 300.0
_LOOK_S = 60.0
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
        resolver: abc.AbstractResolver | None = None,
    ) -> None:
        """``now`` gives seconds since 1970."""
        self._now = now
        self._monotonic = monotonic
        self.clients = Clients(monotonic, resolver=resolver)
        """Its way to the outside, for others who have something to ask."""
        self._ways: dict[Identity, _Way] = {}
        self._looked_s = 0.0
        self._deadlines = Deadlines()
        self._room = wire.room()

    async def __aenter__(self) -> Self:
        """Open the session; connections come with the first scrapes."""
        await self.clients.__aenter__()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Close every connection."""
        self.rest()
        await self.clients.__aexit__(kind, error, traceback)

    def rest(self) -> None:
        """Keep no connections of ours: nobody is asked for a while, and nobody would close them."""
        for way in self._ways.values():
            way.close()
        self._ways.clear()

    async def fetch(
        self, target: Target, job: Job, *, wanted: Callable[[], bool] = lambda: True
    ) -> Scrape | ScrapeFailed:
        """Get the target's page. Everything must be there within the target's timeout.

        ``wanted`` is asked once more when there is a connection: if not, nothing is sent.
        """
        at_ms = round(self._now() * 1000)
        began_s = self._monotonic()
        limit_bytes = job.body_size_limit_bytes or BUILT_IN_LIMIT_BYTES
        progress = Progress(job.client, limit_bytes=limit_bytes, wanted=wanted)
        try:
            page, content_type = await self._get(target, job, progress, began_s)
        except TimeoutError:
            reason, detail = fault.timed_out(target.url, target.timeout_s, progress)
        except fault.OUTSIDE as error:
            reason, detail = fault.explain(error, target.url, progress)
            forget(error)
        else:
            return Scrape(at_ms, page, content_type, self._monotonic() - began_s)
        return ScrapeFailed(at_ms, reason, detail, self._monotonic() - began_s)

    async def _get(
        self, target: Target, job: Job, progress: Progress, began_s: float
    ) -> tuple[bytes, str]:
        until_s = asyncio.get_running_loop().time() + target.timeout_s
        way, odd = self._way(target, job, began_s), False
        if way.wire is not None and way.usual:
            try:
                return await _short(way.wire, progress, until_s)
            except Unusual as error:
                odd = not isinstance(error, Gone)
                progress.connected = progress.reused = progress.heard = False
                progress.status, progress.body_bytes = None, 0
        way.usual = False
        async with asyncio.timeout_at(until_s):
            page = await self._long(target, job, progress)
        if odd:  # a good answer, but in a form that it will have the next time, too
            way.close()
            way.wire = None
        way.usual = True
        return page

    async def _long(self, target: Target, job: Job, progress: Progress) -> tuple[bytes, str]:
        asked = self.clients.get(
            job.client, target.url, headers=_headers(target, job), progress=progress
        )
        async with asked as response:
            progress.status = response.status
            if response.status != fault.OK:
                raise answer.StatusError(response.status, await _words(response))
            page = await body.read(
                _counted(response, progress),
                gzipped=response.headers.get("Content-Encoding") == "gzip",
                limit_bytes=progress.limit_bytes,
            )
            return page, _clean(response.headers.get("Content-Type", ""))

    def _way(self, target: Target, job: Job, now_s: float) -> "_Way":
        """Give what is known of the way to a target."""
        if now_s - self._looked_s >= _LOOK_S:
            self._look(now_s)
        way = self._ways.get(target.identity)
        if way is None or way.job is not job or way.timeout_s != target.timeout_s:
            if way is not None:
                way.close()
            way = _Way(job, target.timeout_s, self._wire(target, job))
            self._ways[target.identity] = way
        way.used_s = now_s
        return way

    def _wire(self, target: Target, job: Job) -> Wire | None:
        headers = clients.plain(_headers(target, job))
        ask = wire.ask(job.client, target.url, headers)
        straight = ask is not None and self.clients.straight(job.client, target.url)
        return Wire(ask, self._room, self._deadlines) if ask is not None and straight else None

    def _look(self, now_s: float) -> None:
        """Forget targets that nobody asked for in a while."""
        self._looked_s = now_s
        for identity, way in list(self._ways.items()):
            if now_s - way.used_s >= _IDLE_S:
                way.close()
                del self._ways[identity]


@dataclass(slots=True)
class _Way:
    """The way to one target."""

    job: Job
    timeout_s: float
    wire: Wire | None
    """The short one; None where there is but the long one, or pages come in another form."""
    usual: bool = True
    """There was a page at last."""
    used_s: float = 0.0

    def close(self) -> None:
        if self.wire is not None:
            self.wire.close()


async def _short(way: Wire, progress: Progress, until_s: float) -> tuple[bytes, str]:
    head, packed = await way.get(progress, until_s)
    if head.status in redirect.STATUSES:
        raise Unusual
    if head.status != fault.OK:
        words = b"" if head.encoding else packed[:_WORDS_BYTES]
        raise answer.StatusError(head.status, words.decode(errors="replace"))
    limit_bytes = progress.limit_bytes
    if head.encoding == "gzip":
        page = await body.unpacked(packed, limit_bytes, until_s)
    else:
        page = body.whole(packed, limit_bytes)
    return page, _clean(head.content_type)


def _headers(target: Target, job: Job) -> dict[str, str]:
    return {
        "Accept": _accept(job),
        "Accept-Encoding": "gzip" if job.enable_compression else "identity",
        "X-Prometheus-Scrape-Timeout-Seconds": f"{target.timeout_s:.3f}".rstrip("0").rstrip("."),
    }


def _accept(job: Job) -> str:
    """List the formats in order of preference, and at the end "anything", as Prometheus 3 does.

    Formats that we do not read are left out: an exporter would send them.
    """
    names = "" if job.legacy_names else ";escaping=allow-utf-8"
    types = [f"{_MEDIA_TYPES[name]}{names}" for name in job.formats if name in _MEDIA_TYPES]
    weighed = [f"{one};q=0.{_BEST_TENTHS - rank}" for rank, one in enumerate([*types, "*/*"])]
    return ",".join(weighed)


async def _counted(response: aiohttp.ClientResponse, progress: Progress) -> AsyncIterator[bytes]:
    async for chunk in response.content.iter_any():
        progress.body_bytes += len(chunk)
        yield chunk


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
