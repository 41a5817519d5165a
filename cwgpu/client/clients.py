"""One GET, with all that its configuration has it carry: the door to targets and to discovery.

Redirects are followed here and not by the HTTP library: each hop has its own proxy, and credentials
must not go along to strangers. https://github.com/prometheus/common/tree/v0.62.0/config
"""

import asyncio
import contextlib
import os
from collections.abc import AsyncIterator, Callable, Mapping
from types import TracebackType
from typing import Any, Self

import aiohttp
from aiohttp import ClientHandlerType, ClientMiddlewareType, ClientRequest, abc
from multidict import CIMultiDict
from yarl import URL

import cwgpu
from cwgpu.client import address, auth, connect, fault, hide, oauth2, proxy, redirect, secret, tls
from cwgpu.client.connect import Progress
from cwgpu.client.failure import CredentialsError, RedirectError
from cwgpu.client.resolve import Resolver
from cwgpu.plan.client import Client, OAuth2, Secret

# Longest status line and header field, and number of fields, that an answer may have: ten times
# what exporters and proxies in front of them send.
_HEADER_BYTES = 8190
_HEADER_FIELDS = 128

# Nobody waits for a token longer than for what it is needed for; this ends the asking when all
# have gone.
_TOKEN_S = 30.0
# A token is a few KB; what is cut here is none.
_TOKEN_BYTES = 1 << 20


class Clients:
    """Asks servers, and keeps what it needs for that. An async context manager."""

    def __init__(
        self,
        monotonic: Callable[[], float],
        *,
        resolver: abc.AbstractResolver | None = None,
        environ: Mapping[str, str] = os.environ,
    ) -> None:
        """``monotonic`` tells when tokens expire; ``environ`` may hold HTTP_PROXY and the like."""
        self._resolver = resolver or Resolver()
        self._environ = environ
        self._contexts = tls.Contexts()
        self._tokens = oauth2.Tokens(self._post, monotonic)
        self._session: aiohttp.ClientSession | None = None

    async def __aenter__(self) -> Self:
        """Open the session; connections come with the first requests."""
        self._session = aiohttp.ClientSession(
            connector=connect.Connector(self._resolver),
            cookie_jar=aiohttp.DummyCookieJar(),
            auto_decompress=False,
            trust_env=False,  # no proxies and no .netrc, but where the configuration says so
            timeout=aiohttp.ClientTimeout(),  # none of its own: who asks has one that covers all
            max_line_size=_HEADER_BYTES,
            max_field_size=_HEADER_BYTES,
            max_headers=_HEADER_FIELDS,
        )
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Close every connection."""
        await self._tokens.close()
        if self._session is not None:
            await self._session.close()

    @contextlib.asynccontextmanager
    async def get(
        self,
        client: Client,
        url: str,
        *,
        headers: Mapping[str, str],
        progress: Progress | None = None,
    ) -> AsyncIterator[aiohttp.ClientResponse]:
        """Give the answer to a GET, whatever its status; its body is as sent, packed or not.

        There is no timeout: put one around. Raises what ``fault.OUTSIDE`` lists, which
        ``fault.explain`` puts into words.
        """
        progress = progress or Progress()
        progress.client = client
        progress.at = address.url(url)
        for _ in range(redirect.MOST_REQUESTS):
            response = await self._ask(client, progress.at, headers, progress)
            async with response:
                location = response.headers.get("Location", "")
                if response.status not in redirect.STATUSES or not location:
                    yield response
                    return
            if not client.follow_redirects:
                raise RedirectError("it redirects, and follow_redirects is false; check the URL")
            to = redirect.destination(progress.at, location)
            progress.trusted = progress.trusted and redirect.keeps_credentials(progress.at, to)
            progress.at, progress.redirected = to, True
        raise RedirectError("it redirects again and again; check metrics_path")

    async def carried(self, client: Client, url: str) -> tuple[CIMultiDict[str], dict[str, Any]]:
        """Give headers, and aiohttp's arguments on the way there, for a request that another makes.

        Raises CredentialsError and ProxyError.
        """
        to, headers = address.url(url), plain({})
        progress = Progress(client, at=to)
        await self._entrust(client, to, headers, progress)
        return headers, self._way(client, to, headers, progress)

    def straight(self, client: Client, url: str) -> bool:
        """Whether no proxy is in between; raises ProxyError and, for what is no URL, ValueError."""
        return proxy.choose(client.proxy, address.url(url), self._environ) is None

    async def _ask(
        self, client: Client, url: URL, headers: Mapping[str, str], progress: Progress
    ) -> aiohttp.ClientResponse:
        carried = plain(headers)
        if progress.trusted:
            await self._entrust(client, url, carried, progress)
        connect.CURRENT.set(progress)
        way = self._way(client, url, carried, progress)
        return await self._opened().get(
            url, headers=carried, allow_redirects=False, middlewares=(_persistent(progress),), **way
        )

    async def _entrust(
        self, client: Client, url: URL, carried: CIMultiDict[str], progress: Progress
    ) -> None:
        """Add what only the configured server may see."""
        credentials = client.credentials
        if url.raw_user is not None:
            # What stands in the URL comes first, as in Go; the library sends that.
            progress.secrets.update(hide.within(auth.basic(url.user or "", url.password or "")))
        elif isinstance(credentials, OAuth2):
            progress.token_from = fault.where(credentials.token_url)
            carried["Authorization"] = await self._tokens.header(credentials)
            progress.token_from = ""
        elif credentials is not None:
            carried["Authorization"] = auth.header(credentials)
        _add(carried, client.headers, progress)
        progress.secrets.update(hide.within(carried.get("Authorization", "")))

    def _way(
        self,
        spoken: Client | OAuth2,
        url: URL,
        carried: CIMultiDict[str],
        progress: Progress,
    ) -> dict[str, Any]:
        """Give the request's arguments that say how the server is reached."""
        through = proxy.choose(spoken.proxy, url, self._environ)
        way: dict[str, Any] = {"server_hostname": spoken.tls.server_name or None}
        if "https" in (url.scheme, through and through.scheme):
            way["ssl"] = self._contexts.get(spoken.tls)
        progress.proxy = None
        if through is not None:
            way["proxy"] = progress.proxy = through.with_user(None)
            to_proxy = CIMultiDict({"User-Agent": carried["User-Agent"]})
            way["proxy_headers"] = to_proxy
            if url.scheme == "https":
                _add(to_proxy, spoken.proxy.connect_headers, progress)
            if through.raw_user is not None:
                whom = to_proxy if url.scheme == "https" else carried
                pair = auth.basic(through.user or "", through.password or "")
                progress.secrets.update(hide.within(pair))
                whom["Proxy-Authorization"] = pair
        return way

    async def _post(
        self, settings: OAuth2, form: oauth2.Form, headers: Mapping[str, str]
    ) -> tuple[int, bytes]:
        """Ask an issuer for a token; raises CredentialsError."""
        progress, carried = Progress(Client(tls=settings.tls)), plain(headers)
        progress.secrets.update(hide.within(carried.get("Authorization", "")))
        connect.CURRENT.set(progress)
        try:
            async with asyncio.timeout(_TOKEN_S):
                progress.at = URL(settings.token_url)
                way = self._way(settings, progress.at, carried, progress)
                request = self._opened().post(
                    settings.token_url, data=form, headers=carried, allow_redirects=False, **way
                )
                async with request as response:
                    return response.status, await _beginning(response)
        except TimeoutError as error:
            raise CredentialsError(f"no answer in {_TOKEN_S:g} s") from error
        except fault.OUTSIDE as error:
            _, sentence = fault.bare(error, progress)
            raise CredentialsError(sentence) from error

    def _opened(self) -> aiohttp.ClientSession:
        if self._session is None:
            raise RuntimeError("Clients are used inside `async with`")
        return self._session


