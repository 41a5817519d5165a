"""Scraping an exporter behind TLS, and how TLS goes wrong."""

import asyncio
import ssl
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
import trustme
from cryptography import x509

from cwgpu.model.scrape import FailReason, Scrape, ScrapeFailed
from cwgpu.model.target import Target
from cwgpu.plan.client import BasicAuth, Client, Secret, Tls
from cwgpu.plan.plan import Job
from cwgpu.scrape.fetch import Fetcher
from tests.fakes.secure import PAGE, SecureExporter, pem, server_context
from tests.scrape import raw

OK = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"


@pytest.fixture(scope="module")
def authority() -> trustme.CA:
    """Give a private certificate authority."""
    return trustme.CA()


@pytest.fixture
def leaf(authority: trustme.CA) -> trustme.LeafCert:
    """Give a certificate for the exporter's address."""
    return authority.issue_cert("127.0.0.1")


def fetcher() -> Fetcher:
    """Make a fetcher whose clocks stand still."""
    return Fetcher(lambda: 1_700_000_000.0, lambda: 0.0)


async def scrape(
    fetch: Fetcher, exporter: SecureExporter | str, client: Client
) -> Scrape | ScrapeFailed:
    """Fetch the page."""
    url = exporter if isinstance(exporter, str) else exporter.url
    target = Target(job="dcgm", url=url, labels={}, interval_s=60.0, timeout_s=30.0)
    return await fetch.fetch(target, Job("dcgm", 60, 30, client=client))


async def bad(exporter: SecureExporter | str, client: Client) -> tuple[FailReason, str]:
    """Fetch a page that must not come."""
    async with fetcher() as fetch:
        answer = await scrape(fetch, exporter, client)
    assert isinstance(answer, ScrapeFailed), answer
    assert "hunter2" not in answer.detail
    return answer.reason, answer.detail


@dataclass
class Guarded:
    """An exporter that wants all there is, and the files of a job that has all."""

    exporter: SecureExporter
    authority: trustme.CA
    folder: Path

    def write(self, name: str, *blobs: trustme.Blob) -> Secret:
        """Write PEM into a file."""
        (self.folder / name).write_bytes(b"".join(blob.bytes() for blob in blobs))
        return Secret(file=str(self.folder / name))

    def identify(self) -> int:
        """Write a new client certificate; gives its serial number."""
        leaf = self.authority.issue_cert("cwgpu.example")
        self.write("tls.crt", *leaf.cert_chain_pems)
        self.write("tls.key", leaf.private_key_pem)
        return x509.load_pem_x509_certificate(leaf.cert_chain_pems[0].bytes()).serial_number

    @property
    def client(self) -> Client:
        """What the job says."""
        (self.folder / "password").touch()
        return Client(
            BasicAuth(Secret(text="me"), Secret(file=str(self.folder / "password"))),
            Tls(
                ca=Secret(file=str(self.folder / "ca.crt")),
                cert=Secret(file=str(self.folder / "tls.crt")),
                key=Secret(file=str(self.folder / "tls.key")),
                server_name="dcgm.example",
            ),
        )


@pytest.fixture
def guarded(authority: trustme.CA, tmp_path: Path) -> Iterator[Guarded]:
    """Serve with a name that is not the address, for known clients with a password."""
    context = server_context(authority.issue_cert("dcgm.example"), clients=authority)
    with SecureExporter(context, user=("me", "hunter2")) as exporter:
        made = Guarded(exporter, authority, tmp_path)
        made.write("ca.crt", authority.cert_pem)
        made.identify()
        (tmp_path / "password").write_text("hunter2\n")
        yield made


async def test_a_guarded_exporter_is_scraped(guarded: Guarded) -> None:
    """Private authority, another name, client certificate and password, all from files."""
    serial = guarded.identify()
    async with fetcher() as fetch:
        answer = await scrape(fetch, guarded.exporter, guarded.client)
    assert isinstance(answer, Scrape), answer
    assert (answer.body, answer.content_type) == (PAGE, "text/plain; version=0.0.4")
    assert guarded.exporter.requests[0].serial == serial


