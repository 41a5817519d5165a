"""Writing to the fake API server: what is taken, what is refused, and what a watch sees of it."""

import asyncio
from typing import Any

import pytest

from tests.fakes.kubernetes import FakeKubernetes
from tests.fakes.kubernetes.asking import Answer, Client, Json, client, pod

LEASES = "/apis/coordination.k8s.io/v1/namespaces/default/leases"
PODS = "/api/v1/namespaces/default/pods"
NOW = "2026-11-30T04:06:20.000001Z"


def lease(**spec: Any) -> Json:  # noqa: ANN401 - whatever JSON has
    """Give a lease that somebody holds."""
    held = {"holderIdentity": "a", "leaseDurationSeconds": 15, "renewTime": NOW}
    return {"metadata": {"name": "cwgpu"}, "spec": {**held, **spec}}


def refusal(answer: Answer) -> tuple[int, str, str]:
    """Give what a refusal says to programs and to people."""
    return answer.status, answer.json["reason"], answer.json["message"]


async def test_a_lease_is_made_once_and_changed_by_who_saw_the_newest() -> None:
    """The whole of leader election: 201, 409 for the second, 409 for who is late."""
    async with FakeKubernetes() as api, client(api) as ask:
        made = await ask.send("POST", LEASES, lease())
        again = await ask.send("POST", LEASES, lease(holderIdentity="b"))
        taken = {**made.json, "spec": {**made.json["spec"], "holderIdentity": "b"}}
        changed = await ask.send("PUT", f"{LEASES}/cwgpu", taken)
        late = await ask.send("PUT", f"{LEASES}/cwgpu", made.json)
        seen = await ask.ask(f"{LEASES}/cwgpu")
    assert (made.status, changed.status) == (201, 200)
    assert made.json["apiVersion"] == "coordination.k8s.io/v1"
    assert seen.json == changed.json
    assert seen.json["spec"]["holderIdentity"] == "b"
    assert refusal(again) == (
        409,
        "AlreadyExists",
        'leases.coordination.k8s.io "cwgpu" already exists',
    )
    assert refusal(late) == (
        409,
        "Conflict",
        (
            'Operation cannot be fulfilled on leases.coordination.k8s.io "cwgpu": the object has '
            "been modified; please apply your changes to the latest version and try again"
        ),
    )
    details = {"name": "cwgpu", "group": "coordination.k8s.io", "kind": "leases"}
    assert late.json["details"] == again.json["details"] == details


async def test_a_lease_that_is_not_there() -> None:
    """404 for who looks; PUT makes it, as of all kinds that may be made so."""
    async with FakeKubernetes() as api, client(api) as ask:
        missing = await ask.ask(f"{LEASES}/cwgpu")
        made = await ask.send("PUT", f"{LEASES}/cwgpu", lease())
        blind = await ask.send("PUT", f"{LEASES}/cwgpu", lease())
        nowhere = await ask.send("POST", LEASES.replace("default", "nowhere"), lease())
    assert refusal(missing)[:2] == (404, "NotFound")
    assert missing.json["message"] == 'leases.coordination.k8s.io "cwgpu" not found'
    assert made.json["spec"] == lease()["spec"]
    assert refusal(blind)[:2] == (422, "Invalid")
    assert "metadata.resourceVersion: Invalid value: 0x0" in blind.json["message"]
    assert refusal(nowhere) == (404, "NotFound", 'namespaces "nowhere" not found')


@pytest.mark.parametrize(
    ("spec", "status", "message"),
    [
        ({"renewTime": "2026-11-30T04:06:20Z"}, 400, "parsing time"),
        ({"acquireTime": 1}, 400, "parsing time"),
        ({"holderIdentity": 1}, 400, "cannot unmarshal"),
        ({"leaseDurationSeconds": 1.5}, 400, "leaseDurationSeconds"),
        ({"leaseDurationSeconds": 0}, 422, "must be greater than 0"),
        ({"leaseTransitions": -1}, 422, "must be greater than or equal to 0"),
    ],
)
async def test_a_lease_must_be_one(spec: Json, status: int, message: str) -> None:
    """Times have six digits of a second; durations are whole and positive."""
    async with FakeKubernetes() as api, client(api) as ask:
        answer = await ask.send("POST", LEASES, lease(**spec))
    assert answer.status == status
    assert message in answer.json["message"]


