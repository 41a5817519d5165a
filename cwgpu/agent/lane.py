"""The batches of one log stream on their way out, one after the other.

Streams do not wait for each other: one that CloudWatch refuses must not hold up the rest.
"""

import asyncio
import math
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from cwgpu.agent import pause
from cwgpu.agent.clock import Clock
from cwgpu.agent.observe import Observer
from cwgpu.agent.ports import Sink
from cwgpu.logs import verdict
from cwgpu.model.drop import DropReason
from cwgpu.model.event import LogBatch, Outcome, StreamKey
from cwgpu.pace import backoff
from cwgpu.sinks import stdout

Trouble: TypeAlias = verdict.Retry | verdict.Credentials | verdict.Denied
"""Why a batch is still here."""

_FINAL = frozenset({stdout.CLOSED, stdout.FAILED})
# The longest wait between two tries when the process has to end: it has seconds, not minutes.
_HURRIED_S = 1.0
# Tries that a batch still has when the process has to end and nobody answers, or only with errors.
# A network or service that comes back needs longer than that.
_LAST_TRIES = 3


@dataclass(frozen=True, slots=True)
class Way:
    """What all lanes share."""

    sink: Sink
    observer: Observer
    clock: Clock
    random: Callable[[], float]
    hurry: asyncio.Event
    """Set when the process has to end: no more long waits between tries."""
    broken: Callable[[verdict.Answer], None]
    """Told when the sink says that nothing can be delivered through it any more."""


class Lane:
    """A queue that empties itself while it has something and its sink takes it."""

    def __init__(self, stream: StreamKey, way: Way) -> None:
        """Start empty and idle."""
        self._stream = stream
        self._way = way
        self._waiting: deque[LogBatch] = deque()
        self._in_hand: LogBatch | None = None
        self._task: asyncio.Task[None] | None = None
        self._attempt = 0
        self._hurried = 0
        self._created = False
        self.trouble: Trouble | None = None
        """Why the batch in hand is still here; None when nothing was said about it yet."""
        self._said = ""

    @property
    def size_bytes(self) -> int:
        """Bytes of the messages that are still to be delivered."""
        return sum(batch.size_bytes for batch in self._held())

    @property
    def batches(self) -> int:
        """Batches that are still to be delivered."""
        return len(self._held())

    @property
    def oldest_ms(self) -> int | None:
        """Time of the oldest event that can still be dropped: those in flight cannot."""
        return self._waiting[0].events[0].at_ms if self._waiting else None

    def put(self, batch: LogBatch) -> None:
        """Queue a batch; sending begins by itself."""
        self._waiting.append(batch)
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._run(), name=f"lane {self._stream.stream}")

    def drop_oldest(self) -> None:
        """Make room."""
        self._lose(self._waiting.popleft(), DropReason.QUEUE_FULL, "the queue was full")

    async def finish(self) -> None:
        """Wait until the lane is empty or, once there is hurry, has given up."""
        if self._task is not None:
            await self._task

    async def abandon(self) -> None:
        """Stop at once and account for what is left."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
        for batch in self._held():
            self._lose(batch, DropReason.SHUTDOWN, f"the process had to end{self._said}")
        self._waiting.clear()
        self._in_hand = None

    def _held(self) -> list[LogBatch]:
        return [*([self._in_hand] if self._in_hand else []), *self._waiting]

    async def _run(self) -> None:
        while self._in_hand or self._waiting:
            if self._in_hand is None:
                self._in_hand = self._waiting.popleft()
                self._attempt = self._hurried = 0
                self._created = False
                self.trouble, self._said = None, ": no answer came"
            if not await self._try(self._in_hand):
                return

    async def _try(self, batch: LogBatch) -> bool:
        """Send once and do what the answer asks for; False when the lane has to give up."""
        answer = await self._way.sink.send(batch)
        if answer.code in _FINAL:
            self._way.broken(answer)
            return False
        decided = verdict.judge(answer, batch)
        if isinstance(decided, verdict.Create):
            return await self._create(decided.stream, answer)
        if isinstance(decided, verdict.Delivered):
            self._in_hand = None
            self._way.observer.outcome(decided.outcome, batch)
            return True
        if isinstance(decided, verdict.Bisect):
            self._in_hand = None
            self._waiting.extendleft(reversed(verdict.halve(batch)))
            return True
        return await self._wait(decided, answer)

    async def _create(self, stream: StreamKey, missing: verdict.Answer) -> bool:
        answer = await self._way.sink.create(stream)
        decided = verdict.judge_creation(answer)
        if not isinstance(decided, verdict.Created):
            return await self._wait(decided, answer)
        if answer.message:
            self._way.observer.warned(answer.message)
        # A stream that is there and yet not found would be asked for without end.
        if self._created:
            return await self._wait(verdict.Retry(verdict.RetryKind.SERVER), missing)
        self._created = True
        return True

    async def _wait(self, decided: Trouble, answer: verdict.Answer) -> bool:
        wait_s = backoff.full_jitter(
            self._attempt, self._way.random(), decided.base_s, decided.cap_s
        )
        if isinstance(decided, verdict.Retry) and decided.after_s is not None:
            wait_s = max(wait_s, decided.after_s)
        self._attempt += 1
        self.trouble = decided
        self._said = f": {answer.code}: {answer.message}" if answer.message else f": {answer.code}"
        hurry = self._way.hurry.is_set()
        most = _tries_in_a_hurry(decided)
        if hurry and self._hurried >= most:
            return False
        self._way.observer.retrying(self._stream, decided, answer, wait_s)
        if isinstance(decided, verdict.Credentials):
            await self._way.sink.renew()
        sleep = self._way.clock.sleep
        if hurry:
            self._hurried += math.isfinite(most)
            await sleep(min(wait_s, _HURRIED_S))
        else:
            await pause.until(self._way.hurry, sleep(wait_s))
        return True

    def _lose(self, batch: LogBatch, reason: DropReason, detail: str) -> None:
        lost = ((reason, batch.samples),)
        self._way.observer.outcome(Outcome(batch.stream, 0, 0, 0, lost, detail), batch)


def _tries_in_a_hurry(trouble: Trouble) -> float:
    """Say how often it is worth while to try again, although the process has to end."""
    if isinstance(trouble, verdict.Denied):
        return 0
    if isinstance(trouble, verdict.Credentials):
        return 1  # with the ones that have just been renewed
    return math.inf if trouble.kind is verdict.RetryKind.THROTTLED else _LAST_TRIES
