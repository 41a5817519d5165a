"""One GET with all that its configuration has it carry."""

import asyncio
import ssl
from collections.abc import Mapping
from pathlib import Path

import pytest
import trustme

import cwgpu
from cwgpu.client import fault
from cwgpu.client.clients import Clients
from cwgpu.client.connect import Progress
from cwgpu.client.failure import CredentialsError, ProxyError, RedirectError
from cwgpu.model.scrape import FailReason
from cwgpu.plan.client import Authorization, BasicAuth, Client, Proxy, Secret, Tls
from tests.fakes.proxy import HEAD_END, FakeProxy
from tests.fakes.secure import SecureExporter, pem, server_context
from tests.scrape import raw
from tests.scrape.raw import Handler

OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
BASIC = BasicAuth(Secret(text="u"), Secret(text="p:w"))
BEARER = Authorization("Bearer", Secret(text="tok"))
TEAM = {"X-Team": (Secret(text="gpu"),)}
AUTHORIZATION = "Authorization: Basic dTpwOnc="


def clients(environ: Mapping[str, str] | None = None) -> Clients:
    """Make clients whose clock stands still."""
    return Clients(lambda: 0.0, environ=environ or {})


async def ask(
    url: str,
    client: Client | None = None,
    *,
    environ: Mapping[str, str] | None = None,
    progress: Progress | None = None,
) -> bytes:
    """Ask once, with clients of its own; gives the body of an answer of 200."""
    async with (
        clients(environ) as asking,
        asking.get(client or Client(), url, headers={}, progress=progress) as response,
    ):
        assert response.status == 200
        return await response.read()


async def why(url: str, client: Client | None = None) -> tuple[FailReason, str]:
    """Ask for what cannot be had; gives reason and sentence."""
    progress = Progress()
    try:
        await ask(url, client, progress=progress)
    except fault.OUTSIDE as error:
        return fault.explain(error, url, progress)
    raise AssertionError("there was an answer")


def head(server: raw.Server, index: int = 0) -> list[str]:
    """Give the lines of a request's head."""
    return server.requests[index].decode().split("\r\n")


def redirecting(to: str, status: int = 302) -> bytes:
    """Write an answer that leads on."""
    return f"HTTP/1.1 {status} On\r\nLocation: {to}\r\nContent-Length: 0\r\n\r\n".encode()


# --- What is carried


async def test_a_plain_request_carries_nothing() -> None:
    """Without any configuration there are the program's name and the wish for plain bytes."""
    async with raw.serve(OK) as server:
        assert await ask(server.url) == b"ok"
    assert sorted(head(server)[1:-2]) == [
        "Accept-Encoding: identity",
        "Accept: */*",
        f"Host: 127.0.0.1:{server.port}",
        f"User-Agent: cwgpu/{cwgpu.__version__}",
    ]


async def test_credentials_and_headers_are_carried(tmp_path: Path) -> None:
    """Several values of one header are several fields; one may stand in a file."""
    (tmp_path / "key").write_text("from a file\n")
    headers = {**TEAM, "X-Key": (Secret(text="one"), Secret(file=str(tmp_path / "key")))}
    async with raw.serve(OK) as server:
        await ask(server.url, Client(BASIC, headers=headers))
    lines = [line for line in head(server) if line.startswith(("X-", "Auth"))]
    assert lines == [AUTHORIZATION, "X-Team: gpu", "X-Key: one", "X-Key: from a file"]


async def test_a_header_of_the_configuration_is_added_to_ours() -> None:
    """What the request says already is not replaced, as in Prometheus."""
    client = Client(headers={"accept": (Secret(text="text/x"),)})
    async with (
        raw.serve(OK) as server,
        clients() as asking,
        asking.get(client, server.url, headers={"Accept": "text/plain"}) as response,
    ):
        assert response.status == 200
    lines = [line for line in head(server) if line.startswith("Accept:")]
    assert lines == ["Accept: text/plain", "Accept: text/x"]


