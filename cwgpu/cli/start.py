"""What ``run`` and ``demo`` have in common: from flags to a running agent to an exit code."""

import asyncio
import contextlib
import importlib
import logging
import resource
import secrets
import sys
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from cwgpu.agent import run as agent_run
from cwgpu.agent.clock import Clock
from cwgpu.agent.observe import Observer
from cwgpu.agent.orders import Ending, Orders
from cwgpu.agent.ports import Sink
from cwgpu.agent.stock import Rest
from cwgpu.cli import end, garbage, streams
from cwgpu.cli.configure import Configuration
from cwgpu.discovery import static
from cwgpu.model.errors import UsageError
from cwgpu.plan.plan import Plan, SpoolMode
from cwgpu.sinks import stdout
from cwgpu.telemetry import escape, journal
from cwgpu.telemetry.journal import Journal
from cwgpu.telemetry.lines import Style
from cwgpu.telemetry.metrics import Metrics
from cwgpu.telemetry.summary import Summary

if TYPE_CHECKING:  # a dry run has no spool
    from cwgpu.spool.directory import Spool

_log = logging.getLogger("cwgpu.cli")
# A person watches a dry run: events are shown soon after each scrape, not at the flush interval.
_SHOWN_AFTER_S = 0.5
_SDK = "cwgpu.sinks.session"


@dataclass(frozen=True, slots=True)
class Flags:
    """The command line of ``run``; what is None or False was not given."""

    config: Path | None = None
    prometheus_config: Path | None = None
    dry_run: bool = False
    once: bool = False
    scrapes: int | None = None
    duration: float | None = None
    spool_dir: Path | None = None
    listen: str | None = None
    log_level: str = "info"
    log_format: str | None = None

    @property
    def visits(self) -> int | None:
        """How often each target is to be scraped; None for without end."""
        return 1 if self.once else self.scrapes

    @property
    def ends(self) -> bool:
        """Whether somebody waits for the end, and for what came of it."""
        return self.dry_run or self.visits is not None or self.duration is not None


def agent(
    flags: Flags, environ: Mapping[str, str], hung_up: Callable[[], bool] = lambda: False
) -> int:
    """Run the agent as the flags say; gives the exit code.

    ``hung_up`` tells whether SIGHUP came before the agent could hear it.
    """
    if flags.once and flags.scrapes not in {None, 1}:
        raise UsageError("--once and --scrapes exclude each other: --once is --scrapes 1")

    listen = address(flags.listen) if flags.listen else None
    open_files()
    configuration = _configuration(flags, environ)
    plan = _plan(configuration, dry_run=flags.dry_run)
    style = Style(flags.log_format or ("text" if sys.stderr.isatty() else "json"))
    book = Journal(style, time.monotonic)
    book.open(flags.log_level)
    summary = _summary(plan) if flags.ends else None
    observer = Observer(Metrics(time.time), summary)
    observer.reloaded()
    for warning in plan.warnings:
        observer.warned(warning)
    orders = Orders(
        plan,
        lambda: _plan(configuration, dry_run=flags.dry_run),
        _sink(plan, dry_run=flags.dry_run),
        _spool(plan),
        flush_interval_s=_SHOWN_AFTER_S if flags.dry_run else None,
        scrapes=flags.visits,
        duration_s=flags.duration,
        listen=listen,
        hung_up=hung_up,
        tick=_ticker(book, summary if flags.dry_run else None),
    )
    garbage.seldom()
    try:
        ending = asyncio.run(agent_run.run(orders, observer, Clock()))
        if ending.bug is not None:
            journal.event(_log, logging.ERROR, "bug", exc_info=ending.bug)
        if summary is None:
            book.settle()  # what is lost is the last that is said
            _tell_end(ending.rest, plan, observer)
    finally:
        book.close()
    streams.say(_last_words(ending, summary, plan.spool.directory))
    return end.code(ending, summary, counts=flags.dry_run or flags.visits is not None)


