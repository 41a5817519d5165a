"""What a page remembers of each line it has seen."""

from collections.abc import Callable
from dataclasses import dataclass

from cwgpu.emf.delta import Baseline, Treatment
from cwgpu.emf.template import Metric
from cwgpu.gpu.scale import Convert
from cwgpu.model.drop import DropReason
from cwgpu.model.kind import Kind
from cwgpu.model.labels import LabelPairs
from cwgpu.prom.family import Role


@dataclass(frozen=True, slots=True)
class Slot:
    """Where a line's value goes: metric ``metric`` of the record that has these labels."""

    labels: LabelPairs
    metric: Metric
    treatment: Treatment | None
    """How a counter's values are turned into differences; None for gauges."""
    field: str = ""
    """The DCGM field whose blank values are looked for, by the name it had before relabelling."""
    convert: Convert | None = None
    """From the value on the page to the metric's, of a DCGM field; None: they are the same."""


@dataclass(frozen=True, slots=True)
class Partial(Slot):
    """One by fewer dimension sets than it is declared for."""

    skipped: str = ""
    """The first of the others, and why CloudWatch would not take it."""


@dataclass(frozen=True, slots=True)
class Watch:
    """A line whose value metrics of our own are made of, whatever becomes of the line itself."""

    field: str
    """The DCGM field, by its older name."""
    labels: LabelPairs
    """As they are sent, without those that come with an XID."""
    has_pod: bool
    """Whether the page says that a pod has the GPU."""
    read: Callable[[float], float | None]
    """From the value on the page to the field's; None where there is none."""


@dataclass(frozen=True, slots=True)
class Dropped:
    """Why a line's value goes nowhere, whatever it is."""

    reason: DropReason
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Exposed:
    """What lines of one metric have in common, on all pages of a job."""

    text: bytes
    """The name as the page writes it; empty where it stands within the braces."""
    name: str
    """As exposed: relabelling may have given the metric another name."""
    context: Kind
    """TYPE that stood above it: it decides how ``le`` and ``quantile`` are written."""
    role: Role | None


@dataclass(slots=True)
class Line:
    """One series as the page writes it."""

    exposed: Exposed
    rest: bytes
    """What stands between the name and the value: the same for all metrics of a GPU."""
    fate: Slot | Dropped
    seen_at: int
    """The number of the page, of those that were let in, on which it was last there."""
    baseline: Baseline | None = None
    shadows: str = ""
    """The report series (``up`` and the like) in whose place it stands."""
    watch: Watch | None = None

    @property
    def name(self) -> str:
        """The name as exposed."""
        return self.exposed.name

    @property
    def role(self) -> Role | None:
        """What it is within its family."""
        return self.exposed.role

    @property
    def head(self) -> bytes:
        """Everything before the value."""
        return self.exposed.text + self.rest