async def test_a_rotated_file_counts_from_the_next_request(tmp_path: Path) -> None:
    """Password, token and header are read again for each request, on one connection, too."""
    path = tmp_path / "secret"
    held = Secret(file=str(path))

    async def answering(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while True:
            server.requests.append(await reader.readuntil(HEAD_END))
            writer.write(OK)

    async with raw.serve(answering) as server, clients() as asking:
        for client in (
            Client(BasicAuth(Secret(text="u"), held)),
            Client(Authorization("Bearer", held)),
            Client(headers={"X-Key": (held,)}),
        ):
            for text in ("one\n", "two\n"):
                path.write_text(text)
                async with asking.get(client, server.url, headers={}) as response:
                    await response.read()
    lines = [line for index in range(6) for line in head(server, index)]
    assert [line for line in lines if line.startswith(("X-Key", "Authorization"))] == [
        "Authorization: Basic dTpvbmU=",
        "Authorization: Basic dTp0d28=",
        "Authorization: Bearer one",
        "Authorization: Bearer two",
        "X-Key: one",
        "X-Key: two",
    ]
    assert server.connections == 1


async def test_what_cannot_be_read_is_not_left_out(tmp_path: Path) -> None:
    """Without its credentials a request is not made at all."""
    gone = Secret(file=str(tmp_path / "gone"))
    async with raw.serve(OK) as server:
        for client in (
            Client(BasicAuth(Secret(text="u"), gone)),
            Client(Authorization("Bearer", gone)),
            Client(headers={"X-Key": (gone,)}),
            Client(proxy=Proxy(url="http://127.0.0.1:1", connect_headers={"X": (gone,)})),
        ):
            with pytest.raises(CredentialsError, match=str(gone.file)):
                await ask(server.url.replace("http:", "https:"), client)
    assert server.requests == []


async def test_who_stands_in_the_url_comes_first() -> None:
    """User and password of a URL are sent in place of the configuration's."""
    async with raw.serve(OK) as server:
        await ask(server.url.replace("//", "//me:pw@"), Client(BASIC))
    assert "Authorization: Basic bWU6cHc=" in head(server)


async def test_clients_must_be_opened() -> None:
    """Using them outside ``async with`` is a bug, not a fault of the outside."""
    with pytest.raises(RuntimeError, match="async with"):
        async with clients().get(Client(), "http://127.0.0.1:1/", headers={}):
            pass


# --- Redirects


async def test_credentials_follow_on_the_same_server() -> None:
    """From one path to another the server may see everything again."""

    async def leading(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        server.requests.append(await reader.readuntil(HEAD_END))
        writer.write(OK if len(server.requests) > 1 else redirecting("/other"))
        await writer.drain()

    async with raw.serve(leading) as server:
        assert await ask(server.url, Client(BASIC, headers=TEAM)) == b"ok"
    assert head(server, 1)[0] == "GET /other HTTP/1.1"
    assert {AUTHORIZATION, "X-Team: gpu"} <= set(head(server, 1))


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
async def test_strangers_see_no_credentials(status: int) -> None:
    """To another port of the host goes neither Authorization nor any configured header."""
    async with raw.serve(OK) as stranger, raw.serve(redirecting(stranger.url, status)) as server:
        progress = Progress()
        assert await ask(server.url, Client(BASIC, headers=TEAM), progress=progress) == b"ok"
    assert {AUTHORIZATION, "X-Team: gpu"} <= set(head(server))
    assert not [line for line in head(stranger) if line.startswith(("X-", "Auth"))]
    assert not progress.trusted


async def test_another_name_is_a_stranger() -> None:
    """The same address under another name is not the host that was configured."""
    async with raw.serve(OK) as stranger:
        to = stranger.url.replace("127.0.0.1", "localhost")
        async with raw.serve(redirecting(to)) as server:
            assert await ask(server.url, Client(BEARER, headers=TEAM)) == b"ok"
    assert not [line for line in head(stranger) if line.startswith(("X-", "Auth"))]


async def test_who_was_with_a_stranger_carries_nothing_home() -> None:
    """A way that leads through somebody else's server and back carries no credentials."""

    async def leading(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        home.requests.append(await reader.readuntil(HEAD_END))
        writer.write(OK if len(home.requests) > 1 else redirecting(stranger.url))
        await writer.drain()

    async with raw.serve(leading) as home, raw.serve(redirecting(home.url)) as stranger:
        assert await ask(home.url, Client(BASIC)) == b"ok"
    assert AUTHORIZATION in head(home, 0)
    assert AUTHORIZATION not in head(home, 1)


async def test_credentials_go_up_to_https_and_not_down() -> None:
    """From http to https of one host they follow, though the port is another; never back."""
    authority = trustme.CA()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("127.0.0.1").configure_cert(context)
    client = Client(BASIC, tls=Tls(ca=pem(authority.cert_pem)))
    async with raw.serve(OK, tls=context) as safe:
        up = safe.url.replace("http:", "https:")
        async with raw.serve(redirecting(up)) as server:
            assert await ask(server.url, client) == b"ok"
    assert AUTHORIZATION in head(safe)
    async with raw.serve(OK) as plain, raw.serve(redirecting(plain.url), tls=context) as server:
        assert await ask(server.url.replace("http:", "https:"), client) == b"ok"
    assert AUTHORIZATION in head(server)
    assert AUTHORIZATION not in head(plain)


async def test_redirects_can_be_left_alone() -> None:
    """With ``follow_redirects: false`` an answer that leads on is an error."""
    async with raw.serve(redirecting("/other")) as server:
        with pytest.raises(RedirectError, match="follow_redirects is false"):
            await ask(server.url, Client(follow_redirects=False))
    assert len(server.requests) == 1


async def test_a_redirect_without_a_place_is_an_answer() -> None:
    """It is for who asked to judge the status, as in Go."""
    async with (
        raw.serve(b"HTTP/1.1 302 Found\r\nContent-Length: 0\r\n\r\n") as server,
        clients() as asking,
        asking.get(Client(), server.url, headers={}) as response,
    ):
        assert response.status == 302


async def test_where_a_redirect_led_is_told() -> None:
    """A fault names both: who was asked, and who was redirected to."""
    async with raw.serve(b"") as gone:
        pass
    async with raw.serve(redirecting(gone.url)) as server:
        reason, said = await why(server.url)
    assert reason is FailReason.REFUSED
    assert said.startswith(
        f"127.0.0.1:{server.port}, redirected to 127.0.0.1:{gone.port}: connection refused"
    )


# --- Proxies


async def test_a_proxy_gets_the_whole_url_and_its_password() -> None:
    """Over plain HTTP the proxy is asked for the page; its user is not the server's business."""
    async with raw.serve(OK) as server, FakeProxy(leads=("127.0.0.1", server.port)) as proxy:
        proxy.user = "me:p w"
        through = proxy.url.replace("//", "//me:p%20w@")
        client = Client(BASIC, proxy=Proxy(url=through, connect_headers={"X-C": (Secret("c"),)}))
        assert await ask("http://node-1.example:9400/metrics?a=b", client) == b"ok"
    lines = proxy.heads[0].split("\r\n")
    assert lines[0] == "GET http://node-1.example:9400/metrics?a=b HTTP/1.1"
    assert {"Host: node-1.example:9400", AUTHORIZATION} <= set(lines)
    assert "X-C: c" not in lines


async def test_a_tunnel_is_asked_for_without_the_servers_secrets() -> None:
    """Over TLS the proxy sees CONNECT, its own password and its own headers, and nothing else."""
    authority = trustme.CA()
    with SecureExporter(
        server_context(authority.issue_cert("node-1.example")), user=("u", "p:w")
    ) as exporter:
        port = int(exporter.address.rpartition(":")[2])
        async with FakeProxy(leads=("127.0.0.1", port), user="me:pw") as proxy:
            way = Proxy(
                url=proxy.url.replace("//", "//me:pw@"),
                connect_headers={"X-C": (Secret("c"), Secret("d"))},
            )
            client = Client(BASIC, Tls(ca=pem(authority.cert_pem)), way, headers=TEAM)
            async with clients() as asking:
                for _ in range(2):
                    url = "https://node-1.example/metrics"
                    async with asking.get(client, url, headers={}) as response:
                        assert await response.read() == exporter.page
    assert len(proxy.heads) == 1  # the tunnel is kept
    lines = proxy.heads[0].split("\r\n")
    assert lines[0] == "CONNECT node-1.example:443 HTTP/1.1"
    assert {"Proxy-Authorization: Basic bWU6cHc=", "X-C: c", "X-C: d"} <= set(lines)
    assert not [line for line in lines if line.startswith(("X-Team", "Authorization"))]
    assert exporter.connections == 1
    assert not [name for name in exporter.requests[0].headers if name.startswith(("proxy", "x-c"))]


async def test_the_environments_proxy_is_taken_where_it_is_wanted() -> None:
    """``proxy_from_environment`` takes HTTP_PROXY, and reaches loopback straight."""
    async with raw.serve(OK) as server, FakeProxy(leads=("127.0.0.1", server.port)) as proxy:
        client, environ = Client(proxy=Proxy(from_environment=True)), {"http_proxy": proxy.url}
        assert await ask("http://node-1.example/", client, environ=environ) == b"ok"
        assert len(proxy.heads) == 1
        assert await ask(server.url, client, environ=environ) == b"ok"
        assert await ask(server.url, environ=environ) == b"ok"
        assert len(proxy.heads) == 1


async def test_each_hop_has_its_own_way() -> None:
    """A redirect to a host of ``no_proxy`` leaves the proxy."""
    async with (
        raw.serve(OK) as server,
        raw.serve(redirecting(server.url)) as first,
        FakeProxy(leads=("127.0.0.1", first.port)) as proxy,
    ):
        client = Client(proxy=Proxy(url=proxy.url, no_proxy="127.0.0.1"))
        assert await ask("http://node-1.example/", client) == b"ok"
    assert len(proxy.heads) == 1


@pytest.mark.parametrize(
    ("url", "settings", "says"),
    [
        ("https://node-1.example/", {"user": "a:b"}, "answered with HTTP status 407; write user"),
        ("https://node-1.example/", {"status": 403}, "answered with HTTP status 403; does it"),
        ("https://node-1.example/", {"leads": ("127.0.0.1", 1)}, "HTTP status 502; does it"),
    ],
)
async def test_a_proxy_that_refuses(url: str, settings: Mapping[str, object], says: str) -> None:
    """A tunnel that does not come about is the proxy's matter, not the server's."""
    async with FakeProxy() as proxy:
        for name, value in settings.items():
            setattr(proxy, name, value)
        reason, said = await why(url, Client(proxy=Proxy(url=proxy.url)))
    assert reason is FailReason.PROXY
    assert says in said
    assert said.startswith(f"node-1.example:443, through the proxy 127.0.0.1:{proxy.port}: ")


@pytest.mark.parametrize(
    ("proxy", "says"),
    [
        ("http://127.0.0.1:1", "the proxy: connection refused"),
        ("http://255.255.255.255:1", "the proxy: no connection"),
        ("http://no.such.name.invalid:1", "the proxy's name does not resolve"),
        ("socks5://me:hunter2@127.0.0.1:1", "proxy_url is no http or https URL"),
    ],
)
async def test_a_proxy_that_is_not_there(proxy: str, says: str) -> None:
    """It is told from a server that is not there, and its password is not told."""
    reason, said = await why("http://node-1.example/", Client(proxy=Proxy(url=proxy)))
    assert reason is FailReason.PROXY
    assert says in said
    assert "hunter2" not in said


async def test_a_proxy_that_cannot_be_used_is_not_gone_around() -> None:
    """What should go through a proxy does not go straight."""
    async with raw.serve(OK) as server:
        with pytest.raises(ProxyError):
            await ask(server.url, Client(proxy=Proxy(url="socks5://127.0.0.1:1")))
    assert server.requests == []


# --- Connections


async def test_a_rotated_certificate_has_new_connections(tmp_path: Path) -> None:
    """Connections made with the old certificate are not used again; without change they are."""
    authority = trustme.CA()
    cert, key = tmp_path / "tls.crt", tmp_path / "tls.key"

    def rotate() -> None:
        leaf = authority.issue_cert("client.example")
        cert.write_bytes(leaf.cert_chain_pems[0].bytes())
        key.write_bytes(leaf.private_key_pem.bytes())

    tls = Tls(pem(authority.cert_pem), Secret(file=str(cert)), Secret(file=str(key)))
    context = server_context(authority.issue_cert("127.0.0.1"), clients=authority)
    with SecureExporter(context) as exporter:
        async with clients() as asking:
            for _ in range(2):
                rotate()
                for _ in range(2):
                    async with asking.get(Client(tls=tls), exporter.url, headers={}) as response:
                        await response.read()
    serials = [request.serial for request in exporter.requests]
    assert serials[0] == serials[1] != serials[2] == serials[3]
    assert exporter.connections == 2


async def test_progress_hears_the_first_byte() -> None:
    """The library still makes connections by the factory that tells when an answer begins."""
    asked, go = asyncio.Event(), asyncio.Event()

    async def waiting(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(HEAD_END)
        asked.set()
        await go.wait()
        writer.write(OK)
        await writer.drain()

    progress = Progress()
    async with raw.serve(waiting) as server:
        task = asyncio.create_task(ask(server.url, progress=progress))
        await asked.wait()
        assert (progress.connected, progress.heard, progress.reused) == (True, False, False)
        go.set()
        assert await task == b"ok"
    assert progress.heard


async def test_a_reused_connection_is_told_from_a_new_one() -> None:
    """The second request over one connection knows that it was there before."""
    handler: Handler = _always
    async with raw.serve(handler) as server, clients() as asking:
        seen = []
        for _ in range(2):
            progress = Progress()
            async with asking.get(Client(), server.url, headers={}, progress=progress) as response:
                await response.read()
            seen.append(progress.reused)
    assert seen == [False, True]


async def _always(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while True:
        await reader.readuntil(HEAD_END)
        writer.write(OK)
        await writer.drain()
