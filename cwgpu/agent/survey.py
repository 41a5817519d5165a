"""What discovery knows, looked at and not acted upon: nothing is scraped, nothing is sent."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from cwgpu.agent.clock import Clock
from cwgpu.agent.watch import Watch
from cwgpu.client.clients import Clients
from cwgpu.discovery import static
from cwgpu.model.target import TargetGroup
from cwgpu.plan.plan import Job


@dataclass(frozen=True, slots=True)
class Sight:
    """What is known of a job's targets at a moment."""

    job: Job
    groups: tuple[TargetGroup, ...]
    faults: tuple[str, ...] = ()
    """What is wrong with where they come from."""
    notes: tuple[str, ...] = ()
    """Why nothing is found where nothing is wrong."""
    denied: bool = False
    """One of the faults is that we may not know."""
    silent: tuple[str, ...] = ()
    """The sources that have not answered yet."""


def sights(watch: Watch, jobs: Iterable[Job]) -> tuple[Sight, ...]:
    """Give what is known now of the targets of these jobs."""
    return tuple(_sight(watch, job) for job in jobs)


def _sight(watch: Watch, job: Job) -> Sight:
    said = list(watch.said(job))
    found = [findings for _, findings in said if findings is not None]
    return Sight(
        job,
        tuple(watch.groups(job)),
        tuple(dict.fromkeys(fault for each in found for fault in each.faults)),
        tuple(dict.fromkeys([*static.notes(job), *(one for each in found for one in each.notes)])),
        any(each.denied for each in found),
        tuple(place for place, findings in said if findings is None),
    )


class Survey:
    """Looks where the targets of some jobs are."""

    def __init__(
        self, jobs: Sequence[Job], watch: Watch, task: asyncio.Task[None], clock: Clock
    ) -> None:
        """``task`` has the watch run."""
        self._jobs = jobs
        self._watch = watch
        self._task = task
        self._clock = clock

    async def first(self, within_s: float) -> tuple[Sight, ...]:
        """Give what is known once every source has answered, or when the time is over."""
        over = asyncio.ensure_future(self._clock.sleep(within_s))
        try:
            while self._watch.waiting() and not over.done():
                await self._news(over)
        finally:
            over.cancel()
        return sights(self._watch, self._jobs)

    async def next(self, within_s: float) -> tuple[Sight, ...]:
        """Give what is known when other targets are, or when the time is over."""
        over = asyncio.ensure_future(self._clock.sleep(within_s))
        try:
            await self._news(over)
        finally:
            over.cancel()
        return sights(self._watch, self._jobs)

    async def _news(self, over: asyncio.Future[Any]) -> None:
        self._watch.changed.clear()
        news = asyncio.ensure_future(self._watch.changed.wait())
        try:
            await asyncio.wait((news, over, self._task), return_when=asyncio.FIRST_COMPLETED)
        finally:
            news.cancel()
        if self._task.done():
            self._task.result()  # it ends only by what it raises


@contextlib.asynccontextmanager
async def surveying(jobs: Sequence[Job], clock: Clock) -> AsyncIterator[Survey]:
    """Ask the sources of these jobs until the block ends."""
    async with Clients(clock.monotonic) as clients:
        watch = Watch(clients, clock, fault=_known, note=_known, bug=_raised)
        watch.follow(jobs)
        task = asyncio.create_task(watch.run())
        try:
            yield Survey(jobs, watch, task, clock)
        finally:
            task.cancel()
            await asyncio.wait([task])


def _known(_job: str, _said: str) -> None:
    """Do nothing: it is among the findings."""


def _raised(_job: str, error: Exception) -> None:
    raise error
