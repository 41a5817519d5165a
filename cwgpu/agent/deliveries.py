"""The observer's half that is told of delivery: what was taken, what waits, what went wrong."""

import logging
from typing import Any

from cwgpu.logs.verdict import Answer, Credentials, Denied, Retry
from cwgpu.model.event import Outcome, StreamKey
from cwgpu.telemetry import journal
from cwgpu.telemetry.metrics import Metrics
from cwgpu.telemetry.summary import Summary

_log = logging.getLogger("cwgpu.agent")

# AWS refuses a signature that is 5 minutes off; from a minute on, datapoints lie in wrong minutes.
# https://docs.aws.amazon.com/IAM/latest/UserGuide/signature-v4-troubleshooting.html
_SKEW_S = 60.0
# It is told again once it has changed by more than this.
_SKEW_AGAIN_S = 60.0
# Half of what is wrong, so that a clock at the edge is not told of at every answer.
_SKEW_HEALED_S = 30.0


class Deliveries:
    """Told of everything that happens to batches."""

    def __init__(self, metrics: Metrics, summary: Summary | None) -> None:
        self.metrics = metrics
        self.summary = summary
        self._delivers = False
        self._skew_s: float | None = None
        self._spool = ""
        self._spool_fails = False

    def outcome(self, outcome: Outcome, size_bytes: int, age_s: float | None = None) -> None:
        """Tell what became of a batch, so long after its oldest scrape if anything was taken."""
        self.metrics.outcome(outcome, size_bytes, age_s)
        # In a run that ends by itself the summary says so.
        if outcome.delivered_events and not self._delivers and self.summary is None:
            self._delivers = True
            journal.event(
                _log,
                logging.INFO,
                "delivery_began",
                group=outcome.stream.group,
                stream=outcome.stream.stream,
            )
        if self.summary:
            self.summary.outcome(outcome)
        for reason, count in outcome.dropped:
            journal.event(
                _log,
                logging.ERROR,
                "samples_lost",
                stream=outcome.stream.stream,
                reason=reason.value,
                count=count,
                detail=outcome.detail,
            )

    def retrying(
        self,
        stream: StreamKey,
        verdict: Retry | Credentials | Denied,
        answer: Answer,
        wait_s: float,
    ) -> None:
        """Tell of a batch that is kept and sent again."""
        ambiguous = isinstance(verdict, Retry) and verdict.ambiguous
        cause = verdict.kind.value if isinstance(verdict, Retry) else type(verdict).__name__.lower()
        self.metrics.delivery.retried(cause, ambiguous=ambiguous)
        journal.event(
            _log,
            logging.WARNING if isinstance(verdict, Retry) else logging.ERROR,
            "delivery_retried",
            stream=stream.stream,
            reason=answer.code,
            detail=answer.message,
            wait_s=round(wait_s, 1),
        )

    def held(
        self,
        *,
        memory_batches: int,
        memory_bytes: int,
        spool_batches: int,
        spool_bytes: int,
        oldest_age_s: float,
    ) -> None:
        """Tell what waits to be delivered; the age is 0 when nothing does."""
        self.metrics.delivery.held(
            memory_batches=memory_batches,
            memory_bytes=memory_bytes,
            spool_batches=spool_batches,
            spool_bytes=spool_bytes,
            oldest_age_s=oldest_age_s,
        )

    def answered(self, skew_s: float | None, expires_s: float | None) -> None:
        """Tell what an answer says of our clock (ours minus the service's) and credentials."""
        self.metrics.delivery.answered(skew_s, expires_s)
        if skew_s is not None:
            self._mind_clock(skew_s)

    def spool_opened(self, directory: str, batches: int, events: int, size_bytes: int) -> None:
        """Tell of the spool, and of what an earlier run left there."""
        self._spool = directory
        journal.event(
            _log,
            logging.INFO,
            "spool_opened",
            directory=directory,
            batches=batches,
            events=events,
            size_bytes=size_bytes,
        )

    def spool_failed(self, reason: str) -> None:
        """Tell of a write to the spool that failed; delivery goes on from memory."""
        self._spool_fails = True
        self.metrics.delivery.spool_failed()
        journal.event(_log, logging.ERROR, "spool_failed", directory=self._spool, reason=reason)

    def spool_recovered(self) -> None:
        """Tell that the spool can be written; the journal hears of it after a failure only."""
        if self._spool_fails:
            self._spool_fails = False
            journal.event(_log, logging.INFO, "spool_recovered", directory=self._spool)

    def quarantined(self, file: str, reason: str, samples: int | None) -> None:
        """Tell of a file that was set aside; None: how many samples it has cannot be told."""
        self.metrics.delivery.quarantined()
        known: dict[str, Any] = {} if samples is None else {"samples": samples}
        journal.event(_log, logging.ERROR, "quarantined", file=file, **known, reason=reason)

    def ended(
        self, spooled_batches: int, spooled_samples: int, lost_samples: int, directory: str
    ) -> None:
        """Tell what became of what could not be delivered before the end; "" is no spool."""
        where: dict[str, Any] = {"directory": directory} if directory else {}
        why: dict[str, Any] = {}
        if lost_samples:
            why["reason"] = (
                "the spool could not take them"
                if directory
                else "there is no spool that keeps them for the next start: write its directory "
                "as cwgpu.spool.dir; cwgpu.spool.mode must not be off"
            )
        journal.event(
            _log,
            logging.ERROR if lost_samples else logging.INFO,
            "ended",
            spooled_batches=spooled_batches,
            spooled_samples=spooled_samples,
            lost_samples=lost_samples,
            **where,
            **why,
        )

    def _mind_clock(self, skew_s: float) -> None:
        """Tell of a clock that is wrong: when it becomes so, changes much, or is right again."""
        told, wrong = self._skew_s, abs(skew_s) > _SKEW_S
        if wrong and (told is None or abs(skew_s - told) > _SKEW_AGAIN_S):
            self._skew_s = skew_s
            way = "ahead of" if skew_s > 0 else "behind"
            reason = f"this clock is {abs(skew_s):,.0f} s {way} CloudWatch's"
            journal.event(
                _log, logging.ERROR, "clock_skewed", skew_s=round(skew_s, 1), reason=reason
            )
        elif told is not None and abs(skew_s) <= _SKEW_HEALED_S:
            self._skew_s = None
            journal.event(_log, logging.INFO, "clock_agrees", skew_s=round(skew_s, 1))