async def _beginning(response: aiohttp.ClientResponse) -> bytes:
    held = b""
    while len(held) < _TOKEN_BYTES and (piece := await response.content.readany()):
        held += piece
    return held


def plain(headers: Mapping[str, str]) -> CIMultiDict[str]:
    """Add what every request says."""
    # Without a word the library would ask for encodings of which nobody here knows.
    said = {"Accept-Encoding": "identity", "User-Agent": f"cwgpu/{cwgpu.__version__}"}
    return CIMultiDict({**said, **headers})


def _add(
    headers: CIMultiDict[str], more: Mapping[str, tuple[Secret, ...]], progress: Progress
) -> None:
    for name, values in more.items():
        # As Go writes names; in one spelling, so that fields of one name stand beside each other.
        written = "-".join(part.capitalize() for part in name.split("-"))
        for value in values:
            line = secret.line(value)
            progress.secrets.update(hide.within(line))
            headers.add(written, line)


def _persistent(progress: Progress) -> ClientMiddlewareType:
    """Ask again when an idle connection from the last request turns out to be dead.

    A server that was restarted, or that closes idle connections, is no failure. Each try uses up
    one idle connection, so this ends with a fresh one, whose failure is a real one.
    """

    async def send(request: ClientRequest, ask: ClientHandlerType) -> aiohttp.ClientResponse:
        while True:
            progress.connected = progress.reused = progress.heard = False
            try:
                return await ask(request)
            except aiohttp.ClientConnectorError:
                raise
            except (aiohttp.ClientConnectionError, ConnectionError) as error:
                if not progress.reused:
                    # The library would ask a second time; a server that hangs up on us said no.
                    raise fault.BrokenError from error

    return send