async def test_everything_can_be_rotated(guarded: Guarded) -> None:
    """Each file counts from the next scrape on, without anything being restarted."""
    serials = []
    async with fetcher() as fetch:
        for password in ("one", "two"):
            guarded.exporter.user = ("me", password)
            (guarded.folder / "password").write_text(password)
            serials.append(guarded.identify())
            renewed = trustme.CA()
            guarded.exporter.context = server_context(
                renewed.issue_cert("dcgm.example"), clients=guarded.authority
            )
            guarded.write("ca.crt", renewed.cert_pem)
            for _ in range(2):
                answer = await scrape(fetch, guarded.exporter, guarded.client)
                assert isinstance(answer, Scrape), answer
    assert [request.serial for request in guarded.exporter.requests] == [
        serials[0],
        serials[0],
        serials[1],
        serials[1],
    ]
    assert guarded.exporter.connections == 2


async def test_a_wrong_password_is_told_from_wrong_tls(guarded: Guarded) -> None:
    """TLS comes about and the exporter says 401: the file with the password is named."""
    (guarded.folder / "password").write_text("hunter3\n")
    reason, detail = await bad(guarded.exporter, guarded.client)
    assert reason is FailReason.UNAUTHORIZED
    assert f"basic_auth with password_file {guarded.folder}/password" in detail


async def test_a_missing_certificate_file_is_ours(guarded: Guarded) -> None:
    """It is a matter of our credentials, and named; the next scrape looks again."""
    (guarded.folder / "tls.key").unlink()
    reason, detail = await bad(guarded.exporter, guarded.client)
    assert reason is FailReason.CREDENTIALS
    assert f"{guarded.folder}/tls.key cannot be read" in detail


# --- Whose certificate


async def test_a_certificate_of_nobody(leaf: trustme.LeafCert) -> None:
    """By default the system's authorities are asked, and none of them knows a private one."""
    with SecureExporter(server_context(leaf)) as exporter:
        reason, detail = await bad(exporter, Client())
    assert reason is FailReason.TLS_UNTRUSTED
    assert "not trusted by the system's authorities (unable to get local issuer" in detail
    assert "tls_config.ca_file names a private CA" in detail


async def test_a_certificate_of_another_authority(leaf: trustme.LeafCert, tmp_path: Path) -> None:
    """The file with the wrong authority is named."""
    path = tmp_path / "ca.crt"
    path.write_bytes(trustme.CA().cert_pem.bytes())
    with SecureExporter(server_context(leaf)) as exporter:
        reason, detail = await bad(exporter, Client(tls=Tls(ca=Secret(file=str(path)))))
    assert reason is FailReason.TLS_UNTRUSTED
    assert f"not trusted by tls_config.ca_file {path} (" in detail


@pytest.mark.parametrize(
    ("begins", "ends", "says"),
    [(2019, 2020, "certificate has expired"), (2090, 2095, "certificate is not yet valid")],
)
async def test_a_certificate_of_another_time(
    authority: trustme.CA, begins: int, ends: int, says: str
) -> None:
    """Expired and not yet valid are one reason, with the words to tell them apart."""
    leaf = authority.issue_cert(
        "127.0.0.1",
        not_before=datetime(begins, 1, 1, tzinfo=UTC),
        not_after=datetime(ends, 1, 1, tzinfo=UTC),
    )
    with SecureExporter(server_context(leaf)) as exporter:
        reason, detail = await bad(exporter, Client(tls=Tls(ca=pem(authority.cert_pem))))
    assert reason is FailReason.TLS_EXPIRED
    assert f"({says}); renew it" in detail


@pytest.mark.parametrize(
    ("name", "server_name", "says"),
    [
        ("other.example", "", "not valid for '127.0.0.1'"),
        ("127.0.0.1", "dcgm.example", "not valid for 'dcgm.example'"),
    ],
)
async def test_a_certificate_of_another_host(
    authority: trustme.CA, name: str, server_name: str, says: str
) -> None:
    """The name that was looked for is told, and the key that says which it should be."""
    tls = Tls(ca=pem(authority.cert_pem), server_name=server_name)
    with SecureExporter(server_context(authority.issue_cert(name))) as exporter:
        reason, detail = await bad(exporter, Client(tls=tls))
    assert reason is FailReason.TLS_NAME
    assert "set tls_config.server_name to the name that it has" in detail
    assert says in detail
    assert "tls_config.server_name" in detail


