"""The figures of one program before the fleet."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.bench.fleet import inside, record
from tests.bench.fleet.course import Course, Moment
from tests.bench.fleet.flags import Flags
from tests.bench.fleet.record import Put

SHARES = (0.5, 0.99)


@dataclass(frozen=True, slots=True)
class Figures:
    """Of the time that was measured; peaks are those since the program began."""

    warm_up_s: float
    seconds: float
    scrapes: int
    samples: int
    cpu_s: float
    cpu_us_per_sample: float
    samples_per_s_of_core: float
    core_percent: float
    """Of one core, at this load."""
    exporters_us_per_sample: float
    """What it takes to be scraped: much less, or the measured one waits for a core."""
    rss_peak_bytes: int
    pss_peak_bytes: int
    threads: int
    fds: int
    calls: int
    """Of PutLogEvents, that were accepted."""
    events: int
    raw_bytes: int
    """Of request bodies, before compression."""
    wire_bytes: int
    """Of request bodies, as sent."""
    billed_bytes: int
    """Of messages, and 26 for each: what CloudWatch counts."""
    samples_sent: int
    """In these events: what was scraped just before came just after."""
    billed_bytes_per_sample: float | None
    """Of those that were sent."""
    accepted_after_s: dict[str, float]
    """Quantiles over events: from an event's time to its being accepted."""
    loop_lag_s: dict[str, float | None]
    lateness_s: dict[str, float | None]
    delivery_latency_s: dict[str, float | None]
    """By the agent's own histogram: from the oldest scrape of a batch."""
    exit_code: int | None


def of(course: Course, calls: Path, flags: Flags) -> Figures:
    """Make them of what was seen and of what was sent."""
    begin, end = course.begin, course.end
    puts = [_told(put) for put in record.puts(calls) if begin.at_s < put.at_s <= end.at_s]
    samples = course.scrapes * flags.samples
    billed, sent = sum(put.billed_bytes for put in puts), sum(put.samples for put in puts)
    return Figures(
        warm_up_s=round(course.warm_up_s, 1),
        seconds=round(course.seconds, 3),
        scrapes=course.scrapes,
        samples=samples,
        cpu_s=round(course.cpu_s, 4),
        cpu_us_per_sample=round(course.cpu_s / samples * 1e6, 3),
        samples_per_s_of_core=round(samples / course.cpu_s),
        core_percent=round(course.cpu_s / course.seconds * 100, 3),
        exporters_us_per_sample=round(
            (end.exporters_cpu_s - begin.exporters_cpu_s) / samples * 1e6, 3
        ),
        rss_peak_bytes=course.peak.rss_bytes,
        pss_peak_bytes=course.peak.pss_bytes,
        threads=course.peak.threads,
        fds=course.peak.fds,
        calls=len(puts),
        events=sum(len(put.ages_s) for put in puts),
        raw_bytes=sum(put.raw_bytes for put in puts),
        wire_bytes=sum(put.wire_bytes for put in puts),
        billed_bytes=billed,
        samples_sent=sent,
        billed_bytes_per_sample=round(billed / sent, 2) if sent else None,
        accepted_after_s=_quantiles([age for put in puts for age in put.ages_s]),
        loop_lag_s=_inside(begin, end, "cwgpu_event_loop_lag_seconds"),
        lateness_s=_inside(begin, end, "cwgpu_scrape_lateness_seconds"),
        delivery_latency_s=_inside(begin, end, "cwgpu_delivery_latency_seconds"),
        exit_code=course.code,
    )


@dataclass(frozen=True, slots=True)
class _Told:
    """A call without its events, which take a gigabyte if all are held."""

    raw_bytes: int
    wire_bytes: int
    billed_bytes: int
    samples: int
    ages_s: list[float]


def _told(put: Put) -> _Told:
    ages_s = [put.at_s - event["timestamp"] / 1000 for event in put.events]
    return _Told(put.raw_bytes, put.wire_bytes, put.billed_bytes, put.samples, ages_s)


def _quantiles(values: Sequence[float]) -> dict[str, float]:
    ordered = sorted(values)
    last = len(ordered) - 1
    return {
        _name(share): round(ordered[min(last, int(len(ordered) * share))], 3)
        for share in SHARES
        if ordered
    }


def _inside(begin: Moment, end: Moment, name: str) -> dict[str, float | None]:
    return {_name(share): inside.quantile(begin.page, end.page, name, share) for share in SHARES}


def _name(share: float) -> str:
    return f"p{share * 100:g}"
