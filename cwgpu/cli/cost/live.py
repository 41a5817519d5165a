"""Pages of the targets that there are, found and scraped once as in a dry run.

Shards are left out of account: the bill is for all of them.
"""

import asyncio
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from cwgpu.agent import working
from cwgpu.agent.clock import Clock
from cwgpu.agent.survey import Sight, surveying
from cwgpu.cli.cost.subject import Subject
from cwgpu.model.scrape import Scrape, ScrapeFailed
from cwgpu.model.target import Target
from cwgpu.plan.plan import Job, Plan
from cwgpu.prom import targeting
from cwgpu.scrape.fetch import Fetcher
from cwgpu.telemetry import escape, mask

# Scrapes that are under way at once: an estimate is no reason to crowd a network.
_AT_ONCE = 50


@dataclass(frozen=True, slots=True)
class Found:
    """What there is."""

    subjects: tuple[Subject, ...]
    """Of the targets that gave a page."""
    targets: int
    said: tuple[str, ...]
    """What is wrong with targets, and with where they come from."""
    denied: bool
    """Somebody has refused us the answer."""


async def look(plan: Plan, timeout_s: float) -> Found:
    """Find the targets and scrape each once."""
    async with surveying(plan.jobs, Clock()) as survey:
        sights = await survey.first(timeout_s)
    wanted = list(_targets(sights))
    async with Fetcher(time.time, time.monotonic) as fetcher:
        room = asyncio.Semaphore(_AT_ONCE)

        async def fetch(job: Job, target: Target) -> Scrape | ScrapeFailed:
            async with room:
                return await fetcher.fetch(target, job)

        answers = await asyncio.gather(*(fetch(job, target) for job, target in wanted))
    made = [
        Subject(_shown(target), job, target.labels, answer.body, answer.content_type)
        for (job, target), answer in zip(wanted, answers, strict=True)
        if isinstance(answer, Scrape)
    ]
    failed = [
        f"{_shown(target)}: {answer.detail} ({answer.reason.value})"
        for (_, target), answer in zip(wanted, answers, strict=True)
        if isinstance(answer, ScrapeFailed)
    ]
    said = [*_said(sights), *failed]
    return Found(tuple(made), len(wanted), tuple(said), any(each.denied for each in sights))


def _targets(sights: Sequence[Sight]) -> Iterator[tuple[Job, Target]]:
    """Give each target once, with its job; none of a job that has more than it may."""
    for sight in sights:
        judged = (targeting.targets(sight.job, group) for group in sight.groups)
        found = _once(one for some in judged for one in some if isinstance(one, Target))
        if not working.crowd(sight.job, len(found)):
            yield from ((sight.job, one) for one in found)


def _once(targets: Iterable[Target]) -> Sequence[Target]:
    return list({one.identity: one for one in targets}.values())


def _said(sights: Sequence[Sight]) -> Iterator[str]:
    for sight in sights:
        for place in sight.silent:
            yield f"job {sight.job.name}: {place} has not answered yet; --timeout waits for longer"
        for each in (*sight.faults, *sight.notes):
            yield f"job {sight.job.name}: {each}"


def _shown(target: Target) -> str:
    return escape.line(mask.text(target.url))
