"""What one page gave: the events made of it, and an account of every sample that is in none."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

from cwgpu.model.drop import DropReason
from cwgpu.model.event import EmfEvent
from cwgpu.model.labels import LabelPairs
from cwgpu.model.scrape import FailReason


@dataclass(frozen=True, slots=True)
class Drop:
    """Samples of one page that were dropped for one reason."""

    reason: DropReason
    count: int
    names: tuple[str, ...]
    """The first few metric names it befell, each once."""
    detail: str = ""
    """The rule that decided on the first of them, where the reason does not say it."""


@dataclass(frozen=True, slots=True)
class BadLine:
    """A line that is no exposition text."""

    number: int
    """Counted from 1."""
    fault: str
    text: str
    """The line's beginning."""


@dataclass(frozen=True, slots=True)
class Counts:
    """A page's samples as Prometheus counts them, for the series that it reports of each scrape."""

    scraped: int = 0
    """Up to what failed the scrape, if anything did."""
    passed: int = 0
    """Left by metric relabelling; a series that came twice counts twice."""
    added: int = 0
    """Series that the last page did not have."""


@dataclass(frozen=True, slots=True)
class Watched:
    """What a DCGM field said at a scrape, of which metrics of our own are made."""

    field: str
    """By its older name."""
    labels: LabelPairs
    """Those of the GPU's row, as they are sent."""
    value: float
    """A utilisation is in percent, whatever the field."""
    has_pod: bool
    """Whether the page says that a pod has the GPU."""


@dataclass(frozen=True, slots=True)
class Pulse:
    """What moves on the page of an exporter that still measures."""

    page: int
    """A hash of the whole page, which equal pages have in common."""
    energies: tuple[tuple[str, float], ...]
    """What each GPU has used since the driver was loaded; none if the page does not say so."""


Part: TypeAlias = tuple[str, str]
"""A GPU's UUID, and the number of a slice of it; empty for the whole GPU."""
Told: TypeAlias = Mapping[Part, frozenset[str]]
"""The DCGM metrics that a page tells of each GPU, and that are to be sent."""


# One for every scrape: a frozen dataclass of so many fields takes three times as long to make.
class Reading(NamedTuple):
    """A page that was read. ``samples == selected + sum of the drops' counts``, always."""

    events: tuple[EmfEvent, ...]
    """Those that came with it: of its own samples, or of samples that waited for their window."""
    samples: int
    """Sample lines of the page, bad ones included."""
    selected: int
    """Samples that events carry, these ones or one that comes when their window is over."""
    dropped: tuple[Drop, ...]
    bad_lines: tuple[BadLine, ...]
    """The first few; all of them are counted in ``dropped``."""
    partly: tuple[Drop, ...] = ()
    """Samples among ``selected`` that CloudWatch gets by fewer dimension sets than they are
    declared for, because it would refuse the others."""
    counts: Counts = Counts()
    shadowed: frozenset[str] = frozenset()
    """Names of report series (``up`` and the like) that the page itself has for this target."""
    watched: tuple[Watched, ...] = ()
    """Only where the plan asks for metrics that are made of it."""
    told: Told | None = None
    """None where it is what the last page told, or nobody compares what targets tell."""
    pulse: Pulse | None = None
    """Of a page with DCGM's metrics, where the plan asks whether it moves."""


class Refused(NamedTuple):
    """An answer that is no metrics page, or that its job's limits do not let in."""

    reason: FailReason
    detail: str
    counts: Counts = Counts()
