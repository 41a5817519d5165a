"""``cwgpu run``: the agent itself, or the same agent with stdout for a sink."""

import os
from pathlib import Path
from typing import Any

import click

from cwgpu.cli import options
from cwgpu.cli.hangup import Hangup
from cwgpu.cli.options import option

_LISTEN = "127.0.0.1:9464"


@click.command("run")
@options.config(
    "CloudWatch agent JSON, a file or a directory of them.  [default: /etc/cwagentconfig]"
)
@options.prometheus_config()
@option("--dry-run", is_flag=True, help="Print the log events to stdout; send nothing.")
@option("--once", is_flag=True, help="Scrape every target once, then end. Same as --scrapes 1.")
@option("--scrapes", type=click.IntRange(min=1), help="Scrape every target N times, then end.")
@option("--duration", type=options.Seconds(), help="End after this long, such as 30s.")
@option(
    "--spool-dir",
    type=click.Path(path_type=Path),
    help="Directory where batches wait for CloudWatch, in place of the configuration's.",
)
@option(
    "--listen",
    help='HOST:PORT of /healthz, /readyz and /metrics, or "off".  '
    f"[default: {_LISTEN}; off in a dry run and in a run that ends by itself]",
)
@option(
    "--log-level",
    type=click.Choice(["debug", "info", "warning", "error"]),
    default="info",
    show_default=True,
    help="Least severe journal lines to write to stderr. There are none below info yet.",
)
@option(
    "--log-format",
    type=click.Choice(["text", "json", "logfmt"]),
    help="Form of the journal.  [default: text on a terminal, else json]",
)
def command(**flags: Any) -> int:  # noqa: ANN401 - click gives what the options above say
    """Scrape, and deliver to CloudWatch Logs until told to stop."""
    hangup = Hangup()
    hangup.catch()  # the imports below take most of the time until the agent listens itself
    from cwgpu.client import bare  # noqa: PLC0415 - TLS is for this verb alone

    with bare.importing():
        from cwgpu.cli import start  # noqa: PLC0415 - as aiohttp and pydantic are

    # A look at something (a dry run, --once) must work beside an agent that has the port.
    passing = ("dry_run", "once", "scrapes", "duration")
    if flags["listen"] is None and not any(flags[name] for name in passing):
        flags["listen"] = _LISTEN
    return start.agent(start.Flags(**flags), os.environ, hangup.came)
