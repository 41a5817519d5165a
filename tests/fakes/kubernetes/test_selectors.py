"""The fake API server's selectors select what Kubernetes' documentation says."""

import asyncio

import pytest

from tests.fakes.kubernetes import FakeKubernetes
from tests.fakes.kubernetes.asking import Json, client, pod

PODS = {
    "a": {"app": "dcgm", "tier": "gpu"},
    "b": {"app": "dcgm", "tier": "cpu"},
    "c": {"app": "node"},
    "d": {},
}
LABELS: dict[str, str] = {
    "": "abcd",
    "app": "abc",
    "!app": "d",
    "app=dcgm": "ab",
    "app==dcgm": "ab",
    "app!=dcgm": "cd",
    "app in (dcgm, node)": "abc",
    "app in (dcgm),tier notin (cpu)": "a",
    "tier notin (cpu)": "acd",
    "app=dcgm,!tier": "",
    "app=dcgm,tier=gpu": "a",
    "tier": "ab",
    "tier=": "",
    " app = node ": "c",
    "example.com/role=x": "",
}


@pytest.mark.parametrize("selector", LABELS)
async def test_label_selectors(selector: str) -> None:
    """Equality, sets and presence, joined by commas that mean and."""
    async with FakeKubernetes() as api, client(api) as ask:
        for name, labels in PODS.items():
            api.put(pod(name, **labels))
        answer = await ask.ask("/api/v1/pods", labelSelector=selector)
    assert "".join(answer.names) == LABELS[selector]


@pytest.mark.parametrize("selector", ["=a", "app in dcgm", "app in (a b)", "a=b=c", "app=-", "a,,"])
async def test_label_selectors_that_are_none_are_refused(selector: str) -> None:
    """400, as for a typing error in a configuration."""
    async with FakeKubernetes() as api, client(api) as ask:
        answer = await ask.ask("/api/v1/pods", labelSelector=selector)
    assert answer.status == 400
    assert answer.json["reason"] == "BadRequest"
    assert "unable to parse requirement" in answer.json["message"]


FIELDS: dict[str, str] = {
    "metadata.name=a": "a",
    "metadata.name!=a": "bcd",
    "metadata.namespace=elsewhere": "d",
    "spec.nodeName=node-b": "b",
    "status.phase=Running": "abd",
    "status.phase!=Running,metadata.name!=a": "c",
    "spec.hostNetwork=true": "b",
    "spec.hostNetwork=false": "acd",
    "status.podIP=127.0.1.1": "abcd",
    "spec.nodeName=": "",
}


@pytest.mark.parametrize("selector", FIELDS)
async def test_field_selectors_of_pods(selector: str) -> None:
    """Name, namespace, node and phase, and what else pods are indexed by."""
    async with FakeKubernetes() as api, client(api) as ask:
        for name in "abc":
            document = pod(name)
            if name == "b":
                document["spec"] |= {"nodeName": "node-b", "hostNetwork": True}
            document["status"]["phase"] = "Failed" if name == "c" else "Running"
            api.put(document)
        api.put(pod("d", "elsewhere"))
        answer = await ask.ask("/api/v1/pods", fieldSelector=selector)
    assert "".join(sorted(answer.names)) == FIELDS[selector]


@pytest.mark.parametrize(
    ("path", "selector", "message"),
    [
        ("/api/v1/pods", "spec.color=x", "field label not supported: spec.color"),
        ("/api/v1/nodes", "spec.color=x", "field label not supported: spec.color"),
        ("/api/v1/nodes", "metadata.namespace=x", "not supported: metadata.namespace"),
        (
            "/apis/discovery.k8s.io/v1/endpointslices",
            "spec.nodeName=x",
            (
                '"spec.nodeName" is not a known field selector: only "metadata.name", '
                '"metadata.namespace"'
            ),
        ),
        ("/api/v1/pods", "spec.nodeName", "invalid selector"),
    ],
)
async def test_fields_that_are_not_indexed_are_refused(
    path: str, selector: str, message: str
) -> None:
    """400 with a sentence, whatever the objects are."""
    async with FakeKubernetes() as api, client(api) as ask:
        answer = await ask.ask(path, fieldSelector=selector)
    assert answer.status == 400
    assert message in answer.json["message"]


async def test_a_watch_sees_objects_come_into_its_selection_and_leave_it() -> None:
    """ADDED when an object begins to match, DELETED when it ends, with the new version."""
    async with FakeKubernetes() as api, client(api) as ask:
        api.put(pod("a", app="other"))
        version = api.version
        watch = asyncio.create_task(
            ask.ask("/api/v1/pods", watch=1, labelSelector="app=dcgm", resourceVersion=version)
        )
        await api.until(lambda: api.watches)
        for app in ("dcgm", "dcgm", "other"):
            api.put(pod("a", app=app, version=str(api.version)))
        api.put(pod("a", app="another"))
        api.delete("pods", "gpu-operator", "a")
        api.chaos.end()
        events = (await watch).events
    assert [event["type"] for event in events] == ["ADDED", "MODIFIED", "DELETED"]
    objects: list[Json] = [event["object"] for event in events]
    assert [each["metadata"]["labels"]["app"] for each in objects] == ["dcgm"] * 3
    versions = [int(each["metadata"]["resourceVersion"]) for each in objects]
    assert versions == [version + 1, version + 2, version + 3]


async def test_a_namespace_is_a_selection_too() -> None:
    """Lists and watches below /namespaces/NAME show nothing of the others."""
    async with FakeKubernetes() as api, client(api) as ask:
        api.put(pod("a", "one"))
        api.put(pod("b", "one-more"))
        listed = await ask.ask("/api/v1/namespaces/one/pods")
        watch = asyncio.create_task(ask.ask("/api/v1/namespaces/one/pods", watch=1))
        await api.until(lambda: api.watches)
        api.put(pod("c", "one-more"))
        api.put(pod("d", "one"))
        api.chaos.end()
        events = (await watch).events
    assert listed.names == ["a"]
    assert [event["object"]["metadata"]["name"] for event in events] == ["a", "d"]
