"""``cwgpu check``: what is wrong with a configuration, before anything runs."""

import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from cwgpu.cli import exits
from cwgpu.cli.options import option

if TYPE_CHECKING:
    from cwgpu.config.complaint import Complaint

# That one is not there is a finding as any other.
_FILE = click.Path(path_type=Path)
_LEVELS = ("error", "warning", "note")


@click.command("check", short_help="Say what is wrong with a configuration.")
@click.argument("files", metavar="FILE...", nargs=-1, required=True, type=_FILE)
@option(
    "--kind",
    type=click.Choice(["agent", "prometheus", "manifest"]),
    help="What the FILEs are.  [default: each tells by its content]",
)
@option(
    "--prometheus-config",
    type=_FILE,
    help="prometheus.yml to use in place of the one that the JSON names.",
)
@option(
    "-o",
    "--output",
    type=click.Choice(["text", "json"]),
    default="text",
    show_default=True,
    help="Form of the findings.",
)
@option("--deny-warnings", is_flag=True, help="Exit with 3 if there are warnings.")
def command(files: tuple[Path, ...], **flags: Any) -> int:  # noqa: ANN401 - click gives what the options above say
    """Say what is wrong with a configuration, and what in it will not do what was meant.

    FILEs are the CloudWatch agent's JSON (or a directory of it), prometheus.yml, or a Kubernetes
    manifest whose ConfigMaps hold them. Those that are given together are one configuration.
    Nothing is scraped, sent or asked for.
    """
    from cwgpu.config import review  # noqa: PLC0415 - pydantic is for the verbs that need it
    from cwgpu.config.content import Content  # noqa: PLC0415 - as above

    kind = Content(flags["kind"]) if flags["kind"] else None
    found = review.review(files, os.environ, kind=kind, prometheus=flags["prometheus_config"])
    counts = {level: sum(each.level.value == level for each in found) for level in _LEVELS}
    _print(found, counts, flags["output"])
    sys.stderr.write(_summary(len(files), counts) + "\n")
    if counts["error"]:
        return exits.CONFIGURATION
    return exits.WARNINGS if counts["warning"] and flags["deny_warnings"] else exits.OK


def _print(found: "tuple[Complaint, ...]", counts: dict[str, int], form: str) -> None:
    from cwgpu.config import complaint  # noqa: PLC0415 - as above

    if form == "json":
        totals = {f"{level}s": count for level, count in counts.items()}
        whole = {**totals, "complaints": [complaint.as_json(each) for each in found]}
        click.echo(json.dumps(whole, ensure_ascii=False, separators=(",", ":")))
    elif found:
        click.echo(complaint.render_all(found) + "\n")


def _summary(files: int, counts: dict[str, int]) -> str:
    parts = [_counted(count, level) for level, count in counts.items() if count]
    return f"{_counted(files, 'file')} checked: {', '.join(parts) or 'nothing to complain about'}"


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}" + ("" if count == 1 else "s")
