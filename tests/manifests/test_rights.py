"""What each overlay may do in the cluster is what its configuration makes it do."""

from collections.abc import Iterator
from pathlib import Path
from typing import TypeAlias

import pytest

from cwgpu.kube import resource
from cwgpu.plan.plan import Plan
from cwgpu.prom.kubernetes import role
from tests.manifests import plans, rendered
from tests.manifests.rendered import Json

Right: TypeAlias = tuple[str, str, str, str]
"""Namespace (empty: all), group, resource and verb."""

TOKEN = "/var/run/secrets/kubernetes.io/serviceaccount"  # noqa: S105 - where tokens are


def needed(plan: Plan, own_namespace: str) -> set[Right]:
    """Give what an agent with this plan asks of the API server."""
    found = {
        (namespace, watched.group, watched.plural, verb)
        for job in plan.jobs
        for each in job.kubernetes
        for watched in map(
            resource.DISCOVERABLE.__getitem__, role.kinds(each.role, attach_node=each.attach_node)
        )
        for namespace in each.namespaces or ("",)
        for verb in ("list", "watch")
    }
    lease = plan.lease or (plan.shard.lease if plan.shard else None)
    if lease:
        leases, where = resource.LEASES, lease.namespace or own_namespace
        found |= {
            (where, leases.group, leases.plural, verb) for verb in ("get", "create", "update")
        }
    return found


def granted(name: str) -> Iterator[tuple[Right, tuple[str, ...]]]:
    """Give what the account of the pods may, with the names of the objects; none: any."""
    account = rendered.pod(name)["serviceAccountName"]
    for kind, binding in (("ClusterRole", "ClusterRoleBinding"), ("Role", "RoleBinding")):
        for bound in rendered.objects(name, binding):
            assert [each["name"] for each in bound["subjects"]] == [account]
            assert bound["roleRef"]["kind"] == kind
            for each in rendered.objects(name, kind):
                if each["metadata"]["name"] == bound["roleRef"]["name"]:
                    yield from _of(each)


def _of(found: Json) -> Iterator[tuple[Right, tuple[str, ...]]]:
    namespace = found["metadata"].get("namespace", "")
    for rule in found["rules"]:
        names = tuple(rule.get("resourceNames", ()))
        for group in rule.get("apiGroups", ()):
            for kind in rule["resources"]:
                for verb in rule["verbs"]:
                    yield (namespace, group, kind, verb), names


@pytest.mark.parametrize("name", rendered.CLUSTER)
def test_rights_are_those_that_are_used(name: str, tmp_path: Path) -> None:
    """Nothing that the agent asks is forbidden, and nothing that it does not ask is allowed."""
    namespace = rendered.workload(name)["metadata"]["namespace"]
    assert {right for right, _ in granted(name)} == needed(plans.plan(name, tmp_path), namespace)


@pytest.mark.parametrize("name", ["ha", "sharded"])
def test_no_other_lease_can_be_touched(name: str, tmp_path: Path) -> None:
    """Only our lease may be read and written; creating one cannot be bound to a name."""
    plan = plans.plan(name, tmp_path)
    lease = plan.lease or (plan.shard.lease if plan.shard else None)
    assert lease is not None
    found = {right[3]: names for right, names in granted(name) if right[2] == "leases"}
    assert found == {"get": (lease.name,), "update": (lease.name,), "create": ()}


def test_aws_rights_are_enough(tmp_path: Path) -> None:
    """In AWS' own manifest the agent asks for nothing that the manifest does not allow."""
    missing = needed(plans.plan("drop-in", tmp_path), "") - {each for each, _ in granted("drop-in")}
    assert missing == set()


@pytest.mark.parametrize("name", rendered.CLUSTER | rendered.DROP_IN)
def test_a_token_is_asked_for_where_it_is_used(name: str) -> None:
    """Agents that discover mount their account's token, whatever the account's default."""
    assert rendered.pod(name)["automountServiceAccountToken"] is True


@pytest.mark.parametrize("name", rendered.SIDECARS)
def test_a_sidecar_asks_the_api_nothing(name: str, tmp_path: Path) -> None:
    """It needs no right, brings none, and covers the place of the exporter's token."""
    assert needed(plans.plan(name, tmp_path), "") == set()
    kinds = {each["kind"] for each in rendered.objects(name)}
    assert kinds == {"DaemonSet", "ConfigMap"}
    (mount,) = (x for x in rendered.container(name)["volumeMounts"] if x["mountPath"] == TOKEN)
    (volume,) = (x for x in rendered.pod(name)["volumes"] if x["name"] == mount["name"])
    assert "emptyDir" in volume
