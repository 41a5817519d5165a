"""What has to be known of log groups and done for them, beside sending to them.

CloudWatch makes no metrics of what is sent to a group of another class than STANDARD, and says
nothing about it, so the class is asked for before the first call:
https://docs.aws.amazon.com/AmazonCloudWatch/latest/logs/CloudWatch_Logs_Log_Classes.html
Events matter more than that: where the question gives nothing, they still flow.
"""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Protocol, TypeVar

from cwgpu.logs import codes, verdict
from cwgpu.logs.verdict import Answer, Denied
from cwgpu.model.event import StreamKey
from cwgpu.sinks.caller import Caller
from cwgpu.sinks.share import Share

WITHOUT_METRICS = frozenset({"INFREQUENT_ACCESS", "DELIVERY"})
"""Classes that make none of EMF. One that is not known is given the benefit of the doubt."""

UNFIT = "LogGroupClass"
"""Code of the answer for a group of such a class: ``logs.codes`` knows it as a refusal."""

NOT_ASKED = codes.NETWORK | codes.CREDENTIALS
"""The question did not get there, or not with these credentials: nor would the events, and to find
that out may have taken seconds."""

ASKS = 3
"""Questions for the class of a group that may go unanswered."""

MOST = 1000
"""Groups, and streams of each, that are remembered: names may hold those of pods, which come and
go. What is forgotten is asked for again, no more."""

T = TypeVar("T")


class Run(Protocol):
    """Runs a call that blocks."""

    def __call__(self, call: Callable[[], T], /) -> Awaitable[T]:
        """Give what it gives."""
        ...


@dataclass(slots=True)
class _Group:
    """What is known of one log group."""

    asks: int = ASKS
    """How often its class may still be asked for; 0: it is known, or nobody tells."""
    silent: bool = False
    """The last question gave nothing: another is for when a call has got through."""
    secret: bool = False
    """We may not ask."""
    forever: bool = False
    """We created it, and it still keeps its events for ever."""
    streams: set[str] = field(default_factory=set)
    """Those that took events since the class was last looked at."""
    creating: asyncio.Lock = field(default_factory=asyncio.Lock)

    def forget(self) -> None:
        """Take it for one that nobody has seen."""
        self.asks, self.silent, self.secret = ASKS, False, False
        self.streams.clear()


class Groups:
    """The groups that a sink sends to."""

    def __init__(self, caller: Caller, run: Run, retention_days: int | None) -> None:
        self._caller = caller
        self._run = run
        self._retention_days = retention_days
        self._groups: dict[str, _Group] = {}
        self._asking: Share[str, Answer | None] = Share()
        self._creating: Share[StreamKey, Answer] = Share()

    async def refusal(self, name: str) -> Answer | None:
        """Give the answer to whoever would send to a group of a class without metrics, or in vain.

        It is asked for once, and as long as it is such a class each time: somebody may delete the
        group and make another of that name.
        """
        group = self._group(name)
        if not group.asks or group.silent:
            return None
        return await self._asking.get(name, lambda: self._ask(name, group))

    def told(self, stream: StreamKey, answer: Answer) -> None:
        """Take in the answer to PutLogEvents."""
        group = self._group(stream.group)
        if not answer.code:
            group.silent = False
            if len(group.streams) == MOST:
                group.streams.clear()
            group.streams.add(stream.stream)
        elif answer.code == codes.MISSING and stream.stream in group.streams:
            group.forget()  # it was deleted, and what comes next may be of another class

    async def create(self, stream: StreamKey) -> Answer:
        """Make a log stream, and its group if that is missing too; make sure of the retention."""
        return await self._creating.get(stream, lambda: self._create(stream))

    def forgive(self) -> None:
        """Ask again where we might not ask before: we may be somebody else now."""
        for group in self._groups.values():
            if group.secret:
                group.forget()

    def close(self) -> None:
        """End what is under way."""
        self._asking.cancel()
        self._creating.cancel()

    def _group(self, name: str) -> _Group:
        if name not in self._groups:
            if len(self._groups) >= MOST:
                self._groups = {known: one for known, one in self._groups.items() if one.forever}
            self._groups[name] = _Group()
        return self._groups[name]

    async def _ask(self, name: str, group: _Group) -> Answer | None:
        answer, log_class = await self._run(lambda: self._caller.describe(name))
        if answer.code or log_class is None:
            group.secret = isinstance(verdict.judge_creation(answer), Denied)
            group.silent = True
            group.asks = 0 if group.secret else group.asks - 1
            return answer if answer.code in NOT_ASKED else None
        if log_class not in WITHOUT_METRICS:
            group.asks = 0
            return None
        return Answer(
            UNFIT,
            f"log group {name} is of class {log_class}, where CloudWatch makes no metrics of EMF; "
            "name another log group (log_group_name): the class of a group cannot be changed",
            date_s=answer.date_s,
            expires_s=answer.expires_s,
        )

    async def _create(self, stream: StreamKey) -> Answer:
        """Try the stream first: where the group exists no permission for groups is needed."""
        group = self._group(stream.group)
        async with group.creating:  # two streams of one new group make it once
            answer = await self._run(lambda: self._caller.create_stream(stream))
            if answer.code == codes.MISSING:
                answer = await self._create_group(stream.group, group)
                if not answer.code:
                    answer = await self._run(lambda: self._caller.create_stream(stream))
            if not answer.code and group.forever:
                return await self._limit(stream.group, group)
            return answer

    async def _create_group(self, name: str, group: _Group) -> Answer:
        answer = await self._run(lambda: self._caller.create_group(name))
        if answer.code not in {"", codes.EXISTS}:
            return answer
        group.forget()
        group.forever = not answer.code and self._retention_days is not None
        if not answer.code:
            group.asks = 0  # of class STANDARD, as we made it
        return Answer("")

    async def _limit(self, name: str, group: _Group) -> Answer:
        """Set the retention. Events matter more: where it cannot be set, they still flow."""
        days = self._retention_days or 0
        answer = await self._run(lambda: self._caller.retain(name, days))
        if not answer.code:
            group.forever = False
        elif isinstance(verdict.judge_creation(answer), Denied):
            group.forever = False
            text = f"log group {name} keeps its events for ever: {answer.code}: {answer.message}"
            return Answer("", text, answer.status)
        return answer
