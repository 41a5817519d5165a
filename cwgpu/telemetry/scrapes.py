"""The self metrics of pages and their samples.

A page is counted together with others, or when somebody asks for the metrics.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable
from typing import NamedTuple

from cwgpu.model.drop import DropReason
from cwgpu.model.reading import Drop, Reading
from cwgpu.model.scrape import Scrape, ScrapeFailed
from cwgpu.telemetry.meters import TOGETHER, Children, Meters

# From a page on loopback to a scrape_timeout of half a minute.
_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30)


class _Page(NamedTuple):
    """What is counted of a page."""

    job: str
    size_bytes: int
    seconds: float
    samples: int
    selected: int
    dropped: tuple[Drop, ...]


class Scrapes:
    """Counts what it is told."""

    def __init__(self, meters: Meters) -> None:
        self._pages: list[_Page] = []
        self._newest_ms = 0
        self._describe_scrapes(meters)
        self._describe_samples(meters)
        meters.before(self._settle)

    def read(self, job: str, scrape: Scrape, reading: Reading) -> None:
        """Count a page that was read."""
        counted = (reading.samples, reading.selected, reading.dropped)
        self._pages.append(_Page(job, len(scrape.body), scrape.duration_s, *counted))
        self._newest_ms = max(self._newest_ms, scrape.at_ms)
        if len(self._pages) >= TOGETHER:
            self._settle()

    def failed(self, job: str, failed: ScrapeFailed) -> None:
        """Count a scrape that gave nothing, also one whose page was refused."""
        self._results[job, failed.reason.value].inc()
        self._seconds[job].observe(failed.duration_s)

    def reported(self, job: str, reading: Reading) -> None:
        """Count the samples of a target's report series."""
        self._samples[job].inc(reading.samples)
        self._selected[job].inc(reading.selected)
        self.drop((drop.reason, drop.count) for drop in reading.dropped)

    def drop(self, counts: Iterable[tuple[DropReason, int]]) -> None:
        """Count samples that do not reach CloudWatch."""
        for reason, count in counts:
            self._dropped[reason.value].inc(count)

    def _settle(self) -> None:
        """Count all pages that were read."""
        pages, self._pages = self._pages, []
        by_job: dict[str, list[_Page]] = defaultdict(list)
        lost: Counter[DropReason] = Counter()
        for page in pages:
            by_job[page.job].append(page)
            for drop in page.dropped:
                lost[drop.reason] += drop.count
        for job, those in by_job.items():
            self._count(job, those)
        self.drop(lost.items())
        if self._newest_ms:
            self._last.set(self._newest_ms / 1000)

    def _count(self, job: str, pages: list[_Page]) -> None:
        empty = sum(not page.samples for page in pages)
        for result, count in (("ok", len(pages) - empty), ("page_empty", empty)):
            if count:
                self._results[job, result].inc(count)
        for page in pages:
            self._seconds[job].observe(page.seconds)
        self._bytes[job].inc(sum(page.size_bytes for page in pages))
        self._samples[job].inc(sum(page.samples for page in pages))
        self._selected[job].inc(sum(page.selected for page in pages))

    def _describe_scrapes(self, meters: Meters) -> None:
        results = "Scrapes, by ok or why they gave nothing."
        self._results = Children(meters.counter("scrapes_total", results, ["job", "result"]))
        seconds = "From the beginning of a scrape to the last byte of its page or to its failure."
        self._seconds = Children(
            meters.histogram("scrape_duration_seconds", seconds, _SECONDS, ["job"])
        )
        size = "Bytes of the pages, decompressed."
        self._bytes = Children(meters.counter("scraped_bytes_total", size, ["job"]))
        self._last = meters.gauge(
            "last_scrape_success_timestamp_seconds", "When the newest page was scraped."
        )

    def _describe_samples(self, meters: Meters) -> None:
        samples = "Samples of the pages that were read."
        self._samples = Children(meters.counter("samples_read_total", samples, ["job"]))
        selected = "Samples that went into log events."
        self._selected = Children(meters.counter("samples_selected_total", selected, ["job"]))
        dropped = "Samples that do not reach CloudWatch, by reason."
        self._dropped = Children(meters.counter("dropped_samples_total", dropped, ["reason"]))
        for reason in DropReason:
            self._dropped[reason.value].inc(0)
