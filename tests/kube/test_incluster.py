"""A pod knows its cluster by two variables and three files, which change under way."""

from pathlib import Path

import pytest
import trustme

from cwgpu.kube import incluster
from cwgpu.kube.connect import connect
from cwgpu.kube.failure import CredentialsError
from cwgpu.kube.incluster import ServiceAccount
from cwgpu.kube.request import Request
from cwgpu.kube.resource import PODS
from cwgpu.plan.kubernetes import InCluster
from tests.fakes.kubernetes import FakeKubernetes
from tests.kube.stage import nobody, pod

ENVIRON = {"KUBERNETES_SERVICE_HOST": "10.96.0.1", "KUBERNETES_SERVICE_PORT": "443"}
LIST = Request("list", PODS)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Mount a service account."""
    (tmp_path / "token").write_text("t0ken\n")
    (tmp_path / "ca.crt").write_bytes(trustme.CA().cert_pem.bytes())
    (tmp_path / "namespace").write_text("amazon-cloudwatch")
    return tmp_path


@pytest.mark.parametrize(
    ("host", "url"),
    [("10.96.0.1", "https://10.96.0.1:443"), ("fd00::1", "https://[fd00::1]:443")],
)
async def test_the_server_stands_in_the_environment(folder: Path, host: str, url: str) -> None:
    """An IPv6 address is written into brackets."""
    account = ServiceAccount({**ENVIRON, "KUBERNETES_SERVICE_HOST": host}, folder)
    access = await account.access()
    assert access.url == url
    assert access.headers["Authorization"] == "Bearer t0ken"
    assert "t0ken" not in repr(access)


async def test_what_was_rotated_is_read(folder: Path) -> None:
    """Each request carries the token of now; TLS is set up anew only for another authority."""
    account = ServiceAccount(ENVIRON, folder)
    before = await account.access()
    (folder / "token").write_text("next")
    after = await account.access()
    assert after.headers["Authorization"] == "Bearer next"
    assert after.way["ssl"] is before.way["ssl"]
    (folder / "ca.crt").write_bytes(trustme.CA().cert_pem.bytes())
    assert (await account.access()).way["ssl"] is not before.way["ssl"]


@pytest.mark.parametrize("missing", list(ENVIRON))
async def test_outside_of_a_pod_another_way_is_shown(folder: Path, missing: str) -> None:
    """Who runs the agent on a desk is told what to give."""
    environ = {**ENVIRON, missing: ""}
    with pytest.raises(CredentialsError) as raised:
        await ServiceAccount(environ, folder).access()
    assert str(raised.value) == (
        "KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are not set, so this is no pod; "
        "outside of a cluster give api_server or kubeconfig_file"
    )


@pytest.mark.parametrize("name", ["token", "ca.crt"])
async def test_a_pod_without_its_service_account_is_told(folder: Path, name: str) -> None:
    """The pod or its service account may not want it to be there."""
    (folder / name).unlink()
    with pytest.raises(CredentialsError) as raised:
        await ServiceAccount(ENVIRON, folder).access()
    assert str(raised.value).startswith(
        f"{folder / name} cannot be read (No such file or directory), so this pod has no service "
        "account: has automountServiceAccountToken been set to false"
    )


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("token", b"", "token is empty"),
        ("token", b" \n", "token is empty"),
        ("token", b"two\nlines", "token holds what no header can"),
        ("token", b"\xff\xfe", "token holds what no header can"),
        ("token", "t\u00f6ken".encode(), "token holds what no header can"),
        ("ca.crt", b"no certificate", "ca.crt: the certificate authority cannot be read"),
        ("ca.crt", b"\xff", "ca.crt: the certificate authority cannot be read"),
    ],
)
async def test_files_that_cannot_be_right_are_named(
    folder: Path, name: str, content: bytes, said: str
) -> None:
    """What stands in them is not repeated."""
    (folder / name).write_bytes(content)
    with pytest.raises(CredentialsError, match=said) as raised:
        await ServiceAccount(ENVIRON, folder).access()
    assert "lines" not in str(raised.value)


def test_a_pod_knows_its_namespace(folder: Path) -> None:
    """It stands in a file of its own."""
    assert incluster.namespace(folder) == "amazon-cloudwatch"
    (folder / "namespace").unlink()
    with pytest.raises(CredentialsError, match="namespace cannot be read"):
        incluster.namespace(folder)


async def test_a_pod_asks_its_cluster(tmp_path: Path) -> None:
    """With its token, over TLS; after a rotation of both with the new ones."""
    async with FakeKubernetes(tls=True) as api:
        api.put(pod("a"))
        token = api.grant("system:serviceaccount:default:cwgpu", {"pods": ["list"]})
        folder = api.service_account(tmp_path / "account", token)
        async with connect(InCluster(), nobody, environ=api.environ, folder=folder) as connection:
            assert isinstance(await connection.ask(LIST), bytes)
            await api.restart(new_ca=True)
            api.service_account(folder, api.rotate(token))
            assert isinstance(await connection.ask(LIST), bytes)
        assert [request.user for request in api.requests] == [
            "system:serviceaccount:default:cwgpu"
        ] * 2
