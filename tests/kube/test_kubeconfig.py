"""A kubeconfig is read as kubectl reads it, and what is wrong with one is said without quoting."""

import asyncio
import base64
import json
import os
import signal
import ssl
import stat
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import trustme
import yaml
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    PrivateFormat,
)

from cwgpu.kube import limit
from cwgpu.kube.access import Access
from cwgpu.kube.connect import connect
from cwgpu.kube.connection import Connection
from cwgpu.kube.failure import CredentialsError, Failure
from cwgpu.kube.kubeconfig import KubeconfigUser
from cwgpu.kube.request import Request
from cwgpu.kube.resource import PODS
from cwgpu.plan.kubernetes import Kubeconfig
from tests.agent.stage import Hands, eventually, settle
from tests.fakes.kubernetes import FakeKubernetes
from tests.kube.stage import nobody, pod
from tests.scrape import raw

Json = dict[str, Any]
LIST = Request("list", PODS)
CLUSTER: Json = {"server": "http://127.0.0.1:1"}
SECURE: Json = {"server": "https://127.0.0.1:1"}


def written(path: Path, user: Json | None = None, cluster: Json | None = None) -> Path:
    """Write a kubeconfig of one context."""
    document = {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "lab",
        "contexts": [{"name": "lab", "context": {"cluster": "lab", "user": "me"}}],
        "clusters": [{"name": "lab", "cluster": cluster or CLUSTER}],
        "users": [{"name": "me", "user": user or {}}],
    }
    path.write_text(yaml.safe_dump(document))
    return path


def user_of(
    path: Path | str,
    context: str = "",
    environ: Mapping[str, str] | None = None,
    *,
    now_s: Callable[[], float] = time.time,
    sleep: limit.Sleep = asyncio.sleep,
) -> KubeconfigUser:
    """Be the user of a kubeconfig."""
    settings = Kubeconfig(str(path), context)
    return KubeconfigUser(settings, environ=environ or {}, now_s=now_s, sleep=sleep)


async def access(path: Path, **environ: str) -> Access:
    """Give what a request of its user carries."""
    return await user_of(path, environ=environ).access()


async def said(user: KubeconfigUser) -> str:
    """Give what is wrong."""
    with pytest.raises(CredentialsError) as raised:
        await user.access()
    assert "s3cret" not in str(raised.value)
    return str(raised.value)


def program(folder: Path, body: str) -> str:
    """Write a plugin."""
    path = folder / "plugin"
    path.write_text(f"#!{sys.executable}\n{textwrap.dedent(body)}")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return str(path)


def runs(process: str) -> bool:
    """Tell whether a process is there, and not only what nobody has asked for yet."""
    stat = Path("/proc", process, "stat")
    return stat.exists() and ") Z " not in stat.read_text()


def plugin(command: str, **more: object) -> Json:
    """Name a plugin as a user does."""
    return {"exec": {"apiVersion": V1, "command": command, **more}}


V1 = "client.authentication.k8s.io/v1"
COUNTS = """
    import json, os, pathlib
    log = pathlib.Path(__file__).with_name("runs")
    count = len(log.read_text().splitlines()) + 1 if log.exists() else 1
    log.open("a").write("run\\n")
    status = {"token": f"token-{count}", **json.loads(os.environ.get("STATUS", "{}"))}
    info = json.loads(os.environ["KUBERNETES_EXEC_INFO"])
    pathlib.Path(__file__).with_name("info").write_text(json.dumps(info))
    made = {"apiVersion": info["apiVersion"], "kind": "ExecCredential", "status": status}
    print(json.dumps(made))
"""


# ---- who we are


@pytest.mark.parametrize(
    ("user", "authorization"),
    [
        ({}, None),
        ({"token": "s3cret"}, "Bearer s3cret"),
        ({"username": "me", "password": "s3cret"}, "Basic bWU6czNjcmV0"),
        ({"username": "me"}, "Basic bWU6"),
        ({"token": "s3cret", "username": "me"}, "Bearer s3cret"),
    ],
)
async def test_a_user_has_a_token_or_a_password(
    tmp_path: Path, user: Json, authorization: str | None
) -> None:
    """A token comes first; somebody without anything is nobody."""
    found = await access(written(tmp_path / "config", user))
    assert found.url == "http://127.0.0.1:1"
    assert found.headers.get("Authorization") == authorization


