"""The program's own metrics, which Prometheus or another cwgpu may scrape.

Names follow https://prometheus.io/docs/practices/naming/. Labels are jobs, which the configuration
bounds, and words of ours. No label names a target, a metric or a stream: their number has no bound.
"""

import platform
from collections import Counter as Tally
from collections.abc import Callable, Iterable, Sequence
from operator import attrgetter
from types import MappingProxyType

import prometheus_client
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram
from prometheus_client.exposition import choose_encoder

import cwgpu
from cwgpu.model.drop import DropReason
from cwgpu.model.event import Outcome
from cwgpu.model.reading import Reading
from cwgpu.model.scrape import Scrape, ScrapeFailed
from cwgpu.model.target import DroppedTarget, Forgotten, Identity, Target

# From a page on loopback to a scrape_timeout of half a minute.
_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30)
_UP, _DOWN, _UNSCRAPED, _DROPPED, _REJECTED = "up", "down", "unscraped", "dropped", "rejected"


class Metrics:
    """Counts what it is told. Not shared between processes, and without a global registry."""

    def __init__(self, now: Callable[[], float]) -> None:
        """``now`` gives seconds since 1970."""
        self._now = now
        self._states: dict[Identity, str] = {}
        self._last_scrape_s = 0.0
        self._registry = CollectorRegistry()
        # Without this every counter has a second series with the time of its beginning.
        prometheus_client.disable_created_metrics()  # type: ignore[no-untyped-call]
        prometheus_client.ProcessCollector(registry=self._registry)
        self._describe_program()
        self._describe_election()
        self._describe_scrapes()
        self._describe_samples()
        self._describe_delivery()

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
        self._scrapes.labels(target.job, "ok" if reading.samples else "page_empty").inc()
        self._scrape_seconds.labels(target.job).observe(scrape.duration_s)
        self._scraped_bytes.labels(target.job).inc(len(scrape.body))
        self._last_scrape_s = max(self._last_scrape_s, scrape.at_ms / 1000)
        self._last_scrape.set(self._last_scrape_s)
        self._count(target, reading)

    def reported(self, target: Target, reading: Reading) -> None:
        """Count the samples of a target's report series."""
        self._count(target, reading)

    def scrape_failed(self, target: Target, failed: ScrapeFailed) -> None:
        """Count a scrape that gave nothing, also one whose page was refused."""
        self._mark(target, _DOWN)
        self._scrapes.labels(target.job, failed.reason.value).inc()
        self._scrape_seconds.labels(target.job).observe(failed.duration_s)

    def outcome(self, outcome: Outcome, size_bytes: int = 0) -> None:
        """Count what became of a batch, whose messages have so many bytes."""
        self._drop(outcome.dropped)
        if not outcome.delivered_events:
            return
        self._delivered_events.inc(outcome.delivered_events)
        self._delivered_samples.inc(outcome.delivered_samples)
        self._delivered_datapoints.inc(outcome.delivered_datapoints)
        self._delivered_bytes.inc(size_bytes)
        self._last_delivery.set(self._now())

    def retried(self, cause: str, *, ambiguous: bool = False) -> None:
        """Count a batch that has to be sent again. Ambiguous: it may have been stored already."""
        self._retried.labels(cause).inc()
        if ambiguous:
            self._ambiguous.inc()

    def queue(self, batches: int, size_bytes: int) -> None:
        """Say what is waiting to be delivered."""
        self._queue_batches.set(batches)
        self._queue_bytes.set(size_bytes)

    def reloaded(self, *, ok: bool) -> None:
        """Count a reload of the configuration; the first load is one."""
        self._reloads.labels("success" if ok else "failure").inc()
        self._reload_ok.set(ok)
        if ok:
            self._last_reload.set(self._now())

    def contends(self, leads: Callable[[], bool]) -> None:
        """Ask this at each rendering whether we lead."""
        self._leader.set_function(lambda: float(leads()))

    def lead_changed(self, *, leads: bool) -> None:
        """Count that we lead now, or do no more: then nothing is known of our targets."""
        self._transitions.labels("leader" if leads else "standby").inc()
        for identity, state in self._states.items():
            self._turn(identity, state, _UNSCRAPED)

    def lease_failed(self) -> None:
        """Count a lease that could not be read or written."""
        self._lease_failures.inc()

    def render(self, accept: str = "") -> tuple[bytes, str]:
        """Give the page and its Content-Type, in the format that an Accept header asks for."""
        try:
            encode, content_type = choose_encoder(accept)
        except (ValueError, TypeError):  # the header names a version that is no version
            encode, content_type = choose_encoder("")
        return encode(self._registry), content_type

    def _count(self, target: Target, reading: Reading) -> None:
        self._samples_read.labels(target.job).inc(reading.samples)
        self._samples_selected.labels(target.job).inc(reading.selected)
        self._drop((drop.reason, drop.count) for drop in reading.dropped)

    def _mark(self, target: Target, state: str) -> None:
        former = self._states.get(target.identity)
        if former is not None:  # None: it went while it was scraped
            self._turn(target.identity, former, state)

    def _turn(self, identity: Identity, former: str, state: str) -> None:
        if former != state:
            self._targets.labels(identity[0], former).dec()
            self._targets.labels(identity[0], state).inc()
            self._states[identity] = state

    def _drop(self, counts: Iterable[tuple[DropReason, int]]) -> None:
        for reason, count in counts:
            self._dropped.labels(reason.value).inc(count)

    def _counter(self, name: str, text: str, labels: Sequence[str] = ()) -> Counter:
        return Counter(f"cwgpu_{name}", text, labels, registry=self._registry)

    def _gauge(self, name: str, text: str, labels: Sequence[str] = ()) -> Gauge:
        return Gauge(f"cwgpu_{name}", text, labels, registry=self._registry)

    def _describe_program(self) -> None:
        build = self._gauge("build_info", "The program that runs.", ["version", "python"])
        build.labels(cwgpu.__version__, platform.python_version()).set(1)
        self._reloads = self._counter(
            "config_reloads_total", "Times the configuration was read.", ["result"]
        )
        self._reload_ok = self._gauge(
            "config_last_reload_successful", "Whether the configuration could be read last time."
        )
        self._last_reload = self._gauge(
            "config_last_reload_success_timestamp_seconds",
            "When the configuration that is at work was read.",
        )
        for result in ("success", "failure"):
            self._reloads.labels(result)

    def _describe_election(self) -> None:
        self._leader = self._gauge("leader", "Whether this agent is the one that scrapes.")
        self._leader.set(1)
        self._transitions = self._counter(
            "lease_transitions_total", "Times this agent became leader or standby.", ["to"]
        )
        for role in ("leader", "standby"):
            self._transitions.labels(role)
        self._lease_failures = self._counter(
            "lease_failures_total", "Times the lease could not be read or written."
        )

    def _describe_scrapes(self) -> None:
        self._targets = self._gauge("targets", "Targets that discovery found.", ["job", "state"])
        self._scrapes = self._counter(
            "scrapes_total", "Scrapes, by ok or why they gave nothing.", ["job", "result"]
        )
        self._scrape_seconds = Histogram(
            "cwgpu_scrape_duration_seconds",
            "From the beginning of a scrape to the last byte of its page or to its failure.",
            ["job"],
            buckets=_SECONDS,
            registry=self._registry,
        )
        self._scraped_bytes = self._counter(
            "scraped_bytes_total", "Bytes of the pages, decompressed.", ["job"]
        )
        self._last_scrape: Gauge = self._gauge(
            "last_scrape_success_timestamp_seconds", "When the newest page was scraped."
        )

    def _describe_samples(self) -> None:
        self._samples_read = self._counter(
            "samples_read_total", "Samples of the pages that were read.", ["job"]
        )
        self._samples_selected = self._counter(
            "samples_selected_total", "Samples that went into log events.", ["job"]
        )
        self._dropped = self._counter(
            "dropped_samples_total", "Samples that do not reach CloudWatch, by reason.", ["reason"]
        )
        for reason in DropReason:
            self._dropped.labels(reason.value)

    def _describe_delivery(self) -> None:
        self._delivered_events = self._counter(
            "delivered_events_total", "Log events that CloudWatch Logs took."
        )
        self._delivered_samples = self._counter(
            "delivered_samples_total", "Samples that these events carry."
        )
        self._delivered_datapoints = self._counter(
            "delivered_datapoints_total", "Datapoints that CloudWatch makes of them."
        )
        self._delivered_bytes = self._counter(
            "delivered_bytes_total", "Bytes of the messages of delivered batches."
        )
        self._retried = self._counter(
            "retried_batches_total", "Batches that had to be sent again, by cause.", ["cause"]
        )
        self._ambiguous = self._counter(
            "ambiguous_batches_total", "Retries of batches that may have been stored already."
        )
        self._last_delivery = self._gauge(
            "last_delivery_success_timestamp_seconds", "When CloudWatch Logs last took events."
        )
        self._queue_batches = self._gauge("queue_batches", "Batches that wait to be delivered.")
        self._queue_bytes = self._gauge("queue_bytes", "Bytes of the messages that wait.")
