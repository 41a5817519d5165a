"""The program's own HTTP server, asked over real sockets."""

import asyncio
import contextlib
import json
import socket
from collections.abc import AsyncIterator
from typing import TypeAlias

import aiohttp
import pytest

from cwgpu.model import errors
from cwgpu.web import server

Serving: TypeAlias = contextlib.AbstractAsyncContextManager[list[server.Address]]


class State:
    """What the server is told."""

    def __init__(self) -> None:
        self.reason = ""
        self.accepts: list[str] = []

    def ready(self) -> str:
        """Give why it is not ready."""
        return self.reason

    def metrics(self, accept: str) -> tuple[bytes, str]:
        """Give a page, whose type tells that the format was chosen here."""
        self.accepts.append(accept)
        return b"up 1\n", "text/plain; version=0.0.4; charset=utf-8"

    async def targets(self, every: bool) -> bytes:  # noqa: FBT001 - the server's one question
        """Tell what was asked for."""
        return json.dumps({"all": every}).encode()

    def serve(self, host: str = "127.0.0.1", port: int = 0) -> Serving:
        """Serve all of it."""
        return server.serve(
            host, port, ready=self.ready, metrics=self.metrics, targets=self.targets
        )


@contextlib.asynccontextmanager
async def serving(state: State) -> AsyncIterator[str]:
    """Run a server and give the beginning of its URLs."""
    async with state.serve() as addresses:
        ((host, port),) = addresses
        yield f"http://{host}:{port}"


async def ask(url: str, method: str = "GET", **headers: str) -> tuple[int, str, str]:
    """Give status, Content-Type and text of an answer."""
    async with (
        aiohttp.ClientSession() as session,
        session.request(method, url, headers=headers) as answer,
    ):
        assert answer.headers["Server"] == "cwgpu"
        return answer.status, answer.headers["Content-Type"], await answer.text()


async def test_health() -> None:
    """As long as the loop runs the program is healthy, ready or not."""
    state = State()
    state.reason = "not yet"
    async with serving(state) as url:
        assert (await ask(f"{url}/healthz"))[::2] == (200, "ok\n")
        assert (await ask(f"{url}/healthz", "HEAD"))[0] == 200


async def test_readiness_follows_the_program() -> None:
    """Readiness is 503 with the reason until there is none."""
    state = State()
    state.reason = "no scrape yet"
    async with serving(state) as url:
        assert (await ask(f"{url}/readyz"))[::2] == (503, "no scrape yet\n")
        state.reason = ""
        assert (await ask(f"{url}/readyz"))[::2] == (200, "ready\n")


async def test_metrics_are_in_the_format_asked_for() -> None:
    """The Accept header decides, and the type comes back as it was given."""
    state = State()
    async with serving(state) as url:
        answer = await ask(f"{url}/metrics", Accept="application/openmetrics-text")
        assert answer == (200, "text/plain; version=0.0.4; charset=utf-8", "up 1\n")
    assert state.accepts == ["application/openmetrics-text"]


async def test_targets_are_told_on_this_machine() -> None:
    """With those that are not scraped, if that is asked for."""
    async with serving(State()) as url:
        answer = await ask(f"{url}/api/targets")
        assert answer == (200, "application/json", '{"all": false}')
        assert (await ask(f"{url}/api/targets?all=1"))[2] == '{"all": true}'
        named = url.replace("127.0.0.1", "localhost").removeprefix("http://")
        assert (await ask(f"{url}/api/targets", Host=named))[0] == 200


@pytest.mark.parametrize("name", ["example.com:9464", "10.0.0.7:9464", "[2001:db8::1]:9464"])
async def test_targets_are_told_to_nobody_else(name: str) -> None:
    """Not to a page in a browser, whose own name was led here; what is open stays open."""
    async with serving(State()) as url:
        status, _, text = await ask(f"{url}/api/targets", Host=name)
        assert status == 403
        assert "cwgpu targets --agent" in text
        assert (await ask(f"{url}/healthz", Host=name))[0] == 200


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [("GET", "/", 404), ("GET", "/metrics/x", 404), ("POST", "/metrics", 405)],
)
async def test_nothing_else_is_there(method: str, path: str, status: int) -> None:
    """Other paths and methods are refused."""
    async with serving(State()) as url:
        assert (await ask(url + path, method))[0] == status


async def test_a_bug_in_the_state_is_an_error_not_the_end() -> None:
    """When a function fails its request gets 500, and the next is answered."""

    class Broken(State):
        def ready(self) -> str:
            raise ZeroDivisionError

    async with serving(Broken()) as url:
        assert (await ask(f"{url}/readyz"))[0] == 500
        assert (await ask(f"{url}/healthz"))[0] == 200


async def test_a_port_that_is_taken() -> None:
    """An address that is in use is an error that says what to write instead."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(errors.UnavailableError, match=rf"127.0.0.1:{port}.*--listen"):
            async with State().serve(port=port):
                pass


@pytest.mark.parametrize(
    ("host", "port"),
    [
        ("203.0.113.1", 0),
        ("127.0.0.1", 70_000),
        ("a" * 70, 0),
        ("a..b", 0),
        ("a\0b", 0),
        ("\udcff", 0),
    ],
)
async def test_an_address_that_is_not_ours(host: str, port: int) -> None:
    """So are an address of another machine, a port that there is not, and what is no name."""
    with pytest.raises(errors.UnavailableError, match="cannot listen"):
        async with State().serve(host, port):
            pass


async def test_the_port_is_free_after_the_end() -> None:
    """When the block has ended nobody listens, and an idle connection does not hold it up."""
    async with serving(State()) as url:
        port = int(url.rpartition(":")[2])
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
        assert (await reader.readline()).startswith(b"HTTP/1.1 200")
    await reader.read()
    writer.close()
    with pytest.raises(ConnectionRefusedError):
        await asyncio.open_connection("127.0.0.1", port)


async def test_connections_are_bounded() -> None:
    """One connection too many is hung up on; when others go there is room again."""
    async with serving(State()) as url:
        port = int(url.rpartition(":")[2])
        opened = [await asyncio.open_connection("127.0.0.1", port) for _ in range(128)]
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        assert await reader.read() == b""
        writer.close()
        for _, held in opened:
            held.close()
            await held.wait_closed()
        assert (await ask(f"{url}/healthz"))[0] == 200


@pytest.mark.parametrize(
    "request_", [b"\x16\x03\x01\x00\xff", b"GET /" + b"x" * 20_000 + b" HTTP/1.1\r\n\r\n"]
)
async def test_nonsense_is_refused(request_: bytes) -> None:
    """What is no HTTP, or far too long, gets 400 and no more."""
    async with serving(State()) as url:
        reader, writer = await asyncio.open_connection("127.0.0.1", int(url.rpartition(":")[2]))
        writer.write(request_ + b"\r\n\r\n")
        assert (await reader.readline()).startswith(b"HTTP/1.0 400")
        writer.close()