async def test_a_token_may_stand_in_a_file(tmp_path: Path) -> None:
    """Beside the kubeconfig; it comes before one in the kubeconfig, and is read each time."""
    (tmp_path / "token").write_text("first\n")
    path = written(tmp_path / "config", {"tokenFile": "token", "token": "other"})
    user = user_of(path)
    assert (await user.access()).headers["Authorization"] == "Bearer first"
    (tmp_path / "token").write_text("second\n")
    assert (await user.access()).headers["Authorization"] == "Bearer second"


async def test_a_user_may_act_as_another(tmp_path: Path) -> None:
    """Name, id, groups and whatever else a cluster knows of its users."""
    extra = {"scopes": ["view", "edit"], "example.com/Team": ["gpu"]}
    who = {"as": "jane", "as-uid": "7", "as-groups": ["devs", "ops"], "as-user-extra": extra}
    headers = (await access(written(tmp_path / "config", {"token": "t", **who}))).headers
    assert headers["Impersonate-User"] == "jane"
    assert headers["Impersonate-Uid"] == "7"
    assert headers.getall("Impersonate-Group") == ["devs", "ops"]
    assert headers.getall("Impersonate-Extra-scopes") == ["view", "edit"]
    assert headers["Impersonate-Extra-example.com%2FTeam"] == "gpu"


async def test_a_cluster_is_asked_as_somebody_else(tmp_path: Path) -> None:
    """The server sees the other one."""
    async with FakeKubernetes(tls=True) as api:
        api.put(pod("a"))
        api.grant("jane", {"pods": ["list"]})
        path = api.kubeconfig(tmp_path / "config", api.admin)
        document = yaml.safe_load(path.read_text())
        document["users"][0]["user"]["as"] = "jane"
        path.write_text(yaml.safe_dump(document))
        async with connect(Kubeconfig(str(path)), nobody, environ={}) as connection:
            assert isinstance(await connection.ask(LIST), bytes)
        assert api.requests[0].user == "jane"


# ---- client certificates


def identity() -> tuple[trustme.CA, bytes, bytes]:
    """Make an authority, and a client's certificate and key."""
    authority = trustme.CA()
    leaf = authority.issue_cert("client@example")
    chain = b"".join(part.bytes() for part in leaf.cert_chain_pems)
    return authority, chain, leaf.private_key_pem.bytes()


@pytest.mark.parametrize("how", ["data", "files"])
async def test_a_client_certificate_is_shown(tmp_path: Path, how: str) -> None:
    """It stands in the kubeconfig or in files beside it; a server that wants one gets it."""
    authority, certificate, key = identity()
    ca = authority.cert_pem.bytes()
    parts = {"certificate-authority": ca}, {"client-certificate": certificate, "client-key": key}
    cluster: Json = {}
    user: Json = {}
    for into, held in zip((cluster, user), parts, strict=True):
        for name, content in held.items():
            if how == "data":
                into[f"{name}-data"] = base64.b64encode(content).decode()
            else:
                (tmp_path / name).write_bytes(content)
                into[name] = name
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("127.0.0.1").configure_cert(context)
    context.verify_mode = ssl.CERT_REQUIRED
    authority.configure_trust(context)
    answer = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
    async with raw.serve(answer, tls=context) as server:
        cluster["server"] = f"https://127.0.0.1:{server.port}"
        path = written(tmp_path / "config", user, cluster)
        async with connect(Kubeconfig(str(path)), nobody, environ={}) as connection:
            assert await connection.ask(LIST) == b"ok"


async def test_tls_is_set_up_once_for_what_does_not_change(tmp_path: Path) -> None:
    """Connections are kept by it; another authority is seen with the next request."""
    (tmp_path / "ca").write_bytes(trustme.CA().cert_pem.bytes())
    cluster = {**SECURE, "certificate-authority": "ca", "tls-server-name": "api.example"}
    user = user_of(written(tmp_path / "config", cluster=cluster))
    first, second = await user.access(), await user.access()
    assert first.way["ssl"] is second.way["ssl"]
    assert first.way["server_hostname"] == "api.example"
    (tmp_path / "ca").write_bytes(trustme.CA().cert_pem.bytes())
    assert (await user.access()).way["ssl"] is not first.way["ssl"]


