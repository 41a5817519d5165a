"""What is watched at API servers: begun when it is asked, shared, ended when nobody asks."""

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Mapping
from pathlib import Path

import pytest

from cwgpu.agent.clock import Clock
from cwgpu.agent.watches import Watches
from cwgpu.client.clients import Clients
from cwgpu.discovery.kubernetes import KubernetesSource
from cwgpu.plan.kubernetes import Kubeconfig, KubernetesDiscovery, Selector
from cwgpu.prom.kubernetes.role import Role
from tests.agent import stage
from tests.discovery import sight
from tests.fakes import cluster
from tests.fakes.kubernetes import FakeKubernetes

PODS = KubernetesDiscovery(Role.POD)


@contextlib.asynccontextmanager
async def watching(environ: Mapping[str, str], folder: Path) -> AsyncIterator[Watches]:
    """Have watches kept up to date in a pod's environment."""
    async with Clients(time.monotonic, environ={}) as clients:
        watches = Watches(clients, Clock(), environ=environ, folder=folder)
        task = asyncio.create_task(watches.run())
        try:
            yield watches
            assert not task.done()
        finally:
            task.cancel()
            await asyncio.wait([task])


def followed(watches: Watches, *discoveries: KubernetesDiscovery) -> list[KubernetesSource]:
    """Make sources and follow them, and no others."""
    sources = [watches.source(each, index) for index, each in enumerate(discoveries)]
    watches.follow(sources)
    return sources


async def test_in_a_cluster(tmp_path: Path) -> None:
    """The service account says who we are, and its authority who the server is."""
    async with FakeKubernetes(tls=True) as api:
        api.put(cluster.pod("a"))
        api.service_account(tmp_path, api.grant("agent", {"pods": ["list", "watch"]}), "ours")
        async with watching(api.environ, tmp_path) as watches:
            (source,) = followed(watches, PODS)
            assert sight.addresses(await source.read()) == ["127.0.1.1:8080"]
            (own,) = followed(watches, KubernetesDiscovery(Role.POD, own_namespace=True))
            assert (await own.read()).groups == ()
        assert api.requests[-1].namespace == "ours"
        assert {each.user for each in api.requests} == {"agent"}


async def test_a_question_is_asked_once(tmp_path: Path) -> None:
    """However many ask it, and over one connection to the server; another server is another."""
    async with FakeKubernetes(tls=True) as api:
        token = api.grant("agent", {"pods": ["list", "watch"]})
        api.service_account(tmp_path, token)
        named = Kubeconfig(str(api.kubeconfig(tmp_path / "kubeconfig", token)))
        chosen = KubernetesDiscovery(Role.POD, selectors={"pod": Selector("a=b")})
        async with watching(api.environ, tmp_path) as watches:
            sources = followed(
                watches, PODS, PODS, chosen, KubernetesDiscovery(Role.POD, named), PODS
            )
            await asyncio.gather(*(source.read() for source in sources))
            assert len(api.watches) == 3
        assert len([each for each in api.requests if each.verb == "watch"]) == 3


async def test_what_nobody_asks_ends(tmp_path: Path) -> None:
    """Its watch is closed, what others ask goes on, and asking again begins anew."""
    async with FakeKubernetes(tls=True) as api:
        api.service_account(tmp_path, api.grant("agent", {"pods": ["*"], "nodes": ["*"]}))
        async with watching(api.environ, tmp_path) as watches:
            nodes = KubernetesDiscovery(Role.NODE)
            for source in followed(watches, PODS, nodes):
                await source.read()
            followed(watches, PODS)
            await stage.eventually(lambda: len(api.watches) == 1)
            assert api.watches[0].ask.resource.plural == "pods"
            followed(watches)
            await stage.eventually(lambda: api.watches == [])
            (again,) = followed(watches, nodes)
            await again.read()
            assert len(api.watches) == 1
        await stage.eventually(lambda: api.watches == [])
        assert len([each for each in api.requests if each.verb == "watch"]) == 3


async def test_a_pod_without_a_service_account(tmp_path: Path) -> None:
    """What is missing is named, with what to look for."""
    async with watching({"KUBERNETES_SERVICE_HOST": "::1"}, tmp_path) as watches:
        (source,) = followed(watches, PODS)
        (fault,) = (await source.read()).faults
        assert "KUBERNETES_SERVICE_PORT" in fault
    environ = {"KUBERNETES_SERVICE_HOST": "127.0.0.1", "KUBERNETES_SERVICE_PORT": "1"}
    async with watching(environ, tmp_path) as watches:
        (source,) = followed(watches, PODS)
        (fault,) = (await source.read()).faults
        assert f"{tmp_path}/ca.crt cannot be read" in fault
        assert "automountServiceAccountToken" in fault


async def test_a_source_that_is_not_followed(tmp_path: Path) -> None:
    """Reading it is a slip in the program."""
    async with watching({"KUBERNETES_SERVICE_HOST": "127.0.0.1"}, tmp_path) as watches:
        with pytest.raises(RuntimeError, match="not followed"):
            await watches.source(PODS, 0).read()
