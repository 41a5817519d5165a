"""``cwgpu explain``: what a configuration makes of an input that one has in hand.

Each question is a verb in a module of its own. What the answers say is decided by pure functions
below (``prom.trace``, ``prom.outcome``, ``digest.explain``); here input is read and answers are
printed.
"""

import click

from cwgpu.cli.verbs import Verbs


@click.command("explain", cls=Verbs, package=__name__, verbs=("relabel", "page", "target"))
def command() -> None:
    """Explain what the configuration makes of labels and pages. Nothing is sent."""
