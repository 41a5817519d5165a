"""Scrapes played through the real rules, and what came of them.

Nothing here knows how events are made: pages are read by ``digest.page`` and cut into batches by
``logs.batch``, as the agent does it, and what comes out is counted.
"""

import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from cwgpu.cli.cost.seen import Seen
from cwgpu.cli.cost.subject import Subject
from cwgpu.digest import report
from cwgpu.digest.derived import Gauges
from cwgpu.digest.page import Page
from cwgpu.digest.recipe import Recipe
from cwgpu.digest.report import Report
from cwgpu.logs import batch, limits
from cwgpu.model.errors import ExpositionError
from cwgpu.model.event import EmfEvent, StreamKey
from cwgpu.model.reading import Reading, Refused
from cwgpu.plan.plan import Job, Plan

HOUR_MS = 3_600_000
START_MS = 490_278 * HOUR_MS
"""The beginning of some hour: windows of a minute begin with it. It is one of December 2025."""
# What `scrape_duration_seconds` is: only its length matters.
_SCRAPE_S = 0.012345

Scrape: TypeAlias = tuple[int, bytes]
"""When it began, and the page."""


@dataclass(slots=True)
class Usage:
    """What goes to CloudWatch, counted as it is billed."""

    events: float = 0.0
    size_bytes: float = 0.0
    """UTF-8 bytes of the messages, and 26 for each event."""
    samples: float = 0.0
    datapoints: float = 0.0

    def add(self, other: "Usage", times: float) -> None:
        """Add that, so many times."""
        self.events += other.events * times
        self.size_bytes += other.size_bytes * times
        self.samples += other.samples * times
        self.datapoints += other.datapoints * times


@dataclass(slots=True)
class Played:
    """What came of some scrapes of one target."""

    usage: Usage = field(default_factory=Usage)
    seen: Seen = field(default_factory=Seen)

    def take(self, events: Iterable[EmfEvent], now_ms: int) -> None:
        """Count what CloudWatch would take of these events."""
        by_stream: dict[StreamKey, list[EmfEvent]] = {}
        for event in events:
            by_stream.setdefault(event.stream, []).append(event)
        for some in by_stream.values():
            for each in batch.cut(some, now_ms).batches:
                billed_bytes = each.size_bytes + limits.EVENT_OVERHEAD_BYTES * len(each.events)
                of_batch = Usage(len(each.events), billed_bytes, each.samples, each.datapoints)
                self.usage.add(of_batch, 1)
                for event in each.events:
                    self.seen.add(event.message)


class Player:
    """Plays pages by one plan."""

    def __init__(self, plan: Plan) -> None:
        """Begin with nothing known of any page."""
        self.plan = plan
        self._recipes: dict[str, Recipe] = {}

    def play(self, subject: Subject, scrapes: Sequence[Scrape]) -> Played:
        """Play scrapes in order of time. What comes before ``START_MS`` is only a beginning.

        ExpositionError when a page is refused.
        """
        played = Played()
        events = (one for one in self.events(subject, scrapes) if one.at_ms >= START_MS)
        played.take(events, scrapes[-1][0])
        return played

    def events(self, subject: Subject, scrapes: Sequence[Scrape]) -> Iterator[EmfEvent]:
        """Give all that these scrapes make."""
        page, own = Page(self._recipe(subject.job), subject.labels), self._own(subject)
        for at_ms, body in scrapes:
            reading = page.read(body, at_ms, subject.content_type)
            if isinstance(reading, Refused):
                why = f"{reading.detail} ({reading.reason.value})"
                raise ExpositionError(f"{subject.name}: the page is refused: {why}")
            yield from reading.events
            yield from own.events(reading, at_ms)
        yield from itertools.chain(page.close(), own.page.close())

    def _own(self, subject: Subject) -> "_Own":
        name = f"{subject.job.name} of ours"
        recipe = self._recipes.get(name)
        if recipe is None:
            recipe = Recipe(report.plan(self.plan), report.job(subject.job))
            self._recipes[name] = recipe
        gauges = Gauges(self.plan.dcgm.idle, subject.job.interval_s)
        return _Own(subject, Page(recipe, report.labels(subject.labels)), gauges)

    def _recipe(self, job: Job) -> Recipe:
        recipe = self._recipes.get(job.name)
        if recipe is None:
            recipe = self._recipes[job.name] = Recipe(self.plan, job)
        return recipe


@dataclass(frozen=True, slots=True)
class _Own:
    """Series of our own about a target: what the agent adds to its page, if it is asked to."""

    subject: Subject
    page: Page
    gauges: Gauges

    def events(self, reading: Reading, at_ms: int) -> Iterable[EmfEvent]:
        """Tell of a scrape."""
        text = b""
        if self.subject.job.report_series:
            found = Report(up=True, duration_s=_SCRAPE_S, counts=reading.counts)
            text += found.page(reading.shadowed)
        if reading.watched:
            text += self.gauges.page(reading.watched, at_ms, report.labels(self.subject.labels))
        told = self.page.read(text, at_ms) if text else None
        return told.events if isinstance(told, Reading) else ()
