"""The fake API server, held against what a real one (1.36.2) answered: tests/data/kube.

What a test puts into the fake is the recorded objects themselves, so that all but versions and
times must come out as recorded, in the recorded order, and indented where curl had it so.
"""

import asyncio
import base64
import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.fakes.kubernetes import FakeKubernetes
from tests.fakes.kubernetes.asking import client

Json = dict[str, Any]

TRACES = Path(__file__).parents[2] / "data/kube"
CURL = {"User-Agent": "curl/8.5.0", "Accept": "*/*"}
PODS = "/api/v1/namespaces/gpu-operator/pods"
ALL_PODS = "/api/v1/pods"
_VERSION = re.compile(r'("resourceVersion": ?|"continue": ?)"[^"]*"')
_TIME = re.compile(r'("deletionTimestamp": ?)"[^"]*"')
_NUMBER = re.compile(r"\d+")


def trace(name: str) -> str:
    """Give a recording."""
    return (TRACES / name).read_text("utf-8")


def masked(text: str) -> str:
    """Take out what another server at another time says otherwise."""
    return _TIME.sub(r"\1_", _VERSION.sub(r"\1_", text))


def events(name: str) -> list[Json]:
    """Give the events of a recorded watch."""
    return [json.loads(line) for line in trace(name).splitlines()]


def decoded(token: str) -> Json:
    """Read a continue token, and put it into the one form."""
    document: Json = json.loads(base64.urlsafe_b64decode(token + "=="))
    return {**document, "start": document["start"].removeprefix("/"), "rv": "_"}


def put_twelve(api: FakeKubernetes) -> None:
    """Put the recorded pods, as the recorded pages have them."""
    for event in events("watchlist.jsonl")[:-1]:
        api.put(event["object"])
    for name in ("page1.json", "page2.json"):
        for item in json.loads(trace(name))["items"]:
            api.delete("pods", "gpu-operator", item["metadata"]["name"])
            api.put({"kind": "Pod", **item})


async def test_lists_are_written_as_recorded() -> None:
    """One pod, listed: every field, its order and the indentation are the real server's."""
    [item] = json.loads(trace("list.json"))["items"]
    async with FakeKubernetes() as api, client(api) as ask:
        api.put({"kind": "Pod", **item})
        answer = await ask.ask(PODS, CURL)
    assert answer.status == 200
    assert masked(answer.text) == masked(trace("list.json"))


async def test_a_program_gets_the_same_without_indentation() -> None:
    """What is no browser, no curl and no wget gets one line."""
    [item] = json.loads(trace("list.json"))["items"]
    async with FakeKubernetes() as api, client(api) as ask:
        api.put({"kind": "Pod", **item})
        answer = await ask.ask(PODS)
    assert answer.text.count("\n") == 1
    assert masked(json.dumps(answer.json)) == masked(json.dumps(json.loads(trace("list.json"))))


async def test_pages_and_their_tokens_are_as_recorded() -> None:
    """Pages of five out of twelve: versions are equal on each, and what remains is counted."""
    async with FakeKubernetes() as api, client(api) as ask:
        put_twelve(api)
        first = await ask.ask(ALL_PODS, CURL, limit=5)
        second = await ask.ask(
            ALL_PODS, CURL, limit=5, continue_=first.json["metadata"]["continue"]
        )
        third = await ask.ask(
            ALL_PODS, CURL, limit=5, continue_=second.json["metadata"]["continue"]
        )
    for answer, name in ((first, "page1.json"), (second, "page2.json")):
        assert masked(answer.text) == masked(trace(name))
        recorded = json.loads(trace(name))["metadata"]
        assert decoded(answer.json["metadata"]["continue"]) == decoded(recorded["continue"])
    assert len(third.json["items"]) == 2
    versions = {each.json["metadata"].pop("resourceVersion") for each in (first, second, third)}
    assert len(versions) == 1
    assert third.json["metadata"].keys() == {"resourceVersion"}


async def test_an_old_token_is_refused_with_one_that_works() -> None:
    """410, and the continue token in it gives the rest of the list as it is now."""
    async with FakeKubernetes() as api, client(api) as ask:
        put_twelve(api)
        token = (await ask.ask(ALL_PODS, limit=5)).json["metadata"]["continue"]
        await api.restart()
        refused = await ask.ask(ALL_PODS, CURL, limit=5, continue_=token)
        resumed = refused.json["metadata"]["continue"]
        rest = await ask.ask(ALL_PODS, limit=500, continue_=resumed)
    body, _, status = trace("410_continue.txt").partition("\nHTTP ")
    assert (refused.status, refused.text) == (int(status), body)
    assert rest.names == [f"nvidia-dcgm-exporter-{number:05}" for number in range(5, 12)]


