"""The HTTP door of the fake CloudWatch Logs: one request in, one answer or fault out.

https://smithy.io/2.0/aws/protocols/aws-json-1_1-protocol.html
"""

import asyncio
import gzip
import json
import math
import socket
import struct
import threading
import uuid
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from email.utils import formatdate
from typing import Any

from aiohttp import web

from tests.fakes import faults, sigv4
from tests.fakes.faults import Fault
from tests.fakes.refusal import Refusal, Refused
from tests.fakes.service import Request, Service

TARGET = "Logs_20140328."
JSON = "application/x-amz-json-1.1"


@dataclass(frozen=True, slots=True)
class Call:
    """One request as it came, and how it was answered."""

    action: str
    headers: Mapping[str, str]
    """Names in lower case; empty where texts are not kept."""
    body: bytes
    """Uncompressed; empty when the connection was reset before, and where texts are not kept."""
    wire_bytes: int
    """Size of the body as sent."""
    status: int
    """0 when the caller got no answer."""
    code: str
    """The error's, or empty."""


@dataclass(slots=True)
class Door:
    """Answers requests; ``now`` is the service's clock in seconds since 1970."""

    service: Service
    now: Callable[[], float]
    secrets: dict[str, sigv4.Secret]
    pending: faults.Faults = field(default_factory=faults.Faults)
    calls: list[Call] = field(default_factory=list)
    held: list[asyncio.Event] = field(default_factory=list)
    came: threading.Condition = field(default_factory=threading.Condition)
    """Notified after every call; other threads wait for it."""
    told: Callable[[Call], None] = lambda _: None
    """Told of every call, whole."""

    async def answer(self, request: web.Request) -> web.StreamResponse:
        """Handle any request."""
        action = request.headers.get("X-Amz-Target", "").removeprefix(TARGET)
        headers = {name.lower(): value for name, value in request.headers.items()}
        fault = self.pending.take(action)
        if isinstance(fault, faults.Reset):
            self._record(Call(action, headers, b"", 0, 0, ""))
            return _reset(request)
        raw = await request.read()
        body = _inflated(headers, raw)
        given = self._given(_signed(request, headers, raw), action, body, fault)
        status, code = (given.status, given.code) if isinstance(given, Refusal) else (200, "")
        dropped = isinstance(fault, faults.AcceptThenDrop)
        self._record(Call(action, headers, body, len(raw), 0 if dropped else status, code))
        if dropped:
            return _reset(request)
        if isinstance(fault, faults.Hold):
            await self._hold(fault.seconds)
        skew_s = fault.seconds if isinstance(fault, faults.SkewedDate) else 0.0
        return _response(given, self.now() + skew_s)

    def release(self) -> None:
        """Let held answers go; in the loop that serves."""
        for event in self.held:
            event.set()

    def _record(self, call: Call) -> None:
        self.told(call)
        if not self.service.texts:
            call = replace(call, headers={}, body=b"")
        with self.came:
            self.calls.append(call)
            self.came.notify_all()

    def _given(
        self, request: sigv4.Signed, action: str, body: bytes, fault: Fault | None
    ) -> dict[str, Any] | Refusal:
        if isinstance(fault, Refusal):
            return fault
        now = self.now()
        try:
            sigv4.check(request, self.secrets, datetime.fromtimestamp(now, UTC))
            members = _members(request.headers, body)
            if isinstance(fault, faults.GroupDeleted):
                self.service.groups.pop(str(members.get("logGroupName")), None)
            return self.service.act(Request(action, members, request.headers, int(now * 1000)))
        except Refused as refused:
            return refused.refusal

    async def _hold(self, seconds: float) -> None:
        event = asyncio.Event()
        self.held.append(event)
        try:
            await asyncio.wait_for(event.wait(), None if math.isinf(seconds) else seconds)
        except TimeoutError:
            pass
        finally:
            self.held.remove(event)


def _signed(request: web.Request, headers: Mapping[str, str], raw: bytes) -> sigv4.Signed:
    url = request.rel_url
    return sigv4.Signed(request.method, url.raw_path, url.raw_query_string, headers, raw)


def _inflated(headers: Mapping[str, str], raw: bytes) -> bytes:
    if headers.get("content-encoding") != "gzip":
        return raw
    try:
        return gzip.decompress(raw)
    except (OSError, EOFError, zlib.error):
        return raw  # not JSON either, so it is refused as such


def _members(headers: Mapping[str, str], body: bytes) -> dict[str, Any]:
    try:
        members = json.loads(body)
    except ValueError:
        members = None
    if not isinstance(members, dict) or headers.get("content-type") != JSON:
        raise Refused("SerializationException", "")
    return members


def _response(given: dict[str, Any] | Refusal, now: float) -> web.Response:
    headers = {"x-amzn-RequestId": str(uuid.uuid4()), "Date": formatdate(now, usegmt=True)}
    if isinstance(given, Refusal):
        error = {"__type": given.code, "message": given.message}
        headers |= given.headers
        return _json(error, given.status, headers)
    return _json(given, 200, headers)


def _json(document: object, status: int, headers: Mapping[str, str]) -> web.Response:
    body = json.dumps(document).encode() if document else b""  # no output, no document
    return web.Response(body=body, status=status, headers=headers, content_type=JSON)


def _reset(request: web.Request) -> web.Response:
    """Break the connection with a TCP reset, as a crashed or overloaded peer does."""
    transport = request.transport
    if transport is not None:
        peer: socket.socket = transport.get_extra_info("socket")
        linger_not_at_all = struct.pack("ii", 1, 0)
        peer.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger_not_at_all)
        transport.abort()
    return web.Response()
