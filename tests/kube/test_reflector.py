"""A reflector's view comes to be what the server has, whatever happens on the way."""

import asyncio
import json
import math
from collections.abc import AsyncIterator
from typing import Any

import pytest
from aiohttp import web

from cwgpu.kube import scope
from cwgpu.kube.access import Access
from cwgpu.kube.connection import Connection
from cwgpu.kube.failure import CredentialsError
from cwgpu.kube.reflector import Reflector
from cwgpu.kube.resource import ENDPOINT_SLICES, NODES, PODS
from tests.agent.stage import Hands, eventually, settle
from tests.fakes.kubernetes import FakeKubernetes
from tests.kube import stage
from tests.kube.stage import Watch, bookmark, broken, connected, event, pod, reflecting

GPU = "gpu"


@pytest.fixture
async def api() -> AsyncIterator[FakeKubernetes]:
    """Serve three pods."""
    async with FakeKubernetes() as made:
        for name in "abc":
            made.put(pod(name))
        yield made


@pytest.fixture
async def watch(api: FakeKubernetes) -> AsyncIterator[Watch]:
    """Know them."""
    async with reflecting(api.url, api.admin) as made:
        await made.synced()
        yield made


def asked(api: FakeKubernetes, verb: str) -> list[dict[str, str]]:
    """Give the queries of all requests of a verb."""
    return [dict(request.query) for request in api.requests if request.verb == verb]


# ---- beginning


async def test_a_watch_begins_with_what_there_is(api: FakeKubernetes, watch: Watch) -> None:
    """One request gives all objects and then what changes; nothing is known half."""
    assert watch.names == {"a", "b", "c"}
    assert watch.view.objects[GPU, "a"].status.pod_ip == "127.0.1.1"
    assert [request.verb for request in api.requests] == ["watch"]
    assert api.requests[0].query == {
        "watch": "true",
        "allowWatchBookmarks": "true",
        "timeoutSeconds": "450",
        "sendInitialEvents": "true",
        "resourceVersionMatch": "NotOlderThan",
    }
    assert api.requests[0].headers["user-agent"].startswith("cwgpu/")
    assert (watch.view.trouble, watch.view.unreadable) == ("", {})


async def test_servers_without_streaming_lists_are_asked_for_pages(api: FakeKubernetes) -> None:
    """What the server cannot do is remembered for all that it is asked; nothing is waited for."""
    api.chaos.watch_lists = False
    async with reflecting(api.url, api.admin) as watch:
        await watch.synced()
        assert watch.names == {"a", "b", "c"}
        assert [request.verb for request in api.requests][:2] == ["watch", "list"]
        assert asked(api, "list") == [{"limit": "500"}]
        other = Reflector(watch.connection, NODES, gather_s=0)
        async with stage.running(other):
            await stage.shown(other, lambda: other.synced)
        assert next(r.verb for r in api.requests if r.resource == "nodes") == "list"
        assert watch.pauses.naps == []


@pytest.mark.parametrize("status", [400, 422])
async def test_servers_that_do_not_know_the_question_are_asked_for_pages(
    api: FakeKubernetes, status: int
) -> None:
    """Older servers refuse the parameters of a streaming list."""
    api.chaos.fail_next(status, verb="watch")
    async with reflecting(api.url, api.admin) as watch:
        await watch.synced()
        assert watch.names == {"a", "b", "c"}
        assert not watch.connection.streams_lists
        assert watch.pauses.naps == []


async def test_a_stream_that_ends_too_soon_is_followed_by_pages() -> None:
    """Whoever cannot tell all that there is in a stream may be able to in pages."""

    async def answer(request: web.Request, count: int) -> web.StreamResponse:
        if count == 0:
            return await stage.stream(request, event("ADDED", pod("half")))
        if count == 1:
            return web.json_response({"metadata": {"resourceVersion": "7"}, "items": [pod("a")]})
        await stage.stream(request)
        return await stage.for_ever()

    async with stage.serve(answer) as server, reflecting(server.url) as watch:
        await watch.later(lambda: watch.view.synced)
        assert watch.names == {"a"}
        assert len(watch.pauses.naps) == 1
        await eventually(lambda: len(server.queries) == 3)
        assert server.queries[2]["resourceVersion"] == "7"


