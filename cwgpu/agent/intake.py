"""Targets in, events out: discovery, scraping and digestion of all jobs of one plan."""

import asyncio
import json
from collections import Counter
from collections.abc import Callable, Sequence

from cwgpu.agent import aside
from cwgpu.agent.chorus import Chorus
from cwgpu.agent.clock import Clock
from cwgpu.agent.frost import Frost
from cwgpu.agent.observe import Observer
from cwgpu.agent.pages import Pages
from cwgpu.agent.purse import Purse
from cwgpu.agent.quota import Quota
from cwgpu.agent.reports import Reports
from cwgpu.agent.roll import Roll, Visit
from cwgpu.agent.survey import sights
from cwgpu.agent.watch import Watch
from cwgpu.agent.working import Working, crowd
from cwgpu.digest.page import Page
from cwgpu.digest.recipe import Recipe
from cwgpu.digest.report import Report
from cwgpu.model.event import EmfEvent
from cwgpu.model.reading import Counts, Reading, Refused
from cwgpu.model.scrape import FailReason, Scrape, ScrapeFailed
from cwgpu.model.target import DroppedTarget, Identity, Target
from cwgpu.plan.kubernetes import Shard
from cwgpu.plan.plan import Job, Plan
from cwgpu.scrape.fetch import Fetcher
from cwgpu.scrape.pool import Pool

# A page that is read in the event loop keeps all else waiting. One of this size takes up to a
# second when it is new, and the pages of GPU nodes are smaller: eight GPUs with sixty fields make
# 165 KB.
_LARGE_BYTES = 1 << 20

# Thousands of targets take a while, and scrapes are due meanwhile. Ten rules run over so many
# groups, of a few targets each, in some ten milliseconds.
_AT_A_TIME = 64

# How often it is looked for windows that are over and got no scrape since.
_LOOK_S = 5.0

_LOOKING = "targets have not been looked for yet"