async def test_tls_may_be_left_unverified(tmp_path: Path) -> None:
    """Whoever writes that gets it."""
    cluster = {**SECURE, "insecure-skip-tls-verify": True}
    found = await access(written(tmp_path / "config", cluster=cluster))
    assert found.way["ssl"].verify_mode is ssl.CERT_NONE


@pytest.mark.parametrize(
    ("user", "cluster", "words"),
    [
        ({}, {"certificate-authority-data": "%%"}, "certificate-authority-data is not written in"),
        ({}, {"certificate-authority-data": "czNjcmV0"}, "certificate authority cannot be read"),
        ({}, {"certificate-authority": "gone"}, "gone cannot be read (No such file"),
        ({"client-certificate": "gone"}, {}, "gone cannot be read (No such file"),
        (
            {"client-certificate-data": "czNjcmV0", "client-key-data": "czNjcmV0"},
            {},
            "its TLS: client certificate and key cannot be used (",
        ),
        ({"token": "s3cret\ns3cret"}, {}, "the token holds what no header can"),
        ({"tokenFile": "gone"}, {}, "gone cannot be read (No such file"),
    ],
)
async def test_material_that_cannot_be_used_is_told(
    tmp_path: Path, user: Json, cluster: Json, words: str
) -> None:
    """With the file and the context in which it stands, and never with the material."""
    path = written(tmp_path / "config", user, {**SECURE, **cluster})
    sentence = await said(user_of(path))
    assert sentence.startswith(f"{path}, context lab: ")
    assert words in sentence


# ---- contexts and files


async def test_a_context_can_be_chosen(tmp_path: Path) -> None:
    """By its name; without one the current context counts."""
    document = {
        "current-context": "one",
        "contexts": [
            {"name": name, "context": {"cluster": name, "user": name}} for name in ("one", "two")
        ],
        "clusters": [
            {"name": name, "cluster": {"server": f"http://{name}:1/"}} for name in ("one", "two")
        ],
        "users": [{"name": name, "user": {"token": name}} for name in ("one", "two")],
    }
    path = tmp_path / "config"
    path.write_text(yaml.safe_dump(document))
    assert (await user_of(path).access()).url == "http://one:1"
    other = await user_of(path, "two").access()
    assert (other.url, other.headers["Authorization"]) == ("http://two:1", "Bearer two")
    assert await said(user_of(path, "three")) == (
        f"{path}: there is no context named 'three'; there are: one, two"
    )


async def test_files_are_merged(tmp_path: Path) -> None:
    """$KUBECONFIG may name several; the first that says something counts, as for kubectl."""
    first, second = tmp_path / "first", tmp_path / "second"
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub/token").write_text("from-sub")
    first.write_text(
        yaml.safe_dump(
            {
                "current-context": "lab",
                "contexts": [{"name": "lab", "context": {"cluster": "c", "user": "u"}}],
                "clusters": [{"name": "c", "cluster": {"server": "http://first:1"}}],
            }
        )
    )
    second = written(tmp_path / "sub/second", {"tokenFile": "token"})
    text = second.read_text().replace("name: me", "name: u").replace("name: lab", "name: c")
    second.write_text(text.replace("current-context: lab", "current-context: other"))
    paths = f"{tmp_path}/gone:{first}:{second}"
    found = await user_of("", environ={"KUBECONFIG": paths}).access()
    assert (found.url, found.headers["Authorization"]) == ("http://first:1", "Bearer from-sub")


async def test_the_usual_place_is_looked_at_last(tmp_path: Path) -> None:
    """~/.kube/config counts when nothing else is named."""
    (tmp_path / ".kube").mkdir()
    written(tmp_path / ".kube/config", {"token": "home"})
    found = await user_of("", environ={"HOME": str(tmp_path)}).access()
    assert found.headers["Authorization"] == "Bearer home"


async def test_a_file_that_changes_is_read_again(tmp_path: Path) -> None:
    """Whoever logs in anew has nothing to restart."""
    path = written(tmp_path / "config", {"token": "first"})
    user = user_of(path)
    assert (await user.access()).headers["Authorization"] == "Bearer first"
    written(path, {"token": "the second"}).touch()
    assert (await user.access()).headers["Authorization"] == "Bearer the second"


async def test_no_file_is_told(tmp_path: Path) -> None:
    """With the place where it was looked for."""
    assert await said(user_of("", environ={"HOME": str(tmp_path)})) == (
        f"there is no kubeconfig {tmp_path}/.kube/config; give kubeconfig_file, or set KUBECONFIG"
    )


