"""``cwgpu``: its verbs, and what happens to errors."""

from typing import Any

import click

import cwgpu
from cwgpu.agent import init
from cwgpu.cli import exits, garbage, streams
from cwgpu.cli.verbs import Verbs
from cwgpu.model.errors import CwgpuError

_VERBS = ("run", "check", "targets", "explain", "cost", "spool", "iam", "demo")
_EPILOG = "\b\nExit codes:\n" + "\n".join(
    f"  {code:<3} {meaning}" for code, meaning in exits.MEANINGS.items()
)


@click.command(
    cls=Verbs,
    package="cwgpu.cli",
    verbs=_VERBS,
    epilog=_EPILOG,
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.version_option(cwgpu.__version__, message="cwgpu %(version)s")
def cli() -> None:
    """GPU metrics from DCGM exporters into Amazon CloudWatch, per pod."""


def main(arguments: list[str] | None = None) -> None:
    """Run the command line and leave the process with its exit code."""
    garbage.later()
    init.terminable()
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
