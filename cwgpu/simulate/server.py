"""Serves a fleet's pages over HTTP, a port for each node, at the paths that the exporter has.

https://github.com/NVIDIA/dcgm-exporter/blob/main/internal/pkg/server/server.go
"""

import contextlib
from collections.abc import AsyncIterator, Callable, Sequence

from aiohttp import web

from cwgpu.model.errors import UnavailableError
from cwgpu.simulate.page import Fleet

# The exporter sets no Content-Type up to 4.8.2; this is what Go's server then finds by itself.
_CONTENT_TYPE = "text/plain; charset=utf-8"
_INDEX = """<html>
<head><title>GPU Exporter</title></head>
<body>
<h1>GPU Exporter, simulated by cwgpu</h1>
<p><a href="./metrics">Metrics</a></p>
</body>
</html>
"""
# An answer in the making takes milliseconds; whoever stops the simulation waits for nothing more.
_SHUTDOWN_S = 0.1


@contextlib.asynccontextmanager
async def serve(
    fleet: Fleet, host: str, ports: Sequence[int], now: Callable[[], float]
) -> AsyncIterator[tuple[str, ...]]:
    """Serve while the context lasts; gives the URL of each node's page, in order.

    One port for each node; 0 takes any that is free. The simulation begins at the ``now`` (in
    seconds, of any clock that goes forward) at which the context is entered. UnavailableError when
    a port cannot be had.
    """
    if len(ports) != fleet.nodes:
        raise ValueError(f"{len(ports)} ports for {fleet.nodes} nodes")
    began_s = now()
    async with contextlib.AsyncExitStack() as stack:
        urls = []
        for node, port in enumerate(ports):
            app = _app(fleet, node, lambda: now() - began_s)
            runner = web.AppRunner(app, access_log=None, shutdown_timeout=_SHUTDOWN_S)
            await runner.setup()
            stack.push_async_callback(runner.cleanup)
            urls.append(url(host, await _listen(runner, host, port)))
        yield tuple(urls)


def url(host: str, port: int) -> str:
    """Give the URL of the page that is served there."""
    name = f"[{host}]" if ":" in host else host
    return f"http://{name}:{port}/metrics"


async def _listen(runner: web.AppRunner, host: str, port: int) -> int:
    try:
        await web.TCPSite(runner, host, port).start()
    except OSError as error:
        raise UnavailableError(
            f"the simulated exporter cannot listen on {host}:{port} ({error.strerror}): "
            "name another port, or 0 for any that is free"
        ) from error
    bound: int = runner.addresses[0][1]
    return bound


def _app(fleet: Fleet, node: int, elapsed_s: Callable[[], float]) -> web.Application:
    async def metrics(_: web.Request) -> web.Response:
        page = fleet.page(node, elapsed_s())
        return web.Response(body=page, headers={"Content-Type": _CONTENT_TYPE})

    async def health(_: web.Request) -> web.Response:
        return web.Response(text="OK")

    async def index(_: web.Request) -> web.Response:
        return web.Response(text=_INDEX, content_type="text/html")

    app = web.Application()
    app.router.add_get("/metrics", metrics)
    app.router.add_get("/health", health)
    app.router.add_get("/", index)
    return app
