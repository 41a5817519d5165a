"""Access tokens: asked for once, kept while they are good, renewed when they are not."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest
import trustme

from cwgpu.client import fault
from cwgpu.client.clients import Clients
from cwgpu.client.connect import Progress
from cwgpu.model.scrape import FailReason
from cwgpu.plan.client import Client, OAuth2, Proxy, Secret, Tls
from tests.fakes.issuer import FakeIssuer
from tests.fakes.proxy import FakeProxy
from tests.fakes.secure import pem
from tests.scrape import raw

OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"


class Asking:
    """Clients with a clock, and a server that notes who they say they are."""

    def __init__(self, server: raw.Server) -> None:
        self.now = 1000.0
        self.clients = Clients(lambda: self.now, environ={})
        self.server = server

    async def ask(self, settings: OAuth2) -> str:
        """Ask with a token; gives the Authorization header that was sent."""
        asked = self.clients.get(Client(settings), self.server.url, headers={})
        async with asked as response:
            assert response.status == 200
        lines = self.server.requests[-1].decode().split("\r\n")
        return next(line for line in lines if line.startswith("Authorization: "))

    async def fail(self, settings: OAuth2) -> str:
        """Ask without getting a token; gives what is said about it."""
        progress = Progress()
        asked = self.clients.get(Client(settings), self.server.url, headers={}, progress=progress)
        try:
            async with asked:
                raise AssertionError("there was a token")
        except fault.OUTSIDE as error:
            reason, said = fault.explain(error, self.server.url, progress)
        assert reason is FailReason.CREDENTIALS
        assert "s3cret" not in said
        return said


@pytest.fixture
async def asking() -> AsyncIterator[Asking]:
    """Serve, and ask."""
    async with raw.serve(OK) as server:
        made = Asking(server)
        async with made.clients:
            yield made


@pytest.fixture
async def issuer() -> AsyncIterator[FakeIssuer]:
    """Give tokens out."""
    async with FakeIssuer() as made:
        yield made


def settings(issuer: FakeIssuer) -> OAuth2:
    """Know the issuer."""
    return OAuth2("cwgpu", Secret(text="s3cret"), issuer.url)


async def test_a_token_is_asked_for_and_sent(asking: Asking, issuer: FakeIssuer) -> None:
    """The form says which grant; "bearer" is written as servers know it."""
    assert await asking.ask(settings(issuer)) == "Authorization: Bearer token-1"
    assert issuer.forms == [{"grant_type": "client_credentials"}]


async def test_scopes_and_parameters_are_sent(asking: Asking, issuer: FakeIssuer) -> None:
    """Scopes have blanks between; further parameters stand beside them, the grant's name too."""
    given = OAuth2(
        "cwgpu",
        Secret(text="s3cret"),
        issuer.url,
        scopes=("read", "metrics"),
        endpoint_params={"audience": "gpus", "grant_type": "own"},
    )
    await asking.ask(given)
    assert issuer.forms == [{"grant_type": "own", "scope": "read metrics", "audience": "gpus"}]


@pytest.mark.parametrize(
    ("kind", "written"),
    [("Bearer", "Bearer"), ("BEARER", "Bearer"), (None, "Bearer"), ("", "Bearer"), ("MAC", "MAC")],
)
async def test_a_token_has_a_type(
    asking: Asking, issuer: FakeIssuer, kind: str | None, written: str
) -> None:
    """The issuer says which; without a word it is a bearer token."""
    issuer.token_type = kind
    assert await asking.ask(settings(issuer)) == f"Authorization: {written} token-1"


async def test_an_issuer_may_want_the_secret_in_the_form(
    asking: Asking, issuer: FakeIssuer
) -> None:
    """Where the header is refused the form is tried, and from then on at once."""
    issuer.takes_header, issuer.expires_in = False, 60
    await asking.ask(settings(issuer))
    asking.now += 60
    await asking.ask(settings(issuer))
    names = [sorted(form) for form in issuer.forms]
    in_form = ["client_id", "client_secret", "grant_type"]
    assert names == [["grant_type"], in_form, in_form]


