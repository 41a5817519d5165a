"""The session that all threads of a sink share: opened once, thrown away when it is no good.

Nothing in here waits for the outside while it holds the lock, so that ``close`` and ``renew`` never
wait either.
"""

import threading
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cwgpu.sinks.access import Access

if TYPE_CHECKING:
    from cwgpu.sinks.session import Session


@dataclass(slots=True, eq=False)
class Kept:
    """A session, and what is known of it."""

    session: "Session"
    doubted: bool = False
    """A call found that its credentials are no good."""
    calls: int = 0
    """How many are under way with it."""


class Keeper:
    """Opens sessions, and closes each when nobody uses it any more."""

    def __init__(self, access: Access, connections: int) -> None:
        self._access = access
        self._connections = connections
        self._lock = threading.Lock()
        self._opening: Future[Kept] | None = None
        """The session that is there or is being opened; all who come meanwhile wait for it."""
        self._closed = False

    @contextmanager
    def lend(self) -> Iterator[Kept]:
        """Give the session, which stays usable in here; raises what opening it raises."""
        kept = self._enter()
        try:
            yield kept
        finally:
            self._leave(kept)

    def renew(self) -> bool:
        """Throw the session away if a call has doubted it; say whether it was.

        One that is newer than the calls that failed stays: of many that fail at the same time the
        first to ask decides, and the others find its new session.
        """
        with self._lock:
            kept = self._there()
            if kept is None or not kept.doubted:
                return False
            self._opening = None
            idle = not kept.calls
        if idle:
            kept.session.client.close()
        return True

    def close(self) -> None:
        """Let go of idle connections; those in use go when their calls end."""
        with self._lock:
            self._closed = True
            kept = self._there()
            idle = kept is not None and not kept.calls
        if kept is not None and idle:
            kept.session.client.close()

    def _enter(self) -> Kept:
        while True:
            with self._lock:
                opening, first = self._opening, self._opening is None
                opening = self._opening = opening or Future()
            if first:
                self._open(opening)
            kept = opening.result()
            with self._lock:
                if opening is self._opening:  # else it was thrown away just now
                    kept.calls += 1
                    return kept

    def _open(self, opening: "Future[Kept]") -> None:
        from cwgpu.sinks import session  # noqa: PLC0415 - boto3 takes half a second

        try:
            kept = Kept(session.open_session(self._access, self._connections))
        except Exception as error:  # noqa: BLE001 - it is for whoever waits
            with self._lock:
                self._opening = None
            opening.set_exception(error)
        else:
            opening.set_result(kept)

    def _leave(self, kept: Kept) -> None:
        with self._lock:
            kept.calls -= 1
            over = not kept.calls and (self._closed or kept is not self._there())
        if over:
            # Not before: a call that takes a connection of a closed pool fails, and looks as if it
            # might have got there.
            kept.session.client.close()

    def _there(self) -> Kept | None:
        opening = self._opening
        return opening.result() if opening is not None and opening.done() else None
