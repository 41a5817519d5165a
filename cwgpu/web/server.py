"""``/healthz``, ``/readyz``, ``/metrics`` and ``/api/targets``.

The first two are for kubelet's probes, which judge by the status alone
(https://kubernetes.io/docs/concepts/configuration/liveness-readiness-startup-probes/).
An event loop that hangs does not answer, which is all that ``/healthz`` has to tell.
The last one tells labels and annotations of a cluster's objects, so it is for this machine alone:
for who executes a command in the pod, or may forward its port.
"""

import asyncio
import contextlib
import ipaddress
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import TypeAlias

from aiohttp import web

from cwgpu.model import errors

Address: TypeAlias = tuple[str, int]

# Probes, a scraper and a person: a handful. The rest is somebody else's mistake, or worse.
_CONNECTIONS = 128
# A connection that asks nothing, or never finishes asking, is closed. Kubelet opens a new one for
# each probe; a scraper that comes less often opens a new one, too.
_IDLE_S = 30
# Requests here have no body.
_BODY_BYTES = 1024
# Longest request line and header field.
_HEADER_BYTES = 8190
# Time that answers under way have when the server stops; they are made from memory.
_END_S = 1.0


Ready: TypeAlias = Callable[[], str]
"""Gives why the program is not ready; empty when it is."""
Metrics: TypeAlias = Callable[[str], tuple[bytes, str]]
"""Gives the self metrics and their Content-Type for an Accept header."""
Targets: TypeAlias = Callable[[bool], Awaitable[bytes]]
"""Gives the targets as JSON; each of them also where it is not scraped, if that is wanted."""

_ELSEWHERE = (
    "targets are told on this machine only: in the pod run cwgpu targets --agent, or forward its "
    "port and ask http://127.0.0.1\n"
)


@contextlib.asynccontextmanager
async def serve(
    host: str, port: int, *, ready: Ready, metrics: Metrics, targets: Targets
) -> AsyncIterator[list[Address]]:
    """Serve until the block ends; gives the addresses listened on (port 0 takes a free port).

    Raises UnavailableError when the address cannot be listened on.
    """
    application = _application(ready, metrics, targets)
    runner = web.AppRunner(
        application,
        access_log=None,
        keepalive_timeout=_IDLE_S,
        max_line_size=_HEADER_BYTES,
        max_field_size=_HEADER_BYTES,
        shutdown_timeout=_END_S,
    )
    await runner.setup()
    try:
        listener = await _listen(runner, host, port)
        try:
            yield [socket.getsockname()[:2] for socket in listener.sockets]
        finally:
            listener.close()
    finally:
        await runner.cleanup()


async def _listen(runner: web.AppRunner, host: str, port: int) -> asyncio.Server:
    server = runner.server
    if server is None:
        raise RuntimeError("the runner is not set up")

    def connection() -> asyncio.Protocol:
        return _Full() if len(server.connections) >= _CONNECTIONS else server()

    try:
        return await asyncio.get_running_loop().create_server(connection, host or None, port)
    except (OSError, OverflowError, ValueError) as error:  # ValueError: no host name at all
        said = getattr(error, "strerror", None) or error
        raise errors.UnavailableError(
            f"cannot listen on {host}:{port} for /healthz, /readyz and /metrics: {said}; "
            "give another address with --listen HOST:PORT, or --listen off"
        ) from error


class _Full(asyncio.Protocol):
    """Hangs up on one connection too many."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        transport.close()


def _application(ready: Ready, metrics: Metrics, targets: Targets) -> web.Application:
    async def healthz(_: web.Request) -> web.Response:
        return web.Response(text="ok\n")

    async def readyz(_: web.Request) -> web.Response:
        reason = ready()
        return web.Response(text=f"{reason or 'ready'}\n", status=503 if reason else 200)

    async def self_metrics(request: web.Request) -> web.Response:
        body, content_type = metrics(request.headers.get("Accept", ""))
        # As a header and not as the library's content_type: that takes no parameters.
        return web.Response(body=body, headers={"Content-Type": content_type})

    async def api_targets(request: web.Request) -> web.Response:
        # A page in a browser can have its own name lead here; it cannot change what it is called.
        if not (_is_here(request.remote) and _is_here(request.url.host)):
            return web.Response(text=_ELSEWHERE, status=403)
        body = await targets("all" in request.query)
        return web.Response(body=body, content_type="application/json")

    application = web.Application(client_max_size=_BODY_BYTES)
    application.on_response_prepare.append(_anonymous)
    application.router.add_get("/healthz", healthz)
    application.router.add_get("/readyz", readyz)
    application.router.add_get("/metrics", self_metrics)
    application.router.add_get("/api/targets", api_targets)
    return application


def _is_here(host: str | None) -> bool:
    """Tell whether this is an address or the name of this machine's loopback."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host or "").is_loopback
    except ValueError:
        return False


async def _anonymous(_: web.Request, response: web.StreamResponse) -> None:
    # The usual header tells everybody the versions of Python and of the library.
    response.headers["Server"] = "cwgpu"
    response.headers["Cache-Control"] = "no-store"
