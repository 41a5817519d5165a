"""The pages of targets, and who sees to it that nothing waits on one for ever.

What a page keeps until its window is over comes with a later scrape. Where none comes, because the
target is down or gone, the plan is another or another agent leads, it is asked for here.
"""

import asyncio
from collections.abc import Callable, Collection, Iterable, Sequence

from cwgpu.digest.page import Page
from cwgpu.model.event import EmfEvent
from cwgpu.model.target import Identity

# Rendering what waits on one page takes a millisecond, and scrapes are due meanwhile.
_AT_A_TIME = 16


class Pages:
    """Pages by target."""

    def __init__(self, closed: Callable[[Sequence[EmfEvent]], None]) -> None:
        """Begin with none. ``closed`` takes the events of what waited."""
        self._closed = closed
        self._pages: dict[Identity, Page] = {}
        self._lent: set[Identity] = set()

    def give(self, identity: Identity, make: Callable[[], Page]) -> Page:
        """Give a target's page, a new one if there is none."""
        page = self._pages.get(identity)
        if page is None:
            page = self._pages[identity] = make()
        return page

    def lend(self, identity: Identity) -> None:
        """Let another thread have a page; nothing waits there now, nor when it is handed back."""
        self._close((identity,))
        self._lent.add(identity)

    def back(self, identity: Identity) -> None:
        """Take a page that was lent, or forgotten meanwhile."""
        self._lent.discard(identity)

    def keep(self, wanted: Collection[Identity]) -> None:
        """Forget all pages but those of these targets."""
        self._forget([key for key in self._pages if key not in wanted])

    def forget_lent(self) -> None:
        """Forget the pages that other threads have, and may go on reading for nobody."""
        self._forget(list(self._lent & self._pages.keys()))

    def renew(self) -> dict[Identity, Page]:
        """Begin anew; gives the pages that there were, without those that are lent."""
        self.close()
        former, self._pages = self._pages, {}
        return {key: page for key, page in former.items() if key not in self._lent}

    def close(self) -> None:
        """Have the events of all that waits."""
        self._close(self._pages)

    async def close_due(self, now_ms: int) -> None:
        """Have the events of what waits for nothing any more."""
        due = [key for key, page in self._pages.items() if self._is_here(key) and page.due(now_ms)]
        for start in range(0, len(due), _AT_A_TIME):
            self._close(key for key in due[start : start + _AT_A_TIME] if key in self._pages)
            await asyncio.sleep(0)

    def _forget(self, identities: Collection[Identity]) -> None:
        self._close(identities)
        for identity in identities:
            del self._pages[identity]

    def _close(self, identities: Iterable[Identity]) -> None:
        for identity in identities:
            events = self._pages[identity].close() if self._is_here(identity) else ()
            if events:
                self._closed(events)

    def _is_here(self, identity: Identity) -> bool:
        return identity not in self._lent
