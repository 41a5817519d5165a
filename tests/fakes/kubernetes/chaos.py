"""What goes wrong with the API server, when a test says so; from any thread.

``api.chaos.fail_next(429, retry_after_s=1)``, ``api.chaos.cut()``, ``api.chaos.stall()`` ...
"""

import asyncio
import math
from collections.abc import Callable
from dataclasses import dataclass, field

from tests.fakes.kubernetes.failure import FailureError, expired, trouble
from tests.fakes.kubernetes.resources import Ask
from tests.fakes.kubernetes.store import Store


@dataclass(frozen=True, slots=True)
class Order:
    """What an open watch is to do next."""

    bookmark: bool = False
    raw: bytes = b""
    """Written as it is."""
    refused: FailureError | None = None
    """Written as an ERROR event."""
    end: bool = False
    hang_up: bool = False
    """End without the end of the answer, so that the client sees a broken connection."""
    silent: bool = False
    """Say nothing any more, and do not end."""


@dataclass(slots=True)
class _Planned:
    refused: FailureError
    verb: str | None
    resource: str | None
    left: float

    def meets(self, ask: Ask | None) -> bool:
        """Tell whether this is the request that it waits for."""
        if ask is None:
            return self.verb is None and self.resource is None
        verb, resource = ask.verb, ask.resource.plural
        return self.verb in (None, verb) and self.resource in (None, resource)


@dataclass
class Chaos:
    """The knobs."""

    store: Store
    order: Callable[[Order], None]
    """Gives an order to every open watch."""
    abort: Callable[[], None]
    """Breaks every connection."""
    call: Callable[[Callable[[], None]], None]
    """Has something done in the loop that serves."""
    watch_lists: bool = True
    """False: a watch that asks for initial events is refused, as over etcd 3.4."""
    delay_s: float = 0.0
    """Every answer comes so much later."""
    flowing: asyncio.Event = field(default_factory=asyncio.Event)
    _planned: list[_Planned] = field(default_factory=list)

    def __post_init__(self) -> None:
        """Begin well."""
        self.flowing.set()

    # ---- requests

    def fail_next(
        self,
        status: int,
        *,
        times: float = 1,
        retry_after_s: int | None = None,
        verb: str | None = None,
        resource: str | None = None,
    ) -> None:
        """Let the next requests (of a verb, of a resource) fail; ``math.inf``: until ``heal``."""
        planned = _Planned(trouble(status, retry_after_s), verb, resource, times)
        self._planned.append(planned)

    def outage(self, status: int = 503) -> None:
        """Let every request fail, until ``heal``."""
        self.fail_next(status, times=math.inf)

    def heal(self) -> None:
        """Let nothing go wrong any more; what is cut stays cut."""
        self._planned.clear()
        self.delay_s = 0.0
        self.watch_lists = True
        self.resume()

    def take(self, ask: Ask | None) -> FailureError | None:
        """Give the failure of a request, if it has one."""
        for planned in list(self._planned):
            if planned.meets(ask):
                planned.left -= 1
                if planned.left <= 0:
                    self._planned.remove(planned)
                return planned.refused
        return None

    # ---- connections

    def stall(self) -> None:
        """Accept, and send nothing: neither answers nor events, as over a half-open connection."""
        self.call(self.flowing.clear)

    def resume(self) -> None:
        """Send again what was not sent."""
        self.call(self.flowing.set)

    def close_connections(self) -> None:
        """Break every connection, with TCP's reset."""
        self.call(self.abort)

    # ---- watches

    def cut(self, begun: bytes = b'{"type":"MODIFIED","object":{"kind":"Po') -> None:
        """Break every watch in the middle of a line."""
        self.order(Order(raw=begun, end=True, hang_up=True))

    def abandon(self) -> None:
        """Let every watch be half open: its client hears nothing any more, and no end either."""
        self.order(Order(silent=True))

    def garble(self, line: bytes = b"\x00not JSON{\n") -> None:
        """Write a line into every watch that is none."""
        self.order(Order(raw=line))

    def end(self) -> None:
        """Let the time of every watch be over: a bookmark where it is wanted, then the end."""
        self.order(Order(bookmark=True, end=True))

    def bookmark(self) -> None:
        """Send a bookmark to every watch that allows it."""
        self.order(Order(bookmark=True))

    def expire(self) -> None:
        """End every watch with an ERROR event that says 410."""
        too_old = expired(f"too old resource version: 1 ({self.store.version})")
        self.order(Order(refused=too_old, end=True))

    def refuse(self, status: int) -> None:
        """End every watch with an ERROR event of this code."""
        self.order(Order(refused=trouble(status), end=True))

    # ---- versions

    def compact(self) -> None:
        """Forget the log: who comes with a version other than the newest gets 410."""
        self.store.compact()

    def expire_continues(self) -> None:
        """Let every continue token that was given be too old."""
        self.store.forget_lists()