async def test_names_with_colons_reach_the_issuer(asking: Asking, issuer: FakeIssuer) -> None:
    """Client and secret are escaped before they are joined, as RFC 6749 2.3.1 says."""
    issuer.client_id, issuer.secret = "a%3Ab", "%25+%C3%A4"
    given = OAuth2("a:b", Secret(text="% ä"), issuer.url)
    assert await asking.ask(given) == "Authorization: Bearer token-1"


@pytest.mark.parametrize("expires_in", [3600, 3600.0, "3600"])
async def test_a_token_is_kept_until_shortly_before_it_expires(
    asking: Asking, issuer: FakeIssuer, expires_in: object
) -> None:
    """Ten seconds before its end a new one is asked for."""
    issuer.expires_in = expires_in
    await asking.ask(settings(issuer))
    issuer.token = "token-2"  # noqa: S105 - the example's
    asking.now += 3589
    assert await asking.ask(settings(issuer)) == "Authorization: Bearer token-1"
    asking.now += 1
    assert await asking.ask(settings(issuer)) == "Authorization: Bearer token-2"
    assert len(issuer.forms) == 2


@pytest.mark.parametrize("expires_in", [None, 0, "soon"])
async def test_a_token_without_an_end_is_kept(
    asking: Asking, issuer: FakeIssuer, expires_in: object
) -> None:
    """What says nothing usable about its end has none, as in Go."""
    issuer.expires_in = expires_in
    await asking.ask(settings(issuer))
    asking.now += 1e9
    await asking.ask(settings(issuer))
    assert len(issuer.forms) == 1


async def test_a_changed_secret_asks_anew(
    asking: Asking, issuer: FakeIssuer, tmp_path: Path
) -> None:
    """A rotated ``client_secret_file`` does not wait for the old token's end."""
    path = tmp_path / "secret"
    path.write_text("s3cret\n")
    given = OAuth2("cwgpu", Secret(file=str(path)), issuer.url)
    await asking.ask(given)
    path.write_text("s3cret-2\n")
    issuer.secret, issuer.token = "s3cret-2", "token-2"
    assert await asking.ask(given) == "Authorization: Bearer token-2"


async def test_all_who_need_a_token_wait_for_one(asking: Asking, issuer: FakeIssuer) -> None:
    """Many requests at once ask for one token; other settings have tokens of their own."""
    given = settings(issuer)
    await asyncio.gather(*(asking.ask(given) for _ in range(20)))
    assert len(issuer.forms) == 1
    await asking.ask(OAuth2("cwgpu", Secret(text="s3cret"), issuer.url, scopes=("more",)))
    assert len(issuer.forms) == 2


async def test_who_gives_up_does_not_stop_the_others(asking: Asking, issuer: FakeIssuer) -> None:
    """A request that is cancelled leaves the asking to those who still wait."""
    issuer.held = asyncio.Event()
    first = asyncio.create_task(asking.ask(settings(issuer)))
    await issuer.came.wait()
    second = asyncio.create_task(asking.ask(settings(issuer)))
    first.cancel()
    with pytest.raises(asyncio.CancelledError):
        await first
    issuer.held.set()
    assert await second == "Authorization: Bearer token-1"
    assert len(issuer.forms) == 1


async def test_asking_ends_with_the_clients() -> None:
    """Closing waits for no issuer, and leaves no task behind."""
    async with raw.serve(OK) as server, FakeIssuer(held=asyncio.Event()) as issuer:
        made = Asking(server)
        async with made.clients:
            task = asyncio.create_task(made.ask(settings(issuer)))
            await issuer.came.wait()
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
    assert [one for one in asyncio.all_tasks() if "_renew" in repr(one)] == []