def _configuration(flags: Flags, environ: Mapping[str, str]) -> Configuration:
    if flags.spool_dir is not None:
        environ = {**environ, "CWGPU_SPOOL_DIR": str(flags.spool_dir.absolute())}
    return Configuration(flags.config, flags.prometheus_config, environ)


def _plan(configuration: Configuration, *, dry_run: bool) -> Plan:
    """Read the configuration, and let the flags have their way."""
    plan = configuration.plan()
    if dry_run:
        # A look at something must not keep the agent that works from its work.
        shard = plan.shard and replace(plan.shard, lease=None)
        return replace(plan, lease=None, shard=shard, spool=replace(plan.spool, directory=None))
    return plan


def _summary(plan: Plan) -> Summary:
    """Begin with what the plan says of targets: an agent in a cluster need not hear of it."""
    summary = Summary(dict.fromkeys(name for job in plan.jobs for name in job.unset))
    for job in plan.jobs:
        for note in static.notes(job):
            summary.discovery_said(job.name, note)
    return summary


def _tell_end(rest: Rest, plan: Plan, observer: Observer) -> None:
    kept = plan.spool.mode is not SpoolMode.OFF and plan.spool.directory
    observer.ended(rest.spooled, rest.spooled_samples, rest.lost_samples, kept or "")


def open_files() -> None:
    """Take all the open files that we may have: each target's connection is one.

    The usual 1,024 are for programs that use select(2); everybody may ask for the hard limit.
    """
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    with contextlib.suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


def address(text: str) -> tuple[str, int] | None:
    """Read HOST:PORT; None for "off"."""
    if text == "off":
        return None
    host, colon, port = text.rpartition(":")
    most, digits = 65535, 5
    if not colon or not port.isdecimal() or len(port) > digits or int(port) > most:
        raise UsageError(f'--listen {text!r} is no address: write HOST:PORT, :PORT or "off"')
    return host.strip("[]") or "0.0.0.0", int(port)  # noqa: S104 - ":9464" asks for all interfaces


def _sink(plan: Plan, *, dry_run: bool) -> Sink:
    if dry_run:
        return stdout.StdoutSink(sys.stdout.buffer)
    from cwgpu.sinks.access import Access  # noqa: PLC0415 - a dry run needs no SDK
    from cwgpu.sinks.cloudwatch import CloudWatchSink  # noqa: PLC0415 - nor its adapter

    # The first call needs the SDK. It is loaded while targets are looked for and scraped, and what
    # they give is gathered: most of that is waiting.
    load = threading.Thread(target=importlib.import_module, args=(_SDK,), name="sdk", daemon=True)
    load.start()
    region, role_arn, endpoint_url = plan.cloudwatch.access
    access = Access(region, role_arn, endpoint_url)
    return CloudWatchSink(access, retention_days=plan.cloudwatch.retention_days)


def _spool(plan: Plan) -> "Spool | None":
    if plan.spool.directory is None or plan.spool.mode is SpoolMode.OFF:
        return None
    from cwgpu.spool.directory import Spool  # noqa: PLC0415 - as the sink

    return Spool(Path(plan.spool.directory), secrets.token_hex(4))


def _ticker(book: Journal, summary: Summary | None) -> Callable[[], None]:
    live = summary is not None and sys.stderr.isatty()

    def tick() -> None:
        book.tick()
        if live and summary is not None:
            streams.say("\r\x1b[K" + summary.live_line())

    return tick


def _last_words(ending: Ending, summary: Summary | None, directory: str | None) -> str:
    if ending.broken is not None:
        quiet = ending.broken.code == stdout.CLOSED
        return "" if quiet else f"cwgpu: {ending.broken.message}\n"
    if summary is None:
        return ""
    begin = "\r\x1b[K" if sys.stderr.isatty() else ""
    rest, left = ending.rest, ""
    if rest.spooled:
        left = (
            f"Left       {rest.spooled_samples:,} samples are not delivered yet and wait in "
            f"{escape.line(directory or '')}: the next run sends them, or cwgpu spool replay\n"
        )
    return f"{begin}{summary.render()}\n{left}"
