"""Targets in, events out: discovery, scraping and digestion of all jobs of one plan."""

import asyncio
import functools
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from cwgpu.agent import aside
from cwgpu.agent.clock import Clock
from cwgpu.agent.observe import Observer
from cwgpu.digest.page import Page
from cwgpu.digest.recipe import Recipe
from cwgpu.discovery import static
from cwgpu.discovery.file import FileSource
from cwgpu.model.event import EmfEvent
from cwgpu.model.reading import Reading, Refused
from cwgpu.model.scrape import Scrape, ScrapeFailed
from cwgpu.model.target import DroppedTarget, Identity, Target, TargetGroup
from cwgpu.plan.plan import Job, Plan
from cwgpu.prom import targeting
from cwgpu.scrape.fetch import Fetcher
from cwgpu.scrape.pool import Pool

# How often target files are looked at. Prometheus hears of a change at once; a person who edits
# a file expects no less than "in a moment", and reading small files costs next to nothing.
_LOOK_S = 5.0

# A page that is read in the event loop keeps all else waiting. One of this size takes up to a
# second when it is new, and the pages of GPU nodes are smaller: eight GPUs with sixty fields make
# 165 KB.
_LARGE_BYTES = 1 << 20


@dataclass(slots=True)
class _Working:
    """One job at work."""

    job: Job
    recipe: Recipe
    files: list[FileSource] = field(default_factory=list)


class Intake:
    """Scrapes what the plan wants scraped and hands the events on."""

    def __init__(
        self,
        fetcher: Fetcher,
        put: Callable[[Iterable[EmfEvent]], None],
        observer: Observer,
        clock: Clock,
    ) -> None:
        """Idle until ``follow`` gives it a plan."""
        self._fetcher = fetcher
        self._put = put
        self._observer = observer
        self._clock = clock
        self._jobs: dict[str, _Working] = {}
        self._pages: dict[Identity, Page] = {}
        self._visits: dict[Identity, int] = {}
        self._aside: set[Identity] = set()
        """Targets whose page another thread is reading."""
        self._most_visits: int | None = None
        self.done = asyncio.Event()
        self.wanted: dict[Identity, Target] = {}
        self.unready = "targets have not been looked for yet"
        """Why there is nothing to be expected of this agent yet; empty when there is."""
        self._pool = Pool(self._visit, clock.wall, clock.sleep, prompt=True, bug=observer.bug)

    def follow(self, plan: Plan) -> None:
        """Work by this plan from the next scrape on; what is known of the pages stays."""
        self._jobs = {
            job.name: _Working(job, Recipe(plan, job), self._sources(job)) for job in plan.jobs
        }
        former, self._pages = self._pages, {}
        for identity, page in former.items():
            target = self.wanted.get(identity)
            if target is None or target.job not in self._jobs or identity in self._aside:
                continue
            self._page(target).adopt(page)

    def limit(self, visits: int) -> None:
        """Scrape each target this often and no more; ``done`` is set when all have been."""
        self._most_visits = visits

    async def run(self) -> None:
        """Keep the wanted targets up to date, for ever."""
        while True:
            await self.discover()
            await self._clock.sleep(_LOOK_S)

    async def discover(self) -> None:
        """Look once for targets and scrape what is found from now on."""
        wanted: dict[Identity, Target] = {}
        dropped: list[DroppedTarget] = []
        for working in list(self._jobs.values()):
            for found in await self._found(working):
                if isinstance(found, DroppedTarget):
                    dropped.append(found)
                else:
                    wanted.setdefault(found.identity, found)
        self.wanted = wanted
        self._pages = {key: page for key, page in self._pages.items() if key in wanted}
        self._visits = {key: count for key, count in self._visits.items() if key in wanted}
        self._observer.discovered(list(wanted.values()), dropped)
        self._pool.reconcile(wanted.values())
        self.unready = ""
        self._check_done()

    async def stop(self) -> None:
        """Scrape no more."""
        await self._pool.stop()

    def _sources(self, job: Job) -> list[FileSource]:
        """Keep those that stay the same: they know the last good content of their files."""
        former = self._jobs.get(job.name)
        if former is not None and former.job.files == job.files:
            return former.files
        return [FileSource(one, index) for index, one in enumerate(job.files)]

    async def _found(self, working: _Working) -> list[Target | DroppedTarget]:
        groups = await self._groups(working)
        return [found for group in groups for found in targeting.targets(working.job, group)]

    async def _groups(self, working: _Working) -> list[TargetGroup]:
        groups = list(static.groups(working.job))
        for source in working.files:
            findings = await aside.run(source.read)
            groups += findings.groups
            for fault in findings.faults:
                self._observer.discovery_fault(working.job.name, fault)
        return groups

    async def _visit(self, target: Target) -> None:
        visits = self._visits.get(target.identity, 0)
        working = self._jobs.get(target.job)
        if working is None or (self._most_visits is not None and visits >= self._most_visits):
            return
        answer = await self._fetcher.fetch(target, working.job)
        if target.job not in self._jobs:
            return  # a reload took the job away meanwhile
        if isinstance(answer, ScrapeFailed):
            self._observer.scrape_failed(target, answer)
        else:
            reading = await self._read(target, answer)
            if isinstance(reading, Refused):
                failed = ScrapeFailed(
                    answer.at_ms, reading.reason, reading.detail, answer.duration_s
                )
                self._observer.scrape_failed(target, failed)
            else:
                self._observer.scraped(target, answer, reading)
                self._put(reading.events)
        self._visits[target.identity] = visits + 1
        self._check_done()

    async def _read(self, target: Target, answer: Scrape) -> Reading | Refused:
        page = self._page(target)
        read = functools.partial(page.read, answer.body, answer.at_ms, answer.content_type)
        if len(answer.body) < _LARGE_BYTES:
            return read()
        self._aside.add(target.identity)
        try:
            return await aside.run(read)
        finally:
            self._aside.discard(target.identity)

    def _page(self, target: Target) -> Page:
        page = self._pages.get(target.identity)
        if page is None:
            page = Page(self._jobs[target.job].recipe, target.labels)
            self._pages[target.identity] = page
        return page

    def _check_done(self) -> None:
        most = self._most_visits
        if most is not None and all(self._visits.get(key, 0) >= most for key in self.wanted):
            self.done.set()
