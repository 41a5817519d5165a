"""Every way to name a server leads to a connection."""

from pathlib import Path

from cwgpu.kube.access import Credentials
from cwgpu.kube.connect import connect
from cwgpu.kube.request import Request
from cwgpu.kube.resource import PODS
from cwgpu.plan.kubernetes import Address, InCluster, Kubeconfig
from tests.fakes.kubernetes import FakeKubernetes
from tests.kube.stage import User, nobody

LIST = Request("list", PODS)


async def test_each_kind_of_server_is_asked(tmp_path: Path) -> None:
    """The pod's own, one of a kubeconfig, and an address with settings that others know."""
    asked: list[Address] = []

    def entrust(address: Address) -> Credentials:
        asked.append(address)
        return User(address.url, api.admin)

    async with FakeKubernetes() as api:
        config = api.kubeconfig(tmp_path / "config", api.admin)
        for server in (Kubeconfig(str(config)), Address(api.url)):
            async with connect(server, entrust, environ={}) as connection:
                assert isinstance(await connection.ask(LIST), bytes)
        assert asked == [Address(api.url)]
    async with FakeKubernetes(tls=True) as api:
        folder = api.service_account(tmp_path / "account", api.admin)
        async with connect(InCluster(), nobody, environ=api.environ, folder=folder) as connection:
            assert isinstance(await connection.ask(LIST), bytes)


async def test_nothing_is_asked_before_it_has_to_be() -> None:
    """A server that cannot be known yet is no reason not to start."""
    async with connect(InCluster(), nobody, environ={}) as connection:
        assert connection.streams_lists
