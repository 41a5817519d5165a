"""Verbs that are loaded when they are asked for: none pays for another's libraries."""

import difflib
import importlib
from collections.abc import Sequence
from typing import Any

import click


class Verbs(click.Group):
    """Finds each verb in the module of its name, as that module's ``command``."""

    def __init__(self, *, package: str, verbs: Sequence[str], **settings: Any) -> None:  # noqa: ANN401 - click's own settings
        """``package`` holds the modules; ``verbs`` stand in the order in which one meets them."""
        super().__init__(**settings)
        self.package, self.verbs = package, verbs

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Name the verbs."""
        del ctx
        return list(self.verbs)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import the verb's module."""
        del ctx
        if cmd_name not in self.verbs:
            return None
        command = importlib.import_module(f"{self.package}.{cmd_name}").command
        return command if isinstance(command, click.Command) else None

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Name the nearest verb where there is none of this name."""
        if args[0] not in self.verbs and not args[0].startswith("-"):
            close = difflib.get_close_matches(args[0], self.verbs, n=1)
            meant = f" Did you mean {close[0]!r}?" if close else ""
            ctx.fail(f"No such command {args[0]!r}.{meant}")
        return super().resolve_command(ctx, args)