async def test_a_token_that_is_none_is_refused_as_recorded() -> None:
    """400, and the sentence says what a JSON reader thinks of it."""
    async with FakeKubernetes() as api, client(api) as ask:
        answer = await ask.ask(ALL_PODS, CURL, limit=5, continue_="bad")
    assert (answer.status, answer.text) == (400, trace("bad_continue.json"))


async def test_a_field_selector_selects_as_recorded() -> None:
    """The pods of one node."""
    node = json.loads(trace("fieldselector.json"))["items"][0]["spec"]["nodeName"]
    async with FakeKubernetes() as api, client(api) as ask:
        put_twelve(api)
        answer = await ask.ask(ALL_PODS, CURL, fieldSelector=f"spec.nodeName={node}")
    assert masked(answer.text) == masked(trace("fieldselector.json"))


async def test_metadata_alone_is_as_recorded() -> None:
    """PartialObjectMetadataList by the Accept header, in pages too."""
    recorded = json.loads(trace("partial_metadata.json"))
    accept = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"
    async with FakeKubernetes() as api, client(api) as ask:
        put_twelve(api)
        for item in recorded["items"]:
            old = api.get("pods", "gpu-operator", item["metadata"]["name"])
            assert old is not None
            api.put({**old, "metadata": item["metadata"]})
        answer = await ask.ask(ALL_PODS, {**CURL, "Accept": accept}, limit=2)
    assert masked(answer.text) == masked(trace("partial_metadata.json"))


async def test_headers_are_as_recorded_and_little_is_not_compressed() -> None:
    """Twelve pods stay as they are though gzip was asked for."""
    async with FakeKubernetes() as api, client(api) as ask:
        put_twelve(api)
        answer = await ask.ask(ALL_PODS, {**CURL, "Accept-Encoding": "gzip"})
    recorded = dict(line.partition(": ")[::2] for line in trace("gzip.h").strip().splitlines()[1:])
    said = {name.lower(): value for name, value in answer.headers.items()}
    assert trace("gzip.h").splitlines()[1:3] != trace("list.h").splitlines()[1:3]  # audit ids
    assert recorded.keys() <= said.keys()
    assert "content-encoding" not in said
    for name in ("cache-control", "content-type"):
        assert said[name] == recorded[name]


@pytest.mark.parametrize("name", ["401", "401_anon", "403"])
async def test_who_may_not_is_told_as_recorded(name: str) -> None:
    """A bad token, none, and one that is not enough."""
    user = "system:serviceaccount:amazon-cloudwatch:cwgpu"
    async with FakeKubernetes() as api:
        token = {"401": "bad", "401_anon": "", "403": api.grant(user)}[name]
        async with client(api, token) as ask:
            answer = await ask.ask(ALL_PODS, CURL)
    assert answer.text == trace(f"{name}.json")
    assert answer.status == answer.json["code"]


async def test_a_list_of_the_future_is_refused_as_recorded() -> None:
    """504 with Retry-After, and the reason is among the causes."""
    head, _, body = trace("list_future.txt").partition("\n\n")
    async with FakeKubernetes() as api, client(api) as ask:
        answer = await ask.ask(ALL_PODS, CURL, resourceVersion=99999999)
    assert answer.status == 504
    assert answer.headers["Retry-After"] == "1"
    assert "retry-after: 1" in head
    assert _NUMBER.sub("_", answer.text) == _NUMBER.sub("_", body)


async def test_a_watch_of_the_past_is_refused_as_recorded() -> None:
    """200, then one line that says 410, then the end."""
    head, _, body = trace("410_watch.txt").partition("\n\n")
    async with FakeKubernetes() as api, client(api) as ask:
        api.put({"kind": "Pod", **json.loads(trace("list.json"))["items"][0]})
        api.chaos.compact()
        answer = await ask.ask(ALL_PODS, CURL, watch=1, resourceVersion=2)
    assert answer.status == 200
    assert {line.partition(":")[0] for line in head.splitlines()[1:]} <= {
        name.lower() for name in answer.headers
    }
    assert _NUMBER.sub("_", answer.text) == _NUMBER.sub("_", body)


