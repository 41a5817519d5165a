"""Whom a lease is asked of, and in whose name: a real API server, and places that have none."""

import asyncio
import re
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from cwgpu.agent.clock import Clock
from cwgpu.agent.contend import contending
from cwgpu.model.errors import ConfigurationError
from cwgpu.plan.kubernetes import Lease
from tests.agent import stage
from tests.agent.stage import Witness
from tests.fakes.kubernetes import FakeKubernetes

LEASE = Lease("gpu", "lab", duration_s=3, renew_s=2, retry_s=0.2)
VERBS = {"leases": ("get", "create", "update")}


@pytest.fixture
async def api() -> AsyncIterator[FakeKubernetes]:
    """Give an API server with a namespace."""
    async with FakeKubernetes(tls=True) as api:
        api.put({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "lab"}})
        yield api


@pytest.fixture
def witness(caplog: pytest.LogCaptureFixture) -> Witness:
    """Give one who hears of everything."""
    return Witness(caplog)


def pod(api: FakeKubernetes, folder: Path, token: str) -> dict[str, str]:
    """Be a pod; gives its environment."""
    api.service_account(folder, token, "lab")
    return {**api.environ, "POD_NAME": "cwgpu-7d4f-x2x"}


async def test_a_pod_contends_by_its_service_account(
    api: FakeKubernetes, witness: Witness, tmp_path: Path
) -> None:
    """In its own namespace, under its name and something that nobody had before."""
    environ = pod(api, tmp_path, api.grant("system:serviceaccount:lab:cwgpu", VERBS, "lab"))
    lease = replace(LEASE, namespace="")
    holders = set()
    for _ in range(2):
        ours = contending(lease, witness.observer, Clock(), environ=environ, folder=tmp_path)
        async with ours as leader:
            task = asyncio.create_task(leader.run(lambda _: None))
            await stage.eventually(leader.leads)
            task.cancel()
            await asyncio.wait([task])
            held = api.get("leases", "lab", "gpu")
            assert held is not None
            holders.add(held["spec"]["holderIdentity"])
            await leader.release()
    assert len(holders) == 2
    assert all(re.fullmatch("cwgpu-7d4f-x2x_[0-9a-f]{8}", each) for each in holders)
    held = api.get("leases", "lab", "gpu")
    assert held is not None
    assert held["spec"]["holderIdentity"] == ""
    assert held["spec"]["leaseTransitions"] == 1


async def test_what_the_account_may_not_do_is_said(
    api: FakeKubernetes, witness: Witness, tmp_path: Path
) -> None:
    """The rule to be added, to which role, and for whom."""
    environ = pod(api, tmp_path, api.grant("system:serviceaccount:lab:cwgpu"))
    ours = contending(LEASE, witness.observer, Clock(), environ=environ, folder=tmp_path)
    async with ours as leader:
        task = asyncio.create_task(leader.run(lambda _: None))
        await stage.eventually(lambda: "not allowed" in leader.unready)
        task.cancel()
        await asyncio.wait([task])
    rule = '{apiGroups: ["coordination.k8s.io"], resources: [leases], verbs: [get, create, update]}'
    assert f"add {rule} to a Role in namespace lab" in leader.unready
    assert "service account cwgpu in namespace lab" in leader.unready


async def test_outside_of_a_cluster_a_kubeconfig_can_be_named(
    api: FakeKubernetes, witness: Witness, tmp_path: Path
) -> None:
    """KUBECONFIG leads to it, as for kubectl."""
    path = api.kubeconfig(tmp_path / "config", api.admin)
    environ = {"KUBECONFIG": str(path), "HOSTNAME": "desk"}
    async with contending(LEASE, witness.observer, Clock(), environ=environ) as leader:
        task = asyncio.create_task(leader.run(lambda _: None))
        await stage.eventually(leader.leads)
        task.cancel()
        await asyncio.wait([task])
    (said,) = witness.said("leader_began")
    assert str(said["identity"]).startswith("desk_")


@pytest.mark.parametrize(
    ("environ", "namespace", "sentence"),
    [
        ({}, "lab", "needs a Kubernetes API, and this is no pod .* take ha out of cwgpu"),
        ({"KUBECONFIG": "/nowhere"}, "", 'has no namespace, and this is no pod .* "namespace"'),
        (
            {"KUBERNETES_SERVICE_HOST": "10.0.0.1"},
            "",
            'has no namespace \\(write "namespace"\\), and the pod\'s: .* cannot be read',
        ),
    ],
)
async def test_where_nobody_can_be_asked(
    environ: dict[str, str], namespace: str, sentence: str, witness: Witness, tmp_path: Path
) -> None:
    """It is an error at the start, and says what to write."""
    lease = replace(LEASE, namespace=namespace)
    with pytest.raises(ConfigurationError, match=f"cwgpu.ha.lease {sentence}"):
        async with contending(lease, witness.observer, Clock(), environ=environ, folder=tmp_path):
            pass