@pytest.mark.parametrize(
    "text", ["", "[]", "s3cret", "{s3cret", "a: [\x00", "contexts: s3cret", "contexts: [s3cret]"]
)
async def test_a_file_that_is_no_kubeconfig_is_told(tmp_path: Path, text: str) -> None:
    """Whatever stands in it, it is not repeated."""
    path = tmp_path / "config"
    path.write_text(text)
    assert str(path) in await said(user_of(path))


async def test_a_folder_is_no_kubeconfig(tmp_path: Path) -> None:
    """What keeps it from being read is said."""
    assert await said(user_of(tmp_path)) == f"{tmp_path} cannot be read (Is a directory)"


async def test_a_context_may_have_no_user(tmp_path: Path) -> None:
    """Then nobody in particular asks."""
    path = written(tmp_path / "config")
    document = yaml.safe_load(path.read_text())
    document["contexts"][0]["context"] = {"cluster": "lab"}
    path.write_text(yaml.safe_dump(document))
    assert "Authorization" not in (await access(path)).headers


async def test_a_key_with_a_password_is_of_no_use(tmp_path: Path) -> None:
    """Nobody is there to be asked for it."""
    _, certificate, _ = identity()
    key = rsa.generate_private_key(65537, 2048).private_bytes(
        Encoding.PEM, PrivateFormat.TraditionalOpenSSL, BestAvailableEncryption(b"s3cret")
    )
    (tmp_path / "cert").write_bytes(certificate)
    (tmp_path / "key").write_bytes(key)
    user = {"client-certificate": "cert", "client-key": "key"}
    sentence = await said(user_of(written(tmp_path / "config", user, SECURE)))
    assert sentence.endswith("are they PEM, without a password, and of one pair?")


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"current-context": ""}, "has no current-context; write one, or name a context"),
        ({"clusters": []}, "context lab: there is no cluster named 'lab'; there are: none"),
        ({"users": [{"name": "you", "user": {}}]}, "there is no user named 'me'; there are: you"),
        ({"clusters": [{"name": "lab", "cluster": {}}]}, "its cluster has no server; write"),
        ({"contexts": [{"name": "lab"}]}, "there is no cluster named ''; there are: lab"),
    ],
)
async def test_what_a_kubeconfig_lacks_is_told(tmp_path: Path, changed: Json, words: str) -> None:
    """By name, with the names that are there."""
    path = written(tmp_path / "config", {"token": "s3cret"})
    document = yaml.safe_load(path.read_text())
    path.write_text(yaml.safe_dump({**document, **changed}))
    assert words in await said(user_of(path))


# ---- proxies


@pytest.mark.parametrize(
    ("cluster", "environ", "proxy"),
    [
        ({}, {}, None),
        ({"proxy-url": "http://p:1"}, {"HTTP_PROXY": "http://q:1"}, "http://p:1"),
        ({}, {"HTTP_PROXY": "http://q:1"}, "http://q:1"),
        ({}, {"HTTPS_PROXY": "http://q:1"}, None),
        ({"server": "https://api.lab"}, {"https_proxy": "http://q:1"}, "http://q:1"),
        ({"server": "https://api.lab"}, {"https_proxy": "http://q:1", "no_proxy": ".lab"}, None),
        ({}, {"http_proxy": "http://q:1", "NO_PROXY": "a, 127.0.0.1"}, None),
        ({}, {"http_proxy": "http://q:1", "NO_PROXY": "*"}, None),
    ],
)
async def test_a_proxy_is_gone_through(
    tmp_path: Path, cluster: Json, environ: dict[str, str], proxy: str | None
) -> None:
    """The cluster's own, or that of the environment, as for kubectl."""
    path = written(tmp_path / "config", cluster={**CLUSTER, **cluster})
    assert (await access(path, **environ)).way.get("proxy") == proxy


@pytest.mark.parametrize(
    ("cluster", "secure"),
    [
        ({}, False),
        ({"proxy-url": "http://p:1"}, False),
        ({"proxy-url": "https://p:1"}, True),
        ({"server": "https://api.lab"}, True),
        ({"server": "HTTPS://api.lab"}, True),
    ],
)
async def test_where_there_is_tls_its_context_is_ours(
    tmp_path: Path,
    cluster: Json,
    secure: bool,  # noqa: FBT001 - a column of the table
) -> None:
    """However the scheme is written, and on the way to a proxy, too: the library trusts nobody."""
    path = written(tmp_path / "config", cluster={**CLUSTER, **cluster})
    assert ("ssl" in (await access(path)).way) is secure


