"""The simulated exporters on loopback."""

import socket

import aiohttp
import pytest

from cwgpu.model.errors import UnavailableError
from cwgpu.simulate import server
from cwgpu.simulate.page import Fleet
from cwgpu.simulate.server import serve

FLEET = Fleet(nodes=2, gpus=3)


class Clock:
    """A clock that a test moves."""

    def __init__(self) -> None:
        """Begin at some time."""
        self.now_s = 1_700_000_000.0

    def __call__(self) -> float:
        """Tell the time."""
        return self.now_s


async def get(url: str) -> tuple[int, str, bytes]:
    """Fetch a URL: status, Content-Type and body."""
    async with aiohttp.ClientSession() as session, session.get(url) as answer:
        return answer.status, answer.headers["Content-Type"], await answer.read()


async def test_each_node_serves_its_page_at_the_time_since_the_start() -> None:
    """The clock is the caller's; the simulation's time begins with the server."""
    clock = Clock()
    async with serve(FLEET, "127.0.0.1", [0, 0], clock) as urls:
        assert len(set(urls)) == 2
        for node, url in enumerate(urls):
            assert url.startswith("http://127.0.0.1:")
            assert await get(url) == (200, "text/plain; charset=utf-8", FLEET.page(node, 0.0))
        clock.now_s += 12.5
        assert (await get(urls[1]))[2] == FLEET.page(1, 12.5)


async def test_other_paths_are_the_exporters() -> None:
    """/health says OK, / is a page for people, and the article's path is not served."""
    async with serve(FLEET, "127.0.0.1", [0, 0], Clock()) as (url, _):
        base = url.removesuffix("/metrics")
        assert await get(f"{base}/health") == (200, "text/plain; charset=utf-8", b"OK")
        status, content_type, body = await get(f"{base}/")
        assert (status, content_type) == (200, "text/html; charset=utf-8")
        assert b'href="./metrics"' in body
        assert (await get(f"{base}/api/v1/metrics/prometheus"))[0] == 404


async def test_the_ports_are_free_again_afterwards() -> None:
    """When the context ends nobody listens any more."""
    async with serve(FLEET, "127.0.0.1", [0, 0], Clock()) as urls:
        pass
    for url in urls:
        with pytest.raises(aiohttp.ClientConnectorError):
            await get(url)


async def test_a_port_in_use_is_named() -> None:
    """When a port cannot be had, the error says which and what to do; no other stays open."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(UnavailableError, match=rf"127\.0\.0\.1:{port} .*name another port"):
            async with serve(FLEET, "127.0.0.1", [0, port], Clock()):
                pass


def test_ipv6_addresses_have_brackets_in_the_url() -> None:
    """A URL can be used as it is, whatever the host is."""
    assert server.url("::1", 9400) == "http://[::1]:9400/metrics"
    assert server.url("127.0.0.1", 9400) == "http://127.0.0.1:9400/metrics"


async def test_there_is_a_port_for_each_node() -> None:
    """Another number of ports than nodes is a mistake of the caller."""
    with pytest.raises(ValueError, match="1 ports for 2 nodes"):
        async with serve(FLEET, "127.0.0.1", [0], Clock()):
            pass
