"""Parts of an agent that are opened and closed; some are there only if the plan asks for them."""

import contextlib
import random
from collections.abc import AsyncIterator, Callable

from cwgpu.agent import aside
from cwgpu.agent.clock import Clock
from cwgpu.agent.intake import Intake
from cwgpu.agent.leader import Alone, Leader
from cwgpu.agent.observe import Observer
from cwgpu.agent.orders import Orders
from cwgpu.agent.outflow import Outflow
from cwgpu.agent.shards import Settled, Shards
from cwgpu.agent.stock import Stock
from cwgpu.plan.plan import Plan
from cwgpu.spool.found import Found
from cwgpu.web import server


@contextlib.asynccontextmanager
async def delivering(
    orders: Orders, observer: Observer, clock: Clock
) -> AsyncIterator[tuple[Outflow, Found]]:
    """Give who delivers what scrapes give, and what a former process left: it is not sent yet."""
    stock = Stock(orders.spool, orders.plan.spool, observer, clock)
    outflow = Outflow(
        orders.sink,
        stock,
        observer,
        clock,
        random=random.random,
        flush_interval_s=orders.flush_interval_s or orders.plan.flush_interval_s,
    )
    found = Found((), (), ())
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
        yield outflow, found
    finally:
        await stock.close()
        await orders.sink.close()


@contextlib.asynccontextmanager
async def leading(plan: Plan, observer: Observer, clock: Clock) -> AsyncIterator[Leader | Alone]:
    """Give who decides whether this agent scrapes."""
    if plan.lease is None:
        yield Alone()
        return
    from cwgpu.agent.contend import contending  # noqa: PLC0415 - most agents are alone

    async with contending(plan.lease, observer, clock) as leader:
        yield leader


@contextlib.asynccontextmanager
async def dividing(plan: Plan, observer: Observer, clock: Clock) -> AsyncIterator[Shards | Settled]:
    """Give who knows which part of the targets this agent has."""
    shard = plan.shard
    if shard is None or shard.lease is None:
        yield Settled()
        return
    from cwgpu.agent.contend import sharing  # noqa: PLC0415 - few agents share

    async with sharing(shard, shard.lease, observer, clock) as shards:
        yield shards


@contextlib.asynccontextmanager
async def serving(
    orders: Orders, observer: Observer, intake: Intake, unready: Callable[[], str]
) -> AsyncIterator[None]:
    """Answer about health, self metrics and targets, if the orders say where."""
    if orders.listen is None:
        yield
        return
    host, port = orders.listen
    async with server.serve(
        host, port, ready=unready, metrics=observer.metrics.render, targets=intake.told
    ) as addresses:
        observer.listening(addresses)
        yield
