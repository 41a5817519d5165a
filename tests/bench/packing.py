"""What CloudWatch is sent of a page, in each form: ``python -m tests.bench.packing``.

A node of eight GPUs and the article's 14 metrics, by its five dimensions: bytes and events of some
minutes, with the 26 bytes that CloudWatch counts for each event. Figures: docs/performance.md.
"""

import sys
from dataclasses import dataclass

from cwgpu.digest.page import Page
from cwgpu.digest.recipe import Recipe
from cwgpu.logs import limits
from cwgpu.model.event import EmfEvent
from cwgpu.model.reading import Reading
from cwgpu.plan.plan import Events, GroupBy
from tests.bench import pages
from tests.golden import plans

NAME = "02-h100x8-pods-4.8.1"
MINUTES = 3
MINUTE_S = 60
START_MS = pages.START_MS // 60_000 * 60_000
INTERVALS_S = (5, 15)
AGENT = "group_by: labels, emit: scrape, labels: all"
SMALL = "group_by: labels, emit: scrape, labels: dimensions"
ARRAYS = "group_by: dimensions, emit: 60s, labels: dimensions"
FORMS = {
    AGENT: Events(),
    SMALL: Events(labels="dimensions"),
    "group_by: labels, emit: 60s, labels: all": Events(window_s=60.0),
    "group_by: labels, emit: 60s, labels: dimensions": Events(window_s=60.0, labels="dimensions"),
    "group_by: dimensions, emit: scrape, labels: all": Events(GroupBy.DIMENSIONS),
    "group_by: dimensions, emit: 60s, labels: all": Events(GroupBy.DIMENSIONS, 60.0),
    ARRAYS: Events(GroupBy.DIMENSIONS, 60.0, "dimensions"),
    f"{ARRAYS}, precision: 3": Events(GroupBy.DIMENSIONS, 60.0, "dimensions", 3),
}


@dataclass(frozen=True, slots=True)
class Sent:
    """What is sent in a minute."""

    events: float
    samples: float
    size_bytes: float

    @property
    def bytes_per_sample(self) -> float:
        """Log bytes that CloudWatch bills for a sample."""
        return self.size_bytes / self.samples


def sent(events: Events, interval_s: int) -> Sent:
    """Scrape for some minutes, each value another one at each scrape."""
    plan = plans.packed("article", events, float(interval_s))
    page = Page(Recipe(plan, plan.jobs[0]), plans.TARGET)
    made: list[EmfEvent] = []
    for turn, body in enumerate(pages.scrapes(NAME, MINUTES * MINUTE_S // interval_s)):
        reading = page.read(body, START_MS + turn * interval_s * 1000, pages.TYPE)
        assert isinstance(reading, Reading)
        made += reading.events
    made += page.close()
    size = sum(len(event.message) + limits.EVENT_OVERHEAD_BYTES for event in made)
    samples = sum(event.samples for event in made)
    return Sent(len(made) / MINUTES, samples / MINUTES, size / MINUTES)


def main() -> None:
    """Print a table."""
    for interval_s in INTERVALS_S:
        sys.stdout.write(
            f"scraped every {interval_s} s:  bytes a sample, bytes and events a minute\n"
        )
        for name, events in FORMS.items():
            one = sent(events, interval_s)
            row = f"{one.bytes_per_sample:7.1f} {one.size_bytes:9,.0f} {one.events:5.0f}"
            sys.stdout.write(f"  {name:<66}{row}\n")


if __name__ == "__main__":
    main()
