"""Target groups from a service that is asked again and again.

https://prometheus.io/docs/prometheus/latest/http_sd/ and ``discovery/http`` of Prometheus 3.0.1 say
what is asked and what counts as an answer. Whatever goes wrong, the targets of the last good answer
stay.
"""

import asyncio
import hashlib
import re
import zlib
from collections.abc import AsyncIterable, Iterator

from aiohttp import ClientResponse
from yarl import URL

from cwgpu.client import fault, hide
from cwgpu.client.clients import Clients
from cwgpu.client.connect import Progress
from cwgpu.discovery import document, shape
from cwgpu.discovery.document import DocumentError
from cwgpu.discovery.findings import Findings
from cwgpu.model.target import TargetGroup
from cwgpu.plan.plan import HttpDiscovery

SIZE_BYTES = 32 * 1024 * 1024
"""No answer is taken beyond this, unpacked: as much as a target file may hold."""

_OK = 200
_JSON = re.compile(r'application/json(;\s*charset=("utf-8"|utf-8))?', re.ASCII | re.IGNORECASE)
_URL = "__meta_url"
# The largest deflate window, plus 16: zlib's way to say "with gzip's header and trailer".
_GZIP = zlib.MAX_WBITS + 16
# Of somebody else's header, in a sentence.
_WORDS = 80


class HttpSource:
    """One entry of http_sd_configs."""

    def __init__(self, discovery: HttpDiscovery, index: int, clients: Clients) -> None:
        """``index`` is the entry's place in its job; it makes the groups' sources unique."""
        self._discovery = discovery
        self._index = index
        self._clients = clients
        self._groups: tuple[TargetGroup, ...] = ()
        self._digest = b""
        """Of the answer that the groups are from."""
        self.every_s = discovery.refresh_s

    async def read(self) -> Findings:
        """Ask once. All of an answer must be there before the next question is due."""
        url, limit_s, progress = self._discovery.url, self._discovery.refresh_s, Progress()
        try:
            async with asyncio.timeout(limit_s):
                body = await self._ask(progress)
            await self._take(body)
        except TimeoutError:
            _, said = fault.timed_out(url, limit_s, progress)
        except DocumentError as error:
            said = fault.said(hide.text(str(error), progress.secrets), url, progress)
        except fault.OUTSIDE as error:
            _, said = fault.explain(error, url, progress)
        else:
            return Findings(self._groups)
        stays = "; until then the targets of its last good answer stay in use"
        return Findings(self._groups, (said + (stays if self._groups else ""),))

    async def _ask(self, progress: Progress) -> bytes:
        headers = {
            "Accept": "application/json",
            "Accept-Encoding": "gzip",
            "X-Prometheus-Refresh-Interval-Seconds": _seconds(self._discovery.refresh_s),
        }
        asked = self._clients.get(
            self._discovery.client, self._discovery.url, headers=headers, progress=progress
        )
        async with asked as response:
            progress.status = response.status
            _check(response, progress)
            gzipped = response.headers.get("Content-Encoding", "").lower() == "gzip"
            return await _body(_counted(response, progress), gzipped=gzipped)

    async def _take(self, body: bytes) -> None:
        digest = hashlib.sha256(body).digest()
        if digest != self._digest:
            # In a thread: thousands of targets would keep everybody else waiting.
            self._groups = await asyncio.to_thread(lambda: tuple(self._read(body)))
            self._digest = digest

    def _read(self, body: bytes) -> Iterator[TargetGroup]:
        groups = shape.groups(document.from_json(document.text(body)), any_case=True)
        for at, group in enumerate(groups):
            yield TargetGroup(
                source=f"http/{self._index}:{at}",
                targets=tuple({"__address__": target} for target in group.targets),
                labels={**group.labels, _URL: _shown(self._discovery.url)},
            )


def _seconds(interval_s: float) -> str:
    """Print as Go's FormatFloat(duration.Seconds(), 'f', -1, 64) does."""
    whole_s, rest_ms = divmod(round(interval_s * 1000), 1000)
    return repr(whole_s + rest_ms / 1000).removesuffix(".0")


def _check(response: ClientResponse, progress: Progress) -> None:
    if response.status != _OK:
        raise DocumentError(
            f"answered with HTTP status {response.status}, not 200; check the url in "
            "http_sd_configs, its credentials, and the service's own log"
        )
    kind = response.headers.get("Content-Type", "")
    if not _JSON.fullmatch(kind.strip()):
        said = fault.words(kind, progress, _WORDS)
        found = f"the Content-Type {said!r}" if kind else "no Content-Type"
        raise DocumentError(
            f"the answer has {found}; have the service send application/json, or check the url in "
            "http_sd_configs"
        )


async def _counted(response: ClientResponse, progress: Progress) -> AsyncIterable[bytes]:
    async for chunk in response.content.iter_any():
        progress.body_bytes += len(chunk)
        yield chunk


async def _body(chunks: AsyncIterable[bytes], *, gzipped: bool) -> bytes:
    unpack = zlib.decompressobj(_GZIP) if gzipped else None
    parts: list[bytes] = []
    left_bytes = SIZE_BYTES
    async for chunk in chunks:
        part = chunk
        if unpack is not None:
            try:
                # One byte more than may come tells that there is too much.
                part = unpack.decompress(chunk, left_bytes + 1)
            except zlib.error as error:
                raise DocumentError(
                    f"the answer says gzip and cannot be unpacked ({error})"
                ) from error
        left_bytes -= len(part)
        if left_bytes < 0:
            raise DocumentError(
                f"the answer is larger than {SIZE_BYTES >> 20} MiB: use several services"
            )
        parts.append(part)
    if unpack is not None and not unpack.eof:
        raise DocumentError("the answer says gzip and ends in the middle; was the service ended?")
    return b"".join(parts)


def _shown(url: str) -> str:
    """Give the url as a label shows it: a password in it is for the service alone."""
    parsed = URL(url)
    return url if parsed.password is None else str(parsed.with_password("xxxxx"))