async def test_other_kinds_of_proxies_are_told(tmp_path: Path) -> None:
    """There is no way through SOCKS."""
    path = written(tmp_path / "config", cluster={**CLUSTER, "proxy-url": "socks5://s3cret@p:1"})
    assert "its proxy is not one of HTTP; write http://HOST:PORT" in await said(user_of(path))


# ---- other shapes


@pytest.mark.parametrize("key", ["contexts", "clusters", "users"])
@pytest.mark.parametrize("held", [["s3cret"], [None], {"name": "s3cret"}, "s3cret", 5])
async def test_what_is_no_list_of_names_is_told(tmp_path: Path, key: str, held: object) -> None:
    """Without quoting it."""
    path = written(tmp_path / "config", {"token": "x"})
    path.write_text(yaml.safe_dump({**yaml.safe_load(path.read_text()), key: held}))
    sentence = await said(user_of(path))
    assert "must be a list of names" in sentence or "is no kubeconfig that can be" in sentence


@pytest.mark.parametrize(
    "user",
    [
        {"as": 5},
        {"as": "a", "as-groups": "s3cret"},
        {"as": "a", "as-groups": 5},
        {"as": "a", "as-user-extra": ["s3cret"]},
        {"as": "a", "as-user-extra": {"k": "s3cret"}},
    ],
)
async def test_nobody_is_acted_as_who_cannot_be_read(tmp_path: Path, user: Json) -> None:
    """What stands in the place of a list of groups is not taken for groups."""
    sentence = await said(user_of(written(tmp_path / "config", user)))
    assert "whom to act as cannot be read (Expected `" in sentence


# ---- plugins


async def test_a_plugin_gives_a_token(tmp_path: Path) -> None:
    """It is kept until it is refused, and a refusal of an older one changes nothing."""
    path = written(tmp_path / "config", plugin(program(tmp_path, COUNTS)))
    user = user_of(path)
    first = await user.access()
    assert first.headers["Authorization"] == "Bearer token-1"
    assert (await user.access()).headers["Authorization"] == "Bearer token-1"
    user.refused(first)
    second = await user.access()
    assert second.headers["Authorization"] == "Bearer token-2"
    user.refused(first)
    assert (await user.access()).headers["Authorization"] == "Bearer token-2"


async def test_a_token_ends_before_its_time(tmp_path: Path) -> None:
    """A minute before it expires there is a new one."""
    at = datetime(2026, 1, 1, 12, tzinfo=UTC)
    status = json.dumps({"expirationTimestamp": "2026-01-01T12:15:00Z"})
    env = [{"name": "STATUS", "value": status}]
    path = written(tmp_path / "config", plugin(program(tmp_path, COUNTS), env=env))
    now_s = at.timestamp()
    user = user_of(path, now_s=lambda: now_s)
    assert (await user.access()).headers["Authorization"] == "Bearer token-1"
    now_s += 839
    assert (await user.access()).headers["Authorization"] == "Bearer token-1"
    now_s += 1
    assert (await user.access()).headers["Authorization"] == "Bearer token-2"


async def test_a_plugin_is_told_what_it_wants_to_know(tmp_path: Path) -> None:
    """Arguments, environment, and the cluster if it asks for it; it must not ask anybody."""
    program(tmp_path, COUNTS)
    named = plugin("./plugin", args=["get-token", 7], provideClusterInfo=True)
    path = written(tmp_path / "config", named, {**CLUSTER, "tls-server-name": "x", "else": 1})
    assert (await access(path)).headers["Authorization"] == "Bearer token-1"
    assert json.loads((tmp_path / "info").read_text()) == {
        "apiVersion": V1,
        "kind": "ExecCredential",
        "spec": {
            "interactive": False,
            "cluster": {"server": "http://127.0.0.1:1", "tls-server-name": "x"},
        },
    }