class Intake:
    """Scrapes what the plan wants scraped and hands the events on."""

    def __init__(
        self,
        fetcher: Fetcher,
        put: Callable[[Sequence[EmfEvent]], None],
        observer: Observer,
        clock: Clock,
        *,
        leads: Callable[[], bool] = lambda: True,
    ) -> None:
        """Idle until ``follow`` gives it a plan.

        ``leads`` tells whether we may scrape at this moment.
        """
        self._fetcher = fetcher
        self._put = put
        self._observer = observer
        self._clock = clock
        self._leads = leads
        self._jobs: dict[str, Working] = {}
        self._watch = Watch(
            fetcher.clients,
            clock,
            fault=observer.discovery_fault,
            note=observer.discovery_note,
            bug=observer.discovery_broke,
        )
        self._waiting = ""
        self._reports = Reports(put, observer, self._closed)
        self._purse = Purse(observer, clock)
        self._chorus = Chorus(observer)
        self._frost = Frost(observer)
        self._active: Counter[str] = Counter()
        """Targets of each job."""
        self._pages = Pages(self._closed)
        self._quota = Quota()
        self._last: dict[Identity, Visit] = {}
        self._learning = asyncio.Lock()
        self._telling = asyncio.Lock()
        self._shard: Shard | None = None
        """Which part of the targets is ours; None: all."""
        self._patient = False
        """What is new among them at the next look was another shard's."""
        self.done = self._quota.met
        self.wanted: dict[Identity, Target] = {}
        self.unready = _LOOKING
        """Why there is nothing to be expected of this agent yet; empty when there is."""
        self._pool = Pool(
            self._visit,
            clock.wall,
            clock.sleep,
            prompt=True,
            bug=self._bug,
            late=observer.metrics.lateness.scrape,
        )

    def follow(self, plan: Plan) -> None:
        """Work by this plan from the next scrape on; what is known of the pages stays."""
        self._watch.follow(plan.jobs)
        self._shard = plan.shard
        budget = self._purse.follow(plan.budget)
        self._jobs = {
            job.name: Working(job, Recipe(plan, job, budget), plan.shard) for job in plan.jobs
        }
        self._reports.follow(plan, budget)
        self._chorus.follow(plan.dcgm.prefer)
        self._frost.follow(plan.dcgm.frozen_after)
        for identity, page in self._pages.renew().items():
            target = self.wanted.get(identity)
            if target is not None and target.job in self._jobs:
                self._page(target).adopt(page)

    def lead_changed(self, anew: bool) -> None:  # noqa: FBT001 - the leader's one word
        """Scrape from now on, or no more; ``anew``: others may have scraped since we did."""
        # What counters stood at then is none of ours to count from; nor is a page that another
        # thread goes on reading for nobody.
        if anew:
            self._pages.keep(())
        self._pages.forget_lent()
        self._chorus.silence()
        self._frost.keep(())
        self._close()
        self._fetcher.rest()
        self._reconcile()

    def rescale(self, shard: Shard) -> None:
        """Have another part of the targets from now on; what is known of those that stay stays."""
        # At the start there is a gap to be filled; later, others scrape what becomes ours, up to
        # now and at the same offset.
        self._patient = self._shard is not None and self._shard.count > 0
        self._shard = shard
        self._watch.changed.set()

    def limit(self, visits: int) -> None:
        """Scrape each target this often and no more; ``done`` is set when all have been."""
        self._quota.most = visits

    async def run(self) -> None:
        """Keep the wanted targets up to date, for ever."""
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self._watch.run())
            tasks.create_task(self._mind_windows())
            while True:
                await self.discover()
                await self._watch.changed.wait()

    async def discover(self) -> None:
        """Take up what is known of targets, and scrape what there is from now on."""
        self._watch.changed.clear()
        shard = self._shard
        patient, self._patient = self._patient, False
        if shard is not None and not shard.count:
            return  # what is ours is not known, and there was never anything
        waiting = self._watch.waiting()
        # A visit that ends meanwhile must not take the former targets for all there are.
        self._waiting = waiting or _LOOKING
        wanted: dict[Identity, Target] = {}
        dropped: list[DroppedTarget] = []
        forgotten: Counter[tuple[str, bool]] = Counter()
        for working in list(self._jobs.values()):
            lost: list[DroppedTarget] = []
            working.share(shard)
            for count, (kept, gone) in enumerate(working.found(self._watch.groups(working.job))):
                if not count % _AT_A_TIME:
                    await asyncio.sleep(0)
                lost += gone
                for target in kept:
                    wanted.setdefault(target.identity, target)
            most = working.job.keep_dropped_targets or len(lost)
            dropped += lost[:most]
            forgotten.update((one.job, one.rejected) for one in lost[most:])
        self.wanted, self._waiting = wanted, waiting
        self._active = Counter(target.job for target in wanted.values())
        for each in (self._reports, self._pages, self._chorus, self._frost, self._quota):
            each.keep(wanted)
        self._last = {key: visit for key, visit in self._last.items() if key in wanted}
        if wanted or dropped or not self._waiting:
            self._observer.discovered(list(wanted.values()), dropped, forgotten)
        self._reconcile(patient=patient)
        self.unready = self._waiting if self.unready else ""
        self._check_done()

    async def told(self, every: bool) -> bytes:  # noqa: FBT001 - the only thing that is asked
        """Give what is known of targets as JSON; ``every``: of each, scraped or not."""
        jobs = list(self._jobs.values())
        found = sights(self._watch, (each.job for each in jobs))
        roll = Roll(self._shard, visits=dict(self._last), every=every)
        # It takes half a second to judge five thousand pods.
        async with self._telling:
            return await aside.run(lambda: json.dumps(roll.document(found)).encode())

    async def stop(self) -> None:
        """Scrape no more, and have the events of what was scraped."""
        self._pages.forget_lent()
        await self._pool.stop()
        self._close()

    async def _mind_windows(self) -> None:
        """See to what waits for scrapes that do not come, for ever."""
        while True:
            await self._clock.sleep(_LOOK_S)
            now_ms = self._clock.wall_ms()
            await self._pages.close_due(now_ms)
            await self._reports.pages.close_due(now_ms)

    def _close(self) -> None:
        self._pages.close()
        self._reports.pages.close()

    def _closed(self, events: Sequence[EmfEvent]) -> None:
        self._put(events)
        self._observer.closed(events)

    def _reconcile(self, *, patient: bool = False) -> None:
        self._pool.reconcile(self.wanted.values() if self._leads() else (), patient=patient)

    async def _visit(self, target: Target) -> None:
        working = self._jobs.get(target.job)
        if working is None or self._quota.is_met(target.identity) or not self._leads():
            return  # and what would stop this visit has not had its turn yet
        crowd = self._crowd(working.job)
        answer = crowd or await self._fetcher.fetch(target, working.job, wanted=self._leads)
        if target.job not in self._jobs or (isinstance(answer, ScrapeFailed) and not self._leads()):
            return  # a reload took the job away meanwhile, or another does it now
        if isinstance(answer, ScrapeFailed):
            self._fail(target, answer, Counts())
        else:
            await self._take(target, answer)
        self._quota.count(target.identity)
        self._check_done()

    def _bug(self, target: Target, error: Exception) -> None:
        self._observer.bug(target, error)
        self._quota.count(target.identity)  # or a run with a limit would never end
        self._check_done()

    def _crowd(self, job: Job) -> ScrapeFailed | None:
        """Fail every scrape of a job that has more targets than it may."""
        detail = crowd(job, self._active[job.name])
        if not detail:
            return None
        return ScrapeFailed(self._clock.wall_ms(), FailReason.TARGET_LIMIT, detail, 0.0)

    async def _take(self, target: Target, answer: Scrape) -> None:
        reading = await self._read(target, answer)
        if reading is None:
            return
        at_ms, duration_s = answer.at_ms, answer.duration_s
        if isinstance(reading, Refused):
            failed = ScrapeFailed(at_ms, reading.reason, reading.detail, duration_s)
            self._fail(target, failed, reading.counts)
            return
        self._last[target.identity] = Visit(at_ms, duration_s)
        self._put(reading.events)  # before it is counted: what counts is kept
        self._observer.scraped(target, answer, reading)
        self._chorus.heard(target, reading)
        self._frost.feel(target, reading.pulse, at_ms)
        report = Report(up=True, duration_s=duration_s, counts=reading.counts)
        self._reports.send(target, at_ms, report, reading.shadowed, watched=reading.watched)
        self._purse.look(at_ms)

    def _fail(self, target: Target, failed: ScrapeFailed, counts: Counts) -> None:
        self._last[target.identity] = Visit(failed.at_ms, failed.duration_s, failed)
        self._observer.scrape_failed(target, failed)
        self._chorus.missed(target)
        report = Report(up=False, duration_s=failed.duration_s, counts=counts)
        self._reports.send(target, failed.at_ms, report)

    async def _read(self, target: Target, answer: Scrape) -> Reading | Refused | None:
        """Give what is on the page; None when the job is not ours any more, as in ``_visit``."""
        got = (answer.body, answer.at_ms, answer.content_type)
        if len(answer.body) >= _LARGE_BYTES:
            return await self._read_aside(target, *got)
        replayed = self._page(target).replay(*got)
        if replayed is not None:
            return replayed
        # Many new pages at once, as at the start, must not hold up the scrapes that are due: one
        # is read, and then all else has its turn.
        async with self._learning:
            await asyncio.sleep(0)
            ours = target.job in self._jobs and self._leads()
            return self._page(target).learn(*got) if ours else None

    async def _read_aside(
        self, target: Target, body: bytes, at_ms: int, content_type: str
    ) -> Reading | Refused:
        page = self._page(target)
        self._pages.lend(target.identity)

        def read() -> Reading | Refused:
            reading = page.read(body, at_ms, content_type)
            if isinstance(reading, Refused):
                return reading
            # Nothing waits on a page that nobody may ask for it.
            return reading._replace(events=reading.events + page.close())

        try:
            return await aside.run(read)
        finally:
            self._pages.back(target.identity)

    def _page(self, target: Target) -> Page:
        recipe = self._jobs[target.job].recipe
        voice = self._chorus.voice
        return self._pages.give(target.identity, lambda: Page(recipe, target.labels, voice(target)))

    def _check_done(self) -> None:
        if not self._waiting:
            self._quota.check(self.wanted)
