"""The HTTP door of the fake API server: one request in, one answer or one stream out."""

import asyncio
import gzip
import json
import socket
import struct
import threading
import uuid
from collections import deque
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import orjson
from aiohttp import web

from tests.fakes.kubernetes import acting, documents, protobuf, resources, watching
from tests.fakes.kubernetes import options as queries
from tests.fakes.kubernetes.access import Access
from tests.fakes.kubernetes.chaos import Chaos, Order
from tests.fakes.kubernetes.failure import FailureError, no_such_path
from tests.fakes.kubernetes.options import Options
from tests.fakes.kubernetes.resources import Ask
from tests.fakes.kubernetes.store import Store
from tests.fakes.kubernetes.watching import Watching

Json = dict[str, Any]

GZIP_BYTES = 128 * 1024
"""Smaller answers are not compressed: k8s.io/apiserver's defaultGzipThresholdBytes."""
TIMEOUT_S = 1800.0
"""How long a watch lasts that does not say: --min-request-timeout."""
_HUMANS = ("curl", "Wget", "Mozilla/5.0")
"""Programs that get their JSON indented: k8s.io/apiserver's isPrettyPrint."""
_PRIORITY = {
    "X-Kubernetes-Pf-Flowschema-Uid": str(uuid.uuid4()),
    "X-Kubernetes-Pf-Prioritylevel-Uid": str(uuid.uuid4()),
}


@dataclass(slots=True)
class Request:
    """One request as it came, and how it was answered."""

    verb: str
    """RBAC's word, or the method's where there is no resource."""
    resource: str
    """Its plural, or empty."""
    namespace: str
    name: str
    path: str
    query: Mapping[str, str]
    headers: Mapping[str, str]
    user: str = ""
    """Empty when it is not known."""
    status: int = 0
    """0 until it is answered."""


class Open:
    """A watch that is under way."""

    def __init__(self, ask: Ask, watching: Watching, loop: asyncio.AbstractEventLoop) -> None:
        """Belong to the loop that serves."""
        self.ask = ask
        self.options = watching.options
        self.watching = watching
        self.orders: deque[Order] = deque()
        self.wake = asyncio.Event()
        self._loop = loop

    def notify(self) -> None:
        """Have it look at the log and at its orders; from any thread."""
        self._loop.call_soon_threadsafe(self.wake.set)

    def order(self, order: Order) -> None:
        """Have it do something; from any thread."""
        self.orders.append(order)
        self.notify()


@dataclass
class Door:
    """Answers requests."""

    store: Store
    access: Access
    chaos: Chaos
    sleep: Callable[[float], Awaitable[object]]
    requests: list[Request] = field(default_factory=list)
    open: set[Open] = field(default_factory=set)
    came: threading.Condition = field(default_factory=threading.Condition)
    """Notified when a request came or was answered, and when a watch begins or ends."""

    async def answer(self, request: web.Request) -> web.StreamResponse:
        """Handle any request."""
        query = dict(request.query)
        ask = resources.read(request.method, request.path, watch=_watches(query))
        record = _record(request, ask, query)
        with self.came:
            self.requests.append(record)
            self.came.notify_all()
        await self.chaos.flowing.wait()
        if self.chaos.delay_s:
            await self.sleep(self.chaos.delay_s)
        try:
            return await self._answered(request, ask, record)
        except FailureError as refused:
            return self._response(request, record, refused.status, refused)

    async def _answered(
        self, request: web.Request, ask: Ask | None, record: Request
    ) -> web.StreamResponse:
        fault = self.chaos.take(ask)
        if fault is not None:
            raise fault
        record.user = self.access.user(request.headers)
        if ask is None:
            return await self._other(request, record)
        self.access.check(record.user, _as_authorized(ask, record.query))
        if ask.verb == "watch":
            return await self._watch(request, ask, record)
        body = await _body(request)
        given = acting.act(self.store, ask, request, body)
        return self._response(request, record, given.body, status=given.status)

    async def _other(self, request: web.Request, record: Request) -> web.StreamResponse:
        if request.path == acting.REVIEWS and request.method == "POST":
            review = acting.review(self.access, record.user, await _body(request))
            return self._response(request, record, review, status=201)
        self.access.check_path(record.user, request.path)
        document = documents.read(request.path)
        if document is None:
            raise no_such_path()
        if isinstance(document, str):
            self._answer_is(record, 200)
            return web.Response(text=document)
        return self._response(request, record, document)

    # ---- answers

    def _response(
        self,
        request: web.Request,
        record: Request,
        document: Json | bytes,
        refused: FailureError | None = None,
        *,
        status: int = 200,
    ) -> web.Response:
        headers = _headers() | dict(refused.headers if refused else {})
        body = _encoded(request, document)
        if len(body) > GZIP_BYTES and "gzip" in request.headers.get("Accept-Encoding", ""):
            body = gzip.compress(body, 1)
            headers |= {"Content-Encoding": "gzip", "Vary": "Accept-Encoding"}
        code = refused.code if refused else status
        self._answer_is(record, code)
        return web.Response(body=body, status=code, headers=headers)

    def _answer_is(self, record: Request, status: int) -> None:
        with self.came:
            record.status = status
            self.came.notify_all()

    # ---- watches

    async def _watch(self, request: web.Request, ask: Ask, record: Request) -> web.StreamResponse:
        options = queries.read(request.query)
        metadata_only = acting.metadata_only(request)
        view = Watching(self.store, ask, options, metadata_only=metadata_only)
        response = web.StreamResponse(headers=_headers())
        response.enable_chunked_encoding()
        await response.prepare(request)
        self._answer_is(record, 200)
        if options.initial_events and not self.chaos.watch_lists:
            await response.write(watching.error(acting.NO_WATCH_LISTS))
            return response
        watch = Open(ask, view, asyncio.get_running_loop())
        self._opened(watch)
        try:
            await self._run(watch, request, response)
        except ConnectionError:
            pass  # who watched has gone
        finally:
            self._closed(watch)
        return response

    async def _run(self, watch: Open, request: web.Request, response: web.StreamResponse) -> None:
        timer = asyncio.ensure_future(self.sleep(_timeout_s(watch.options)))
        timer.add_done_callback(lambda _: watch.wake.set())
        try:
            await response.write(b"".join(watch.watching.start()))
            while True:
                watch.wake.clear()
                await self.chaos.flowing.wait()
                await response.write(b"".join(watch.watching.more()))
                if timer.done():
                    watch.orders.append(Order(bookmark=True, end=True))
                if await _obey(watch, request, response):
                    return
                await watch.wake.wait()
        except FailureError as refused:
            await response.write(watching.error(refused))
        finally:
            timer.cancel()

    def _opened(self, watch: Open) -> None:
        self.store.listeners.add(watch.notify)
        with self.came:
            self.open.add(watch)
            self.came.notify_all()

    def _closed(self, watch: Open) -> None:
        self.store.listeners.discard(watch.notify)
        with self.came:
            self.open.discard(watch)
            self.came.notify_all()


