"""The fake API server as a server: TLS, compression, credentials, threads, contradictions."""

import asyncio
import json
import ssl
import urllib.request
from pathlib import Path

import aiohttp
import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.fakes.kubernetes import FakeKubernetes
from tests.fakes.kubernetes.asking import Json, client, pod

PODS = "/api/v1/pods"
LARGE_BYTES = 1_400_000
"""Little below what etcd takes of one object."""


async def test_large_answers_are_compressed_for_who_asks() -> None:
    """From 128 KiB on; watches never are."""
    async with FakeKubernetes() as api, client(api) as ask:
        api.put(pod("a", note="x"))
        small = await ask.ask(PODS, {"Accept-Encoding": "gzip"})
        for number in range(1000):
            api.put(pod(f"p-{number}"))
        large = await ask.ask(PODS, {"Accept-Encoding": "gzip"})
        plain = await ask.ask(PODS, {"Accept-Encoding": "identity"})
        async with ask.streaming(PODS, {"Accept-Encoding": "gzip"}, watch=1) as watch:
            assert "Content-Encoding" not in watch.headers
    assert "Content-Encoding" not in small.headers
    assert "Content-Encoding" not in plain.headers
    assert large.headers["Content-Encoding"] == "gzip"
    assert int(large.headers["Content-Length"]) < int(plain.headers["Content-Length"]) / 5
    assert large.text == plain.text


async def test_an_object_may_be_as_large_as_etcd_takes_it() -> None:
    """1.4 MB in one line of a watch, and over HTTP too."""
    large = pod("large", "default")
    large["metadata"]["annotations"] = {"note": "x" * LARGE_BYTES}
    async with FakeKubernetes() as api, client(api) as ask:
        watch = asyncio.create_task(ask.ask(PODS, watch=1))
        await api.until(lambda: api.watches)
        made = await ask.send("POST", "/api/v1/namespaces/default/pods", large)
        api.chaos.end()
        [event] = (await watch).events
    assert made.status == 201
    assert len(event["object"]["metadata"]["annotations"]["note"]) == LARGE_BYTES


async def test_tls_is_by_an_authority_of_its_own(tmp_path: Path) -> None:
    """Only who was given the authority's certificate trusts it, and not after it has changed."""
    async with FakeKubernetes(tls=True) as api, aiohttp.ClientSession() as session:
        headers = {"Authorization": f"Bearer {api.admin}"}
        account = api.service_account(tmp_path, api.admin, "amazon-cloudwatch")
        trusting = ssl.create_default_context(cafile=str(account / "ca.crt"))
        async with session.get(api.url + PODS, headers=headers, ssl=trusting) as response:
            assert response.status == 200
        with pytest.raises(aiohttp.ClientConnectorCertificateError):
            await session.get(api.url + PODS, headers=headers)
        await api.restart(new_ca=True)
        with pytest.raises(aiohttp.ClientConnectorCertificateError):
            await session.get(api.url + PODS, headers=headers, ssl=trusting)
        api.service_account(tmp_path, api.admin, "amazon-cloudwatch")
        fresh = ssl.create_default_context(cafile=str(account / "ca.crt"))
        async with session.get(api.url + PODS, headers=headers, ssl=fresh) as response:
            assert response.status == 200
    assert (account / "namespace").read_text() == "amazon-cloudwatch"
    assert (account / "token").read_text() == api.admin
    assert sorted(path.name for path in account.iterdir()) == ["ca.crt", "namespace", "token"]


def test_a_thread_serves_tests_that_start_processes(tmp_path: Path) -> None:
    """All but ``await`` is the same; the kubeconfig says where it is."""
    with FakeKubernetes() as api:
        path = api.kubeconfig(tmp_path / "config", api.admin, "gpu-operator")
        document = yaml.safe_load(path.read_text())
        [cluster], [user] = document["clusters"], document["users"]
        token = user["user"]["token"]
        url = cluster["cluster"]["server"]
        headers = {"Authorization": f"Bearer {token}"}
        api.put(pod("a"))
        request = urllib.request.Request(f"{url}{PODS}", headers=headers)  # noqa: S310 - ours
        with urllib.request.urlopen(request) as answer:  # noqa: S310 - ours
            assert len(json.load(answer)["items"]) == 1
        api.run(api.restart())
        api.wait(lambda: len(api.requests) == 1)
        assert api.environ["KUBERNETES_SERVICE_PORT"] == url.rpartition(":")[2]


async def test_waiting_in_vain_says_what_was_asked() -> None:
    """A test that waits for what never comes is told what came instead."""
    async with FakeKubernetes() as api, client(api) as ask:
        await ask.ask(PODS)
        with pytest.raises(TimeoutError, match=r"\('list', 'pods', 200\)"):
            await api.until(lambda: False, timeout_s=0.01)


async def test_requests_are_written_down() -> None:
    """Verb, resource, namespace, name, query and user, in the words of RBAC."""
    async with FakeKubernetes() as api:
        token = api.grant("me", {"pods": ("list", "get")})
        async with client(api, token) as ask:
            await ask.ask("/api/v1/namespaces/a/pods", limit=500)
            await ask.ask("/api/v1/namespaces/a/pods/b")
    first, second = api.requests
    shown = (first.verb, first.resource, first.namespace, dict(first.query), first.user)
    assert shown == ("list", "pods", "a", {"limit": "500"}, "me")
    assert (second.verb, second.name, second.status) == ("get", "b", 404)
    assert second.headers["authorization"] == f"Bearer {token}"


