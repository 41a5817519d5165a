"""``cwgpu cost``: what a configuration will cost in CloudWatch, before it does.

Pages are played through the agent's own rules for an hour (``play``), for the configuration and
for some that differ from it in one thing (``variants``); what comes of it is multiplied for a fleet
(``fleet``, ``twin``) and priced (``prices``, ``bill``). Nothing is sent.
"""

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from cwgpu.cli import exits, options, streams
from cwgpu.cli.options import option
from cwgpu.model.errors import UsageError

if TYPE_CHECKING:
    from cwgpu.cli.cost.subject import Subject
    from cwgpu.plan.plan import Plan

# Beyond all fleets, and far from where the digits of a float end.
_MOST = 1_000_000_000


@click.command("cost", short_help="What a configuration will cost in CloudWatch: an estimate.")
@click.argument("more", metavar="[FILE]...", nargs=-1)
@options.config(
    "CloudWatch agent JSON, a file or a directory of them.  [default: /etc/cwagentconfig]"
)
@options.prometheus_config()
@option(
    "--page",
    "pages",
    metavar="FILE|URL",
    multiple=True,
    help="A page of a target; each is a node's. May be repeated, or be followed by more.",
)
@option("--live", is_flag=True, help="Find the targets instead, and scrape each once.")
@option(
    "--timeout",
    type=options.Seconds(),
    default="10s",
    show_default=True,
    help="How long to wait for targets to be found.",
)
@option("--job", help="The job's name, for pages.  [default: the only one]")
@option(
    "--format",
    "form",
    type=click.Choice(["text", "openmetrics"]),
    help="The pages' format where no Content-Type says it.  [default: openmetrics for a file that "
    "ends in .om, else text]",
)
@option(
    "--label",
    "pairs",
    metavar="NAME=VALUE",
    multiple=True,
    help="A label of the targets, such as discovery gives it. May be repeated.  [default: job, "
    "instance, and what the job's static targets have]",
)
@option(
    "--gpus",
    type=click.IntRange(min=1, max=_MOST),
    help="How many GPUs there are.  [default: as many as the nodes have]",
)
@option(
    "--nodes",
    type=click.IntRange(min=1, max=_MOST),
    help="How many nodes there are.  [default: as many as the GPUs take, else the pages]",
)
@option(
    "--pods-per-day",
    type=options.Number(min=0, max=_MOST),
    default=0,
    show_default=True,
    help="How many pods start in a day, on all nodes.",
)
@option(
    "--prices",
    type=click.Path(path_type=Path),
    help="A price list in place of the one that comes with the program.",
)
@option(
    "-o",
    "--output",
    type=click.Choice(["table", "json"]),
    default="table",
    show_default=True,
    help="Form of the estimate.",
)
def command(*, more: tuple[str, ...], **flags: Any) -> int:  # noqa: ANN401 - click gives what the options above say
    """Estimate what a configuration will cost in CloudWatch, and what would make it cheaper.

    An hour of scrapes is made up of each page and goes the way that it goes in the agent. What
    comes of it is counted, multiplied for all nodes, and priced. Nothing is sent.
    """
    names = (*flags["pages"], *more)
    if bool(names) == flags["live"]:
        raise UsageError("give pages with --page FILE, or --live to scrape the targets there are")
    return _estimated(names, flags)


def _estimated(names: tuple[str, ...], flags: dict[str, Any]) -> int:
    from cwgpu.cli.cost import document, estimate, fleet, prices, table  # noqa: PLC0415 - not for --help
    from cwgpu.cli.explain import answers  # noqa: PLC0415 - as above
    from cwgpu.config import load  # noqa: PLC0415 - as above

    listed = prices.read(flags["prices"] or prices.PACKAGED)
    plan = load.load(flags["config"], flags["prometheus_config"], os.environ).plan
    code, subjects = _subjects(plan, names, flags)
    if not subjects:
        return code
    made = estimate.estimate(
        estimate.Asked(
            plan,
            subjects,
            fleet.fleet(subjects, flags["gpus"], flags["nodes"]),
            listed,
            flags["pods_per_day"],
        )
    )
    told = document.document(made)
    nothing = not made.configured.pages.samples
    if flags["output"] == "json":
        answers.put(json.dumps(told, indent=2))
    elif not nothing:
        answers.put(table.text(told))
    metrics, most = told["metrics"]["fleet"], told["metrics"]["budget"]
    if most is not None and metrics > most:
        found = f"{metrics:,} custom metrics are more than the {most:,} of cwgpu.budget.metrics"
        streams.say(f"cwgpu: {found}\n")
    if nothing:
        streams.say("cwgpu: nothing on the pages is selected: cwgpu explain page says why\n")
        return exits.NOTHING_FOUND
    return code


def _subjects(
    plan: "Plan", names: tuple[str, ...], flags: dict[str, Any]
) -> "tuple[int, tuple[Subject, ...]]":
    """Give the pages; with the exit code that is right even if all else goes well."""
    if names:
        from cwgpu.cli.cost import files  # noqa: PLC0415 - as above

        return exits.OK, files.subjects(plan, names, flags)
    import asyncio  # noqa: PLC0415 - for those who ask live, as aiohttp is

    from cwgpu.cli.cost import live  # noqa: PLC0415 - as above

    found = asyncio.run(live.look(plan, flags["timeout"]))
    for sentence in found.said:
        streams.say(f"cwgpu: {sentence}\n")
    return _code(found.targets, len(found.subjects), denied=found.denied), found.subjects


def _code(targets: int, answered: int, *, denied: bool) -> int:
    if denied:
        return exits.PERMISSION
    if answered:
        return exits.OK
    return exits.UNAVAILABLE if targets else exits.NOTHING_FOUND
