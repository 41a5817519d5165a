"""``cwgpu spool show``: what one file of a spool carries."""

from pathlib import Path

import click

from cwgpu.cli import exits, streams
from cwgpu.cli.options import option
from cwgpu.cli.spool import place


@click.command("show", short_help="What one file of a spool carries.")
@place.directory()
@click.argument("name", metavar="NAME")
@option("--events", is_flag=True, help="Print the messages of its events, a line each.")
def command(*, directory: Path, name: str, events: bool) -> int:
    """Tell what the file NAME in DIR carries, as JSON.

    NAME is one that `cwgpu spool ls` shows: of a batch, of a part of the write-ahead log, or of a
    file in quarantine.
    """
    from cwgpu.cli.explain import answers  # noqa: PLC0415 - what it needs is not for --help
    from cwgpu.cli.spool import file  # noqa: PLC0415 - as above
    from cwgpu.telemetry import escape  # noqa: PLC0415 - as above

    found = file.read(directory, name)
    if not events and found.header is not None:
        answers.put(answers.as_json(found.header))
    for message in found.messages if events else ():
        click.echo(message + b"\n", nl=False)
    if found.fault:
        streams.say(f"cwgpu: {escape.line(found.path)}: {escape.line(found.fault)}\n")
        return exits.RUNTIME
    return exits.OK
