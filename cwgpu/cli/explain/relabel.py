"""``cwgpu explain relabel``."""

import click


@click.command("relabel")
def command() -> None:
    """To come."""
