"""A view of the objects of one kind that keeps itself up to date, whatever the server does.

First all of them, then what changes, for ever. A server that can begins the watch with what there
is (WatchList); others are asked for pages. After a break the watch goes on where it was, and when
the server does not remember that far back, all is asked for again.
https://kubernetes.io/docs/reference/using-api/api-concepts/#efficient-detection-of-changes
"""

import asyncio
import random as chance
import time
from collections.abc import Callable
from typing import Generic, NoReturn, TypeVar

from cwgpu.kube import failure, limit
from cwgpu.kube.connection import Connection
from cwgpu.kube.decode import Reader
from cwgpu.kube.failure import Failure
from cwgpu.kube.listing import Listing
from cwgpu.kube.resource import Resource
from cwgpu.kube.scope import Scope
from cwgpu.kube.view import View
from cwgpu.kube.watching import GATHER_S, Watching
from cwgpu.model import objects
from cwgpu.pace import backoff

T = TypeVar("T", bound=objects.Object)

SHORTEST_S = 300.0
"""A watch is asked for this long and up to as much longer, as Kubernetes' own clients do."""
HEALTHY_S = 1.0
"""A stream that ends sooner has failed, however it ended."""
LONGEST_PAUSE_S = 30.0
"""As in Kubernetes' own clients: how stale we may be after an outage."""
SLOWLY_S = 30.0
"""What only a person can change is tried again after this, and up to as much longer."""
# A stream that breaks and a token that was rotated are no news before they come again.
_NEWS = 2

# A server that was away for so many tries, half a minute or so, may come back from a backup: then
# it knows less than we do, and says nothing to those who ask for what comes after that.
_RESTORED = 6

_DENIED = frozenset({failure.UNAUTHORIZED, failure.FORBIDDEN})
_SLOW = frozenset({failure.FORBIDDEN, failure.NOT_FOUND})
_EXPECTED = frozenset({failure.GONE, failure.UNAUTHORIZED})
_FROM_ANEW = frozenset({failure.INVALID, failure.FORBIDDEN, failure.GONE, failure.UNPROCESSABLE})
"""Answers to a watch after which there is no going on from where it was. One that is forbidden is
among them: the list may be allowed, and that again and again is better than nothing."""
# What servers say that could begin a watch with what there is, but whose etcd cannot help them.
_NO_STREAMS = "required storage feature"


class Reflector(View[T], Generic[T]):
    """The objects of one kind, in one namespace or all, that selectors choose."""

    def __init__(
        self,
        connection: Connection,
        resource: Resource[T],
        namespace: str = "",
        *,
        labels: str = "",
        fields: str = "",
        gather_s: float = GATHER_S,
        sleep: limit.Sleep = asyncio.sleep,
        monotonic: Callable[[], float] = time.monotonic,
        random: Callable[[], float] = chance.random,
    ) -> None:
        """Know nothing yet.

        ``gather_s`` is how much later than it could a change may be seen; ``random`` gives numbers
        of 0 <= x < 1.
        """
        super().__init__()
        self._connection = connection
        self._gather_s = gather_s
        self._scope = Scope(resource, namespace, labels, fields)
        self._sleep, self._monotonic, self._random = sleep, monotonic, random
        self._reader = Reader(resource.type)
        self._listing = Listing(connection, self._scope, self._reader, self)
        self._from = ""
        """The resourceVersion to watch from; empty when all is to be asked for first."""
        self._by_pages = False
        """Watching is not allowed, or ended before it had told of everything: ask for pages."""
        self._failures = 0
        """In a row."""

    async def run(self) -> NoReturn:
        """Keep the view up to date, for ever."""
        while True:
            if not self._from and (self._by_pages or not self._connection.streams_lists):
                failed = await self._list()
            else:
                failed = await self._watch()
            if failed is not None:
                await self._sleep(self._pause_s(failed))
                self._failures += 1

    async def _list(self) -> Failure | None:
        """List; a Failure is to be followed by a pause."""
        version = await self._listing.all()
        if isinstance(version, Failure):
            self._report("list", version, known=version.status in _EXPECTED)
            return version
        self._from = version
        self.grieve("list", "")
        return None

    async def _watch(self) -> Failure | None:
        """Watch; a Failure is to be followed by a pause."""
        begins = not self._from
        request = self._scope.watch(self._from, int(SHORTEST_S * (1 + self._random())))
        watching = Watching(request, self._reader, self, self._gather_s)
        began_s = self._monotonic()
        failed = await watching.run(self._connection)
        lasted = watching.agreed and self._monotonic() - began_s >= HEALTHY_S
        if lasted:
            self._failures = 0
        self._from = watching.version
        if failed is None and not watching.heard:
            # A bookmark comes before the end, if nothing else does: this server does not know the
            # version that we come with, like one that was restored from a backup.
            self._from = ""
        if failed is None and not (lasted and watching.version):
            failed = Failure(f"{request.failed}: the API server ended the stream too soon")
        if begins and failed is not None and not watching.version:
            return self._not_begun(failed, watching)
        return self._ended(failed, watching)

    def _not_begun(self, failed: Failure, watching: Watching[T]) -> Failure | None:
        """Go on after a watch that did not get to tell what there is."""
        unknown = failed.status in {failure.INVALID, failure.UNPROCESSABLE}
        if unknown or _NO_STREAMS in failed.sentence:
            self._connection.streams_lists = False
            return None
        forbidden = failed.status == failure.FORBIDDEN
        self._by_pages = forbidden or watching.agreed
        self._report("watch", failed, known=watching.agreed or failed.status in _EXPECTED)
        return None if forbidden else failed

    def _ended(self, failed: Failure | None, watching: Watching[T]) -> Failure | None:
        """Go on after a watch that did, or began where another one was."""
        if failed is None:
            self._by_pages = False
            return None
        if failed.status in _FROM_ANEW or self._failures >= _RESTORED:
            self._from = ""
        self._by_pages = failed.status == failure.FORBIDDEN
        self._report("watch", failed, known=watching.agreed or failed.status in _EXPECTED)
        return failed

    def _report(self, verb: str, failed: Failure, *, known: bool) -> None:
        """Have the view tell of a failure; one that is ``known`` to happen may heal by itself."""
        if not known or self._failures >= _NEWS:
            self.grieve(verb, failed.sentence, denied=failed.status in _DENIED)

    def _pause_s(self, failed: Failure) -> float:
        if failed.status in _SLOW:
            return SLOWLY_S * (1 + self._random())
        pause_s = backoff.full_jitter(self._failures, self._random(), cap_s=LONGEST_PAUSE_S)
        return failed.retry_after_s + pause_s
