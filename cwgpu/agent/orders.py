"""What a run of the agent is told, and how it ends: values."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from cwgpu.agent.lane import Trouble
from cwgpu.agent.ports import Sink
from cwgpu.agent.stock import Rest
from cwgpu.logs.verdict import Answer
from cwgpu.plan.plan import Plan

if TYPE_CHECKING:  # whoever has a directory has loaded it
    from cwgpu.spool.directory import Spool


@dataclass(frozen=True, slots=True)
class Orders:
    """What one run is to do."""

    plan: Plan
    load: Callable[[], Plan]
    """Reads the configuration again; ConfigurationError when it is broken."""
    sink: Sink
    spool: "Spool | None" = None
    """Where batches wait; not open yet. None: in memory."""
    flush_interval_s: float | None = None
    """In place of the plan's."""
    scrapes: int | None = None
    """Scrape every target this often and end; None goes on."""
    duration_s: float | None = None
    """End after this long; None goes on."""
    listen: tuple[str, int] | None = None
    """Where to serve health and metrics."""
    hung_up: Callable[[], bool] = lambda: False
    """Whether a reload was asked for before anybody here could hear it."""
    tick: Callable[[], None] = lambda: None
    """Called about once a second."""


@dataclass(frozen=True, slots=True)
class Ending:
    """How a run ended."""

    broken: Answer | None = None
    """The sink's last word, if it broke."""
    troubles: tuple[Trouble | None, ...] = ()
    """Why what was held could not be delivered, for each stream; empty when all was."""
    rest: Rest = field(default_factory=Rest)
    """What became of it."""
    bug: BaseException | None = None
    """What ended a part that never ends."""
