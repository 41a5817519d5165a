"""Requests and streams of one API server: what is sent, and what comes of it."""

import asyncio
import gzip
import os
import socket
import ssl
from pathlib import Path
from typing import Any

import pytest
import trustme
from aiohttp import web
from multidict import CIMultiDict

from cwgpu.client.resolve import AddressInfo, Resolver
from cwgpu.kube.connection import Connection
from cwgpu.kube.failure import Failure
from cwgpu.kube.request import Request
from cwgpu.kube.resource import LEASES, NODES, PODS
from tests.agent.stage import eventually
from tests.fakes.kubernetes import FakeKubernetes
from tests.kube import stage
from tests.kube.stage import User, connected, pod
from tests.scrape import raw

LIST = Request("list", PODS)
PATIENT = (lambda: 60.0, lambda: 0.0)


def trusting(ca: bytes) -> ssl.SSLContext:
    """Trust an authority."""
    return ssl.create_default_context(cadata=ca.decode())


async def failed(connection: Connection, request: Request = LIST) -> str:
    """Ask in vain; gives the sentence."""
    answer = await connection.ask(request)
    assert isinstance(answer, Failure)
    return answer.sentence


async def test_a_request_says_what_it_wants() -> None:
    """JSON, packed, and who asks; a body says that it is JSON too."""
    seen: list[CIMultiDict[str]] = []

    async def answer(request: web.Request, _: int) -> web.StreamResponse:
        seen.append(CIMultiDict(request.headers))
        return web.Response(text=f"{request.method} {request.path_qs}")

    async with stage.serve(answer) as server, connected(server.url + "/base", "t") as (asks, _, _):
        query = {"labelSelector": "app in (a, b)"}
        assert await asks.ask(Request("list", NODES, query=query)) == (
            b"GET /base/api/v1/nodes?labelSelector=app+in+(a,+b)"
        )
        lease = Request("update", LEASES, "ns", "me", body=b"{}")
        assert await asks.ask(lease) == (
            b"PUT /base/apis/coordination.k8s.io/v1/namespaces/ns/leases/me"
        )
        created = Request("create", LEASES, "ns", "me", body=b"{}")
        assert (await asks.ask(created)) == (
            b"POST /base/apis/coordination.k8s.io/v1/namespaces/ns/leases"
        )
    assert seen[0]["Authorization"] == "Bearer t"
    assert seen[0]["Accept"] == "application/json"
    assert seen[0]["Accept-Encoding"] == "gzip"
    assert seen[0]["User-Agent"].startswith("cwgpu/")
    assert "Content-Type" not in seen[0]
    assert seen[1]["Content-Type"] == "application/json"


async def test_packed_answers_are_unpacked() -> None:
    """Lists come with gzip, and so may streams."""
    body = b'{"metadata": {}}\n' * 1000

    async def answer(request: web.Request, _: int) -> web.StreamResponse:
        packed = gzip.compress(body)
        return web.Response(body=packed, headers={"Content-Encoding": "gzip"})

    async with stage.serve(answer) as server, connected(server.url) as (connection, _, _):
        assert await connection.ask(LIST) == body
        pieces = [piece async for piece in connection.stream(LIST, *PATIENT)]
    assert pieces[0] == []
    assert sum(len(piece) for piece in pieces if isinstance(piece, list)) == 1000


async def test_one_connection_carries_many_requests() -> None:
    """It is kept open between them, and closed at the end."""
    async with FakeKubernetes() as api, connected(api.url, api.admin) as (connection, _, _):
        for _ in range(3):
            assert isinstance(await connection.ask(LIST), bytes)
        await connection.close()
        assert isinstance(await connection.ask(LIST), bytes)


async def test_a_redirect_is_no_answer() -> None:
    """Credentials are not carried to where somebody else points."""

    async def answer(request: web.Request, _: int) -> web.StreamResponse:
        return web.Response(status=302, headers={"Location": "/elsewhere"})

    async with stage.serve(answer) as server, connected(server.url) as (connection, _, _):
        assert "HTTP status 302" in await failed(connection)
        assert len(server.queries) == 1


async def test_nobody_waits_for_ever_for_an_answer() -> None:
    """Neither for that of a question nor for the beginning of a stream."""
    async with FakeKubernetes() as api, connected(api.url, api.admin) as (asks, _, patience):
        api.chaos.stall()
        asking = asyncio.create_task(asks.ask(LIST, 5.0))
        watching = asyncio.create_task(anext(asks.stream(LIST, *PATIENT)))
        await eventually(lambda: len(api.requests) == 2)
        await patience.move(4.9)
        assert not asking.done()
        await patience.move(0.2)
        answer = await asking
        assert isinstance(answer, Failure)
        assert answer.sentence == (
            f"pods in all namespaces cannot be listed: 127.0.0.1:{api.port}: no answer in 5 s; "
            "is it reachable from here, and is it overloaded?"
        )
        assert not watching.done()
        await patience.move(30)
        assert "no answer in 30 s" in str(await watching)