async def _obey(watch: Open, request: web.Request, response: web.StreamResponse) -> bool:
    """Do what was ordered, after what happened before the order; tell whether it is over."""
    while watch.orders:
        order = watch.orders.popleft()
        await response.write(b"".join(watch.watching.more()))
        if order.bookmark and watch.watching.can_bookmark:
            await response.write(watch.watching.bookmark())
        if order.refused is not None:
            await response.write(watching.error(order.refused))
        if order.raw:
            await response.write(order.raw)
        if order.silent:
            await asyncio.get_running_loop().create_future()  # until the client goes
        if order.hang_up and request.transport is not None:
            request.transport.close()
        if order.end:
            return True
    return False


def abort(transport: asyncio.BaseTransport | None) -> None:
    """Break a connection with a TCP reset, as a crashed server does."""
    if isinstance(transport, asyncio.Transport):
        peer: socket.socket | None = transport.get_extra_info("socket")
        if peer is not None:  # else it is closed already
            linger_not_at_all = struct.pack("ii", 1, 0)
            peer.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger_not_at_all)
        transport.abort()


def _watches(query: Mapping[str, str]) -> bool:
    return query.get("watch", "false").lower() not in {"false", "0"}


def _as_authorized(ask: Ask, query: Mapping[str, str]) -> Ask:
    """A list of one name is allowed to who may list that name: its resourceNames hold."""
    selector, word, name = query.get("fieldSelector", "").partition("metadata.name=")
    alone = word and not selector and "," not in name and not ask.name
    return replace(ask, name=name) if alone else ask


def _timeout_s(options: Options) -> float:
    return TIMEOUT_S if options.timeout_s is None else options.timeout_s


def _record(request: web.Request, ask: Ask | None, query: Mapping[str, str]) -> Request:
    headers = {name.lower(): value for name, value in request.headers.items()}
    if ask is None:
        return Request(request.method.lower(), "", "", "", request.path, query, headers)
    shown = (ask.verb, ask.resource.plural, ask.namespace, ask.name)
    return Request(*shown, request.path, query, headers)


def _headers() -> dict[str, str]:
    headers = {"Audit-Id": str(uuid.uuid4()), "Cache-Control": "no-cache, private"}
    return {**headers, "Content-Type": "application/json", **_PRIORITY}


async def _body(request: web.Request) -> Json:
    raw = await request.read()
    said = "Content-Type" in request.headers  # JSON is what a client sends that does not say
    if raw and said and not request.content_type.endswith("json"):
        binary = protobuf.read(raw) if request.content_type == protobuf.CONTENT_TYPE else None
        if binary is None:
            raise acting.unsupported(request.content_type)
        return binary
    try:
        document = orjson.loads(raw) if raw else {}
    except orjson.JSONDecodeError as error:
        raise acting.unreadable(str(error)) from error
    return document if isinstance(document, dict) else {}


def _encoded(request: web.Request, document: Json | bytes) -> bytes:
    body = document if isinstance(document, bytes) else orjson.dumps(document)
    said = request.query.get("pretty")
    by_agent = request.headers.get("User-Agent", "").startswith(_HUMANS)
    if said in {"true", "1"} or (said is None and by_agent):
        return json.dumps(orjson.loads(body), indent=2, ensure_ascii=False).encode()
    return body + b"\n"
