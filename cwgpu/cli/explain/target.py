"""``cwgpu explain target``."""

import click


@click.command("target")
def command() -> None:
    """To come."""
