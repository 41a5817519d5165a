"""A loop for each target, kept in step with the targets that are wanted.

A target is visited at its own offset in the interval, as in Prometheus (``cwgpu.pace.cadence``).
Loops know nothing of each other, so a slow target delays nobody; a visit that takes longer than
the interval skips the moments it missed, so nothing piles up.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from typing import TypeAlias

from cwgpu.model.target import Identity, Target
from cwgpu.pace import cadence

Visit: TypeAlias = Callable[[Target], Awaitable[None]]

# A page that was never seen costs some hundred times one that was: reading those of a thousand
# targets at once would keep the loop from hearing their answers in time.
_APART_S = 0.02


class Pool:
    """Visits the wanted targets. All methods are for the one event loop it is used in."""

    def __init__(
        self,
        visit: Visit,
        now: Callable[[], float],
        sleep: Callable[[float], Awaitable[None]],
        *,
        prompt: bool = False,
        bug: Callable[[Target, Exception], None] | None = None,
        late: Callable[[float], None] = lambda _: None,
    ) -> None:
        """Start without a target.

        ``now`` gives seconds since 1970, so that offsets survive a restart. ``prompt``: a new
        target is visited at once, several one shortly after the other but none later than at its
        offset, and only then at its offset. What ``visit`` raises is a bug and
        goes to ``bug``, or else to the event loop's exception handler; the target's loop goes on.
        ``late`` is told how many seconds after its offset a visit begins that waited for it.
        """
        self._visit = visit
        self._now = now
        self._sleep = sleep
        self._prompt = prompt
        self._bug = bug or _report
        self._late = late
        self._loops: dict[Identity, _Loop] = {}
        self._ending: set[asyncio.Task[None]] = set()
        self._moments: dict[float, asyncio.Event] = {}
        """Those that somebody waits for."""
        self._sleepers: set[asyncio.Task[None]] = set()

    def reconcile(self, wanted: Iterable[Target], *, patient: bool = False) -> None:
        """Start a loop for each new target and stop those of targets that are not wanted.

        ``patient``: no new target is visited before its offset, prompt or not. Somebody else
        visits it until now, at that same offset.
        The loop of a target whose interval or timeout changed follows the new ones, without
        breaking off a visit. Targets of equal identity are one.
        """
        targets = {target.identity: target for target in wanted}
        for identity in self._loops.keys() - targets.keys():
            self._end(self._loops.pop(identity))
        new = 0
        for identity, target in targets.items():
            loop = self._loops.get(identity)
            if loop is None:
                loop = _Loop(target, new * _APART_S, in_step=patient)
                self._loops[identity] = self._begin(loop)
                new += 1
            elif loop.target != target:
                self._follow(loop, target)

    async def stop(self) -> None:
        """Stop every loop, visits under way too, and wait until all have ended."""
        self.reconcile(())
        for sleeper in self._sleepers:
            sleeper.cancel()
        await asyncio.gather(*self._ending, *self._sleepers, return_exceptions=True)

    def _begin(self, loop: "_Loop") -> "_Loop":
        loop.task = asyncio.create_task(self._run(loop), name=f"scrape {loop.target.url}")
        return loop

    def _end(self, loop: "_Loop") -> None:
        task, loop.task = loop.task, None  # the task holds its loop: neither would go by itself
        if task is not None:
            task.cancel()
            self._ending.add(task)
            task.add_done_callback(self._ending.discard)

    def _follow(self, loop: "_Loop", target: Target) -> None:
        loop.aim(target)
        if not loop.visiting:  # asleep until a moment of the old interval
            self._end(loop)
            self._begin(loop)

    async def _run(self, loop: "_Loop") -> None:
        due = self._now()
        if self._prompt and not loop.in_step:
            if loop.turn_s:
                due = min(due + loop.turn_s, self._next(loop, due))
                await self._sleep(due - self._now())
            await self._turn(loop)
        while True:
            due = self._next(loop, due)
            await self._moment(due).wait()
            self._late(self._now() - due)
            await self._turn(loop)

    def _moment(self, due: float) -> asyncio.Event:
        """Give what is set at that time: one sleeps for all who are due then."""
        moment = self._moments.get(due)
        if moment is None:
            moment = self._moments[due] = asyncio.Event()
            task = asyncio.create_task(self._until(due, moment), name="moment")
            self._sleepers.add(task)
            task.add_done_callback(lambda task: self._slept(task, due, moment))
        return moment

    async def _until(self, due: float, moment: asyncio.Event) -> None:
        await self._sleep(max(0.0, due - self._now()))
        self._come(due, moment)  # now, and not a turn of the event loop later

    def _slept(self, sleeper: asyncio.Task[None], due: float, moment: asyncio.Event) -> None:
        self._sleepers.discard(sleeper)
        self._come(due, moment)  # also where nobody slept to its end

    def _come(self, due: float, moment: asyncio.Event) -> None:
        """Wake those who wait for a moment; a clock that was set back may have it come again."""
        if self._moments.get(due) is moment:
            del self._moments[due]
        moment.set()

    def _next(self, loop: "_Loop", last_due: float) -> float:
        target = loop.target
        now = self._now()
        # A sleep may end a little early by the wall clock: that moment is done, not due again.
        if now < last_due < now + target.interval_s / 2:
            now = last_due
        return cadence.next_due(now, loop.offset_s, target.interval_s)

    async def _turn(self, loop: "_Loop") -> None:
        loop.visiting = loop.in_step = True
        try:
            await self._try(loop.target)
        finally:
            loop.visiting = False

    async def _try(self, target: Target) -> None:
        try:
            await self._visit(target)
        except Exception as error:  # noqa: BLE001 - one target's bug must not end another's scrapes
            self._bug(target, error)


class _Loop:
    """One target's loop."""

    __slots__ = ("in_step", "offset_s", "target", "task", "turn_s", "visiting")

    def __init__(self, target: Target, turn_s: float, *, in_step: bool) -> None:
        self.aim(target)
        self.turn_s = turn_s
        """How long its first visit waits for those of the targets before it."""
        self.task: asyncio.Task[None] | None = None
        self.in_step = in_step
        """Its next visit is at its offset, and none before."""
        self.visiting = False

    def aim(self, target: Target) -> None:
        """Visit this from now on."""
        self.target = target
        self.offset_s = cadence.offset_s(repr(target.identity).encode(), target.interval_s)
        """Its place in the interval."""


def _report(target: Target, error: Exception) -> None:
    context = {"message": f"visiting a target of job {target.job} failed", "exception": error}
    asyncio.get_running_loop().call_exception_handler(context)
