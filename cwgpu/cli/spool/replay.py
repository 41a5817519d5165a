"""``cwgpu spool replay``: send what a spool holds, where no agent does."""

import os
from pathlib import Path

import click

from cwgpu.cli import options
from cwgpu.cli.options import option
from cwgpu.cli.spool import place


@click.command("replay", short_help="Send what a spool holds.")
@place.directory()
@options.config(
    "CloudWatch agent JSON that says where CloudWatch is, and the role.  [default: none is read]"
)
@option("--region", help="AWS region.  [default: the configuration's, or the environment's]")
@option("--endpoint-url", help="URL of CloudWatch Logs.  [default: the region's]")
def command(
    *, directory: Path, config: Path | None, region: str | None, endpoint_url: str | None
) -> int:
    """Send the batches in DIR, and the events of its write-ahead log, to where they belong.

    No agent may be at work there. What is accepted is removed; the rest stays, whatever happens.
    """
    from dataclasses import replace  # noqa: PLC0415 - all of it is for who asks, not for --help

    from cwgpu.cli.spool import send  # noqa: PLC0415 - as above
    from cwgpu.plan.plan import CloudWatch  # noqa: PLC0415 - as above

    cloudwatch = CloudWatch("", "")
    if config is not None:
        from cwgpu.config import load  # noqa: PLC0415 - as above

        cloudwatch = load.load(config, None, os.environ).plan.cloudwatch
    cloudwatch = replace(
        cloudwatch,
        region=region or cloudwatch.region,
        endpoint_url=endpoint_url or cloudwatch.endpoint_url,
    )
    return send.send(directory, cloudwatch)
