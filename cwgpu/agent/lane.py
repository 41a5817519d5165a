"""The batches of one log stream on their way out, one call at a time.

Streams do not wait for each other: one that CloudWatch refuses must not hold up the rest. Of one
stream, what is new goes before what is late: to CloudWatch the order makes no difference, and
whoever looks at a graph looks at its end.
"""

import asyncio
import math
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TypeAlias

from cwgpu.agent import pause
from cwgpu.agent.clock import Clock
from cwgpu.agent.gate import HURRIED_S, Gate
from cwgpu.agent.observe import Observer
from cwgpu.agent.ports import Sink
from cwgpu.agent.shelf import Held
from cwgpu.agent.stock import Stock
from cwgpu.logs import naming, verdict
from cwgpu.logs.parcel import unpack
from cwgpu.logs.verdict import Answer, Rejected
from cwgpu.model.event import Outcome, Parcel, StreamKey
from cwgpu.pace import backoff
from cwgpu.sinks import stdout

Trouble: TypeAlias = verdict.Retry | verdict.Credentials | verdict.Denied
"""Why a batch is still here."""

_FINAL = frozenset({stdout.CLOSED, stdout.FAILED})
# Tries that a batch still has when the process has to end and nobody answers, or only with errors.
# A network or service that comes back needs longer than that.
_LAST_TRIES = 3
_NONE = Rejected()


@dataclass(frozen=True, slots=True)
class Way:
    """What all lanes share."""

    sink: Sink
    stock: Stock
    gate: Gate
    observer: Observer
    clock: Clock
    random: Callable[[], float]
    broken: Callable[[Answer], None]
    """Told when the sink says that nothing can be delivered through it any more."""


