"""The one place where values become counters, journal lines and the dry run's summary."""

import datetime as dt
import logging
from collections.abc import Callable, Iterable, Sequence
from types import MappingProxyType
from typing import Any

from cwgpu.agent.deliveries import Deliveries
from cwgpu.digest.tellers import Share
from cwgpu.model.drop import DropReason
from cwgpu.model.event import EmfEvent
from cwgpu.model.reading import Reading
from cwgpu.model.scrape import FailReason, Scrape, ScrapeFailed
from cwgpu.model.target import DroppedTarget, Forgotten, Identity, Target
from cwgpu.telemetry import journal, report
from cwgpu.telemetry.metrics import Metrics
from cwgpu.telemetry.summary import Summary

_log = logging.getLogger("cwgpu.agent")

# What CloudWatch would refuse, and somebody can put right. NaN is how exporters say "no value".
_UNFIT = frozenset(
    {
        DropReason.DIMENSION_INVALID,
        DropReason.NAME_INVALID,
        DropReason.TOO_LARGE,
        DropReason.OUT_OF_RANGE,
    }
)


class Observer(Deliveries):
    """Told of everything that happens; decides nothing."""

    def __init__(self, metrics: Metrics, summary: Summary | None = None) -> None:
        """``summary`` is there in a run that ends by itself or prints its events."""
        super().__init__(metrics, summary)
        self._known: object = None
        self._empty: set[Identity] = set()
        self._unfit: dict[Identity, frozenset[DropReason]] = {}

    def discovered(
        self,
        wanted: Sequence[Target],
        dropped: Sequence[DroppedTarget],
        forgotten: Forgotten = MappingProxyType({}),
    ) -> None:
        """Tell of the targets there are now; the journal hears of changes only."""
        self.metrics.discovered(wanted, dropped, forgotten)
        if self.summary:
            self.summary.discovered(wanted, dropped, forgotten)
        targets = frozenset(target.identity for target in wanted)
        self._empty &= targets
        for gone in self._unfit.keys() - targets:
            del self._unfit[gone]
        lost = len(dropped) + sum(forgotten.values())
        fields: dict[str, Any] = {"found": len(wanted), "dropped": lost}
        if dropped and not targets:
            fields["reason"] = dropped[0].reason
        known = (targets, fields.get("reason"))
        if known != self._known:
            level = logging.INFO if targets else logging.WARNING
            journal.event(_log, level, "targets_changed", **fields)
        self._known = known

    def discovery_fault(self, job: str, fault: str) -> None:
        """Tell of targets that could not be read; the last good ones stay."""
        journal.event(_log, logging.WARNING, "discovery_failed", job=job, reason=fault)
        if self.summary:
            self.summary.discovery_said(job, fault)

    def discovery_broke(self, job: str, error: Exception) -> None:
        """Tell of an exception nobody expected while targets were looked for."""
        journal.event(_log, logging.ERROR, "bug", exc_info=error, job=job)

    def discovery_note(self, job: str, note: str) -> None:
        """Tell why a job finds nothing where nothing is wrong."""
        journal.event(_log, logging.INFO, "discovery_idle", job=job, reason=note)
        if self.summary:
            self.summary.discovery_said(job, note)

    def scraped(self, target: Target, scrape: Scrape, reading: Reading) -> None:
        """Tell of a page that was read."""
        self.metrics.scraped(target, scrape, reading)
        if self.summary:
            self.summary.scraped(target, scrape, reading)
        self._mind_empty(target, reading)
        self._mind_unfit(target, reading)
        for bad in reading.bad_lines:
            journal.event(
                _log,
                logging.WARNING,
                "bad_line",
                target=target.url,
                line=bad.number,
                reason=bad.fault,
            )

    def reported(self, target: Target, reading: Reading) -> None:
        """Tell of a target's report series."""
        self.metrics.reported(target, reading)
        if self.summary:
            self.summary.reported(reading)

    def closed(self, events: Sequence[EmfEvent]) -> None:
        """Tell of events of scrapes that were told of before."""
        if self.summary:
            self.summary.closed(events)

    def scrape_failed(self, target: Target, failed: ScrapeFailed) -> None:
        """Tell of a scrape that gave nothing."""
        self.metrics.scrape_failed(target, failed)
        if self.summary:
            self.summary.scrape_failed(target, failed)
        # What is wrong with a job is told once, and not for each of its thousand targets.
        whole_job = failed.reason is FailReason.TARGET_LIMIT
        subject: dict[str, Any] = {} if whole_job else {"target": target.url}
        journal.event(
            _log,
            logging.WARNING,
            "scrape_failed",
            **subject,
            job=target.job,
            reason=failed.reason.value,
            detail=failed.detail,
        )

    def reloaded(self, error: str = "") -> None:
        """Tell of a configuration that was read again, or could not be."""
        self.metrics.reloaded(ok=not error)
        if error:
            journal.event(_log, logging.ERROR, "reload_failed", reason=error)
        else:
            journal.event(_log, logging.INFO, "config_loaded")

    def reload_broke(self, error: Exception) -> None:
        """Tell of an exception nobody expected while the configuration was read again."""
        self.metrics.reloaded(ok=False)
        journal.event(_log, logging.ERROR, "bug", exc_info=error, reason="reload")

    def contends(self, leads: Callable[[], bool]) -> None:
        """Take who knows whether this agent leads; where nobody contends, it always does."""
        self.metrics.contends(leads)

    def lead_began(self, lease: str, identity: str) -> None:
        """Tell that we scrape from now on."""
        self.metrics.lead_changed(leads=True)
        journal.event(_log, logging.INFO, "leader_began", lease=lease, identity=identity)

    def lead_ended(self, reason: str) -> None:
        """Tell that we scrape no more."""
        self.metrics.lead_changed(leads=False)
        journal.event(_log, logging.WARNING, "leader_ended", reason=reason)

    def stands_by(self, lease: str, holder: str) -> None:
        """Tell that somebody else scrapes."""
        journal.event(_log, logging.INFO, "standby", lease=lease, holder=holder)

    def lease_failed(self, lease: str, reason: str) -> None:
        """Tell of a lease that could not be read or written."""
        self.metrics.lease_failed()
        journal.event(_log, logging.WARNING, "lease_failed", lease=lease, reason=reason)

    def shards_changed(self, count: int, index: int) -> None:
        """Tell by how many shards the targets are divided from now on, and which part is ours."""
        self.metrics.shards_changed(count)
        part = f"{index} of {count}" if index < count else "none"
        journal.event(_log, logging.INFO, "shards_changed", count=count, index=index, part=part)

    def listening(self, addresses: Iterable[tuple[str, int]]) -> None:
        """Tell where health and self metrics are served."""
        for host, port in addresses:
            name = f"[{host}]" if ":" in host else host
            journal.event(_log, logging.INFO, "listening", address=f"{name}:{port}")

    def warned(self, warning: str) -> None:
        """Tell of something the configuration asks for and will not get."""
        journal.event(_log, logging.WARNING, "config_warning", reason=warning)

    def budget_exceeded(self, found: int, most: int, refused: str) -> None:
        """Tell of more custom metrics than there should be, or of the first that may not be."""
        fields: dict[str, Any] = {"refused": refused} if refused else {}
        journal.event(
            _log, logging.WARNING, "budget_exceeded", metrics=found, budget=most, **fields
        )

    def told_twice(self, share: Share) -> None:
        """Tell of two targets that tell of the same GPUs."""
        advice = f"what both tell is taken of job {share.first[0]} alone: it is preferred"
        if not share.decided:
            advice = (
                "both are sent: let discovery find one of them, or say by cwgpu.dcgm.prefer whose "
                "word counts"
            )
        level = logging.INFO if share.decided else logging.WARNING
        names = _pair(share.first, share.second)
        journal.event(_log, level, "gpus_told_twice", **names, gpus=share.gpus, advice=advice)

    def told_once(self, first: Identity, second: Identity) -> None:
        """Tell that two targets tell of the same GPUs no more."""
        journal.event(_log, logging.INFO, "gpus_told_once", **_pair(first, second))

    def frozen(self, target: Target, gpus: Sequence[str], scrapes: int, since_ms: int) -> None:
        """Tell of an exporter that gives old numbers: of these GPUs, or on the whole page."""
        since = dt.datetime.fromtimestamp(since_ms / 1000, dt.UTC).isoformat(timespec="seconds")
        what = "the energy counter of these GPUs does" if gpus else "the whole page does"
        fields: dict[str, Any] = {"gpus": gpus} if gpus else {}
        journal.event(
            _log,
            logging.WARNING,
            "target_frozen",
            target=target.url,
            job=target.job,
            **fields,
            scrapes=scrapes,
            since=since.replace("+00:00", "Z"),
            advice=f"{what} not move: restart the exporter, and look at nv-hostengine on its node",
        )

    def moves(self, target: Target) -> None:
        """Tell of an exporter that measures again."""
        journal.event(_log, logging.INFO, "target_moves", target=target.url, job=target.job)

    def bug(self, target: Target, error: Exception) -> None:
        """Tell of an exception nobody expected; the target's next scrape comes all the same."""
        journal.event(_log, logging.ERROR, "bug", exc_info=error, target=target.url)
        if self.summary:
            self.summary.bugs += 1

    def _mind_empty(self, target: Target, reading: Reading) -> None:
        """Tell of a page without samples when it becomes so: to Prometheus it is a good one."""
        if reading.samples:
            if self._empty:
                self._empty.discard(target.identity)
        elif target.identity not in self._empty:
            self._empty.add(target.identity)
            journal.event(_log, logging.WARNING, "page_empty", target=target.url, job=target.job)

    def _mind_unfit(self, target: Target, reading: Reading) -> None:
        """Tell of samples that CloudWatch would refuse, for each reason when it becomes so.

        Or that it would refuse by some of their dimension sets.
        """
        unfit = [drop for drop in reading.dropped if drop.reason in _UNFIT]
        if not unfit and not reading.partly and not self._unfit:
            return
        drops = list({drop.reason: drop for drop in (*reading.partly, *unfit)}.values())
        former = self._unfit.pop(target.identity, frozenset())
        if drops:
            self._unfit[target.identity] = frozenset(drop.reason for drop in drops)
        for drop in drops:
            if drop.reason not in former:
                journal.event(
                    _log,
                    logging.WARNING,
                    "samples_unfit",
                    target=target.url,
                    job=target.job,
                    reason=drop.reason.value,
                    count=drop.count,
                    metrics=drop.names,
                    detail=drop.detail or report.MEANINGS[drop.reason],
                )


def _pair(first: Identity, second: Identity) -> dict[str, Any]:
    (job, url, _), (other_job, other, _) = first, second
    return {"target": url, "job": job, "other": other, "other_job": other_job}