CONTRADICTIONS: dict[str, tuple[Json, int, str]] = {
    "match alone": ({"resourceVersionMatch": "Exact"}, 422, "unless resourceVersion is provided"),
    "initial events of a list": (
        {"sendInitialEvents": "true", "resourceVersionMatch": "NotOlderThan"},
        422,
        "forbidden for list",
    ),
    "initial events without match": (
        {"watch": "1", "sendInitialEvents": "true"},
        422,
        "requires setting resourceVersionMatch to NotOlderThan",
    ),
    "match of a watch": (
        {"watch": "1", "resourceVersionMatch": "Exact", "resourceVersion": "1"},
        422,
        "forbidden for watch",
    ),
    "token and version": ({"continue": "x", "resourceVersion": "1"}, 400, "not allowed when using"),
    "no number": ({"limit": "many"}, 400, "invalid syntax"),
    "token in no base64": ({"continue": "%%%"}, 400, "illegal base64 data"),
    "exact and gone": (
        {"resourceVersion": "1", "resourceVersionMatch": "Exact"},
        410,
        "The resourceVersion for the provided list is too old.",
    ),
}


@pytest.mark.parametrize("case", CONTRADICTIONS)
async def test_queries_that_contradict_themselves_are_refused(case: str) -> None:
    """With the real server's codes."""
    query, status, message = CONTRADICTIONS[case]
    async with FakeKubernetes() as api, client(api) as ask:
        answer = await ask.ask(PODS, **query)
    assert answer.status == status
    assert message in answer.json["message"]


async def test_an_exact_version_can_be_listed_while_it_is_kept() -> None:
    """The newest, and those of lists that are being paged through."""
    async with FakeKubernetes() as api, client(api) as ask:
        for name in "ab":
            api.put(pod(name))
        version = (await ask.ask(PODS, limit=1)).json["metadata"]["resourceVersion"]
        api.put(pod("c"))
        exact: Json = {"resourceVersionMatch": "Exact"}
        old = await ask.ask(PODS, resourceVersion=version, **exact)
        new = await ask.ask(PODS, resourceVersion=api.version, **exact)
    assert (old.names, new.names) == (["a", "b"], ["a", "b", "c"])


async def test_documents_of_discovery_name_every_resource() -> None:
    """What a client finds there it can list."""
    async with FakeKubernetes() as api, client(api) as ask:
        groups = [each["name"] for each in (await ask.ask("/apis")).json["groups"]]
        roots = ["/api/v1", *(f"/apis/{group}/v1" for group in groups)]
        found = {}
        for root in roots:
            for resource in (await ask.ask(root)).json["resources"]:
                if "list" in resource["verbs"]:
                    answer = await ask.ask(f"{root}/{resource['name']}")
                    found[resource["name"]] = answer.json["kind"] == f"{resource['kind']}List"
        assert (await ask.ask(f"/apis/{groups[0]}")).json["name"] == groups[0]
        assert (await ask.ask("/openapi/v3")).json["paths"].keys() < {root[1:] for root in roots}
    plurals = "endpoints endpointslices ingresses leases namespaces nodes pods services"
    assert found == dict.fromkeys(plurals.split(), True)


Act = tuple[str, str]
ACTS = st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from(["put", "label", "delete"])))


@settings(max_examples=50)
@given(ACTS, st.integers(0, 10))
def test_a_list_and_the_watch_after_it_make_the_list_of_now(acts: list[Act], before: int) -> None:
    """Whatever happens between: this is what every client of Kubernetes relies on."""
    asyncio.run(_check_law(acts, before))


async def _check_law(acts: list[Act], before: int) -> None:
    async with FakeKubernetes() as api, client(api) as ask:
        _act(api, acts[:before])
        listed = (await ask.ask(PODS, labelSelector="app=x")).json
        state = {item["metadata"]["name"]: item["metadata"] for item in listed["items"]}
        version = listed["metadata"]["resourceVersion"]
        query: Json = {"labelSelector": "app=x", "resourceVersion": version}
        watch = asyncio.create_task(ask.ask(PODS, watch=1, **query))
        await api.until(lambda: api.watches)
        _act(api, acts[before:])
        api.chaos.end()
        for event in (await watch).events:
            metadata: Json = event["object"]["metadata"]
            assert (metadata["name"] in state) == (event["type"] != "ADDED")
            state[metadata["name"]] = metadata
            if event["type"] == "DELETED":
                del state[metadata["name"]]
        now = (await ask.ask(PODS, labelSelector="app=x")).json["items"]
    assert state == {item["metadata"]["name"]: item["metadata"] for item in now}


def _act(api: FakeKubernetes, acts: list[Act]) -> None:
    for name, act in acts:
        if act == "delete":
            if api.get("pods", "gpu-operator", name):
                api.delete("pods", "gpu-operator", name)
        else:
            api.put(pod(name, app="x" if act == "put" else "y", at=str(api.version)))