class Lane:
    """Works while there is something to send. What it sends is the stock's, and stays there."""

    def __init__(self, stream: StreamKey, way: Way) -> None:
        """Start empty and idle."""
        self._stream = stream
        self._way = way
        self._fresh: deque[Held] = deque()
        self._late: deque[Held] = deque()
        self._unread: list[Held] = []
        """The system did not give their files, which says nothing of what is in them."""
        self._hand: Held | None = None
        self._news = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._attempt = 0
        self._hurried = 0
        self._wait_s = 0.0
        self._calling = False
        """The gate let a call pass, and has not been told of its end."""
        self._created = False
        self.trouble: Trouble | None = None
        """Why the last call did not succeed; None when it did, or none was made."""
        self.said = ""
        """What the service said then."""

    @property
    def idle(self) -> bool:
        """Whether there is nothing to be sent."""
        return self._task is None or self._task.done()

    @property
    def waits(self) -> bool:
        """Whether something of it is still to be delivered."""
        queues = (self._fresh, self._late, self._unread)
        return self._hand is not None or any(not held.gone for each in queues for held in each)

    def put(self, batches: Sequence[Held], *, late: bool = False) -> None:
        """Queue batches; sending begins by itself. Late: they are from a former process."""
        (self._late if late else self._fresh).extend(batches)
        _forget_gone(self._late)  # or days without CloudWatch would fill it
        self._news.set()
        if batches and self.idle:
            self._task = asyncio.create_task(self._run(), name=f"lane {self._stream.stream}")

    def again(self) -> None:
        """Queue what could not be read; to be called now and then."""
        unread, self._unread = self._unread, []
        self.put(unread, late=True)

    async def finish(self) -> None:
        """Wait until everything is sent or, once there is hurry, the lane has given up."""
        if self._task is not None:
            await self._task

    async def stop(self) -> None:
        """Give up at once."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    async def _run(self) -> None:
        while await self._rest_then_send():
            pass

    async def _rest_then_send(self) -> bool:
        """Make one call; False when there is nothing to be sent, or no use in trying."""
        await self._rest()
        queue = await self._turn()
        if queue is None:
            return False
        # Of what is late, too, the newest goes first: graphs fill from the right.
        held = queue.pop() if queue is self._late else queue.popleft()
        self._hand = held
        held.busy = self._calling = True
        try:
            return await self._send(held)
        except Exception:
            self._late.append(held)  # a bug must not lose it, too
            raise
        finally:
            self._hand = None
            held.busy = False
            if self._calling:
                self._way.gate.abandoned()

    async def _rest(self) -> None:
        """Wait as long as the last answer asked for."""
        gate, sleep = self._way.gate, self._way.clock.sleep
        wait_s, self._wait_s = self._wait_s, 0.0
        if wait_s and gate.hurried.is_set():
            await sleep(min(wait_s, HURRIED_S))
        elif wait_s:
            await pause.until(gate.hurried, sleep(wait_s))

    async def _turn(self) -> deque[Held] | None:
        """Wait until a call may begin: for the first of this queue; None when nothing waits."""
        gate, clock = self._way.gate, self._way.clock
        while self._fresh or self._late:
            self._news.clear()
            wait_s = 0.0 if self._fresh else gate.late_wait_s()
            if wait_s:
                await pause.until(self._news, clock.sleep(wait_s))
                continue
            await gate.turn()
            queue = self._first()  # something came, or was dropped, while it was waited for
            if queue:
                return queue
            gate.abandoned()
        return None

    def _first(self) -> deque[Held]:
        """Choose the queue that has its turn; an empty one when nothing waits."""
        _forget_gone(self._fresh)
        _forget_gone(self._late)
        if self._fresh:
            return self._fresh
        if self._late:
            self._way.gate.take_late()
        return self._late

    async def _send(self, held: Held) -> bool:
        """Make the call that the gate let pass; False when the lane has to give up."""
        parcel = await self._way.stock.open(held)
        if parcel is None:
            if not held.gone:
                self._unread.append(held)
            return True
        if held.bad and held.waybill.events > 1:
            await self._halve(held, parcel)
            return True
        answer = await self._way.sink.send(parcel)
        if answer.code in _FINAL:
            self._way.broken(answer)
            return False
        self._heard(answer)
        decided: verdict.Verdict | verdict.Created = verdict.judge(answer, held.waybill)
        if isinstance(decided, verdict.Create):
            decided, answer = await self._create(answer)
        if isinstance(decided, verdict.Retry | verdict.Credentials | verdict.Denied):
            return await self._keep(held, decided, answer)
        self._calling = False
        self._way.gate.succeeded()
        if isinstance(decided, verdict.Delivered):
            await self._delivered(held, parcel, decided.outcome, answer)
        elif isinstance(decided, verdict.Bisect):
            await self._halve(held, parcel)
        else:  # the stream is there now
            self._fresh.appendleft(held)
        return True

    async def _delivered(
        self, held: Held, parcel: Parcel, outcome: Outcome, answer: Answer
    ) -> None:
        self._attempt = self._hurried = 0
        self._created = False
        self.trouble, self.said = None, ""
        self._way.stock.troubled = False
        age_s = max(0.0, self._way.clock.wall() - held.waybill.first_ms / 1000)
        if outcome.dropped:
            outcome = await self._way.stock.aside(lambda: _named(outcome, parcel, answer))
        delivered = outcome.delivered_events > 0
        self._way.observer.outcome(outcome, held.waybill.size_bytes, age_s if delivered else None)
        if answer.code and not delivered:
            await self._way.stock.refused(held, parcel, outcome.detail)
        else:
            await self._way.stock.done(held)
        if delivered and held.twin is not None:
            held.twin.bad = True  # as a whole they were refused

    async def _halve(self, held: Held, parcel: Parcel) -> None:
        held.gone = True
        self._fresh.extendleft(reversed(await self._way.stock.split(held, parcel)))

    async def _create(self, missing: Answer) -> tuple[Trouble | verdict.Created, Answer]:
        answer = await self._way.sink.create(self._stream)
        self._heard(answer)
        decided = verdict.judge_creation(answer)
        if not isinstance(decided, verdict.Created):
            return decided, answer
        if answer.message:
            self._way.observer.warned(answer.message)
        # A stream that is there and yet not found would be asked for without end.
        again, self._created = self._created, True
        return (verdict.Retry(verdict.RetryKind.SERVER), missing) if again else (decided, answer)

    async def _keep(self, held: Held, decided: Trouble, answer: Answer) -> bool:
        """Put a batch back, and decide on when there is to be another call."""
        self._late.append(held)
        self._late.extend(self._fresh)  # what comes from now on is fresh
        self._fresh.clear()
        self.trouble = decided
        self.said = f"{answer.code}: {answer.message}" if answer.message else answer.code
        self._way.stock.troubled = True
        gate, hurried = self._way.gate, self._way.gate.hurried.is_set()
        wait_s = self._next_wait_s(decided)
        self._attempt += 1
        self._calling = False
        if isinstance(decided, verdict.Denied):
            gate.succeeded()  # it answers, and other streams may be allowed
        else:
            gate.failed(wait_s, throttled=_throttled(decided))
        self._way.observer.retrying(self._stream, decided, answer, wait_s)
        # With a spool a service that was away before is left to the next process.
        most = _tries_in_a_hurry(decided, worth=not (gate.away and self._way.stock.spools))
        if hurried and self._hurried >= most:
            return False
        self._hurried += hurried and math.isfinite(most)
        # Where the gate is shut, it knows when to try again.
        self._wait_s = 0.0 if gate.shut else wait_s
        if isinstance(decided, verdict.Credentials):
            await self._way.sink.renew()
        return True

    def _next_wait_s(self, decided: Trouble) -> float:
        denied = isinstance(decided, verdict.Denied)
        attempt = self._attempt if denied else max(self._attempt, self._way.gate.failures)
        if not denied and self._way.gate.shut:
            attempt = self._way.gate.failures
        wait_s = backoff.full_jitter(attempt, self._way.random(), decided.base_s, decided.cap_s)
        if isinstance(decided, verdict.Retry) and decided.after_s is not None:
            return max(wait_s, decided.after_s)
        return wait_s

    def _heard(self, answer: Answer) -> None:
        skew_s = None if answer.date_s is None else self._way.clock.wall() - answer.date_s
        self._way.observer.answered(skew_s, answer.expires_s)


def _forget_gone(queue: deque[Held]) -> None:
    while queue and queue[0].gone:
        queue.popleft()
    while queue and queue[-1].gone:
        queue.pop()


def _named(outcome: Outcome, parcel: Parcel, answer: Answer) -> Outcome:
    """Say what was lost by its names: that is worth the opening of a batch."""
    old_end, new_start = 0, 0
    if not answer.code:
        old_end, new_start = verdict.bounds(parcel.waybill.events, answer.rejected or _NONE)
    with suppress(ValueError):
        batch = unpack(parcel)
        lost = batch.events[:old_end] + batch.events[new_start:]
        detail = f"{outcome.detail}: {naming.told(lost)}"
        return replace(outcome, detail=detail)
    return outcome


def _throttled(trouble: Trouble) -> bool:
    return isinstance(trouble, verdict.Retry) and trouble.kind is verdict.RetryKind.THROTTLED


def _tries_in_a_hurry(trouble: Trouble, *, worth: bool) -> float:
    """Say how often it is worth while to try again, although the process has to end."""
    if isinstance(trouble, verdict.Denied):
        return 0
    if isinstance(trouble, verdict.Credentials):
        return 1  # with the ones that have just been renewed
    if _throttled(trouble):
        return math.inf
    return _LAST_TRIES if worth else 0
