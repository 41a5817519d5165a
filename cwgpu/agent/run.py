"""The agent, put together: built here, begun and ended here, and nowhere else."""

import asyncio
import contextlib
import signal
from collections.abc import Callable, Coroutine
from typing import Any

from cwgpu.agent import init, parts
from cwgpu.agent.clock import Clock
from cwgpu.agent.intake import Intake
from cwgpu.agent.observe import Observer
from cwgpu.agent.orders import Ending, Orders
from cwgpu.agent.reload import Reload
from cwgpu.plan.plan import Plan
from cwgpu.scrape.fetch import Fetcher

# Of the time from SIGTERM to the end: to stop scraping, give back the lease and sync the spool.
_BEFORE_AND_AFTER_S = 5.0
_TICK_S = 1.0


async def run(orders: Orders, observer: Observer, clock: Clock) -> Ending:
    """Work until told to stop: by a signal, by the orders, or by a sink that broke.

    Raises UnavailableError and PermissionError_ when it cannot begin.
    """
    stop = asyncio.Event()
    grace_s = orders.plan.shutdown_grace_s
    async with contextlib.AsyncExitStack() as stack:
        outflow, found = await stack.enter_async_context(parts.delivering(orders, observer, clock))
        fetcher = await stack.enter_async_context(Fetcher(clock.wall, clock.monotonic))
        leader = await stack.enter_async_context(parts.leading(orders.plan, observer, clock))
        shards = await stack.enter_async_context(parts.dividing(orders.plan, observer, clock))
        intake = Intake(fetcher, outflow.put, observer, clock, leads=leader.leads)

        def follow(plan: Plan) -> None:
            nonlocal grace_s
            grace_s = plan.shutdown_grace_s
            intake.follow(shards.follow(plan))
            outflow.flush_interval_s = orders.flush_interval_s or plan.flush_interval_s

        reload = Reload(orders.plan, orders.load, follow, observer=observer, clock=clock)
        await stack.enter_async_context(
            parts.serving(
                orders,
                observer,
                intake,
                lambda: shards.unready or intake.unready or leader.unready or outflow.unready,
            )
        )
        await outflow.inherit(found)
        intake.follow(shards.follow(orders.plan))
        if orders.scrapes is not None:
            intake.limit(orders.scrapes)
        _listen_to_signals(stop, reload)
        if orders.hung_up():
            reload.asked.set()
        work = [intake.run(), outflow.run(), reload.run(), _ticking(orders.tick, observer, clock)]
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


def _listen_to_signals(stop: asyncio.Event, reload: Reload) -> None:
    loop = asyncio.get_running_loop()

    def end() -> None:
        stop.set()
        # Who asks twice does not want to wait: the second signal does what signals do.
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.remove_signal_handler(number)
        init.terminable()

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


async def _ticking(tick: Callable[[], None], observer: Observer, clock: Clock) -> None:
    while True:
        due = clock.monotonic() + _TICK_S
        await clock.sleep(_TICK_S)
        observer.metrics.lateness.loop(clock.monotonic() - due)
        tick()