async def test_an_issuer_that_refuses_is_quoted(asking: Asking, issuer: FakeIssuer) -> None:
    """Its status and RFC 6749's word for the error are told, and where it is."""
    issuer.secret = "another"  # noqa: S105 - the example's
    said = await asking.fail(settings(issuer))
    place = f"127.0.0.1:{asking.server.port}: no token from 127.0.0.1:{issuer.port}"
    assert said == (
        f"{place}: it answered with HTTP status 401 (invalid_client); "
        "are client_id and client_secret right?"
    )
    assert asking.server.requests == []


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        ((302, ""), "HTTP status 302;"),
        ((500, "[]"), "HTTP status 500;"),
        ((200, "<html>"), "without an access_token"),
        ((200, '{"access_token": "s3cret\\nX: y"}'), "that a header can hold"),
        ((200, '{"access_token": 1}'), "that a header can hold"),
        ((200, "[" * 200_000), "that a header can hold"),
        ((200, '{"access_token": "t", "token_type": "MAC\\r\\nX: y"}'), "token_type that a header"),
        ((200, '{"access_token": "t", "token_type": 7}'), "token_type that a header"),
        ((400, '{"error": "Basic Y3dncHU6czNjcmV0"}'), "HTTP status 400;"),
        ((400, '{"error": "invalid_s3cret"}'), "HTTP status 400;"),
        ((400, "[" * 200_000), "HTTP status 400;"),
    ],
)
async def test_an_answer_without_a_token(
    asking: Asking, issuer: FakeIssuer, answer: tuple[int, str], says: str
) -> None:
    """Redirects are not followed with a secret; what is no token is not sent on."""
    issuer.answer = answer
    assert says in await asking.fail(settings(issuer))


async def test_an_issuer_repeats_no_secret(asking: Asking, issuer: FakeIssuer) -> None:
    """A secret of letters alone is not taken for a word of RFC 6749."""
    issuer.secret = "another"  # noqa: S105 - the example's
    issuer.answer = (401, '{"error": "not_open_sesame"}')
    given = replace(settings(issuer), client_secret=Secret(text="open_sesame"))
    assert "(" not in await asking.fail(given)


async def test_a_token_may_come_in_pieces(asking: Asking) -> None:
    """An answer is read to its end, however the network cuts it."""
    begun, rest = asyncio.Event(), asyncio.Event()

    async def slowly(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"client_credentials")
        writer.write(b'HTTP/1.1 200 OK\r\nContent-Length: 26\r\n\r\n{"access_')
        await writer.drain()
        begun.set()
        await rest.wait()
        writer.write(b'token": "in two"}')
        await writer.drain()

    async with raw.serve(slowly) as server:
        given = OAuth2("cwgpu", Secret(text="s3cret"), server.url)
        task = asyncio.create_task(asking.ask(given))
        await begun.wait()
        rest.set()
        assert await task == "Authorization: Bearer in two"


async def test_an_answer_without_an_end_is_cut(asking: Asking) -> None:
    """Whatever an issuer sends, it is not kept in memory without bound."""

    async def pouring(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"client_credentials")
        writer.write(b"HTTP/1.1 200 OK\r\n\r\n")
        while True:
            writer.write(b"x" * 65_536)
            await writer.drain()

    async with raw.serve(pouring) as server:
        given = OAuth2("cwgpu", Secret(text="s3cret"), server.url)
        assert "without an access_token" in await asking.fail(given)


async def test_an_issuer_that_is_gone_and_comes_back(asking: Asking) -> None:
    """Each request tries again; nothing has to be restarted."""
    issuer = FakeIssuer()
    async with issuer:
        pass
    said = await asking.fail(settings(issuer))
    assert f"no token from 127.0.0.1:{issuer.port}: connection refused" in said
    async with issuer:
        assert await asking.ask(settings(issuer)) == "Authorization: Bearer token-1"


async def test_a_secret_that_cannot_be_read(asking: Asking, tmp_path: Path) -> None:
    """The file is named."""
    given = OAuth2("cwgpu", Secret(file=str(tmp_path / "gone")), "http://127.0.0.1:1/")
    assert f"{tmp_path}/gone cannot be read" in await asking.fail(given)


async def test_the_issuer_has_its_own_tls_and_proxy(asking: Asking, issuer: FakeIssuer) -> None:
    """A token comes through its proxy; an issuer that nobody vouches for is not given a secret."""
    async with FakeProxy(leads=("127.0.0.1", issuer.port)) as proxy:
        given = OAuth2(
            "cwgpu",
            Secret(text="s3cret"),
            "http://issuer.example/token",
            proxy=Proxy(url=proxy.url),
        )
        assert await asking.ask(given) == "Authorization: Bearer token-1"
    assert proxy.heads[0].startswith("POST http://issuer.example/token HTTP/1.1")
    given = OAuth2(
        "cwgpu",
        Secret(text="s3cret"),
        issuer.url.replace("http:", "https:"),
        tls=Tls(ca=pem(trustme.CA().cert_pem)),
    )
    assert "no TLS with this port" in await asking.fail(given)