async def test_any_certificate_when_told_so(authority: trustme.CA) -> None:
    """``insecure_skip_verify`` scrapes whoever answers."""
    leaf = authority.issue_cert("other.example")
    with SecureExporter(server_context(leaf)) as exporter:
        async with fetcher() as fetch:
            answer = await scrape(fetch, exporter, Client(tls=Tls(insecure_skip_verify=True)))
    assert isinstance(answer, Scrape)


# --- No TLS


@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3])
@pytest.mark.parametrize("shown", [False, True])
async def test_a_client_certificate_that_is_wanted(
    authority: trustme.CA,
    leaf: trustme.LeafCert,
    shown: bool,  # noqa: FBT001
    version: ssl.TLSVersion,
) -> None:
    """Without one, or with somebody else's, there is no TLS; the keys to look at are named."""
    tls = Tls(ca=pem(authority.cert_pem))
    if shown:
        wrong = trustme.CA().issue_cert("cwgpu.example")
        tls = replace(tls, cert=pem(*wrong.cert_chain_pems), key=pem(wrong.private_key_pem))
    context = server_context(leaf, clients=authority)
    context.minimum_version = context.maximum_version = version
    with SecureExporter(context) as exporter:
        reason, detail = await bad(exporter, Client(tls=tls))
    assert reason is FailReason.TLS
    assert ("our client certificate, tls_config.cert?" if shown else "cert_file") in detail
    assert exporter.requests == []


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        (Tls(min_version="TLS13"), ssl.TLSVersion.TLSv1_2),
        (Tls(max_version="TLS12"), ssl.TLSVersion.TLSv1_3),
    ],
)
async def test_versions_that_do_not_meet(
    leaf: trustme.LeafCert, ours: Tls, theirs: ssl.TLSVersion
) -> None:
    """The keys that say which versions are spoken are named."""
    context = server_context(leaf)
    context.minimum_version = context.maximum_version = theirs
    with SecureExporter(context) as exporter:
        reason, detail = await bad(exporter, Client(tls=ours))
    assert reason is FailReason.TLS
    assert "look at min_version and max_version in tls_config" in detail


async def test_https_to_a_port_that_speaks_http() -> None:
    """The wrong scheme is recognised and named."""
    async with raw.serve(_shouting) as server:
        reason, detail = await bad(server.url.replace("http:", "https:"), Client())
    assert reason is FailReason.TLS
    assert "scheme: http)" in detail


async def _shouting(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await reader.read(100)
    writer.write(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n")
    await writer.drain()


async def test_https_to_a_port_that_hangs_up() -> None:
    """A handshake that ends without a word is told from a page that does."""

    async def hanging_up(reader: asyncio.StreamReader, _: asyncio.StreamWriter) -> None:
        await reader.read(100)

    async with raw.serve(hanging_up) as server:
        reason, detail = await bad(server.url.replace("http:", "https:"), Client())
    assert reason is FailReason.TLS
    assert "it ended the TLS connection" in detail


@pytest.mark.parametrize(
    "words",
    [
        b"Client sent an HTTP request to an HTTPS server.\n",
        b"<center>The plain HTTP request was sent to HTTPS port</center>\n",
    ],
)
async def test_http_to_a_port_that_speaks_tls(words: bytes) -> None:
    """Go's servers and nginx answer in plain HTTP that they do not speak it."""
    head = f"HTTP/1.1 400 Bad Request\r\nContent-Length: {len(words)}\r\n\r\n"
    async with raw.serve(head.encode() + words) as server:
        reason, detail = await bad(server.url, Client())
    assert reason is FailReason.TLS
    assert "write scheme: https" in detail


async def test_http_to_a_port_that_breaks_off(leaf: trustme.LeafCert) -> None:
    """Others answer with an alert, or close; what to check is said either way."""
    with SecureExporter(server_context(leaf)) as exporter:
        reason, detail = await bad(exporter.url.replace("https:", "http:"), Client())
    assert reason in {FailReason.TLS, FailReason.RESET}
    assert "scheme: https" in detail
