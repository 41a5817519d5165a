"""The demo: simulated exporters beside the real agent."""

import asyncio
import contextlib
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future
from dataclasses import dataclass

from cwgpu.cli import exits, start
from cwgpu.config import default
from cwgpu.simulate import server
from cwgpu.simulate.page import Fleet


@dataclass(frozen=True, slots=True)
class Pages:
    """What is simulated, and where it is served: a port for each node."""

    nodes: int
    gpus: int
    host: str
    ports: tuple[int, ...]


def serve(pages: Pages, now: Callable[[], float]) -> int:
    """Serve the pages until the process is told to stop."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with _served(pages, now) as urls, contextlib.suppress(KeyboardInterrupt):
        for url in urls:
            sys.stderr.write(f"serving {url}\n")
        threading.Event().wait()
    return exits.OK


def demo(
    pages: Pages, duration_s: float, environ: Mapping[str, str], now: Callable[[], float]
) -> int:
    """Run the agent in a dry run on the default configuration and the simulated pages."""
    with _served(pages, now) as urls:
        given = {**environ, "DCGM_EXPORTER_URL": ",".join(urls)}
        given.setdefault("CLUSTER_NAME", "demo")
        flags = start.Flags(
            config=default.path(), dry_run=True, duration=duration_s, log_format="text"
        )
        return start.agent(flags, given)


@contextlib.contextmanager
def _served(pages: Pages, now: Callable[[], float]) -> Iterator[tuple[str, ...]]:
    """Serve from a thread of its own, so that the agent's loop is the agent's alone."""
    started: Future[tuple[str, ...]] = Future()
    loop = asyncio.new_event_loop()
    stop = asyncio.Event()

    async def run() -> None:
        fleet = Fleet(pages.nodes, pages.gpus)
        async with server.serve(fleet, pages.host, pages.ports, now) as urls:
            started.set_result(urls)
            await stop.wait()

    def thread() -> None:
        try:
            loop.run_until_complete(run())
        except Exception as error:  # noqa: BLE001 - it is raised by whoever waits for the start
            started.set_exception(error)
        finally:
            loop.close()

    server_thread = threading.Thread(target=thread, name="simulated exporters", daemon=True)
    server_thread.start()
    try:
        yield started.result()
    finally:
        if server_thread.is_alive():
            loop.call_soon_threadsafe(stop.set)
            server_thread.join()
