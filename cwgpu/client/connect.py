"""Connections that tell how far a request has come.

When the time is over it matters whether there was a connection at all, and whether the other side
had begun to speak; and a request that fails on a connection left over from before may be asked
again. The HTTP library tells none of this, so its connector and protocol are looked over the
shoulder: they note on the Progress of the request what they do.
"""

import asyncio
import contextvars
import functools
from collections.abc import Callable
from dataclasses import dataclass, field

import aiohttp
from aiohttp import ClientRequest, ClientTimeout
from aiohttp.abc import AbstractResolver
from aiohttp.client_proto import ResponseHandler
from aiohttp.connector import Connection
from aiohttp.tracing import Trace
from yarl import URL

from cwgpu.client.failure import WithdrawnError
from cwgpu.plan.client import Client

# Prometheus keeps idle connections for 5 minutes, which is longer than any sensible interval.
_IDLE_S = 300


@dataclass(slots=True)
class Progress:
    """How far one request has come; the redirects that it follows are part of it."""

    client: Client = field(default_factory=Client)
    """How the server is spoken to."""
    wanted: Callable[[], bool] = lambda: True
    """Asked when all is ready to be sent: connecting takes a while."""
    token_from: str = ""
    """Host and port of the issuer of tokens that is waited for."""
    proxy: URL | None = None
    """Without user and password."""
    secrets: set[str] = field(default_factory=set, repr=False)
    """What was sent and must not be shown, should the other side repeat it."""
    trusted: bool = True
    """No redirect has led to somebody who must not see the credentials."""
    at: URL | None = None
    """What is asked now."""
    redirected: bool = False
    """That is where a redirect led to."""
    connected: bool = False
    reused: bool = False
    """The connection was left over from an earlier request."""
    heard: bool = False
    """The answer has begun: its first byte is here."""
    status: int | None = None
    limit_bytes: int = 0
    """Most bytes that the body may have, unpacked."""
    body_bytes: int = 0
    """Bytes of the body that have come, as sent."""


CURRENT: contextvars.ContextVar[Progress] = contextvars.ContextVar("progress")
"""The Progress of the request that this task is making."""


class Connector(aiohttp.TCPConnector):
    """Notes when a request has its connection, and when the first byte of an answer comes."""

    def __init__(self, resolver: AbstractResolver) -> None:
        """Keep connections between requests, as many as there are servers."""
        super().__init__(limit=0, keepalive_timeout=_IDLE_S, resolver=resolver)
        # The factory of protocols has no public name; a test fails should it get another one.
        self._factory = functools.partial(_protocol, self._loop)

    async def connect(
        self,
        req: ClientRequest,
        traces: list[Trace],
        timeout: ClientTimeout,  # noqa: ASYNC109 - the library gives it
    ) -> Connection:
        """Give a connection for the request, from the pool or a new one."""
        connection = await super().connect(req, traces, timeout)
        progress, protocol = CURRENT.get(None), connection.protocol
        if progress is not None and not progress.wanted():
            connection.close()
            raise WithdrawnError("it was not sent: it is not wanted any more")
        if progress is not None and isinstance(protocol, _Protocol):
            progress.connected, progress.reused = True, protocol.progress is not None
            protocol.progress = progress
        return connection


class _Protocol(ResponseHandler):
    """One connection."""

    progress: Progress | None = None
    """That of the last request on it; None before the first."""

    def data_received(self, data: bytes) -> None:
        if data and self.progress is not None:
            self.progress.heard = True
        super().data_received(data)


def _protocol(loop: asyncio.AbstractEventLoop) -> ResponseHandler:
    return _Protocol(loop)
