"""What is played of one target: an hour of it, and a moment of its twins."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from cwgpu.cli.cost import motion, twin
from cwgpu.cli.cost.play import HOUR_MS, START_MS, Scrape
from cwgpu.cli.cost.subject import Subject
from cwgpu.model.labels import Labels

# Of all pages together, by one plan: an hour of one page every 15 s, 0.15 s of CPU time. A dozen
# plans are played.
_MOST_SCRAPES = 240
# What the answers of one page to all its scrapes may take in memory.
_MOST_BYTES = 128 << 20
# Windows are played whole; of this length where there is none.
_WINDOW_S = 60.0


@dataclass(frozen=True, slots=True)
class Take:
    """A page and its scrapes, the first of which is only there for counters to begin with."""

    subject: Subject
    scrapes: Sequence[Scrape]


@dataclass(frozen=True, slots=True)
class Scene:
    """One target's pages, as they are played by each plan."""

    scaled: bool
    """Whether each node has a page like this."""
    hours: float
    """How much time is played."""
    itself: Take
    other_node: Take
    other_gpus: Take
    other_pods: Take


def scene(subject: Subject, count: int, telling: Collection[str], *, scaled: bool) -> Scene:
    """Prepare so many scrapes of a target; ``telling`` as in ``telling_labels``."""
    if scaled:
        other_node = twin.of_other_node(subject, telling)
        other_gpus, other_pods = twin.of_other_gpus(subject), twin.of_other_pods(subject)
    else:
        other_node = other_gpus = other_pods = subject
    return Scene(
        scaled,
        count * subject.job.interval_s * 1000 / HOUR_MS,
        itself=_take(subject, count),
        other_node=_take(other_node, 1),
        other_gpus=_take(other_gpus, 1),
        other_pods=_take(other_pods, 1),
    )


def _take(subject: Subject, count: int) -> Take:
    interval_ms = round(subject.job.interval_s * 1000)
    times_ms = [START_MS + step * interval_ms for step in range(-1, count)]
    return Take(subject, list(zip(times_ms, motion.bodies(subject, times_ms), strict=True)))


def scrapes(subject: Subject, window_s: float | None, pages: int) -> int:
    """Say how many scrapes of a page are played: those of an hour, if that is no waste of time."""
    interval_s, unit_s = subject.job.interval_s, window_s or _WINDOW_S
    most = min(_MOST_SCRAPES // pages, _MOST_BYTES // (len(subject.body) + 1))
    of_hour = HOUR_MS / 1000 / interval_s
    windows = max(1, int(most * interval_s / unit_s))
    return max(1, round(min(of_hour, windows * unit_s / interval_s)))


def telling_labels(several: Sequence[Labels]) -> frozenset[str]:
    """Name the labels by which these targets, of which each node has one, can be told apart."""
    names = frozenset[str]().union(*several)
    return frozenset(name for name in names if len({one.get(name) for one in several}) > 1)
