"""An API server by its URL: what its HTTP client's settings come to."""

from pathlib import Path

import pytest

from cwgpu.client.clients import Clients
from cwgpu.discovery.entrust import Entrusted
from cwgpu.kube.failure import CredentialsError
from cwgpu.plan.client import Authorization, Client, Proxy, Secret, Tls
from cwgpu.plan.kubernetes import Address


async def test_what_a_request_carries(tmp_path: Path) -> None:
    """The token of this moment, headers, and the way there; a proxy's password is for the proxy."""
    token = tmp_path / "token"
    token.write_text("first\n")
    client = Client(
        credentials=Authorization("Bearer", Secret(file=str(token))),
        tls=Tls(server_name="kubernetes"),
        proxy=Proxy(url="http://u:p@proxy:3128"),
        headers={"x-team": (Secret("gpu"),)},
    )
    async with Clients(lambda: 0.0, environ={}) as clients:
        entrusted = Entrusted(Address("https://kube:6443/", client), clients)
        access = await entrusted.access()
        assert access.url == "https://kube:6443"
        assert access.headers["Authorization"] == "Bearer first"
        assert access.headers["X-Team"] == "gpu"
        assert "Proxy-Authorization" not in access.headers
        assert access.way["server_hostname"] == "kubernetes"
        assert str(access.way["proxy"]) == "http://proxy:3128"
        token.write_text("second\n")
        entrusted.refused(access)
        assert (await entrusted.access()).headers["Authorization"] == "Bearer second"


async def test_a_token_that_is_not_there(tmp_path: Path) -> None:
    """It is named; nothing is asked without it."""
    missing = tmp_path / "token"
    client = Client(credentials=Authorization("Bearer", Secret(file=str(missing))))
    async with Clients(lambda: 0.0, environ={}) as clients:
        with pytest.raises(CredentialsError, match=f"{missing} cannot be read"):
            await Entrusted(Address("https://kube:6443", client), clients).access()
