"""The agent, put together: built here, begun and ended here, and nowhere else."""

import asyncio
import contextlib
import random
import signal
from collections.abc import AsyncIterator, Callable, Coroutine
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from cwgpu.agent import aside
from cwgpu.agent.clock import Clock
from cwgpu.agent.intake import Intake
from cwgpu.agent.lane import Trouble
from cwgpu.agent.leader import Alone, Leader
from cwgpu.agent.observe import Observer
from cwgpu.agent.outflow import Outflow
from cwgpu.agent.ports import Sink
from cwgpu.agent.reload import Reload
from cwgpu.agent.shards import Settled, Shards
from cwgpu.agent.stock import Rest, Stock
from cwgpu.logs.verdict import Answer
from cwgpu.plan.plan import Plan
from cwgpu.scrape.fetch import Fetcher
from cwgpu.web import server

if TYPE_CHECKING:  # whoever has a directory has loaded it
    from cwgpu.spool.directory import Spool

# Of the time from SIGTERM to the end: to stop scraping, give back the lease and sync the spool.
_BEFORE_AND_AFTER_S = 5.0
_TICK_S = 1.0


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


async def run(orders: Orders, observer: Observer, clock: Clock) -> Ending:
    """Work until told to stop: by a signal, by the orders, or by a sink that broke.

    Raises UnavailableError and PermissionError_ when it cannot begin.
    """
    stop = asyncio.Event()
    grace_s = orders.plan.shutdown_grace_s
    async with contextlib.AsyncExitStack() as stack:
        outflow = await stack.enter_async_context(_delivering(orders, observer, clock))
        fetcher = await stack.enter_async_context(Fetcher(clock.wall, clock.monotonic))
        leader = await stack.enter_async_context(_leader(orders.plan, observer, clock))
        shards = await stack.enter_async_context(_shards(orders.plan, observer, clock))
        intake = Intake(fetcher, outflow.put, observer, clock, leads=leader.leads)

        def follow(plan: Plan) -> None:
            nonlocal grace_s
            grace_s = plan.shutdown_grace_s
            intake.follow(shards.follow(plan))
            outflow.flush_interval_s = orders.flush_interval_s or plan.flush_interval_s

        reload = Reload(orders.plan, orders.load, follow, observer=observer, clock=clock)
        await stack.enter_async_context(
            _serving(
                orders,
                observer,
                intake,
                lambda: shards.unready or intake.unready or leader.unready or outflow.unready,
            )
        )
        intake.follow(shards.follow(orders.plan))
        if orders.scrapes is not None:
            intake.limit(orders.scrapes)
        _listen_to_signals(stop, reload)
        if orders.hung_up():
            reload.asked.set()
        work = [intake.run(), outflow.run(), reload.run(), _ticking(orders.tick, clock)]
        work += [leader.run(intake.lead_changed), shards.run(intake.rescale)]
        ends: list[Coroutine[Any, Any, Any]]
        ends = [stop.wait(), intake.done.wait(), outflow.ended.wait()]
        if orders.duration_s is not None:
            ends.append(_sleep(clock, orders.duration_s))
        bug = await _until_an_end(work, ends)
        await intake.stop()
        await leader.release()
        troubles, rest = await outflow.finish(max(0.0, grace_s - _BEFORE_AND_AFTER_S))
    return Ending(outflow.broken, troubles, rest, bug)


@contextlib.asynccontextmanager
async def _delivering(orders: Orders, observer: Observer, clock: Clock) -> AsyncIterator[Outflow]:
    """Have what scrapes give delivered, and first of all what a former process left."""
    stock = Stock(orders.spool, orders.plan.spool, observer, clock)
    outflow = Outflow(
        orders.sink,
        stock,
        observer,
        clock,
        random=random.random,
        flush_interval_s=orders.flush_interval_s or orders.plan.flush_interval_s,
    )
    try:
        if orders.spool is not None:
            found = await aside.run(orders.spool.open)
            observer.spool_opened(
                orders.plan.spool.directory or "",
                len(found.slips),
                sum(slip.waybill.events for slip in found.slips)
                + sum(len(events) for _, events in found.segments),
                sum(slip.size_bytes for slip in found.slips),
            )
            await outflow.inherit(found)
        yield outflow
    finally:
        await stock.close()
        await orders.sink.close()


def _listen_to_signals(stop: asyncio.Event, reload: Reload) -> None:
    loop = asyncio.get_running_loop()

    def end() -> None:
        stop.set()
        # Who asks twice does not want to wait: the second signal does what signals do.
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.remove_signal_handler(number)

    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, end)
    loop.add_signal_handler(signal.SIGHUP, reload.asked.set)


async def _until_an_end(
    work: list[Coroutine[Any, Any, None]], ends: list[Coroutine[Any, Any, Any]]
) -> BaseException | None:
    """Let the work go on until one of the ends comes; give the bug that was the end, if one was."""
    tasks = [asyncio.create_task(one) for one in work]
    waits = [asyncio.create_task(one) for one in ends]
    done, _ = await asyncio.wait([*tasks, *waits], return_when=asyncio.FIRST_COMPLETED)
    bugs = [task.exception() for task in tasks if task in done]
    for task in [*tasks, *waits]:
        task.cancel()
    await asyncio.gather(*tasks, *waits, return_exceptions=True)
    return bugs[0] if bugs else None


async def _sleep(clock: Clock, seconds: float) -> None:
    await clock.sleep(seconds)


async def _ticking(tick: Callable[[], None], clock: Clock) -> None:
    while True:
        await clock.sleep(_TICK_S)
        tick()


@contextlib.asynccontextmanager
async def _leader(plan: Plan, observer: Observer, clock: Clock) -> AsyncIterator[Leader | Alone]:
    if plan.lease is None:
        yield Alone()
        return
    from cwgpu.agent.contend import contending  # noqa: PLC0415 - most agents are alone

    async with contending(plan.lease, observer, clock) as leader:
        yield leader


@contextlib.asynccontextmanager
async def _shards(plan: Plan, observer: Observer, clock: Clock) -> AsyncIterator[Shards | Settled]:
    shard = plan.shard
    if shard is None or shard.lease is None:
        yield Settled()
        return
    from cwgpu.agent.contend import sharing  # noqa: PLC0415 - few agents share

    async with sharing(shard, shard.lease, observer, clock) as shards:
        yield shards


@contextlib.asynccontextmanager
async def _serving(
    orders: Orders, observer: Observer, intake: Intake, unready: Callable[[], str]
) -> AsyncIterator[None]:
    if orders.listen is None:
        yield
        return
    host, port = orders.listen
    async with server.serve(
        host, port, ready=unready, metrics=observer.metrics.render, targets=intake.told
    ) as addresses:
        observer.listening(addresses)
        yield
