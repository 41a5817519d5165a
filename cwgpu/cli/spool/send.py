"""Sending a spool with the agent's own machinery: retries, halves and quarantine are the same."""

import asyncio
import math
import random
import secrets
import sys
import time
from dataclasses import replace
from pathlib import Path

from cwgpu.agent.clock import Clock
from cwgpu.agent.observe import Observer
from cwgpu.agent.orders import Ending
from cwgpu.agent.outflow import Outflow
from cwgpu.agent.ports import Sink
from cwgpu.agent.stock import Stock
from cwgpu.cli import end, exits, streams
from cwgpu.logs.verdict import Answer, Credentials, Denied, Retry
from cwgpu.model.event import Outcome, StreamKey
from cwgpu.plan.plan import CloudWatch
from cwgpu.plan.plan import Spool as Rules
from cwgpu.sinks.access import Access
from cwgpu.sinks.cloudwatch import CloudWatchSink
from cwgpu.spool.directory import Spool, seek
from cwgpu.spool.found import Found
from cwgpu.telemetry.journal import Journal
from cwgpu.telemetry.lines import Style
from cwgpu.telemetry.metrics import Metrics
from cwgpu.telemetry.summary import Summary

# Where nothing answers the machinery gives up by itself; while CloudWatch takes batches, or asks
# for patience, we go on for as long as that takes.
_PATIENCE_S = 86_400.0

_REGIONLESS = frozenset({"NoRegion", "InvalidRegion"})
"""Codes of answers that another region would not have."""


class Progress(Observer):
    """Counts what was delivered and what was lost, and shows it to a person who watches."""

    def __init__(self) -> None:
        """Nothing was delivered yet."""
        self.account = Summary()
        super().__init__(Metrics(time.time), self.account)
        self.events = self.samples = self.lost_samples = 0
        self.expected = 0
        """Events that there were at the beginning."""

    def retrying(
        self,
        stream: StreamKey,
        verdict: Retry | Credentials | Denied,
        answer: Answer,
        wait_s: float,
    ) -> None:
        """Name the flag, too, where a region is missing or wrong: an agent has none for it."""
        if answer.code in _REGIONLESS:
            advice = f"{answer.message}; or give --region, such as --region eu-west-1"
            answer = replace(answer, message=advice)
        super().retrying(stream, verdict, answer, wait_s)

    def outcome(self, outcome: Outcome, size_bytes: int, age_s: float | None = None) -> None:
        """Count what became of a batch."""
        super().outcome(outcome, size_bytes, age_s)
        self.events += outcome.delivered_events
        self.samples += outcome.delivered_samples
        self.lost_samples += sum(count for _, count in outcome.dropped)
        if sys.stderr.isatty():
            streams.say(f"\r\x1b[K{self.events:,} of {self.expected:,} events delivered")


def send(directory: Path, cloudwatch: CloudWatch) -> int:
    """Send all that is in the directory; gives the exit code."""
    seek(directory)
    spool = Spool(directory, secrets.token_hex(4))
    found = spool.open()
    book = Journal(Style.TEXT, time.monotonic)
    book.open("warning")
    progress = Progress()
    progress.expected = _events(found)
    sink = CloudWatchSink(
        Access(cloudwatch.region, cloudwatch.role_arn, cloudwatch.endpoint_url),
        retention_days=cloudwatch.retention_days,
    )
    try:
        ending = asyncio.run(_sent(spool, found, sink, progress))
    finally:
        book.close()
    streams.say(_last_words(directory, progress, ending))
    code = end.code(ending, progress.account, counts=False)
    return exits.RUNTIME if code == exits.OK and ending.rest.spooled else code


async def _sent(spool: Spool, found: Found, sink: Sink, observer: Observer) -> Ending:
    # Nothing is too old or too much here: CloudWatch itself says what it does not take any more.
    rules = Rules(most_bytes=sys.maxsize, most_age_s=math.inf)
    clock = Clock()
    stock = Stock(spool, rules, observer, clock)
    outflow = Outflow(sink, stock, observer, clock, random=random.random, flush_interval_s=1.0)
    try:
        await outflow.inherit(found)
        troubles, rest = await outflow.finish(_PATIENCE_S)
    finally:
        await stock.close()
        await sink.close()
    return Ending(outflow.broken, troubles, rest)


def _events(found: Found) -> int:
    batches = sum(slip.waybill.events for slip in found.slips)
    return batches + sum(len(events) for _, events in found.segments)


def _last_words(directory: Path, progress: Progress, ending: Ending) -> str:
    rest = ending.rest
    left = f"{rest.spooled:,} batches ({rest.spooled_samples:,} samples) are left in {directory}"
    lost = f"; {progress.lost_samples:,} samples are lost" if progress.lost_samples else ""
    said = f"{progress.events:,} events ({progress.samples:,} samples) delivered{lost}"
    begin = "\r\x1b[K" if sys.stderr.isatty() else ""
    return f"{begin}cwgpu: {said}; {left if rest.spooled else 'nothing is left'}\n"
