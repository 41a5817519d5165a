"""The program's own metrics, which Prometheus or another cwgpu may scrape.

Names follow https://prometheus.io/docs/practices/naming/. Labels are jobs, which the configuration
bounds, and words of ours. No label names a target, a metric or a stream: their number has no bound.
"""

import platform
from collections import Counter as Tally
from collections.abc import Callable, Iterable
from operator import attrgetter
from types import MappingProxyType

import cwgpu
from cwgpu.model.event import Outcome
from cwgpu.model.reading import Reading
from cwgpu.model.scrape import Scrape, ScrapeFailed
from cwgpu.model.target import DroppedTarget, Forgotten, Identity, Target
from cwgpu.telemetry.delivery import Delivery
from cwgpu.telemetry.lateness import Lateness
from cwgpu.telemetry.meters import Meters
from cwgpu.telemetry.scrapes import Scrapes

_UP, _DOWN, _UNSCRAPED, _DROPPED, _REJECTED = "up", "down", "unscraped", "dropped", "rejected"


class Metrics:
    """Counts what it is told."""

    def __init__(self, now: Callable[[], float]) -> None:
        """``now`` gives seconds since 1970."""
        self._now = now
        self._states: dict[Identity, str] = {}
        self._meters = Meters()
        self._describe_program()
        self._describe_election()
        self._targets = self._meters.gauge(
            "targets", "Targets that discovery found.", ["job", "state"]
        )
        self._scrapes = Scrapes(self._meters)
        self._describe_findings()
        self.delivery = Delivery(self._meters, now)
        self.lateness = Lateness(self._meters)

    def discovered(
        self,
        wanted: Iterable[Target],
        dropped: Iterable[DroppedTarget],
        forgotten: Forgotten = MappingProxyType({}),
    ) -> None:
        """Take the targets there are now; those that stay keep their state."""
        former = self._states
        self._states = {
            target.identity: former.get(target.identity, _UNSCRAPED) for target in wanted
        }
        counts = Tally((identity[0], state) for identity, state in self._states.items())
        lost = Tally(map(attrgetter("job", "rejected"), dropped))
        lost.update(forgotten)
        for (job, rejected), count in lost.items():
            counts[job, _REJECTED if rejected else _DROPPED] += count
        self._targets.clear()
        for (job, state), count in counts.items():
            self._targets.labels(job, state).set(count)

    def scraped(self, target: Target, scrape: Scrape, reading: Reading) -> None:
        """Count a page that was read."""
        self._mark(target, _UP)
        self._scrapes.read(target.job, scrape, reading)

    def reported(self, target: Target, reading: Reading) -> None:
        """Count the samples of a target's report series."""
        self._scrapes.reported(target.job, reading)

    def scrape_failed(self, target: Target, failed: ScrapeFailed) -> None:
        """Count a scrape that gave nothing, also one whose page was refused."""
        self._mark(target, _DOWN)
        self._scrapes.failed(target.job, failed)

    def outcome(self, outcome: Outcome, size_bytes: int, age_s: float | None = None) -> None:
        """Count what became of a batch, whose messages have so many bytes.

        ``age_s`` goes from its oldest scrape to its being taken; None where nothing was.
        """
        self._scrapes.drop(outcome.dropped)
        if outcome.delivered_events:
            self.delivery.delivered(outcome, size_bytes, age_s)

    def reloaded(self, *, ok: bool) -> None:
        """Count a reload of the configuration; the first load is one."""
        self._reloads.labels("success" if ok else "failure").inc()
        self._reload_ok.set(ok)
        if ok:
            self._last_reload.set(self._now())

    def contends(self, leads: Callable[[], bool]) -> None:
        """Ask this at each rendering whether we lead."""
        self._leader.set_function(lambda: float(leads()))

    def counts(self, metrics: Callable[[], int], refused: Callable[[], int]) -> None:
        """Ask this at each rendering how many custom metrics there are, and how many may not be."""
        self._custom_metrics.set_function(metrics)
        self._refused_metrics.set_function(refused)

    def tells_twice(self, gpus: Callable[[], int]) -> None:
        """Ask this at each rendering of how many GPUs several targets tell."""
        self._told_twice.set_function(gpus)

    def frozen(self, jobs: Iterable[str]) -> None:
        """Take the jobs of all targets that give old numbers."""
        self._frozen.clear()
        for job, count in Tally(jobs).items():
            self._frozen.labels(job).set(count)

    def lead_changed(self, *, leads: bool) -> None:
        """Count that we lead now, or do no more: then nothing is known of our targets."""
        self._transitions.labels("leader" if leads else "standby").inc()
        for identity, state in self._states.items():
            self._turn(identity, state, _UNSCRAPED)

    def lease_failed(self) -> None:
        """Count a lease that could not be read or written."""
        self._lease_failures.inc()

    def shards_changed(self, count: int) -> None:
        """Take by how many shards the targets are divided now."""
        self._shards.set(count)

    def render(self, accept: str = "") -> tuple[bytes, str]:
        """Give the page and its Content-Type, in the format that an Accept header asks for."""
        return self._meters.render(accept)

    def _mark(self, target: Target, state: str) -> None:
        former = self._states.get(target.identity)
        if former is not None:  # None: it went while it was scraped
            self._turn(target.identity, former, state)

    def _turn(self, identity: Identity, former: str, state: str) -> None:
        if former != state:
            self._targets.labels(identity[0], former).dec()
            self._targets.labels(identity[0], state).inc()
            self._states[identity] = state

    def _describe_program(self) -> None:
        build = self._meters.gauge("build_info", "The program that runs.", ["version", "python"])
        build.labels(cwgpu.__version__, platform.python_version()).set(1)
        self._reloads = self._meters.counter(
            "config_reloads_total", "Times the configuration was read.", ["result"]
        )
        self._reload_ok = self._meters.gauge(
            "config_last_reload_successful", "Whether the configuration could be read last time."
        )
        self._last_reload = self._meters.gauge(
            "config_last_reload_success_timestamp_seconds",
            "When the configuration that is at work was read.",
        )
        for result in ("success", "failure"):
            self._reloads.labels(result)

    def _describe_election(self) -> None:
        self._leader = self._meters.gauge("leader", "Whether this agent is the one that scrapes.")
        self._leader.set(1)
        self._transitions = self._meters.counter(
            "lease_transitions_total", "Times this agent became leader or standby.", ["to"]
        )
        for role in ("leader", "standby"):
            self._transitions.labels(role)
        self._lease_failures = self._meters.counter(
            "lease_failures_total", "Times the lease could not be read or written."
        )
        self._shards = self._meters.gauge(
            "shards", "Shards that the lease divides the targets by; 0: not known, or no lease."
        )

    def _describe_findings(self) -> None:
        self._custom_metrics = self._meters.gauge(
            "custom_metrics", "Custom metrics of CloudWatch that had a value within the last hour."
        )
        self._refused_metrics = self._meters.gauge(
            "custom_metrics_refused", "Custom metrics that the budget has had no room for."
        )
        self._told_twice = self._meters.gauge(
            "gpus_told_twice", "GPUs of which several targets tell the same, and none is preferred."
        )
        self._frozen = self._meters.gauge(
            "targets_frozen",
            "Targets whose exporter gives the same numbers again and again.",
            ["job"],
        )