async def test_a_plugin_may_give_a_client_certificate(tmp_path: Path) -> None:
    """Instead of a token; when the server refuses it, it is asked for again."""
    _, certificate, key = identity()
    status = {
        "token": None,
        "clientCertificateData": certificate.decode(),
        "clientKeyData": key.decode(),
    }
    env = [{"name": "STATUS", "value": json.dumps(status)}]
    path = written(tmp_path / "config", plugin(program(tmp_path, COUNTS), env=env), SECURE)
    user = user_of(path)
    found = await user.access()
    assert "Authorization" not in found.headers
    assert isinstance(found.way["ssl"], ssl.SSLContext)
    user.refused(found)
    await user.access()
    assert (tmp_path / "runs").read_text() == "run\nrun\n"


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("import sys; sys.exit('not\\nlogged in')", "ended with 1: logged in"),
        ("import sys; sys.exit(3)", "ended with 3: it said nothing"),
        ("print('s3cret')", "printed is no ExecCredential ("),
        ("print('{}')", "printed is no ExecCredential (Object missing required field"),
        (
            'print(\'{"apiVersion": "v9", "kind": "", "status": {"token": "s3cret"}}\')',
            f"speaks v9, and the kubeconfig wants {V1}",
        ),
        (
            f'print(\'{{"apiVersion": "{V1}", "kind": "", "status": {{}}}}\')',
            "gave neither a token nor a client certificate with its key",
        ),
    ],
)
async def test_a_plugin_that_fails_is_told(tmp_path: Path, body: str, words: str) -> None:
    """With the last line of what it says, or with what its answer lacks."""
    command = program(tmp_path, body)
    sentence = await said(user_of(written(tmp_path / "config", plugin(command))))
    assert command in sentence
    assert words in sentence


@pytest.mark.parametrize(
    ("hint", "words"), [({}, "install it, or put its"), ({"installHint": "get\nit"}, "get it")]
)
async def test_a_plugin_that_is_not_there_is_told(tmp_path: Path, hint: Json, words: str) -> None:
    """With what the kubeconfig says on how to get it."""
    user = user_of(written(tmp_path / "config", plugin("no-such-plugin", **hint)))
    assert (
        "the exec plugin no-such-plugin cannot be started (No such file or directory); " + words
    ) in await said(user)


@pytest.mark.parametrize("named", [{}, {"command": "x"}, {"apiVersion": V1, "command": 1}])
async def test_a_plugin_needs_a_command_and_a_version(tmp_path: Path, named: Json) -> None:
    """Without them it cannot be run."""
    user = user_of(written(tmp_path / "config", {"exec": {"x": 1, **named}}))
    assert "exec needs apiVersion and command" in await said(user)


async def test_a_plugin_that_hangs_is_ended(tmp_path: Path) -> None:
    """After a while; nothing of it is left."""
    command = program(
        tmp_path,
        """
        import os, pathlib, time
        pathlib.Path(__file__).with_name("pid").write_text(str(os.getpid()))
        pathlib.Path(__file__).with_name("ready").touch()
        time.sleep(600)
        """,
    )
    hands = Hands()
    user = user_of(written(tmp_path / "config", plugin(command)), sleep=hands.sleep)
    async with Connection(user, sleep=Hands().sleep) as connection:
        asking = asyncio.create_task(connection.ask(LIST))
        await eventually((tmp_path / "ready").exists)
        await hands.move(21)
        answer = await asking
    assert isinstance(answer, Failure)
    assert "did not end in 20 s; does it ask something?" in answer.sentence
    with pytest.raises(ProcessLookupError):
        os.kill(int((tmp_path / "pid").read_text()), 0)


async def test_what_a_plugin_has_started_ends_with_it(tmp_path: Path) -> None:
    """A script that waits for another program is ended with it, and nobody waits for either."""
    command = program(
        tmp_path,
        """
        import pathlib, subprocess
        child = subprocess.Popen(["sleep", "600"])
        pathlib.Path(__file__).with_name("pid").write_text(str(child.pid))
        pathlib.Path(__file__).with_name("ready").touch()
        child.wait()
        """,
    )
    hands = Hands()
    user = user_of(written(tmp_path / "config", plugin(command)), sleep=hands.sleep)
    asking = asyncio.create_task(said(user))
    await eventually((tmp_path / "ready").exists)
    await hands.move(21)
    assert "did not end in 20 s" in await asking
    await eventually(lambda: not runs((tmp_path / "pid").read_text()))