async def test_a_refused_token_is_told_to_whom_it_belongs() -> None:
    """Whoever keeps credentials learns that they are not good, from questions and streams."""
    async with FakeKubernetes() as api, connected(api.url, "wrong") as (connection, user, _):
        assert "does not know who this is" in await failed(connection)
        (piece,) = [piece async for piece in connection.stream(LIST, *PATIENT)]
        assert isinstance(piece, Failure)
        assert piece.status == 401
        assert user.refusals == 2


async def test_tls_is_spoken() -> None:
    """A certificate of the authority's is trusted, also for another name if that is wanted."""
    async with FakeKubernetes(tls=True) as api:
        api.put(pod("a"))
        context = trusting(api.ca)
        ways: list[dict[str, Any]] = [{}, {"server_hostname": "localhost"}]
        for way in ways:
            way["ssl"] = context
            async with Connection(User(api.url, api.admin, way=way)) as connection:
                assert isinstance(await connection.ask(LIST), bytes)


@pytest.mark.parametrize("case", ["authority", "name"])
async def test_a_certificate_that_is_not_trusted_is_told(case: str) -> None:
    """Of another authority, or for another name."""
    async with FakeKubernetes(tls=True) as api:
        foreign = trustme.CA().cert_pem.bytes()
        way: dict[str, Any] = {"ssl": trusting(foreign if case == "authority" else api.ca)}
        if case == "name":
            way["server_hostname"] = "other.example"
        async with Connection(User(api.url, api.admin, way=way)) as connection:
            said = await failed(connection)
    assert f"127.0.0.1:{api.port}: its certificate is not trusted (" in said
    assert said.endswith("check the authority and the name")


async def test_a_server_without_tls_is_told() -> None:
    """Speaking TLS to a port that does not is a matter of the URL."""
    async with FakeKubernetes() as api:
        url = api.url.replace("http:", "https:")
        way = {"ssl": ssl.create_default_context()}
        async with Connection(User(url, api.admin, way=way)) as connection:
            assert "no TLS connection (" in await failed(connection)


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (b"SSH-2.0-OpenSSH_9.2\r\n", "the answer is no HTTP ("),
        (b"", "the connection broke (Server disconnected)"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf", "the connection broke ("),
    ],
)
async def test_answers_that_are_none_are_told(answer: bytes, said: str) -> None:
    """Something else than an API server may listen there, or one that ends."""
    async with raw.serve(answer) as server, Connection(User(server.url)) as connection:
        assert f"cannot be listed: 127.0.0.1:{server.port}: {said}" in await failed(connection)


def no_names(*_: object) -> list[AddressInfo]:
    """Know nobody, as ``socket.getaddrinfo`` says it."""
    raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")


async def test_a_name_that_nobody_knows_is_told() -> None:
    """It is a matter of the address, or of the DNS."""
    async with Connection(User("http://api.example:1"), resolver=Resolver(no_names)) as connection:
        assert await failed(connection) == (
            "pods in all namespaces cannot be listed: api.example:1: the name does not resolve "
            "(Name or service not known); check address and DNS"
        )


@pytest.mark.parametrize("url", ["no url", "ftp://host", "http://", "http://[::1"])
async def test_what_is_no_url_is_told(url: str) -> None:
    """Whoever wrote it is told where to look."""
    async with Connection(User(url)) as connection:
        assert "cannot be listed: " in await failed(connection)


async def test_a_dead_connection_is_the_kernels_to_find() -> None:
    """Every connection has keep-alive switched on, so that half-open ones end."""
    probes: list[int] = []

    async def answer(request: web.Request, _: int) -> web.StreamResponse:
        return web.Response()

    async with stage.serve(answer) as server, connected(server.url) as (connection, _, _):
        stream = connection.stream(LIST, *PATIENT)
        assert await anext(stream) == []
        for number in _open_files():
            probes.extend(_keepalive(number, server.url))
        await stream.aclose()
    assert 30 in probes


def _open_files() -> list[int]:
    """Give the numbers of all files that this process has open."""
    return [int(each.name) for each in Path("/proc/self/fd").iterdir()]


def _keepalive(number: int, url: str) -> list[int]:
    """Give after how long an open connection to a server is probed, if this is one."""
    try:
        with socket.socket(fileno=os.dup(number)) as opened:
            port = int(url.rpartition(":")[2])
            if opened.family == socket.AF_INET and opened.getpeername()[1] == port:
                return [opened.getsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPIDLE)]
    except OSError:
        pass
    return []
