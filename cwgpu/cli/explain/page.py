"""``cwgpu explain page``: where each series of a page goes, or why nowhere."""

import os
import time
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from cwgpu.cli import exits, options
from cwgpu.cli.explain import answers
from cwgpu.cli.options import option
from cwgpu.model.errors import ExpositionError, UsageError
from cwgpu.model.reading import Refused

if TYPE_CHECKING:
    from cwgpu.plan.plan import Job, Plan

_YAML = (".yml", ".yaml")


@click.command("page", short_help="Where each series of a page goes, or why nowhere.")
@options.config(
    "CloudWatch agent JSON, a file or a directory of them.  [default: /etc/cwagentconfig; "
    "none for --samples]"
)
@options.prometheus_config()
@option("--job", help="The job's name.  [default: the only one]")
@option("--page", metavar="FILE|URL", required=True, help="The page. - is standard input.")
@option(
    "--format",
    "form",
    type=click.Choice(["text", "openmetrics"]),
    help="The page's format where no Content-Type says it.  [default: openmetrics for a file that "
    "ends in .om, else text]",
)
@option(
    "--label",
    "pairs",
    metavar="NAME=VALUE",
    multiple=True,
    help="A label of the target, such as discovery gives it. May be repeated.  [default: job, "
    "instance, and what the job's static targets have]",
)
@option("--samples", is_flag=True, help="Tell instead what the parser reads: every sample.")
@option(
    "--strict/--lenient",
    default=None,
    help="Whether a bad line fails the page or only itself.  [default: as the job has it, else "
    "lenient]",
)
@option(
    "-o",
    "--output",
    type=click.Choice(answers.FORMS),
    default="text",
    show_default=True,
    help="Form of the answer; jsonl has a series a line.",
)
def command(**flags: Any) -> int:  # noqa: ANN401 - click gives what the options above say
    """Tell of each series of a page which log events and dimensions it gets, or why none.

    The page is read as at a first scrape. Nothing is sent.
    """
    return _samples(flags) if flags["samples"] else _fates(flags)


def _samples(flags: dict[str, Any]) -> int:
    """Tell what the parser reads; a configuration is read only when a job of it is meant."""
    from cwgpu.cli.explain import listing, source  # noqa: PLC0415 - parsers are not for --help

    job = None
    if flags["job"] or _written("config") or _written("prometheus_config"):
        from cwgpu.config import ruleset  # noqa: PLC0415 - nor is pydantic

        config, prometheus = flags["config"], flags["prometheus_config"]
        job = ruleset.job_of(config, prometheus, flags["job"], os.environ).job
    read = source.reading(job, flags["form"], strict=flags["strict"])
    return listing.give(source.read(flags["page"], flags["form"], read), read, flags["output"])


def _written(flag: str) -> bool:
    """Tell a flag from its environment twin, which a container has for all verbs."""
    return click.get_current_context().get_parameter_source(flag) is ParameterSource.COMMANDLINE


def _fates(flags: dict[str, Any]) -> int:
    from cwgpu.cli.explain import fates, grouped, public, source  # noqa: PLC0415 - as above
    from cwgpu.digest import explain  # noqa: PLC0415 - as above
    from cwgpu.digest.recipe import Recipe  # noqa: PLC0415 - as above

    more = public.given(flags["pairs"])
    plan, chosen = _planned(flags)
    job = source.reading(chosen, flags["form"], strict=flags["strict"])
    page = source.read(flags["page"], flags["form"], job)
    target = public.labels(job, page, more)
    now_ms = int(time.time() * 1000)
    rules = Recipe(plan, job)
    found = explain.explain(rules, target, page.body, page.content_type, at_ms=now_ms)
    if isinstance(found, Refused):
        why = f"{found.detail} ({found.reason.value})"
        raise ExpositionError(f"{page.name}: the page is refused, nothing of it is sent: {why}")
    absent = public.absent(job, page, more)
    answer = fates.Answer(page, job.name, target, plan.emf.namespace, found, absent=absent)
    if flags["output"] == "text":
        answers.put(grouped.text(answer))
    elif flags["output"] == "json":
        answers.put(answers.as_json(fates.whole(answer)))
    else:
        for line in fates.lines(answer):
            answers.put(answers.as_json(line))
    return exits.OK


def _planned(flags: dict[str, Any]) -> "tuple[Plan, Job]":
    """Read the whole configuration: the jobs alone do not say what becomes of samples."""
    from cwgpu.config import load, ruleset  # noqa: PLC0415 - as above

    config, prometheus = flags["config"], flags["prometheus_config"]
    if config is not None and config.suffix in _YAML:
        raise UsageError(
            f"{config} says which pages are read, not what is sent of them: give the agent's JSON "
            f"by -c, and this by --prometheus-config (or ask for --samples)"
        )
    plan = load.load(config, prometheus, os.environ).plan
    file = prometheus or config or "the configuration"
    return plan, ruleset.pick(plan.jobs, flags["job"], str(file))
