"""Each knob of the fake API server does what it says, and lets itself be turned back."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import aiohttp
import pytest

from tests.fakes.kubernetes import FakeKubernetes
from tests.fakes.kubernetes.asking import Client, Json, client, pod

PODS = "/api/v1/pods"


@asynccontextmanager
async def watched(
    api: FakeKubernetes, ask: Client, **query: str | int
) -> AsyncIterator[aiohttp.ClientResponse]:
    """Watch pods from now on."""
    version = api.version
    async with ask.streaming(PODS, None, watch=1, resourceVersion=version, **query) as response:
        await api.until(lambda: api.watches)
        yield response


async def test_the_next_requests_fail() -> None:
    """As often as was said, and only those that were meant."""
    async with FakeKubernetes() as api, client(api) as ask:
        api.chaos.fail_next(429, times=2, retry_after_s=7, verb="list", resource="pods")
        others = [await ask.ask("/api/v1/nodes"), await ask.ask("/version")]
        failed = [await ask.ask(PODS), await ask.ask(PODS)]
        healthy = await ask.ask(PODS)
    assert [each.status for each in (*others, *failed, healthy)] == [200, 200, 429, 429, 200]
    assert failed[0].headers["Retry-After"] == "7"
    assert failed[0].json["reason"] == "TooManyRequests"


@pytest.mark.parametrize("status", [401, 500, 503, 502])
async def test_an_outage_lasts_until_it_is_healed(status: int) -> None:
    """Every request, whatever it asks."""
    async with FakeKubernetes() as api, client(api) as ask:
        api.chaos.outage(status)
        failed = [await ask.ask(path) for path in (PODS, PODS + "?watch=1", "/version")]
        api.chaos.heal()
        assert (await ask.ask(PODS)).status == 200
    assert [each.status for each in failed] == [status] * 3
    assert [each.status for each in api.requests] == [status] * 3 + [200]


async def test_a_watch_is_cut_in_the_middle_of_a_line() -> None:
    """What came before is whole, the rest is broken off, and so is the answer."""
    async with FakeKubernetes() as api, client(api) as ask, watched(api, ask) as response:
        api.put(pod("a"))
        first = await response.content.readline()
        api.chaos.cut()
        with pytest.raises(aiohttp.ClientPayloadError):
            await response.read()
        await api.until(lambda: not api.watches)
    assert json.loads(first)["type"] == "ADDED"


ORDERS: dict[str, tuple[Callable[[FakeKubernetes], None], list[str]]] = {
    "end": (lambda api: api.chaos.end(), ["BOOKMARK"]),
    "expire": (lambda api: api.chaos.expire(), ["ERROR"]),
    "refuse": (lambda api: api.chaos.refuse(500), ["ERROR"]),
}


@pytest.mark.parametrize("case", ORDERS)
async def test_watches_end_as_they_are_told(case: str) -> None:
    """With a bookmark when their time is over, with an error when something is wrong."""
    act, types = ORDERS[case]
    async with (
        FakeKubernetes() as api,
        client(api) as ask,
        watched(api, ask, allowWatchBookmarks="true") as response,
    ):
        act(api)
        lines = (await response.text()).splitlines()
    assert [json.loads(line)["type"] for line in lines] == types


async def test_bookmarks_are_for_who_wants_them() -> None:
    """A bookmark says the newest version and nothing else; the watch goes on."""
    async with FakeKubernetes() as api, client(api) as ask, watched(api, ask) as without:
        async with ask.streaming(PODS, watch=1, allowWatchBookmarks=1) as response:
            await api.until(lambda: len(api.watches) == 2)
            api.put({"kind": "Node", "metadata": {"name": "n"}})
            api.chaos.bookmark()
            bookmark: Json = json.loads(await response.content.readline())
            api.put(pod("a"))
            added: Json = json.loads(await response.content.readline())
        line = json.loads(await without.content.readline())
        assert (line["type"], added["type"]) == ("ADDED", "ADDED")
    assert bookmark["type"] == "BOOKMARK"
    assert int(bookmark["object"]["metadata"]["resourceVersion"]) == api.version - 2


async def test_a_garbled_line_comes_between_good_ones() -> None:
    """The connection holds; what to do with the line is the client's matter."""
    async with FakeKubernetes() as api, client(api) as ask, watched(api, ask) as response:
        api.chaos.garble(b"<html>\n")
        assert await response.content.readline() == b"<html>\n"
        api.put(pod("a", "default"))
        assert json.loads(await response.content.readline())["type"] == "ADDED"