async def test_a_watch_of_the_future_is_silent_as_recorded() -> None:
    """200, and nothing at all until its time is over, not even a bookmark."""
    slept = []

    async def sleep(seconds: float) -> None:
        slept.append(seconds)

    async with FakeKubernetes(sleep=sleep) as api, client(api) as ask:
        api.put({"kind": "Pod", **json.loads(trace("list.json"))["items"][0]})
        answer = await ask.ask(
            ALL_PODS, watch=1, resourceVersion=99999999, timeoutSeconds=3, allowWatchBookmarks=1
        )
    assert (answer.status, answer.text) == (200, trace("watch_future_empty.json"))
    assert slept == [3]


async def _watched(api: FakeKubernetes, version: int, recorded: list[Json]) -> str:
    """Do what was done while the recording ran: label, then delete by force."""
    async with client(api) as ask:
        watch = asyncio.create_task(
            ask.ask(PODS, watch=1, resourceVersion=version, allowWatchBookmarks="true")
        )
        await api.until(lambda: api.watches)
        labelled = next(each for each in recorded if "a" in each["object"]["metadata"]["labels"])
        api.put(labelled["object"])
        api.delete("pods", "gpu-operator", "nvidia-dcgm-exporter-lkmfr")
        api.chaos.end()
        return (await watch).text


async def test_a_watch_goes_as_recorded() -> None:
    """MODIFIED, MODIFIED with a deletionTimestamp, DELETED, and a bookmark before the end."""
    [item] = json.loads(trace("list.json"))["items"]
    async with FakeKubernetes() as api:
        api.put({"kind": "Pod", **item})
        text = await _watched(api, api.version, events("watch.jsonl"))
    assert masked(text) == masked(trace("watch.jsonl"))
    versions = [
        int(json.loads(line)["object"]["metadata"]["resourceVersion"]) for line in text.splitlines()
    ]
    assert [version - versions[0] for version in versions] == [0, 1, 2, 2]


async def test_a_watch_from_the_beginning_goes_as_recorded() -> None:
    """The log is replayed for who comes early enough."""
    recorded = events("watch_rv1.jsonl")
    async with FakeKubernetes() as api:
        for event in recorded[:2]:
            api.put(event["object"])
        text = await _watched(api, 1, recorded)
    *lines, _ = text.splitlines(keepends=True)  # that recording asked for no bookmarks
    assert masked("".join(lines)) == masked(trace("watch_rv1.jsonl"))


async def test_a_watch_list_goes_as_recorded() -> None:
    """What is there, then a bookmark that says so, then what happens."""
    async with FakeKubernetes() as api, client(api) as ask:
        for event in events("watchlist.jsonl")[:-1]:
            api.put(event["object"])
        watch = asyncio.create_task(
            ask.ask(
                PODS,
                watch=1,
                sendInitialEvents="true",
                resourceVersionMatch="NotOlderThan",
                allowWatchBookmarks="true",
            )
        )
        await api.until(lambda: api.watches)
        api.delete("pods", "gpu-operator", "nvidia-dcgm-exporter-00000")
        api.chaos.end()
        text = (await watch).text
    initial, live = text.splitlines(keepends=True)[:13], text.splitlines()[13:]
    assert masked("".join(initial)) == masked(trace("watchlist.jsonl"))
    assert [json.loads(line)["type"] for line in live] == ["MODIFIED", "DELETED", "BOOKMARK"]


async def test_a_watch_list_can_be_refused_as_over_etcd_3_4() -> None:
    """200, and an ERROR event: a client must list and watch instead."""
    async with FakeKubernetes() as api, client(api) as ask:
        api.chaos.watch_lists = False
        answer = await ask.ask(
            PODS, watch=1, sendInitialEvents="true", resourceVersionMatch="NotOlderThan"
        )
    [event] = answer.events
    assert answer.status == 200
    assert event["type"] == "ERROR"
    assert "required storage feature RequestWatchProgress" in event["object"]["message"]


async def test_a_version_of_0_takes_no_limit() -> None:
    """The watch cache answers with everything, whatever the limit."""
    async with FakeKubernetes() as api, client(api) as ask:
        put_twelve(api)
        answer = await ask.ask(ALL_PODS, limit=5, resourceVersion=0)
    assert len(answer.json["items"]) == 12
    assert answer.json["metadata"].keys() == {"resourceVersion"}
