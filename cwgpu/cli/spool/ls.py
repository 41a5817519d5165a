"""``cwgpu spool ls``: what a spool holds."""

import time
from pathlib import Path

import click

from cwgpu.cli import exits
from cwgpu.cli.options import option
from cwgpu.cli.spool import place


@click.command("ls", short_help="What a spool holds.")
@place.directory()
@option(
    "-o",
    "--output",
    type=click.Choice(["table", "json"]),
    default="table",
    show_default=True,
    help="Form of the answer.",
)
def command(*, directory: Path, output: str) -> int:
    """List the batches in DIR, the write-ahead log and the quarantine.

    Nothing is changed, and an agent may be at work there. DIR may be left out where
    CWGPU_SPOOL_DIR names it.
    """
    from cwgpu.cli.explain import answers  # noqa: PLC0415 - what it needs is not for --help
    from cwgpu.cli.spool import contents, table  # noqa: PLC0415 - as above
    from cwgpu.spool.directory import look  # noqa: PLC0415 - as above

    document = contents.document(directory, look(directory), time.time())
    answers.put(answers.as_json(document) if output == "json" else table.text(document))
    return exits.OK