async def test_a_stalled_server_accepts_and_is_silent() -> None:
    """Nothing comes, on new connections and old ones, until it goes on, and then nothing lacks."""
    async with FakeKubernetes() as api, client(api) as ask, watched(api, ask) as response:
        api.chaos.stall()
        api.put(pod("a", "default"))
        api.chaos.end()
        asked = asyncio.create_task(ask.ask(PODS))
        await api.until(lambda: len(api.requests) == 2)
        assert api.requests[-1].status == 0
        assert len(api.watches) == 1
        api.chaos.resume()
        assert (await asked).names == ["a"]
        assert json.loads(await response.text())["type"] == "ADDED"


async def test_an_abandoned_watch_hears_nothing_more() -> None:
    """It does not end either; new ones are told what has happened."""
    async with FakeKubernetes() as api, client(api) as ask, watched(api, ask) as response:
        api.chaos.abandon()
        assert (await ask.ask(PODS)).names == []
        api.put(pod("a", "default"))
        api.chaos.end()
        assert (await ask.ask(PODS)).names == ["a"]
        assert len(api.watches) == 1
        assert response.content.total_bytes == 0
        assert not response.content.at_eof()


async def test_connections_break_all_at_once() -> None:
    """Idle ones too; the server is there for new ones."""
    async with FakeKubernetes() as api, client(api) as ask, watched(api, ask) as response:
        api.chaos.close_connections()
        with pytest.raises(aiohttp.ClientError):
            await response.read()
        assert (await ask.ask(PODS)).status == 200


async def test_a_slow_server_measures_with_the_given_clock() -> None:
    """Every answer comes later by so much."""
    slept = []

    async def sleep(seconds: float) -> None:
        slept.append(seconds)

    async with FakeKubernetes(sleep=sleep) as api, client(api) as ask:
        api.chaos.delay_s = 30.0
        assert (await ask.ask(PODS)).status == 200
        api.chaos.heal()
        assert (await ask.ask(PODS)).status == 200
    assert slept == [30.0]


async def test_a_watch_lasts_as_long_as_it_says() -> None:
    """Or half an hour when it says nothing; a bookmark comes at the end."""
    slept = []

    async def sleep(seconds: float) -> None:
        slept.append(seconds)

    async with FakeKubernetes(sleep=sleep) as api, client(api) as ask:
        answer = await ask.ask(PODS, watch=1, timeoutSeconds=290, allowWatchBookmarks="true")
        await ask.ask(PODS, watch=1)
    assert [event["type"] for event in answer.events] == ["BOOKMARK"]
    assert slept == [290, 1800]


async def test_the_log_is_forgotten_beyond_its_window() -> None:
    """Who stays within it goes on; who comes later gets 410."""
    async with FakeKubernetes(window=3) as api, client(api) as ask:
        api.put(pod("a"))
        version = api.version
        for count in range(4):
            api.put(pod("a", count=str(count)))
        late = await ask.ask(PODS, watch=1, resourceVersion=version)
        async with ask.streaming(PODS, watch=1, resourceVersion=version + 1) as response:
            event = json.loads(await response.content.readline())
    assert [each["type"] for each in late.events] == ["ERROR"]
    assert late.events[0]["object"]["message"] == (
        f"too old resource version: {version} ({version + 1})"
    )
    assert event["object"]["metadata"]["labels"]["count"] == "1"


async def test_continue_tokens_can_be_made_too_old() -> None:
    """While the list is being paged through."""
    async with FakeKubernetes() as api, client(api) as ask:
        for name in "abc":
            api.put(pod(name))
        token = (await ask.ask(PODS, limit=1)).json["metadata"]["continue"]
        api.delete("pods", "gpu-operator", "b")
        consistent = await ask.ask(PODS, limit=1, continue_=token)
        api.chaos.expire_continues()
        refused = await ask.ask(PODS, limit=1, continue_=token)
        resumed = refused.json["metadata"]["continue"]
        rest = await ask.ask(PODS, limit=1, continue_=resumed)
    assert consistent.names == ["b"]
    assert (refused.status, refused.json["reason"]) == (410, "Expired")
    assert rest.names == ["c"]


async def test_a_restart_takes_the_same_port_and_forgets_the_log() -> None:
    """Objects and tokens are still there; watches are broken, old versions gone."""
    async with FakeKubernetes() as api, client(api) as ask, watched(api, ask) as response:
        version = api.version
        api.put(pod("a"))
        port = api.port
        await api.restart()
        with pytest.raises(aiohttp.ClientError):
            await response.read()
        assert api.port == port
        assert (await ask.ask(PODS)).names == ["a"]
        late = await ask.ask(PODS, watch=1, resourceVersion=version)
    assert late.events[0]["object"]["code"] == 410


async def test_a_stopped_server_refuses_connections() -> None:
    """Until it is started again."""
    async with FakeKubernetes() as api, client(api) as ask:
        await api.stop()
        with pytest.raises(aiohttp.ClientConnectorError):
            await ask.ask(PODS)
        await api.start()
        assert (await ask.ask(PODS)).status == 200
