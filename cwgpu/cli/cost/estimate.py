"""The estimate: pages played by a plan, and by plans a little different, for a whole fleet."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from cwgpu.cli.cost import bill, fleet, scene, variants
from cwgpu.cli.cost.bill import Bill
from cwgpu.cli.cost.fleet import Fleet, Metrics
from cwgpu.cli.cost.play import Player, Usage
from cwgpu.cli.cost.prices import Prices
from cwgpu.cli.cost.scene import Scene
from cwgpu.cli.cost.subject import Subject
from cwgpu.cli.cost.variants import Variant
from cwgpu.plan.plan import Plan


@dataclass(frozen=True, slots=True)
class Asked:
    """What is to be estimated."""

    plan: Plan
    subjects: Sequence[Subject]
    fleet: Fleet
    prices: Prices
    pods_per_day: float = 0.0


@dataclass(frozen=True, slots=True)
class Estimate:
    """What one plan comes to."""

    variant: Variant
    pages: Usage
    """An hour of the pages as they are."""
    hour: Usage
    """An hour of the fleet."""
    metrics: Metrics
    fleet_metrics: float
    """Different metrics of the fleet."""
    started_hours: float
    """Metric-hours of a month that come on top because pods start."""
    month_gb: float
    """Log events of a month, as they are billed."""
    bill: Bill


@dataclass(frozen=True, slots=True)
class Estimates:
    """The estimate of a configuration, and those of others."""

    asked: Asked
    configured: Estimate
    packings: tuple[Estimate, ...]
    omissions: tuple[Estimate, ...]
    simulated_hours: float
    """How much time of each page was played, at least."""


def estimate(asked: Asked) -> Estimates:
    """Make all estimates; ExpositionError when a page is refused."""
    configured = _Tally(Variant(asked.plan), asked)
    packings = [_Tally(each, asked) for each in variants.packings(asked.plan)]
    omissions = [_Tally(each, asked) for each in variants.omissions(asked.plan)]
    scaled = fleet.scaled(asked.subjects)
    telling = scene.telling_labels([one.labels for one in scaled])
    hours = []
    for subject in asked.subjects:
        count = scene.scrapes(subject, asked.plan.emf.events.window_s, len(asked.subjects))
        played = scene.scene(
            subject, count, telling, scaled=any(subject is each for each in scaled)
        )
        hours.append(played.hours)
        for each in (configured, *packings, *omissions):
            each.play(played)
    return Estimates(
        asked,
        configured.estimate(),
        tuple(each.estimate() for each in packings),
        tuple(each.estimate() for each in omissions),
        min(hours),
    )


@dataclass(slots=True)
class _Tally:
    """What a variant comes to, while pages are played."""

    variant: Variant
    asked: Asked
    pages: Usage = field(default_factory=Usage)
    hour: Usage = field(default_factory=Usage)
    metrics: Metrics = field(default_factory=Metrics)
    player: Player = field(init=False)

    def __post_init__(self) -> None:
        self.player = Player(self.variant.plan)

    def play(self, one: Scene) -> None:
        """Play one target."""
        played = self.player.play(one.itself.subject, one.itself.scrapes)
        self.pages.add(played.usage, 1 / one.hours)
        self.hour.add(played.usage, (self.asked.fleet.per_gpu if one.scaled else 1) / one.hours)
        self.metrics.here.update(played.seen)
        for take, metrics in (
            (one.other_node, self.metrics.other_nodes),
            (one.other_gpus, self.metrics.other_gpus),
            (one.other_pods, self.metrics.other_pods),
        ):
            metrics.update(self.player.play(take.subject, take.scrapes).seen)

    def estimate(self) -> Estimate:
        """Make out what the fleet comes to."""
        asked = self.asked
        metrics = sum(self.metrics.times(one, asked.fleet) for one in self.metrics.here)
        started = asked.pods_per_day * bill.MONTH_H / 24 * self.metrics.per_pod(asked.fleet)
        gb = self.hour.size_bytes * bill.MONTH_H / bill.GB
        return Estimate(
            self.variant,
            self.pages,
            self.hour,
            self.metrics,
            metrics,
            started,
            gb,
            bill.bill(
                asked.prices,
                metrics=metrics,
                started_hours=started,
                gb=gb,
                retention_days=asked.plan.cloudwatch.retention_days,
            ),
        )
