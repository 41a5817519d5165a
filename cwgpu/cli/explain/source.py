"""A page to be explained: from a file, from standard input or from an exporter."""

import time
from dataclasses import dataclass, replace
from pathlib import PurePath
from urllib.parse import urlsplit

import click

from cwgpu.cli.explain import bound
from cwgpu.model.errors import UnavailableError, UsageError
from cwgpu.model.scrape import Scrape, ScrapeFailed
from cwgpu.model.target import Target
from cwgpu.plan.plan import Job
from cwgpu.prom.exposition import Format
from cwgpu.telemetry import escape, mask

_STDIN = "-"
_SCHEMES = ("http://", "https://")
_ENDING = ".om"
"""Of a file in OpenMetrics."""
FORMATS = {"text": Format.TEXT, "openmetrics": Format.OPENMETRICS}
"""In the words of --format."""
# Prometheus' own for a job that says nothing.
_INTERVAL_S, _TIMEOUT_S = 60.0, 10.0


@dataclass(frozen=True, slots=True)
class Source:
    """A page, and what is known of where it comes from."""

    name: str
    """As it is shown; a password in a URL is not."""
    url: str | None
    instance: str
    """The label that a target has by default: host and port, or the file's name."""
    body: bytes
    content_type: str


def reading(job: Job | None, form: str | None, *, strict: bool | None) -> Job:
    """Give a job that reads pages as the command line says, and else as it did itself.

    Without a job, a page is read as by one that says nothing; strictly, as by Prometheus' own,
    which refuses a page without a Content-Type that it knows.
    """
    if job is None:
        job = Job("page", _INTERVAL_S, _TIMEOUT_S, fallback_format=None if strict else Format.TEXT)
    fallback = job.fallback_format if form is None else FORMATS[form]
    return replace(job, strict=job.strict if strict is None else strict, fallback_format=fallback)


def read(page: str, form: str | None, job: Job) -> Source:
    """Read a page. ``form`` is its format where no Content-Type says it.

    UsageError when the file cannot be read, UnavailableError when the exporter gives no page.
    """
    if page.lower().startswith(_SCHEMES):
        return _fetched(page, job)
    name = "stdin" if page == _STDIN else page
    try:
        with click.open_file(page, "rb") as file:
            body = bound.whole(file, f"--page {page}")
    except OSError as error:
        raise UsageError(f"--page {page} cannot be read: {error.strerror or error}") from error
    guessed = "openmetrics" if page.endswith(_ENDING) else "text"
    content_type = FORMATS[form or guessed].value
    return Source(escape.line(name), None, PurePath(name).name, body, content_type)


def _fetched(url: str, job: Job) -> Source:
    import asyncio  # noqa: PLC0415 - for URLs alone, as aiohttp is

    answer = asyncio.run(_fetch(Target(job.name, url, {}, job.interval_s, job.timeout_s), job))
    if isinstance(answer, ScrapeFailed):
        raise UnavailableError(f"no page: {answer.detail} ({answer.reason.value})")
    name = escape.line(mask.text(url))
    host = urlsplit(url).netloc.rpartition("@")[2]
    return Source(name, url, host, answer.body, answer.content_type)


async def _fetch(target: Target, job: Job) -> Scrape | ScrapeFailed:
    from cwgpu.scrape.fetch import Fetcher  # noqa: PLC0415 - as above

    async with Fetcher(time.time, time.monotonic) as fetcher:
        return await fetcher.fetch(target, job)
