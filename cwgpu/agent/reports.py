"""Series of our own about targets: ``up`` and the like, and gauges about GPUs, if asked for."""

from collections.abc import Callable, Collection, Sequence
from typing import cast

from cwgpu.agent.observe import Observer
from cwgpu.agent.pages import Pages
from cwgpu.digest import report
from cwgpu.digest.budget import Budget
from cwgpu.digest.derived import Gauges
from cwgpu.digest.page import Page
from cwgpu.digest.recipe import Recipe
from cwgpu.digest.report import Report
from cwgpu.model.event import EmfEvent
from cwgpu.model.reading import Reading, Watched
from cwgpu.model.target import Identity, Target
from cwgpu.plan.plan import Idle, Plan


class Reports:
    """Makes events of what scrapes came to."""

    def __init__(
        self,
        put: Callable[[Sequence[EmfEvent]], None],
        observer: Observer,
        closed: Callable[[Sequence[EmfEvent]], None],
    ) -> None:
        """Silent until ``follow`` gives it a plan.

        ``put`` takes the events of scrapes, ``closed`` those of what waited.
        """
        self._put = put
        self._observer = observer
        self._recipes: dict[str, Recipe] = {}
        self.pages = Pages(closed)
        """Those of our own series."""
        self._idle: Idle | None = None
        self._gauges: dict[Identity, Gauges] = {}
        self._reported: frozenset[str] = frozenset()
        """Jobs whose scrapes are reported."""

    def follow(self, plan: Plan, budget: Budget | None = None) -> None:
        """Work by this plan. Of the last one is kept since when GPUs are idle, and no more."""
        self._reported = frozenset(job.name for job in plan.jobs if job.report_series)
        dcgm = plan.dcgm
        wanted = dcgm.xid_fatal or dcgm.idle is not None
        jobs = [job for job in plan.jobs if wanted or job.report_series]
        own = report.plan(plan)
        self._recipes = {job.name: Recipe(own, report.job(job), budget) for job in jobs}
        self.pages.renew()
        if not wanted or dcgm.idle != self._idle:
            self._gauges = {}
        self._idle = dcgm.idle

    def keep(self, wanted: Collection[Identity]) -> None:
        """Forget all targets but these."""
        self.pages.keep(wanted)
        self._gauges = {key: one for key, one in self._gauges.items() if key in wanted}

    def send(
        self,
        target: Target,
        at_ms: int,
        found: Report,
        shadowed: Collection[str] = (),
        *,
        watched: Sequence[Watched] = (),
    ) -> None:
        """Report a scrape, and what was watched on its page.

        The page itself has the series that are ``shadowed``.
        """
        recipe = self._recipes.get(target.job)
        text = found.page(shadowed) if target.job in self._reported else b""
        text += self._gauged(target, at_ms, watched) if watched else b""
        if recipe is None or not text:
            return
        labels = report.labels(target.labels)
        page = self.pages.give(target.identity, lambda: Page(recipe, labels))
        # It is a page of ours, and read without limits.
        reading = cast("Reading", page.read(text, at_ms))
        self._put(reading.events)
        self._observer.reported(target, reading)

    def _gauged(self, target: Target, at_ms: int, watched: Sequence[Watched]) -> bytes:
        gauges = self._gauges.get(target.identity)
        if gauges is None:
            gauges = self._gauges[target.identity] = Gauges(self._idle, target.interval_s)
        return gauges.page(watched, at_ms, report.labels(target.labels))
