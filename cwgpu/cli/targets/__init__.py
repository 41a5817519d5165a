"""``cwgpu targets``: which targets there are, and why the others are none.

Where they are looked for is in ``look`` and ``ask``; both give the document of ``agent.roll``, and
what is shown comes from it alone.
"""

import os
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from cwgpu.cli import options
from cwgpu.cli.options import option
from cwgpu.model.errors import UsageError

_AGENT = "http://127.0.0.1:9464"


@click.command("targets", short_help="Which targets there are, and why the others are none.")
@options.config(
    "CloudWatch agent JSON, a file or a directory of them, or a prometheus.yml.  "
    "[default: /etc/cwagentconfig]"
)
@options.prometheus_config()
@option(
    "--kubeconfig",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Look in the cluster of this kubeconfig's current context, as its user, where a job means "
    "the cluster that the agent runs in.",
)
@option(
    "--agent",
    metavar="[URL]",
    is_flag=False,
    flag_value=_AGENT,
    help=f"Ask a running agent instead.  [{_AGENT} if no URL is given]",
)
@option("--all", "every", is_flag=True, help="Show each target that is not scraped.")
@option("-w", "--watch", is_flag=True, help="Go on, and show what changes.")
@option(
    "--timeout",
    type=options.Seconds(),
    default="10s",
    show_default=True,
    help="How long to wait for the first answers.",
)
@option(
    "-o",
    "--output",
    type=click.Choice(["table", "wide", "json"]),
    default="table",
    show_default=True,
    help="Form of the answer.",
)
def command(*, every: bool, watch: bool, timeout: float, output: str, **places: Any) -> int:  # noqa: ANN401 - click gives what the options above say
    """Look once for targets, and tell what the rules make of each that is discovered.

    Targets that are not scraped are put together by what drops them, with the values that were
    compared, those that are nearly right first. Nothing is scraped, and nothing is sent.
    """
    import asyncio  # noqa: PLC0415 - the libraries are for who asks, not for --help

    from cwgpu.cli.targets import show  # noqa: PLC0415 - as above

    documents = _documents(places, timeout, every=every)
    return asyncio.run(show.show(documents, output, watch=watch))


def _documents(
    places: dict[str, Any], timeout_s: float, *, every: bool
) -> AsyncGenerator[dict[str, Any], None]:
    if places["agent"]:
        other = [name for name in places if name != "agent" and _written(name)]
        if other:
            flags = " and ".join(f"--{name.replace('_', '-')}" for name in other)
            raise UsageError(f"--agent asks an agent that has its configuration: leave out {flags}")
        from cwgpu.cli.targets import ask  # noqa: PLC0415 - as above

        return ask.documents(places["agent"], timeout_s, every=every)
    from cwgpu.cli.targets import look  # noqa: PLC0415 - as above
    from cwgpu.config import ruleset  # noqa: PLC0415 - as above

    read = ruleset.jobs_of(places["config"], places["prometheus_config"], os.environ)
    return look.documents(read, places["kubeconfig"], timeout_s, every=every)


def _written(flag: str) -> bool:
    """Tell a flag from its environment twin, which a container has for all verbs."""
    return click.get_current_context().get_parameter_source(flag) is ParameterSource.COMMANDLINE
