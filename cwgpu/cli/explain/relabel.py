"""``cwgpu explain relabel``: what relabelling rules make of label sets, rule after rule."""

import os
from pathlib import Path

import click

from cwgpu.cli.explain import answers
from cwgpu.cli.options import option
from cwgpu.model.errors import UsageError
from cwgpu.model.labels import Labels


@click.command("relabel", short_help="What relabelling rules make of label sets.")
@option(
    "--rules",
    metavar="FILE[:JOB]",
    required=True,
    help="A list of rules, a job, or a whole prometheus.yml or agent's JSON; of several jobs, JOB.",
)
@option("--metric", is_flag=True, help="Take metric_relabel_configs in place of relabel_configs.")
@option(
    "--labels",
    metavar="FILE",
    required=True,
    help="Label sets: a JSON object, a list of them, or one a line. - is standard input.",
)
@option(
    "-o",
    "--output",
    type=click.Choice(answers.FORMS),
    default="text",
    show_default=True,
    help="Form of the answers; jsonl answers each line as it comes.",
)
def command(*, rules: str, metric: bool, labels: str, output: str) -> int:
    """Tell what relabelling rules make of label sets.

    Of each rule: what it compared, whether its regex matched, and which labels it changed.
    """
    from cwgpu.cli.explain import text, value  # noqa: PLC0415 - RE2 is for who asks, not for --help
    from cwgpu.config import ruleset  # noqa: PLC0415 - as pydantic is
    from cwgpu.prom.trace import trace  # noqa: PLC0415 - as above

    path, job = _file(rules)
    key = ruleset.SAMPLES if metric else ruleset.TARGETS
    found = ruleset.rules_of(path, job, os.environ, key=key)

    def answer(given: Labels) -> answers.Answer:
        traced = trace(given, found.rules)
        return answers.Answer(
            lambda: text.rules(traced, found.places, given),
            lambda: value.rules(traced, found.places),
        )

    return answers.give(labels, output, answer)


def _file(rules: str) -> tuple[Path, str | None]:
    """Part file and job: either may hold colons, so the longest name of a file that exists wins."""
    if not rules:  # as a path it would be the directory we are in
        raise UsageError("--rules names no file")
    name, job = rules, ""
    while not name or not Path(name).exists():
        name, colon, last = name.rpartition(":")
        if not colon:
            return Path(rules), None  # whoever reads it says that it is not there
        job = f"{last}:{job}" if job else last
    return Path(name), job or None