async def test_what_changes_nothing_is_no_change() -> None:
    """The version stays, and no watch hears of it."""
    async with FakeKubernetes() as api, client(api) as ask:
        made = await ask.send("POST", LEASES, lease())
        same = await ask.send("PUT", f"{LEASES}/cwgpu", made.json)
        version = api.version
        api.put(pod("a"))
        api.put(pod("a"))
    assert same.json == made.json
    assert api.version == version + 2  # the namespace of the pod, and the pod


async def test_a_new_pod_is_pending_and_only_its_status_is_changed_by_its_status() -> None:
    """As the kubelet does it: /status writes nothing else, and the pod no status."""
    written = {**pod("a", "default"), "status": {"phase": "Running"}}
    async with FakeKubernetes() as api, client(api) as ask:
        made = await ask.send("POST", PODS, written)
        running = {**made.json, "status": {"phase": "Running"}, "spec": {}}
        by_status = await ask.send("PUT", f"{PODS}/a/status", running)
        labelled = by_status.json
        labelled["metadata"]["labels"] = {"a": "b"}
        labelled["status"] = {"phase": "Failed"}
        by_pod = await ask.send("PUT", f"{PODS}/a", labelled)
    assert made.json["status"] == {"phase": "Pending", "qosClass": "BestEffort"}
    assert by_status.json["status"] == {"phase": "Running"}
    assert by_status.json["spec"] == written["spec"]
    assert by_pod.json["status"] == {"phase": "Running"}
    assert by_pod.json["metadata"]["labels"] == {"a": "b"}


async def test_patches_merge() -> None:
    """A null takes away; a strategic one joins lists by name, and keeps to its directives."""
    document = pod("a", "default", keep="1", drop="1")
    async with FakeKubernetes() as api, client(api) as ask:
        api.put(document)
        merged = await ask.send(
            "PATCH",
            f"{PODS}/a",
            {"metadata": {"labels": {"drop": None, "new": "1"}}},
            "application/merge-patch+json",
        )
        strategic = await ask.send(
            "PATCH",
            f"{PODS}/a",
            {
                "spec": {
                    "$setElementOrder/containers": [{"name": "main"}, {"name": "side"}],
                    "containers": [{"name": "side", "image": "y"}, {"name": "main", "tty": True}],
                }
            },
            "application/strategic-merge-patch+json",
        )
        removed = await ask.send(
            "PATCH",
            f"{PODS}/a",
            {"spec": {"containers": [{"name": "side", "$patch": "delete"}], "nodeName": None}},
            "application/strategic-merge-patch+json",
        )
        other = await ask.send("PATCH", f"{PODS}/a", [], "application/json-patch+json")
        missing = await ask.send("PATCH", f"{PODS}/b", {}, "application/merge-patch+json")
    assert merged.json["metadata"]["labels"] == {"keep": "1", "new": "1"}
    assert strategic.json["spec"]["containers"] == [
        {"name": "main", "image": "x", "tty": True},
        {"name": "side", "image": "y"},
    ]
    assert removed.json["spec"] == {"containers": [{"name": "main", "image": "x", "tty": True}]}
    assert (other.status, missing.status) == (415, 404)


