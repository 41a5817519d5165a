"""The fake API server knows who asks, and lets them do what their roles say."""

from typing import Any

import pytest

from tests.fakes.kubernetes import FakeKubernetes
from tests.fakes.kubernetes.asking import client, pod

PODS = "/api/v1/pods"
HERE = "/api/v1/namespaces/here/pods"
LEASES = "/apis/coordination.k8s.io/v1/namespaces/here/leases"


@pytest.mark.parametrize(
    ("namespace", "path", "status"),
    [
        (None, PODS, 200),
        (None, HERE, 200),
        ("here", HERE, 200),
        ("here", PODS, 403),
        ("elsewhere", HERE, 403),
        (None, "/api/v1/nodes", 403),
        (None, HERE + "/a", 403),
        (None, HERE + "?watch=true", 403),
    ],
)
async def test_a_role_is_for_verbs_resources_and_a_namespace(
    namespace: str | None, path: str, status: int
) -> None:
    """A ClusterRoleBinding holds everywhere, a RoleBinding in its namespace."""
    async with FakeKubernetes() as api:
        token = api.grant("me", {"pods": ("list",)}, namespace)
        async with client(api, token) as ask:
            assert (await ask.ask(path)).status == status


REFUSALS: dict[str, tuple[str, str, dict[str, str]]] = {
    "in a namespace": (
        HERE,
        (
            'pods is forbidden: User "me" cannot list resource "pods" in API group "" in the '
            'namespace "here"'
        ),
        {"kind": "pods"},
    ),
    "of a name": (
        HERE + "/a",
        (
            'pods "a" is forbidden: User "me" cannot get resource "pods" in API group "" in the '
            'namespace "here"'
        ),
        {"name": "a", "kind": "pods"},
    ),
    "of a group": (
        LEASES + "/a",
        (
            'leases.coordination.k8s.io "a" is forbidden: User "me" cannot get resource "leases" '
            'in API group "coordination.k8s.io" in the namespace "here"'
        ),
        {"name": "a", "group": "coordination.k8s.io", "kind": "leases"},
    ),
    "of a subresource": (
        HERE + "/a/status",
        (
            'pods "a" is forbidden: User "me" cannot get resource "pods/status" in API group "" in '
            'the namespace "here"'
        ),
        {"name": "a", "kind": "pods"},
    ),
    "of a watch": (
        "/api/v1/nodes?watch=1",
        (
            'nodes is forbidden: User "me" cannot watch resource "nodes" in API group "" at the '
            "cluster scope"
        ),
        {"kind": "nodes"},
    ),
    "of a path": ("/metrics", 'forbidden: User "me" cannot get path "/metrics"', {}),
}


@pytest.mark.parametrize("case", REFUSALS)
async def test_refusals_name_what_is_missing(case: str) -> None:
    """User, verb, resource, group and scope, in the real server's words."""
    path, message, details = REFUSALS[case]
    async with FakeKubernetes() as api, client(api, api.grant("me")) as ask:
        answer = await ask.ask(path)
    assert answer.status == 403
    assert (answer.json["message"], answer.json["details"]) == (message, details)


async def test_rules_may_be_given_as_a_role_has_them() -> None:
    """``resourceNames`` hold for get and update, and for a list of that one name."""
    rules: list[dict[str, Any]] = [
        {
            "apiGroups": ["coordination.k8s.io"],
            "resources": ["leases"],
            "resourceNames": ["cwgpu"],
            "verbs": ["get", "update", "list"],
        },
        {"nonResourceURLs": ["/metrics"], "verbs": ["get"]},
    ]
    async with FakeKubernetes() as api:
        api.put({"kind": "Lease", "metadata": {"name": "cwgpu", "namespace": "here"}})
        async with client(api, api.grant("me", rules, "here")) as ask:
            assert (await ask.ask(f"{LEASES}/cwgpu")).status == 200
            assert (await ask.ask(f"{LEASES}/other")).status == 403
            assert (await ask.ask(LEASES)).status == 403
            one = await ask.ask(LEASES, fieldSelector="metadata.name=cwgpu")
            assert one.names == ["cwgpu"]


async def test_tokens_rotate_and_rights_can_be_taken_away() -> None:
    """An old token is 401, a user without rights 403."""
    async with FakeKubernetes() as api:
        old = api.grant("me", {"pods": ("list",)})
        new = api.rotate(old)
        async with client(api, old) as ask:
            assert (await ask.ask(PODS)).status == 401
        async with client(api, new) as ask:
            assert (await ask.ask(PODS)).status == 200
            api.revoke("me")
            assert (await ask.ask(PODS)).status == 403
    assert [request.user for request in api.requests] == ["", "me", "me"]


async def test_who_brings_no_token_may_be_allowed_something() -> None:
    """``system:anonymous`` is a user like others; versions and health are for all."""
    async with FakeKubernetes() as api, client(api, "") as ask:
        assert (await ask.ask("/version")).status == 200
        assert (await ask.ask("/readyz")).text == "ok"
        assert (await ask.ask("/api/v1")).status == 403
        api.grant("system:anonymous", {"pods": ("list",)})
        assert (await ask.ask(PODS)).status == 200


async def test_some_may_act_as_others() -> None:
    """Impersonation needs the verb, and then counts as the other one."""
    as_other = {"Impersonate-User": "other"}
    async with FakeKubernetes() as api:
        api.grant("other", {"pods": ("list",)})
        token = api.grant("me")
        async with client(api, token) as ask:
            refused = await ask.ask(PODS, as_other)
            api.grant("me", {"users": ("impersonate",)})
            allowed = await ask.ask(PODS, as_other)
    assert refused.json["message"] == (
        'users "other" is forbidden: User "me" cannot impersonate resource "users" in API group '
        '"" at the cluster scope'
    )
    assert allowed.status == 200
    assert api.requests[-1].user == "other"


async def test_one_can_ask_what_one_may() -> None:
    """A SelfSubjectAccessReview says yes or no."""
    async with FakeKubernetes() as api:
        api.put(pod("a"))
        async with client(api, api.grant("me", {"pods": ("list",)}, "here")) as ask:
            allowed = {}
            for namespace in ("here", ""):
                attributes = {"verb": "list", "resource": "pods", "namespace": namespace}
                answer = await ask.send(
                    "POST",
                    "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
                    {"spec": {"resourceAttributes": attributes}},
                )
                allowed[namespace] = answer.json["status"]["allowed"]
    assert allowed == {"here": True, "": False}
