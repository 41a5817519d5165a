"""``cwgpu``: the verbs, loaded when they are asked for, and what happens to errors."""

import difflib
import importlib
from typing import Any

import click

import cwgpu
from cwgpu.cli import exits, streams
from cwgpu.model.errors import CwgpuError

_VERBS = ("run", "check", "demo")
_EPILOG = "\b\nExit codes:\n" + "\n".join(
    f"  {code:<3} {meaning}" for code, meaning in exits.MEANINGS.items()
)


class Verbs(click.Group):
    """Finds ``cwgpu VERB`` in the module ``cwgpu.cli.VERB``."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Name the verbs, in the order in which one meets them."""
        del ctx
        return list(_VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import the verb's module."""
        del ctx
        if cmd_name not in _VERBS:
            return None
        command = importlib.import_module(f"cwgpu.cli.{cmd_name}").command
        return command if isinstance(command, click.Command) else None

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Name the nearest verb where there is none of this name."""
        if args[0] not in _VERBS and not args[0].startswith("-"):
            close = difflib.get_close_matches(args[0], _VERBS, n=1)
            meant = f" Did you mean {close[0]!r}?" if close else ""
            ctx.fail(f"No such command {args[0]!r}.{meant}")
        return super().resolve_command(ctx, args)


@click.command(cls=Verbs, epilog=_EPILOG, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(cwgpu.__version__, message="cwgpu %(version)s")
def cli() -> None:
    """GPU metrics from DCGM exporters into Amazon CloudWatch, per pod."""


def main(arguments: list[str] | None = None) -> None:
    """Run the command line and leave the process with its exit code."""
    streams.fill()
    streams.leave(_code(arguments))


def _code(arguments: list[str] | None) -> int:
    try:
        result: Any = cli.main(arguments, standalone_mode=False)
    except click.ClickException as error:
        error.show()
        return exits.USAGE
    except (click.Abort, KeyboardInterrupt):
        return 130  # 128 + SIGINT, as shells report it
    except CwgpuError as error:
        streams.say(f"cwgpu: {error}\n")
        return exits.code(error)
    except OSError as error:  # of what may be a file only stdout is left: the rest are answers
        streams.say(f"cwgpu: standard output cannot be written: {error.strerror or error}\n")
        return exits.RUNTIME
    except SystemExit:
        return exits.OK  # how click takes it that the reader has gone, as after | head -1
    return result if isinstance(result, int) else exits.OK