@pytest.mark.parametrize(
    ("method", "path", "body", "status"),
    [
        ("POST", PODS, {"metadata": {}}, 422),
        ("POST", PODS, {"kind": "Node", "metadata": {"name": "a"}}, 400),
        ("POST", PODS, {"metadata": {"name": "a", "namespace": "gpu"}}, 400),
        ("POST", PODS, {"metadata": {"name": "a", "resourceVersion": "1"}}, 400),
        ("POST", PODS, b"{", 400),
        ("POST", PODS + "/there", {}, 405),
        ("PUT", PODS + "/there", {"metadata": {"name": "b"}}, 400),
        ("PUT", PODS + "/there", {"metadata": {"uid": "other"}}, 409),
        ("PUT", PODS + "/b", {"metadata": {"name": "b"}}, 404),
        ("DELETE", PODS + "/b", {}, 404),
        ("DELETE", PODS + "/there", {"preconditions": {"uid": "other"}}, 409),
        ("GET", PODS + "/there/log", {}, 404),
        ("GET", "/api/v1/secrets", {}, 404),
        ("GET", "/api/v1/namespaces/default/nodes", {}, 404),
        ("GET", "/apis/apps/v1/deployments", {}, 404),
    ],
)
async def test_what_cannot_be_done_is_refused(
    method: str, path: str, body: object, status: int
) -> None:
    """With the real server's code, and an object that says why."""
    async with FakeKubernetes() as api, client(api) as ask:
        api.put(pod("there", "default"))
        answer = await ask.send(method, path, body)
    assert (answer.status, answer.json["code"]) == (status, status)


async def _deleted(ask: Client, api: FakeKubernetes) -> list[Json]:
    watches = [
        asyncio.create_task(ask.ask(path, watch=1, resourceVersion=api.version))
        for path in ("/api/v1/pods", "/api/v1/services", "/api/v1/namespaces")
    ]
    await api.until(lambda: len(api.watches) == len(watches))
    await ask.send("DELETE", "/api/v1/namespaces/gpu-operator")
    api.chaos.end()
    return [event for watch in watches for event in (await watch).events]


async def test_a_namespace_takes_what_is_in_it_along() -> None:
    """And nothing else."""
    async with FakeKubernetes() as api, client(api) as ask:
        service = {"kind": "Service", "metadata": {"name": "s", "namespace": "gpu-operator"}}
        for document in (pod("a"), pod("b", "gpu-operator-2"), service):
            api.put(document)
        events = await _deleted(ask, api)
        left = [each["metadata"]["name"] for each in api.all("pods")]
    gone = [event["object"]["metadata"]["name"] for event in events if event["type"] == "DELETED"]
    assert gone == ["a", "s", "gpu-operator"]
    assert left == ["b"]


async def test_a_collection_is_deleted_by_its_selector() -> None:
    """And what is gone is listed in the answer."""
    async with FakeKubernetes() as api, client(api) as ask:
        for name, app in (("a", "x"), ("b", "y"), ("c", "x")):
            api.put(pod(name, "default", app=app))
        answer = await ask.send("DELETE", f"{PODS}?labelSelector=app%3Dx")
        left = [each["metadata"]["name"] for each in api.all("pods")]
    assert (answer.names, left) == (["a", "c"], ["b"])


async def test_a_service_that_is_gone_is_told_by_its_uid() -> None:
    """Of others than pods the answer is a Status."""
    async with FakeKubernetes() as api, client(api) as ask:
        stored = api.put({"kind": "Service", "metadata": {"name": "s"}})
        answer = await ask.send("DELETE", "/api/v1/namespaces/default/services/s")
    uid = stored["metadata"]["uid"]
    assert answer.json["status"] == "Success"
    assert answer.json["details"] == {"name": "s", "kind": "services", "uid": uid}


async def test_names_may_be_made_up() -> None:
    """``generateName`` is the beginning of one."""
    async with FakeKubernetes() as api, client(api) as ask:
        made = await ask.send("POST", PODS, {"metadata": {"generateName": "dcgm-"}})
    name = made.json["metadata"]["name"]
    assert name.startswith("dcgm-")
    assert len(name) == 10
