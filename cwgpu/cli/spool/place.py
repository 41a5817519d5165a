"""The directory that each verb is about."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click


def directory() -> Callable[[Any], Any]:
    """Make the argument; in a container the agent's own environment names it already."""
    return click.argument(
        "directory", metavar="DIR", type=click.Path(path_type=Path), envvar="CWGPU_SPOOL_DIR"
    )