async def test_a_plugin_that_leaves_a_program_behind_is_not_waited_for(tmp_path: Path) -> None:
    """Not even one that has gone to a session of its own, with what it writes to."""
    command = program(
        tmp_path,
        """
        import pathlib, subprocess
        child = subprocess.Popen(["sleep", "600"], start_new_session=True)
        pathlib.Path(__file__).with_name("pid").write_text(str(child.pid))
        pathlib.Path(__file__).with_name("ready").touch()
        """,
    )
    hands = Hands()
    user = user_of(written(tmp_path / "config", plugin(command)), sleep=hands.sleep)
    asking = asyncio.create_task(said(user))
    await eventually((tmp_path / "ready").exists)
    await hands.move(21)
    await hands.move(6)
    assert "did not end in 20 s" in await asking
    left = (tmp_path / "pid").read_text()
    os.kill(int(left), signal.SIGKILL)
    await eventually(lambda: not runs(left))
    await settle()


async def test_a_plugin_that_prints_without_end_is_ended(tmp_path: Path) -> None:
    """Nothing is held of what cannot be credentials."""
    command = program(
        tmp_path,
        """
        import sys
        while True:
            sys.stdout.write("s3cret" * 10_000)
        """,
    )
    user = user_of(written(tmp_path / "config", plugin(command)))
    assert "printed more than 1 MiB; is it one for credentials?" in await said(user)


async def test_of_complaints_without_end_the_last_line_is_told(tmp_path: Path) -> None:
    """Whatever came before it."""
    body = "import sys; sys.stderr.write('so ' * 100_000 + '\\nno'); sys.exit(1)"
    user = user_of(written(tmp_path / "config", plugin(program(tmp_path, body))))
    assert (await said(user)).endswith("ended with 1: no")


@pytest.mark.parametrize(
    "held",
    [
        "s3cret",
        ["s3cret"],
        {"args": 5},
        {"args": "s3cret"},
        {"env": "s3cret"},
        {"env": ["s3cret"]},
        {"env": [{"value": "s3cret"}]},
        {"env": [{"name": "A", "value": 5}]},
        {"installHint": 5},
    ],
)
async def test_a_plugin_of_another_shape_is_told(tmp_path: Path, held: object) -> None:
    """With where it stands, and without what stands there."""
    whole = {"apiVersion": V1, "command": "true", **held} if isinstance(held, dict) else held
    sentence = await said(user_of(written(tmp_path / "config", {"exec": whole})))
    assert "exec needs apiVersion and command (Expected `" in sentence or "missing" in sentence


async def test_a_plugin_with_an_impossible_environment_is_told(tmp_path: Path) -> None:
    """No program can be given it."""
    env = [{"name": "A", "value": "s3cret\0"}]
    user = user_of(written(tmp_path / "config", plugin("true", env=env)))
    assert "the exec plugin true cannot be started (embedded null byte)" in await said(user)


# ---- providers of before


def jwt(expires_s: float) -> str:
    """Make a token that says when it expires."""
    parts: tuple[Json, ...] = ({"alg": "none"}, {"exp": int(expires_s)}, {})
    return ".".join(
        base64.urlsafe_b64encode(json.dumps(part).encode()).decode().rstrip("=") for part in parts
    )


@pytest.mark.filterwarnings("ignore:datetime.datetime.utc:DeprecationWarning")
async def test_an_auth_provider_gives_a_token(tmp_path: Path) -> None:
    """kubectl still knows oidc; Kubernetes' own client knows how."""
    token = jwt(4_000_000_000)
    provider = {"auth-provider": {"name": "oidc", "config": {"id-token": token}}}
    found = await access(written(tmp_path / "config", provider))
    assert found.headers["Authorization"] == f"Bearer {token}"


@pytest.mark.filterwarnings("ignore:datetime.datetime.utc:DeprecationWarning")
async def test_an_auth_provider_that_fails_is_told(tmp_path: Path) -> None:
    """With its name."""
    provider = {"auth-provider": {"name": "oidc", "config": {"id-token": jwt(0)}}}
    sentence = await said(user_of(written(tmp_path / "config", provider)))
    assert "the auth-provider oidc gives no token (oidc: No valid id-token" in sentence


# ---- what it costs


def test_who_has_no_kubeconfig_does_not_load_kubernetes() -> None:
    """The pod's own way loads nothing of it, and neither does reflecting or electing."""
    names = "connect, incluster, reflector, lease"
    code = f"import sys; from cwgpu.kube import {names}; print('kubernetes' in sys.modules)"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout == "False\n"
