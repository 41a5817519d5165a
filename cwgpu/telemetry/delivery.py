"""The self metrics of delivery: what was taken, what waits, and what stands in its way."""

from collections.abc import Callable

from cwgpu.model.event import Outcome
from cwgpu.telemetry.meters import Meters

# From a flush interval to the age at which the default spool gives up: 24 hours.
_AGES = (1, 2, 5, 10, 30, 60, 300, 900, 3_600, 21_600, 86_400)


class Delivery:
    """Counts what it is told."""

    def __init__(self, meters: Meters, now: Callable[[], float]) -> None:
        """``now`` gives seconds since 1970."""
        self._now = now
        self._describe_delivered(meters)
        self._describe_trouble(meters)
        self._describe_waiting(meters)

    def delivered(self, outcome: Outcome, size_bytes: int, age_s: float | None) -> None:
        """Count a batch of which something was taken, so long after its oldest scrape."""
        self._events.inc(outcome.delivered_events)
        self._samples.inc(outcome.delivered_samples)
        self._datapoints.inc(outcome.delivered_datapoints)
        self._bytes.inc(size_bytes)
        self._last.set(self._now())
        if age_s is not None:
            self._latency.observe(max(0.0, age_s))  # a clock that was set back makes it negative

    def retried(self, cause: str, *, ambiguous: bool = False) -> None:
        """Count a batch that has to be sent again. Ambiguous: it may have been stored already."""
        self._retried.labels(cause).inc()
        if ambiguous:
            self._ambiguous.inc()

    def held(
        self,
        *,
        memory_batches: int,
        memory_bytes: int,
        spool_batches: int,
        spool_bytes: int,
        oldest_age_s: float,
    ) -> None:
        """Say what waits to be delivered; the age is 0 when nothing does."""
        self._queue_batches.set(memory_batches + spool_batches)
        self._queue_bytes.set(memory_bytes + spool_bytes)
        self._oldest.set(max(0.0, oldest_age_s))
        self._spool_batches.set(spool_batches)
        self._spool_bytes.set(spool_bytes)

    def answered(self, skew_s: float | None, expires_s: float | None) -> None:
        """Say what an answer told of our clock and credentials; None: nothing, what was stays."""
        if skew_s is not None:
            self._skew.set(skew_s)
        if expires_s is not None:
            self._expiry.set(expires_s)

    def spool_failed(self) -> None:
        """Count a write to the spool that failed."""
        self._spool_failures.inc()

    def quarantined(self) -> None:
        """Count a file that was set aside."""
        self._quarantined.inc()

    def _describe_delivered(self, meters: Meters) -> None:
        self._events = meters.counter(
            "delivered_events_total", "Log events that CloudWatch Logs took."
        )
        self._samples = meters.counter(
            "delivered_samples_total", "Samples that these events carry."
        )
        self._datapoints = meters.counter(
            "delivered_datapoints_total", "Datapoints that CloudWatch makes of them."
        )
        self._bytes = meters.counter(
            "delivered_bytes_total", "Bytes of the messages of delivered batches."
        )
        self._latency = meters.histogram(
            "delivery_latency_seconds",
            "From the oldest scrape in a batch to its being taken.",
            _AGES,
        )
        self._last = meters.gauge(
            "last_delivery_success_timestamp_seconds", "When CloudWatch Logs last took events."
        )

    def _describe_trouble(self, meters: Meters) -> None:
        self._retried = meters.counter(
            "retried_batches_total", "Batches that had to be sent again, by cause.", ["cause"]
        )
        self._ambiguous = meters.counter(
            "ambiguous_batches_total", "Retries of batches that may have been stored already."
        )
        self._skew = meters.gauge(
            "clock_skew_seconds", "Our clock minus that of CloudWatch Logs, at its last answer."
        )
        self._expiry = meters.gauge(
            "credentials_expiry_timestamp_seconds",
            "When the credentials of the last call end; 0 if they do not, or nothing is known.",
        )
        self._spool_failures = meters.counter(
            "spool_failures_total", "Writes to the spool that failed."
        )
        self._quarantined = meters.counter(
            "spool_quarantined_files_total", "Files of the spool that were set aside."
        )

    def _describe_waiting(self, meters: Meters) -> None:
        self._queue_batches = meters.gauge("queue_batches", "Batches that wait to be delivered.")
        self._queue_bytes = meters.gauge(
            "queue_bytes", "Bytes that they take, in memory and on disk."
        )
        self._oldest = meters.gauge(
            "queue_oldest_age_seconds", "Age of the oldest batch that waits; 0 if none does."
        )
        self._spool_batches = meters.gauge("spool_batches", "Those of them that are on disk.")
        self._spool_bytes = meters.gauge("spool_bytes", "Bytes that these take on disk.")
