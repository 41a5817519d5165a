"""What was seen in a soak, and whether it meets the bars."""

import os
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from tests.bench.soak.shape import Shape

MIB = 1 << 20
WARM_SHARE = 1 / 3
"""Of the time, in which caches, connections and threads come to be; not looked at after."""
CALM_SHARE = 2 / 3
"""From then on the configuration is left alone, so that pages get old."""
MOST_SLOPE = 1.0
"""MiB in ten minutes."""
LEAST_S = 360.0
"""A shorter soak says something of its account alone."""
LEAST_FOR_SLOPE_S = 1200.0
"""A heap grows by steps of up to a MiB, which a slope over some minutes takes for a trend."""
MORE_FDS, MORE_THREADS = 6, 1
"""What the medians of two thirds may differ by. A target that was restarted has two connections
for five minutes; one left behind at each reload would be 7, at each target or restart tens."""


@dataclass(frozen=True, slots=True)
class Moment:
    """One look at the agent."""

    at_s: float
    rss_bytes: int
    pss_bytes: int
    fds: int
    threads: int
    cpu_s: float
    targets: Mapping[str, int]
    """By state."""
    queue_batches: int
    queue_bytes: int

    @property
    def line(self) -> str:
        """Give it for a person."""
        return (
            f"{self.at_s / 60:5.1f} min {self.rss_bytes / MIB:7.1f} MiB, {self.fds} fds, "
            f"{self.threads} threads, {self.targets.get('up', 0)} up, "
            f"{self.targets.get('down', 0)} down, {self.queue_batches} batches wait"
        )


@dataclass(frozen=True, slots=True)
class Account:
    """What became of all samples, once nothing is held any more."""

    read: int
    delivered: int
    dropped: Mapping[str, int]
    """By reason."""
    delivered_events: int
    """As the agent counts; what CloudWatch took comes next."""
    taken_events: int
    delivered_datapoints: int
    taken_datapoints: int
    emf_errors: int
    bugs: int
    """That the journal tells of."""
    lost_at_the_end: int
    """By its last line; -1 if there is none."""
    exit_code: int

    def faults(self) -> list[str]:
        """Say what is wrong with it; nothing if it is right to the sample."""
        decided = self.delivered + sum(self.dropped.values())
        pairs = (
            ("samples read, and delivered or dropped", self.read, decided),
            ("events delivered, and taken", self.delivered_events, self.taken_events),
            ("datapoints delivered, and taken", self.delivered_datapoints, self.taken_datapoints),
            ("EMF errors", self.emf_errors, 0),
            ("bugs", self.bugs, 0),
            ("samples lost at the end", self.lost_at_the_end, 0),
            ("exit code", self.exit_code, 0),
        )
        found = [f"{what}: {one} and {other}" for what, one, other in pairs if one != other]
        return found + ([] if self.delivered else ["nothing was delivered"])


@dataclass(frozen=True, slots=True)
class Course:
    """How one figure went after the warm-up."""

    first: float
    """Median of the first third."""
    last: float
    peak: float
    slope: float
    """By least squares, in ten minutes."""
    calm_slope: float
    """Of the last third alone."""


