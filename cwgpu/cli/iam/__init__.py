"""``cwgpu iam``: the least rights for a configuration, and how they come to the pods.

What they are is in ``rights``, the commands that give them in ``script``.
"""

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

import click

from cwgpu.cli import exits, options, streams
from cwgpu.cli.options import option

if TYPE_CHECKING:
    from cwgpu.cli.iam.rights import Rights


class _Account(click.ParamType[str]):
    """The number of an AWS account, which may begin with zeros."""

    name = "id"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> str:
        """Take twelve digits."""
        if not re.fullmatch("[0-9]{12}", str(value)):
            self.fail(f"{value!r} is no account: write its twelve digits", param, ctx)
        return str(value)


@click.command("iam", short_help="The least IAM policy for a configuration.")
@options.config(
    "CloudWatch agent JSON, a file or a directory of them.  [default: /etc/cwagentconfig]"
)
@option(
    "--trust",
    type=click.Choice(["irsa", "pod-identity"]),
    help="How the pods get the role: tell also whom it trusts, and all commands to make it.",
)
@option(
    "--account",
    type=_Account(),
    help="AWS account of the pods' role.  [default: any]",
)
@option(
    "-o",
    "--output",
    type=click.Choice(["text", "json"]),
    default="text",
    show_default=True,
    help="Commands of a shell, or the policy as JSON.",
)
def command(*, config: Path | None, trust: str | None, account: str | None, output: str) -> int:
    """Print the least IAM policy with which this configuration works, and how to attach it.

    The log group is that of the region in the configuration, else of AWS_REGION or
    AWS_DEFAULT_REGION. Nobody is asked and nothing is changed: the commands are for you to run.
    With -o json there is the policy alone, with --trust an object of "policy", "trust" and, if
    there is a role_arn, "assume".
    """
    from cwgpu.cli.explain import answers  # noqa: PLC0415 - the libraries are for who asks
    from cwgpu.cli.iam import rights, script  # noqa: PLC0415 - as above
    from cwgpu.config import load  # noqa: PLC0415 - as above

    plan = load.draft(config, os.environ)
    found = rights.of(plan, os.environ, account=account, trust=trust)
    as_json = output == "json"
    for aside in (*found.asides, *(_left_out(found) if as_json else ())):
        streams.say(f"cwgpu: {aside}\n")
    answers.put(script.pretty(_json(found)) if as_json else script.text(found))
    return exits.OK


def _json(found: "Rights") -> object:
    return found.documents() if found.trust else found.policy


def _left_out(found: "Rights") -> tuple[str, ...]:
    if found.role_arn is None or found.trust:
        return ()
    said = (
        f"the policy is that of {found.role_arn}; as text, or with --trust, there is also that of "
    )
    return (f"{said}the pods' own role, which needs sts:AssumeRole",)
