"""All objects of a kind, page by page, into a view."""

import asyncio
from typing import Generic, TypeVar

from cwgpu.kube import decode, failure, fault
from cwgpu.kube.connection import Connection
from cwgpu.kube.decode import Key, Page, Reader
from cwgpu.kube.failure import Failure
from cwgpu.kube.request import Request
from cwgpu.kube.scope import PAGE, Scope
from cwgpu.kube.view import View
from cwgpu.model import objects

T = TypeVar("T", bound=objects.Object)


class Listing(Generic[T]):
    """Lists again and again, and remembers how that went."""

    def __init__(
        self, connection: Connection, scope: Scope, reader: Reader[T], view: View[T]
    ) -> None:
        """Fill the view; it is not told when nothing can be had."""
        self._connection = connection
        self._scope = scope
        self._reader = reader
        self._view = view
        self._whole = False
        """Pages expired before the last one came: ask for all in one."""

    async def all(self) -> str | Failure:
        """Bring the view up to date, and give the version that it has then."""
        listed: set[Key] = set()
        going_on = ""
        while True:
            # The cache of a server may be behind: it must not take us back to what we have left.
            cached = self._scope.selects and not self._view.synced
            request = self._scope.list(going_on, whole=self._whole, cached=cached)
            page = await self._page(request)
            if isinstance(page, Failure):
                self._whole |= bool(going_on) and page.status == failure.GONE
                return page
            await self._take(page, listed)
            if going_on and going_on == page.metadata.going_on:
                return Failure(f"{request.failed}: a page is followed by itself, without an end")
            going_on = page.metadata.going_on or ""
            if not going_on:
                break
        self._whole = False
        self._view.complete(listed)
        return page.metadata.resource_version or ""

    async def _page(self, request: Request) -> Page | Failure:
        body = await self._connection.ask(request)
        if isinstance(body, Failure):
            return body
        try:
            page = decode.page(body)
        except decode.BROKEN as error:
            return fault.odd(request, body, f"the answer is no list ({error})")
        wanted = f"{request.resource.type.__name__}List"
        if page.kind and page.kind != wanted:
            kind = fault.printable(page.kind)
            return fault.odd(request, body, f"the answer is of the kind {kind}, and not {wanted}")
        if not page.metadata.resource_version:
            return Failure(f"{request.failed}: the answer is a list without a resourceVersion")
        return page

    async def _take(self, page: Page, listed: set[Key]) -> None:
        items = page.items or []
        for start in range(0, len(items), PAGE):
            for raw in items[start : start + PAGE]:
                listed.add(self._view.put(self._reader.read(raw)))
            # A server that gives all at once, where pages were asked for, must not stop the rest.
            await asyncio.sleep(0)
