"""One watch: from when it is asked for until its stream ends, into a view.

https://kubernetes.io/docs/reference/using-api/api-concepts/#streaming-lists
"""

import contextlib
from typing import Generic, TypeVar

from cwgpu.kube import decode, fault
from cwgpu.kube.connection import ANSWER_S, Connection
from cwgpu.kube.decode import Key, Reader, Unreadable
from cwgpu.kube.failure import Failure
from cwgpu.kube.request import Request
from cwgpu.kube.view import View
from cwgpu.model import objects

T = TypeVar("T", bound=objects.Object)

MARGIN_S = 30.0
"""A stream that the server ought to have ended is waited for so much longer."""
BOOKMARKS_S = 180.0
"""Servers that send bookmarks send one each minute; after three without any, nobody is there."""
GATHER_S = 0.25
"""Changes are taken in together that come within so long. Nobody needs them sooner, and 2,000 in a
minute cost a third of what they would one by one."""


class Watching(Generic[T]):
    """One watch. How far it has come is read from it when it has ended."""

    def __init__(self, request: Request, reader: Reader[T], view: View[T], gather_s: float) -> None:
        """Begin with what there is, where the request asks for that."""
        self._request = request
        self._reader = reader
        self._view = view
        self._gather_s = gather_s
        self._listed: set[Key] | None = set() if "sendInitialEvents" in request.query else None
        self._bookmarked = False
        self.version = request.query.get("resourceVersion", "")
        """Up to where everything is known; empty before all is that there was."""
        self.agreed = False
        """The server has let us watch."""
        self.heard = False
        """It has said something since."""

    async def run(self, connection: Connection) -> Failure | None:
        """Watch until the stream ends; None when it has ended well."""
        pieces = connection.stream(self._request, self.quiet_s, self.gather_s)
        async with contextlib.aclosing(pieces):
            async for piece in pieces:
                if isinstance(piece, Failure):
                    return piece
                self._agree()
                failed = self._take(piece)
                if failed is not None:
                    return failed
        return None

    def quiet_s(self) -> float:
        """Say for how long nothing may come before the stream counts as dead."""
        if self._listed is not None:
            return ANSWER_S  # what there is comes without a break
        if self._bookmarked:
            return BOOKMARKS_S
        return float(self._request.query["timeoutSeconds"]) + MARGIN_S

    def gather_s(self) -> float:
        """Say for how long changes are left to come together."""
        return self._gather_s if self._listed is None else 0.0

    def _agree(self) -> None:
        self.agreed = True
        if self._listed is None:
            self._view.grieve("watch", "")

    def _take(self, lines: list[bytes]) -> Failure | None:
        failed = None
        for line in lines:
            self.heard = True
            failed = self._event(line)
            if failed is not None:
                break
        self._view.tell()
        return failed

    def _event(self, line: bytes) -> Failure | None:
        try:
            event = decode.event(line)
            if event.type == "BOOKMARK":
                self._mark(decode.bookmark(event.object))
                return None
        except decode.BROKEN as error:
            return fault.odd(self._request, line, f"a line of the answer is no event ({error})")
        if event.type == "ERROR":
            return fault.told(self._request, bytes(event.object))
        found = self._reader.read(event.object)
        if event.type == "DELETED":
            at = self._view.drop(found)
            if self._listed is not None:
                self._listed.discard(at)
        else:
            at = self._view.put(found)
            if self._listed is not None:
                self._listed.add(at)
        if self._listed is None:
            self.version = _version(found) or self.version
        return None

    def _mark(self, bookmark: decode.Bookmark) -> None:
        version = bookmark.metadata.resource_version or ""
        if self._listed is None:
            self._bookmarked = True
            self.version = version or self.version
        elif bookmark.ends_initial:
            self._view.complete(self._listed)
            self._listed = None
            self.version = version
            self._view.grieve("watch", "")
            self._view.grieve("list", "")


def _version(found: objects.Object | Unreadable) -> str:
    return found.version if isinstance(found, Unreadable) else found.metadata.resource_version
