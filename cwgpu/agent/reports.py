"""The report series of targets (``up`` and the like), where their job asks for them."""

from collections.abc import Callable, Collection, Sequence
from typing import cast

from cwgpu.agent.observe import Observer
from cwgpu.digest import report
from cwgpu.digest.page import Page
from cwgpu.digest.recipe import Recipe
from cwgpu.digest.report import Report
from cwgpu.model.event import EmfEvent
from cwgpu.model.reading import Reading
from cwgpu.model.target import Identity, Target
from cwgpu.plan.plan import Plan


class Reports:
    """Makes events of what scrapes came to."""

    def __init__(self, put: Callable[[Sequence[EmfEvent]], None], observer: Observer) -> None:
        """Silent until ``follow`` gives it a plan."""
        self._put = put
        self._observer = observer
        self._recipes: dict[str, Recipe] = {}
        self._pages: dict[Identity, Page] = {}

    def follow(self, plan: Plan) -> None:
        """Work by this plan. Reports are gauges, so there is nothing to be kept of the last."""
        jobs = [job for job in plan.jobs if job.report_series]
        self._recipes = {job.name: Recipe(plan, report.job(job)) for job in jobs}
        self._pages = {}

    def keep(self, wanted: Collection[Identity]) -> None:
        """Forget all targets but these."""
        self._pages = {key: page for key, page in self._pages.items() if key in wanted}

    def send(
        self, target: Target, at_ms: int, found: Report, shadowed: Collection[str] = ()
    ) -> None:
        """Report a scrape; the page itself has the series that are ``shadowed``."""
        recipe = self._recipes.get(target.job)
        if recipe is None:
            return
        page = self._pages.get(target.identity)
        if page is None:
            page = Page(recipe, report.labels(target.labels))
            self._pages[target.identity] = page
        # It is a page of ours, and read without limits.
        reading = cast("Reading", page.read(found.page(shadowed), at_ms))
        self._put(reading.events)
        self._observer.reported(target, reading)
