"""``cwgpu explain target``: what a job makes of what was discovered."""

import os
from pathlib import Path

import click

from cwgpu.cli import options
from cwgpu.cli.explain import answers
from cwgpu.cli.options import option
from cwgpu.model.labels import Labels


@click.command("target", short_help="What a job makes of a discovered target, or why nothing.")
@options.config(
    "CloudWatch agent JSON, a file or a directory of them, or a prometheus.yml.  "
    "[default: /etc/cwagentconfig]"
)
@options.prometheus_config()
@option("--job", help="The job's name.  [default: the only one]")
@option(
    "--labels",
    metavar="FILE",
    required=True,
    help="Discovered labels, __address__ among them: a JSON object, a list of them, or one a "
    "line. - is standard input.",
)
@option(
    "-o",
    "--output",
    type=click.Choice(answers.FORMS),
    default="text",
    show_default=True,
    help="Form of the answers; jsonl answers each line as it comes.",
)
def command(
    *,
    config: Path | None,
    prometheus_config: Path | None,
    job: str | None,
    labels: str,
    output: str,
) -> int:
    """Tell what a job makes of a discovered target: its URL and labels, or why it has none.

    The labels are those that discovery gives a target, those of its group among them.
    """
    from cwgpu.cli.explain import text, value  # noqa: PLC0415 - RE2 is for who asks, not for --help
    from cwgpu.config import ruleset  # noqa: PLC0415 - as pydantic is
    from cwgpu.prom.outcome import outcome  # noqa: PLC0415 - as above

    chosen = ruleset.job_of(config, prometheus_config, job, os.environ)
    places = chosen.ruleset(ruleset.TARGETS).places

    def answer(given: Labels) -> answers.Answer:
        made = outcome(chosen.job, given)
        return answers.Answer(lambda: text.target(made, places), lambda: value.target(made, places))

    return answers.give(labels, output, answer)
