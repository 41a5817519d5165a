"""``cwgpu demo``: the main job on this machine, with exporters that are simulated."""

import os
import time
from typing import Any

import click

from cwgpu.cli import options
from cwgpu.cli.options import option
from cwgpu.model.errors import UsageError

_HOST = "127.0.0.1"
_LAST_PORT = 65535


@click.command("demo", short_help="Run the agent on simulated exporters; nothing is sent.")
@option("--nodes", type=click.IntRange(1, 100), default=2, show_default=True, help="GPU nodes.")
@option("--gpus", type=click.IntRange(1, 16), default=8, show_default=True, help="GPUs of a node.")
@option(
    "--duration", type=options.Seconds(), default="30s", show_default=True, help="End after this."
)
@option("--serve-only", is_flag=True, help="Only serve the simulated pages, until stopped.")
@option(
    "--port",
    type=click.IntRange(0, _LAST_PORT),
    default=0,
    show_default=True,
    help="Port of the first node; the next nodes take the ports after it. 0 takes free ones.",
)
def command(**flags: Any) -> int:  # noqa: ANN401 - click gives what the options above say
    """Simulate exporters and run the agent on them: log events to stdout, nothing is sent."""
    from cwgpu.cli import show  # noqa: PLC0415 - aiohttp and pydantic are for this verb alone

    ports = [flags["port"] and flags["port"] + node for node in range(flags["nodes"])]
    if ports[-1] > _LAST_PORT:
        raise UsageError(f"no {len(ports)} ports begin at --port {ports[0]}: name a lower one")
    pages = show.Pages(flags["nodes"], flags["gpus"], _HOST, tuple(ports))
    if flags["serve_only"]:
        return show.serve(pages, time.monotonic)
    return show.demo(pages, flags["duration"], os.environ, time.monotonic)