async def test_what_goes_while_all_is_told_is_gone() -> None:
    """Between the first object and the mark behind the last, objects change and go."""
    lines = (
        event("ADDED", pod("a")),
        event("ADDED", pod("b")),
        event("DELETED", pod("a")),
        event("MODIFIED", pod("b", 3, app="x")),
        bookmark(4),
        bookmark(5, ends=True),
    )

    async def answer(request: web.Request, _: int) -> web.StreamResponse:
        await stage.stream(request, *lines)
        return await stage.for_ever()

    async with stage.serve(answer) as server, reflecting(server.url) as watch:
        await watch.until(lambda: watch.view.synced)
        assert watch.names == {"b"}
        assert watch.view.objects[GPU, "b"].metadata.labels == {"app": "x"}


async def test_a_beginning_that_does_not_go_on_is_dead() -> None:
    """What there is comes without a break: after half a minute of silence pages are asked for."""

    async def answer(request: web.Request, count: int) -> web.StreamResponse:
        if "limit" in request.query:
            return web.json_response({"metadata": {"resourceVersion": "7"}, "items": None})
        begins = "sendInitialEvents" in request.query
        await stage.stream(request, *[event("ADDED", pod("half"))] * begins)
        return await stage.for_ever()

    async with stage.serve(answer) as server, reflecting(server.url) as watch:
        await eventually(lambda: watch.view.objects)
        await watch.patience.move(22)
        assert len(server.queries) == 1
        await watch.patience.move(16)
        await watch.later(lambda: watch.view.synced)
        assert watch.names == set()


async def test_a_byte_now_and_then_is_no_answer() -> None:
    """A beginning of which no line comes is dead, though something comes."""
    ticks: asyncio.Queue[None] = asyncio.Queue()
    over = asyncio.Event()

    async def answer(request: web.Request, _: int) -> web.StreamResponse:
        if "watch" not in request.query:
            return web.json_response({"metadata": {"resourceVersion": "7"}, "items": [pod("a")]})
        response = web.StreamResponse()
        await response.prepare(request)
        try:
            while True:
                await ticks.get()
                await response.write(b" \n ")
        finally:
            over.set()

    async with stage.serve(answer) as server, reflecting(server.url) as watch:
        await eventually(lambda: server.queries)
        for _ in range(20):
            ticks.put_nowait(None)
            await eventually(lambda: ticks.empty() or over.is_set())
            await watch.patience.move(2)
        await watch.later(lambda: watch.view.synced)
        assert watch.names == {"a"}


async def test_silence_is_looked_for_by_quarters_of_its_time() -> None:
    """Whenever the last line came, it takes a quarter longer at most to know that none follows."""
    goes_on = asyncio.Event()

    async def answer(request: web.Request, count: int) -> web.StreamResponse:
        if "limit" in request.query:
            return web.json_response({"metadata": {"resourceVersion": "7"}, "items": None})
        begun = await stage.stream(request, event("ADDED", pod("a")))
        await goes_on.wait()
        await begun.write(event("ADDED", pod("b")) + b"\n")
        return await stage.for_ever()

    async with stage.serve(answer) as server, reflecting(server.url) as watch:
        await eventually(lambda: watch.names == {"a"})
        await watch.patience.move(1)
        goes_on.set()
        await eventually(lambda: watch.names == {"a", "b"})
        await watch.patience.move(28)
        assert len(server.queries) == 1
        await watch.patience.move(9)
        await watch.later(lambda: watch.view.synced)


# ---- pages


