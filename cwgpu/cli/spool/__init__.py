"""``cwgpu spool``: a spool's directory, for people.

What lies there and what is wrong with it is known to ``cwgpu.spool``; here it is printed, or handed
to the agent's own machinery to be sent.
"""

import click

from cwgpu.cli.verbs import Verbs


@click.command("spool", cls=Verbs, package=__name__, verbs=("ls", "show", "replay"))
def command() -> None:
    """Look at batches that wait for CloudWatch, or send them."""