@dataclass(frozen=True, slots=True)
class Record:
    """One soak."""

    shape: Shape
    duration_s: float
    moments: Sequence[Moment]
    account: Account
    cpu_s: float
    done: Mapping[str, int]
    answers: Mapping[str, int]
    """That exporters wrote, by kind."""
    scrapes: Mapping[str, int]
    """By result."""
    reloads: Mapping[str, int]
    retried: Mapping[str, int]
    cloudwatch: Mapping[str, int]
    """Answers, by status and code."""
    bugs: Sequence[str] = ()
    """Tracebacks, those of the first few."""

    def course(self, name: str, unit: float = 1) -> Course:
        """Give how a figure of the moments went."""
        seen = [(each.at_s, getattr(each, name) / unit) for each in self.moments]
        points = [each for each in seen if each[0] >= self.duration_s * WARM_SHARE]
        # What is read anew at the last reload has a minute to settle.
        calm_s = self.duration_s * CALM_SHARE + self.shape.minute_s
        values = [value for _, value in points]
        third = max(1, len(points) // 3)
        return Course(
            first=statistics.median(values[:third]),
            last=statistics.median(values[-third:]),
            peak=max(values),
            slope=slope(points),
            calm_slope=slope([each for each in points if each[0] >= calm_s]),
        )

    @property
    def judged(self) -> bool:
        """Whether it was long enough for files and threads to be judged."""
        return self.duration_s >= LEAST_S

    @property
    def weighed(self) -> bool:
        """Whether it was long enough for memory to be judged."""
        return self.duration_s >= LEAST_FOR_SLOPE_S

    def faults(self) -> list[str]:
        """Say which bars are missed."""
        found = self.account.faults()
        if not self.judged:
            return found
        rss = self.course("rss_bytes", MIB)
        fds, threads = self.course("fds"), self.course("threads")
        if self.weighed and rss.slope > MOST_SLOPE:
            found.append(f"memory grows by {rss.slope:.2f} MiB in 10 minutes")
        if self.weighed and rss.calm_slope > MOST_SLOPE:
            found.append(f"without reloads memory grows by {rss.calm_slope:.2f} MiB in 10 minutes")
        if fds.last > fds.first + MORE_FDS:
            found.append(f"open files went from {fds.first:g} to {fds.last:g}")
        if threads.last > threads.first + MORE_THREADS:
            found.append(f"threads went from {threads.first:g} to {threads.last:g}")
        return found


def slope(points: Sequence[tuple[float, float]]) -> float:
    """Give how much it is in ten minutes, by least squares; 0 where there is no line.

    Points have seconds.
    """
    if len({x for x, _ in points}) < 2:
        return 0.0
    xs, ys = zip(*points, strict=True)
    return float(statistics.linear_regression(xs, ys).slope) * 600


def document(record: Record) -> dict[str, Any]:
    """Give all of it as JSON."""
    courses = {
        "rss_mib": record.course("rss_bytes", MIB),
        "pss_mib": record.course("pss_bytes", MIB),
        "fds": record.course("fds"),
        "threads": record.course("threads"),
    }
    return {
        "passes": not record.faults(),
        "faults": record.faults(),
        "judged": record.judged,
        "weighed": record.weighed,
        "after_warm_up": {
            name: {key: round(value, 2) for key, value in asdict(course).items()}
            for name, course in courses.items()
        },
        **asdict(record),
        "load_average": os.getloadavg()[2],
    }


def table(record: Record) -> str:
    """Give it for a person."""
    account, rss, pss = record.account, record.course("rss_bytes", MIB), record.course("pss_bytes")
    fds, threads = record.course("fds"), record.course("threads")
    dropped = sum(account.dropped.values())
    rows = [
        ("time", f"{record.duration_s / 60:.1f} min, the first third to warm up"),
        ("done", _counts(record.done)),
        ("scrapes", _counts(record.scrapes)),
        ("reloads", _counts(record.reloads)),
        ("batches retried", _counts(record.retried)),
        ("RSS", f"{rss.first:.1f} to {rss.last:.1f} MiB, at most {rss.peak:.1f}"),
        ("RSS in 10 min", f"{rss.slope:+.2f} MiB (wanted: at most {MOST_SLOPE:g})"),
        ("  without reloads", f"{rss.calm_slope:+.2f} MiB in the last third (the same)"),
        ("PSS in 10 min", f"{pss.slope / MIB:+.2f} MiB"),
        ("open files", f"{fds.first:g} to {fds.last:g}, at most {fds.peak:g}"),
        ("threads", f"{threads.first:g} to {threads.last:g}, at most {threads.peak:g}"),
        ("samples", f"{account.read} read = {account.delivered} delivered + {dropped} dropped"),
        ("dropped", _counts(account.dropped)),
        ("events", f"{account.delivered_events} delivered, {account.taken_events} taken"),
        ("datapoints", f"{account.delivered_datapoints} and {account.taken_datapoints}"),
        ("CPU", f"{record.cpu_s:.1f} s"),
        ("exit code", f"{account.exit_code}"),
    ]
    lines = [f"{name:<18} {value}" for name, value in rows]
    if not record.judged:
        lines.append("Too short to judge files and threads.")
    if not record.weighed:
        lines.append("Too short to judge memory.")
    return "\n".join([*lines, *(f"MISSED: {fault}" for fault in record.faults()), *record.bugs, ""])


def _counts(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{name} {count}" for name, count in sorted(counts.items())) or "none"