async def test_pages_are_asked_for_until_the_last(
    api: FakeKubernetes, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each page names the next."""
    monkeypatch.setattr(scope, "PAGE", 2)
    api.chaos.watch_lists = False
    async with reflecting(api.url, api.admin) as watch:
        await watch.synced()
        assert watch.names == {"a", "b", "c"}
        assert [query.keys() for query in asked(api, "list")] == [{"limit"}, {"limit", "continue"}]


async def test_pages_that_expire_are_asked_for_in_one() -> None:
    """A list that takes longer than the server remembers is asked for as a whole."""

    async def answer(request: web.Request, count: int) -> web.StreamResponse:
        query = request.query
        if "sendInitialEvents" in query:
            return web.Response(status=400)
        if "continue" in query:
            return web.json_response({"code": 410, "message": "too old"}, status=410)
        meta = {"resourceVersion": "7", "continue": "next" if "limit" in query else ""}
        if "watch" not in query:
            return web.json_response({"metadata": meta, "items": [pod(f"p{count}")]})
        await stage.stream(request)
        return await stage.for_ever()

    async with stage.serve(answer) as server, reflecting(server.url) as watch:
        seen = watch.view.version
        await watch.later(lambda: watch.view.synced)
        assert watch.names == {"p3"}
        assert [sorted(query) for query in server.queries[1:4]] == [
            ["limit"],
            ["continue", "limit"],
            [],
        ]
        assert (watch.pauses.naps, watch.view.trouble) == ([0.5], "")
        assert watch.view.version > seen


async def test_pages_without_an_end_are_told() -> None:
    """A server that does not understand the question gives the first page for ever."""

    async def answer(request: web.Request, _: int) -> web.StreamResponse:
        meta = {"resourceVersion": "7", "continue": "more"}
        return web.json_response(
            {"metadata": meta, "items": [pod("a")]}, status=400 if "watch" in request.query else 200
        )

    async with stage.serve(answer) as server, reflecting(server.url) as watch:
        await watch.until(lambda: watch.view.trouble)
        assert "a page is followed by itself, without an end" in watch.view.trouble
        assert not watch.view.synced


async def test_selected_objects_come_from_the_servers_memory_first(api: FakeKubernetes) -> None:
    """The first list is the cheap one, which may be old; later ones must not go back in time."""
    api.chaos.watch_lists = False
    api.put(pod("d", app="x"))
    chosen = reflecting(api.url, api.admin, labels="app=x", fields="spec.nodeName=a")
    async with chosen as watch:
        await watch.synced()
        assert watch.names == {"d"}
        api.chaos.expire()
        await watch.later(lambda: len(asked(api, "list")) == 2)
        first, second = asked(api, "list")
        assert first.pop("resourceVersion") == "0"
        assert (
            first
            == second
            == {
                "limit": "500",
                "labelSelector": "app=x",
                "fieldSelector": "spec.nodeName=a",
            }
        )
        await eventually(lambda: len(asked(api, "watch")) == 3)
        assert asked(api, "watch")[2]["labelSelector"] == "app=x"


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (b"<html>", "the answer is no list ("),
        (b"{}", "the answer is no list ("),
        (b'{"metadata": {}, "items": []}', "the answer is a list without a resourceVersion"),
        (
            b'{"kind": "NodeList", "metadata": {"resourceVersion": "7"}, "items": []}',
            "the answer is of the kind NodeList, and not PodList",
        ),
        (
            b'{"kind": "Status", "metadata": {}, "code": 500, "message": "etcd is gone"}',
            "HTTP status 500 (etcd is gone)",
        ),
        (b'{"kind": "Status", "code": 500, "message": "etcd is gone"}', "HTTP status 500 (etcd"),
        (b'{"x": ' + b"[" * 100_000, "the answer is no list (maximum recursion"),
    ],
)
async def test_answers_that_are_no_lists_are_told(body: bytes, said: str) -> None:
    """A URL that leads somewhere else than to a Kubernetes API is noticed."""

    async def answer(request: web.Request, _: int) -> web.StreamResponse:
        return web.Response(body=body, status=400 if "watch" in request.query else 200)

    async with stage.serve(answer) as server, reflecting(server.url) as watch:
        await watch.until(lambda: watch.view.trouble)
        assert watch.view.trouble.startswith(f"pods in all namespaces cannot be listed: {said}")
        assert not watch.view.synced


# ---- events


async def test_changes_come(api: FakeKubernetes, watch: Watch) -> None:
    """Objects come, change and go; those that did not change are the same ones as before."""
    kept = watch.view.objects[GPU, "b"]
    api.put(pod("d"))
    api.put(pod("c", app="new"))
    api.delete("pods", GPU, "a")
    await watch.until(lambda: watch.names == {"b", "c", "d"})
    assert watch.view.objects[GPU, "c"].metadata.labels == {"app": "new"}
    assert watch.view.objects[GPU, "b"] is kept


async def test_what_nobody_reads_may_change(api: FakeKubernetes, watch: Watch) -> None:
    """A heartbeat in the status is no change: nobody is woken, and the object stays the same."""
    kept, version = watch.view.objects[GPU, "a"], watch.view.version
    beating = pod("a")
    beating["status"]["startTime"] = "2026-01-01T00:00:00Z"
    api.put(beating)
    api.put(pod("d"))
    await watch.until(lambda: "d" in watch.names)
    assert watch.view.objects[GPU, "a"] is kept
    assert watch.view.version == version + 1


async def test_those_who_wait_are_woken(api: FakeKubernetes, watch: Watch) -> None:
    """Each version is seen by everybody who waits for it; who is late does not wait."""
    version = watch.view.version
    waiting = [asyncio.create_task(watch.view.wait(version)) for _ in range(2)]
    api.put(pod("d"))
    assert await asyncio.gather(*waiting) == [version + 1] * 2
    assert await watch.view.wait(version) == version + 1


async def test_one_namespace_is_watched(api: FakeKubernetes) -> None:
    """What is in other namespaces is not asked for."""
    api.put(pod("d", namespace="other"))
    async with reflecting(api.url, api.admin, namespace="other") as watch:
        await watch.synced()
        assert watch.view.objects.keys() == {("other", "d")}
        assert api.requests[0].namespace == "other"


async def test_large_objects_come(api: FakeKubernetes, watch: Watch) -> None:
    """An object of 1.4 MB is one line like any other."""
    large = pod("large")
    large["metadata"]["annotations"] = {"note": "x" * 1_400_000}
    api.put(large)
    await watch.until(lambda: "large" in watch.names)
    annotations = watch.view.objects[GPU, "large"].metadata.annotations
    assert annotations is not None
    assert len(annotations["note"]) == 1_400_000


@pytest.mark.parametrize("streams", [True, False])
async def test_an_unreadable_object_costs_itself(api: FakeKubernetes, *, streams: bool) -> None:
    """It is named with what is wrong, all others are there; and it heals when it changes."""
    api.chaos.watch_lists = streams
    api.put(broken("odd"))
    async with reflecting(api.url, api.admin) as watch:
        await watch.synced()
        assert watch.names == {"a", "b", "c"}
        (why,) = watch.view.unreadable.values()
        assert (GPU, "odd") in watch.view.unreadable
        assert why.startswith("Expected `int`, got `str` - at `$.spec.containers[")
        api.put(broken("a"))
        await watch.until(lambda: len(watch.view.unreadable) == 2)
        assert watch.names == {"b", "c"}
        api.put(pod("odd"))
        api.delete("pods", GPU, "a")
        await watch.until(lambda: not watch.view.unreadable)
        assert watch.names == {"b", "c", "odd"}
        assert watch.view.trouble == ""


@pytest.mark.parametrize(
    "fields",
    [
        {"status": None},
        {"spec": {"nodeName": None, "containers": None}},
        {"spec": {"containers": [None, {"name": "c", "image": None, "ports": [None]}]}},
        {"status": {"podIP": None, "conditions": [{"type": None}]}},
    ],
)
async def test_null_is_nothing(fields: dict[str, Any]) -> None:
    """Wherever it stands: to Kubernetes' own programs both are the same."""
    metadata = {"name": "a", "namespace": GPU, "labels": None, "uid": None}
    found = {"metadata": metadata, **fields}

    async def answer(request: web.Request, _: int) -> web.StreamResponse:
        await stage.stream(request, event("ADDED", found), bookmark(5, ends=True))
        return await stage.for_ever()

    async with stage.serve(answer) as server, reflecting(server.url) as watch:
        await watch.until(lambda: watch.view.synced)
        assert watch.names == {"a"}
        assert not watch.view.unreadable


@pytest.mark.parametrize(
    "odd",
    [
        b'{"metadata": {"namespace": "gpu"}}',
        b'{"metadata": {"name": 1}}',
        b'{"metadata": {"name": "\xff"}}',
        b'{"metadata": 1}',
        b'{"metadata": null}',
        b"{}",
        b"[]",
    ],
)
async def test_an_object_without_a_name_is_unreadable(odd: bytes) -> None:
    """Whatever stands where an object belongs, the others are read."""
    lines = (
        b'{"type":"ADDED","object":' + odd + b"}",
        event("ADDED", pod("a")),
        bookmark(5, ends=True),
    )

    async def answer(request: web.Request, _: int) -> web.StreamResponse:
        await stage.stream(request, *lines)
        return await stage.for_ever()

    async with stage.serve(answer) as server, reflecting(server.url) as watch:
        await watch.until(lambda: watch.view.synced)
        assert watch.names == {"a"}
        assert [name for _, name in watch.view.unreadable] == [""]


# ---- the end of a watch


async def test_a_watch_whose_time_is_over_goes_on(api: FakeKubernetes, watch: Watch) -> None:
    """It goes on at once, from the bookmark that was sent before the end."""
    api.put({"kind": "Node", "apiVersion": "v1", "metadata": {"name": "n"}})
    api.chaos.end()
    await eventually(lambda: len(asked(api, "watch")) == 2)
    assert asked(api, "watch")[1]["resourceVersion"] == str(api.version)
    assert watch.pauses.naps == []
    api.put(pod("d"))
    await watch.until(lambda: "d" in watch.names)


async def test_a_watch_that_breaks_goes_on_where_it_was(api: FakeKubernetes, watch: Watch) -> None:
    """A line of which half has come is not used; what happened meanwhile is told."""
    api.put(pod("d"))
    await watch.until(lambda: "d" in watch.names)
    seen = api.version
    api.chaos.cut()
    await eventually(lambda: watch.pauses.naps)
    api.put(pod("e"))
    api.delete("pods", GPU, "a")
    await watch.later(lambda: watch.names == {"b", "c", "d", "e"})
    assert asked(api, "watch")[1]["resourceVersion"] == str(seen)
    assert (watch.pauses.naps, watch.view.trouble) == ([0.5], "")


async def test_a_connection_that_is_reset_is_made_anew(api: FakeKubernetes, watch: Watch) -> None:
    """What happened meanwhile is told."""
    api.chaos.close_connections()
    await eventually(lambda: watch.pauses.naps)
    api.put(pod("d"))
    await watch.later(lambda: "d" in watch.names)
    assert watch.view.trouble == ""


@pytest.mark.parametrize("how", ["event", "status"])
async def test_a_forgotten_version_is_followed_by_all_there_is(
    api: FakeKubernetes, watch: Watch, how: str
) -> None:
    """What vanished meanwhile vanishes; what did not change is the same object as before."""
    kept = watch.view.objects[GPU, "b"]
    if how == "event":
        api.chaos.expire()
    else:
        api.chaos.fail_next(410, verb="watch")
        api.chaos.cut()
    await eventually(lambda: watch.pauses.naps)
    api.delete("pods", GPU, "a")
    api.put(pod("c", app="new"))
    api.put(pod("d"))
    await watch.later(lambda: watch.names == {"b", "c", "d"})
    assert watch.view.objects[GPU, "b"] is kept
    assert watch.view.objects[GPU, "c"].metadata.labels == {"app": "new"}
    assert "sendInitialEvents" in asked(api, "watch")[-1]
    assert watch.view.trouble == ""


@pytest.mark.parametrize("status", [500, 503])
async def test_an_error_in_the_stream_is_tried_again(
    api: FakeKubernetes, watch: Watch, status: int
) -> None:
    """The watch goes on from where it was, after a while."""
    api.chaos.refuse(status)
    await eventually(lambda: watch.pauses.naps)
    api.put(pod("d"))
    await watch.later(lambda: "d" in watch.names)
    assert "resourceVersion" in asked(api, "watch")[1]
    assert watch.view.trouble == ""


async def test_a_line_that_is_no_event_ends_the_stream(api: FakeKubernetes, watch: Watch) -> None:
    """What comes behind garbage is not read; the watch goes on from where it was."""
    seen = api.version
    api.chaos.garble()
    await eventually(lambda: watch.pauses.naps)
    api.put(pod("d"))
    await watch.later(lambda: "d" in watch.names)
    assert asked(api, "watch")[1]["resourceVersion"] == str(seen)


async def test_a_status_in_the_place_of_a_stream_is_told() -> None:
    """As some proxies do it, which say that all is well."""

    async def answer(request: web.Request, _: int) -> web.StreamResponse:
        status = {"kind": "Status", "metadata": {}, "code": 503, "message": "come back later"}
        return web.json_response(status, dumps=lambda held: json.dumps(held) + "\n")

    async with stage.serve(answer) as server, reflecting(server.url) as watch:
        await watch.later(lambda: watch.view.trouble)
        assert "HTTP status 503 (come back later)" in watch.view.trouble


async def test_a_server_that_ends_every_stream_is_left_alone_for_longer_and_longer() -> None:
    """Streams that end at once are failures, and after some of them are told as such."""

    async def answer(request: web.Request, count: int) -> web.StreamResponse:
        lines = (bookmark(count),) if "resourceVersion" in request.query else ()
        return await stage.stream(request, *lines, bookmark(1, ends=True))

    async with stage.serve(answer) as server, reflecting(server.url, lasting=False) as watch:
        await watch.later(lambda: len(watch.pauses.naps) == 8)
        assert watch.pauses.naps[:8] == [0.5, 1, 2, 4, 8, 15, 15, 15]
        assert watch.view.trouble == (
            "pods in all namespaces cannot be watched: the API server ended the stream too soon"
        )


async def test_a_watch_without_a_word_is_not_gone_on_with(api: FakeKubernetes) -> None:
    """A server that does not know our version yet says nothing, not even before the end."""
    silent = asyncio.Event()

    async def answer(request: web.Request, count: int) -> web.StreamResponse:
        if "resourceVersion" in request.query:
            response = await stage.stream(request)
            await silent.wait()
            return response
        lines = (event("ADDED", pod(f"p{count}")), bookmark(9, ends=True))
        response = await stage.stream(request, *lines)
        return await stage.for_ever() if count else response

    async with stage.serve(answer) as server, reflecting(server.url) as watch:
        await watch.synced()
        await watch.later(lambda: len(server.queries) == 2)
        await watch.pauses.move(600)
        silent.set()
        await watch.until(lambda: watch.names == {"p2"})
        assert ["resourceVersion" in query for query in server.queries] == [False, True, False]


# ---- silence


async def test_a_stream_without_a_word_is_dead_after_its_time(
    api: FakeKubernetes, watch: Watch
) -> None:
    """The server ends it after 450 s, and a while later nobody believes that it will."""
    api.chaos.stall()
    await watch.patience.move(470)
    assert watch.pauses.naps == []
    await watch.patience.move(480 * 5 / 4 - 470)
    await eventually(lambda: watch.pauses.naps)
    api.put(pod("d"))
    api.chaos.resume()
    await watch.later(lambda: "d" in watch.names)


async def test_bookmarks_that_stay_away_are_a_sign(api: FakeKubernetes, watch: Watch) -> None:
    """A server that sends bookmarks sends one each minute: without any it is gone."""
    api.put({"kind": "Node", "apiVersion": "v1", "metadata": {"name": "n"}})
    api.chaos.bookmark()
    await watch.until(lambda: True)
    await watch.patience.move(480 / 4)
    assert watch.patience.naps[-1] == 180 / 4
    api.chaos.stall()
    await watch.patience.move(180 * 5 / 4)
    await eventually(lambda: watch.pauses.naps)
    api.chaos.resume()
    await watch.later(lambda: len(api.watches) == 1 and len(asked(api, "watch")) == 2)
    assert asked(api, "watch")[1]["resourceVersion"] == str(api.version)


# ---- refusals


async def test_a_rotated_token_is_no_news(api: FakeKubernetes, watch: Watch) -> None:
    """The credentials are asked for again, and the watch goes on."""
    watch.user.next_token = api.rotate(api.admin)
    api.chaos.cut()
    await watch.later(lambda: len(asked(api, "watch")) == 3)
    api.put(pod("d"))
    await watch.until(lambda: "d" in watch.names)
    assert watch.user.refusals == 1
    assert watch.view.trouble == ""


async def test_a_token_that_nobody_knows_is_told(api: FakeKubernetes) -> None:
    """After some tries it is no rotation."""
    async with reflecting(api.url, "wrong") as watch:
        await watch.later(lambda: watch.view.trouble)
        assert watch.view.trouble == (
            "pods in all namespaces cannot be watched: the API server does not know who this is; "
            "is the token or certificate expired? (Unauthorized)"
        )
        assert watch.pauses.naps[:3] == [0.5, 1.0, 2.0]
        watch.user.token = api.admin
        await watch.later(lambda: watch.view.synced)
        assert watch.view.trouble == ""


async def test_what_is_not_allowed_is_told_with_the_rule_to_add(api: FakeKubernetes) -> None:
    """One view is without objects until somebody allows it; the others have theirs."""
    token = api.grant("system:serviceaccount:amazon-cloudwatch:cwgpu", {"pods": ["list", "watch"]})
    async with reflecting(api.url, token, ENDPOINT_SLICES) as watch:
        pods = Reflector(watch.connection, PODS, gather_s=0)
        async with stage.running(pods):
            await stage.shown(pods, lambda: pods.synced)
            await watch.until(lambda: "listed" in watch.view.trouble)
            assert watch.view.trouble == (
                "endpointslices in all namespaces cannot be listed: not allowed; add "
                '{apiGroups: ["discovery.k8s.io"], resources: [endpointslices], '
                "verbs: [list, watch]} to a ClusterRole that is bound to the service account "
                "cwgpu in namespace amazon-cloudwatch (endpointslices.discovery.k8s.io is "
                'forbidden: User "system:serviceaccount:amazon-cloudwatch:cwgpu" cannot list '
                'resource "endpointslices" in API group "discovery.k8s.io" at the cluster scope)'
            )
            assert watch.view.denied
            assert (pods.trouble, pods.denied) == ("", False)
        assert watch.pauses.naps == [45.0]
        api.grant(
            "system:serviceaccount:amazon-cloudwatch:cwgpu", {"endpointslices": ["list", "watch"]}
        )
        await watch.later(lambda: watch.view.synced and not watch.view.trouble)


async def test_who_may_list_and_not_watch_lists_again_and_again(api: FakeKubernetes) -> None:
    """It is told, and the objects are never much older than the pause between two tries."""
    token = api.grant("reader", {"pods": ["list"]})
    async with reflecting(api.url, token, namespace=GPU) as watch:
        await watch.until(lambda: watch.view.synced)
        assert watch.names == {"a", "b", "c"}
        assert watch.view.trouble.startswith(
            "pods in namespace gpu cannot be watched: not allowed; add "
            '{apiGroups: [""], resources: [pods], verbs: [list, watch]} to a Role in namespace gpu '
            "that is bound to the user reader ("
        )
        api.put(pod("d"))
        await watch.later(lambda: "d" in watch.names)
        assert set(watch.pauses.naps) == {45.0}
        api.grant("reader", {"pods": ["watch"]})
        await watch.later(lambda: not watch.view.trouble)
        api.put(pod("e"))
        await watch.until(lambda: "e" in watch.names)


async def test_what_the_server_does_not_have_is_told() -> None:
    """Clusters are older than kinds; it is asked for rarely, as upgrades are rare."""

    async def answer(request: web.Request, _: int) -> web.StreamResponse:
        return web.Response(status=404, text="404 page not found\n")

    async with (
        stage.serve(answer) as server,
        reflecting(server.url, resource=ENDPOINT_SLICES) as watch,
    ):
        await eventually(lambda: watch.pauses.naps)
        assert watch.pauses.naps == [45.0]
        assert watch.view.trouble == (
            "endpointslices in all namespaces cannot be watched: this server has no "
            "endpointslices in discovery.k8s.io/v1; is it a Kubernetes API? "
            "(404 page not found)"
        )


@pytest.mark.parametrize(("verb", "streams"), [("watch", True), ("list", False)])
async def test_a_busy_server_is_left_alone_as_long_as_it_wants(
    api: FakeKubernetes, verb: str, *, streams: bool
) -> None:
    """The pause is what the server asks for and a random while more."""
    api.chaos.watch_lists = streams
    api.chaos.fail_next(429, retry_after_s=7, verb=verb)
    async with reflecting(api.url, api.admin) as watch:
        await eventually(lambda: watch.pauses.naps)
        assert watch.pauses.naps == [7.5]
        assert f"cannot be {verb}ed: HTTP status 429" in watch.view.trouble
        await watch.pauses.move(7)
        assert not watch.view.synced
        await watch.later(lambda: watch.view.synced)
        assert watch.view.trouble == ""


async def test_an_hour_without_a_server_costs_nothing(api: FakeKubernetes, watch: Watch) -> None:
    """What is known stays, the view says why it is old, and its end is noticed in half a minute."""
    kept = dict(watch.view.objects)
    await api.stop()
    begun = watch.pauses.now
    await watch.later(lambda: watch.pauses.now - begun > 3600)
    assert watch.view.objects == kept
    assert watch.view.synced
    assert watch.view.trouble == (
        f"pods in all namespaces cannot be watched: 127.0.0.1:{api.port}: connection refused; "
        "is the API server running?"
    )
    assert not watch.view.denied
    assert max(watch.pauses.naps) == 15.0
    told = watch.view.version
    api.put(pod("d"))
    api.delete("pods", GPU, "a")
    await api.start()
    await watch.later(lambda: watch.names == {"b", "c", "d"})
    assert watch.view.trouble == ""
    assert watch.view.version > told


async def test_a_server_that_was_restored_from_a_backup(api: FakeKubernetes, watch: Watch) -> None:
    """It knows less than we do, and would say nothing to who asks for what comes after that."""
    for count in range(50):
        api.put(pod("d", app=str(count)))
    await watch.until(lambda: "d" in watch.names)
    await api.stop()
    begun = watch.pauses.now
    await watch.later(lambda: watch.pauses.now - begun > 300)
    restored = FakeKubernetes()
    restored.port = api.port
    restored.put({**pod("a"), "spec": {"nodeName": "another"}})
    assert restored.version < api.version
    watch.user.token = restored.admin
    async with restored:
        await watch.later(lambda: watch.names == {"a"})
        assert watch.view.objects[GPU, "a"].spec.node_name == "another"
        restored.put(pod("e"))
        await watch.until(lambda: watch.names == {"a", "e"})


async def test_trouble_is_told_once(api: FakeKubernetes, watch: Watch) -> None:
    """Nobody is woken to be told the same again."""
    api.chaos.fail_next(503, times=math.inf)
    api.chaos.cut()
    await watch.later(lambda: watch.view.trouble)
    told = watch.view.version
    await watch.later(lambda: len(watch.pauses.naps) > 5)
    assert watch.view.version == told
    api.chaos.heal()
    await watch.later(lambda: not watch.view.trouble)


async def test_credentials_that_cannot_be_had_are_told() -> None:
    """It is our own side, and tried again like everything else."""
    user = stage.User("http://127.0.0.1:1")

    async def nothing() -> Access:
        raise CredentialsError("/token cannot be read")

    user.access = nothing  # type: ignore[method-assign]
    view = Reflector(Connection(user), PODS, sleep=Hands().sleep)
    async with stage.running(view):
        await stage.shown(view, lambda: view.trouble)
    assert view.trouble == "pods in all namespaces cannot be watched: /token cannot be read"


async def test_changes_are_taken_in_together(api: FakeKubernetes) -> None:
    """What comes within a quarter of a second is one change of the view; the beginning is not."""
    async with connected(api.url, api.admin) as (connection, _, patience):
        view = Reflector(connection, PODS)
        async with stage.running(view):
            await stage.shown(view, lambda: view.synced)
            await eventually(lambda: 0.25 in patience.naps)
            version = view.version
            for name in "defg":
                api.put(pod(name))
                await settle()
            assert view.version == version
            await patience.move(0.3)
            await stage.shown(view, lambda: len(view.objects) == 7)
            assert view.version == version + 1


async def test_a_connection_may_be_closed_while_changes_come_together(
    api: FakeKubernetes,
) -> None:
    """That is noticed when they are to be taken in, and the watch goes on where it was."""
    async with connected(api.url, api.admin) as (connection, _, patience):
        pauses = Hands()
        view = Reflector(connection, PODS, sleep=pauses.sleep)
        async with stage.running(view):
            await stage.shown(view, lambda: view.synced)
            await eventually(lambda: 0.25 in patience.naps)
            await connection.close()
            await eventually(lambda: not api.watches)
            api.put(pod("d"))
            await patience.move(0.3)
            await eventually(lambda: pauses.naps)
            await pauses.move(1)
            await stage.shown(view, lambda: len(view.objects) == 4)
            assert view.trouble == ""
