"""TLS contexts: made of settings and files, made anew when those change."""

import socket
import ssl
import threading
import warnings
from pathlib import Path

import pytest
import trustme
from cryptography.hazmat.primitives import serialization

from cwgpu.client import tls
from cwgpu.client.failure import CredentialsError
from cwgpu.plan.client import Secret, Tls
from tests.fakes.secure import pem, server_context


@pytest.fixture(scope="module")
def authority() -> trustme.CA:
    """Give a certificate authority."""
    return trustme.CA()


@pytest.fixture(scope="module")
def leaf(authority: trustme.CA) -> trustme.LeafCert:
    """Give a certificate of that authority."""
    return authority.issue_cert("node-1.example", "10.0.0.1")


def shaken(client: ssl.SSLContext, server: ssl.SSLContext, name: str | None) -> str | None:
    """Shake hands; gives the TLS version, or raises the client's error."""
    near, far = socket.socketpair()
    with near, far:
        thread = threading.Thread(target=_serve, args=(far, server))
        thread.start()
        try:
            with client.wrap_socket(near, server_hostname=name) as secured:
                assert secured.recv(1) == b"!"
                return secured.version()
        finally:
            near.close()
            thread.join()


def _serve(far: socket.socket, server: ssl.SSLContext) -> None:
    try:
        with server.wrap_socket(far, server_side=True) as secured:
            secured.sendall(b"!")
    except OSError:
        far.close()


def versions(server: ssl.SSLContext, lowest: str, highest: str) -> ssl.SSLContext:
    """Let a server speak only these; the old ones want a low level of security."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        server.minimum_version = ssl.TLSVersion[lowest]
        server.maximum_version = ssl.TLSVersion[highest]
    server.set_ciphers("DEFAULT:@SECLEVEL=0")
    return server


def test_a_context_is_kept(authority: trustme.CA) -> None:
    """Settings that are the same have the same context, so that connections are used again."""
    contexts = tls.Contexts()
    first = contexts.get(Tls(ca=pem(authority.cert_pem)))
    assert contexts.get(Tls(ca=pem(authority.cert_pem))) is first
    assert contexts.get(Tls(ca=pem(authority.cert_pem), server_name="x")) is not first
    assert contexts.get(Tls()) is contexts.get(Tls())


def test_a_changed_file_makes_a_new_context(
    tmp_path: Path, authority: trustme.CA, leaf: trustme.LeafCert
) -> None:
    """Whichever of the three files changes, the next request has the new content."""
    ca, cert, key = tmp_path / "ca", tmp_path / "cert", tmp_path / "key"
    ca.write_bytes(authority.cert_pem.bytes())
    cert.write_bytes(leaf.cert_chain_pems[0].bytes())
    key.write_bytes(leaf.private_key_pem.bytes())
    given = Tls(Secret(file=str(ca)), Secret(file=str(cert)), Secret(file=str(key)))
    contexts = tls.Contexts()
    first = contexts.get(given)
    assert contexts.get(given) is first
    for path in (ca, cert, key):
        path.write_bytes(path.read_bytes() + b"\n")
        following = contexts.get(given)
        assert following is not first
        first = following


def test_only_the_given_authority_is_trusted(authority: trustme.CA, leaf: trustme.LeafCert) -> None:
    """With a ``ca`` there are no others."""
    assert len(tls.Contexts().get(Tls(ca=pem(authority.cert_pem))).get_ca_certs()) == 1
    context = tls.Contexts().get(Tls(ca=pem(trustme.CA().cert_pem)))
    with pytest.raises(ssl.SSLCertVerificationError):
        shaken(context, server_context(leaf), "node-1.example")


def test_several_authorities_and_text_between_them(
    authority: trustme.CA, leaf: trustme.LeafCert
) -> None:
    """A bundle may hold comments in any language, and keys that are none of our business."""
    other = trustme.CA()
    bundle = f"# Übung\n{other.cert_pem.bytes().decode()}# private\n"
    bundle += leaf.private_key_pem.bytes().decode() + authority.cert_pem.bytes().decode()
    context = tls.Contexts().get(Tls(ca=Secret(text=bundle)))
    assert len(context.get_ca_certs()) == 2
    assert shaken(context, server_context(leaf), "node-1.example")


def test_an_authority_need_not_be_a_root(authority: trustme.CA) -> None:
    """An intermediate authority, or the server's own certificate, can be trusted by itself."""
    middle = authority.create_child_ca()
    leaf = middle.issue_cert("node-1.example")
    for trusted in (middle.cert_pem, leaf.cert_chain_pems[0]):
        context = tls.Contexts().get(Tls(ca=pem(trusted)))
        assert shaken(context, server_context(leaf), "node-1.example")


def test_the_name_must_be_the_certificates(authority: trustme.CA, leaf: trustme.LeafCert) -> None:
    """A name or address that the certificate does not have is refused."""
    context = tls.Contexts().get(Tls(ca=pem(authority.cert_pem)))
    assert shaken(context, server_context(leaf), "10.0.0.1")
    with pytest.raises(ssl.SSLCertVerificationError, match=r"not valid for 'node-2\.example'"):
        shaken(context, server_context(leaf), "node-2.example")


def test_a_common_name_is_no_name(authority: trustme.CA) -> None:
    """What stands in the subject only does not count, as in Go."""
    leaf = authority.issue_cert("other.example", common_name="node-1.example")
    context = tls.Contexts().get(Tls(ca=pem(authority.cert_pem)))
    with pytest.raises(ssl.SSLCertVerificationError):
        shaken(context, server_context(leaf), "node-1.example")


def test_verification_can_be_switched_off(leaf: trustme.LeafCert) -> None:
    """``insecure_skip_verify`` takes any certificate of any name."""
    context = tls.Contexts().get(Tls(insecure_skip_verify=True))
    assert shaken(context, server_context(leaf), "whatever.example")


@pytest.mark.parametrize(
    ("least", "most", "lowest", "highest", "spoken"),
    [
        ("", "", "TLSv1_2", "TLSv1_3", "TLSv1.3"),
        ("", "", "TLSv1_2", "TLSv1_2", "TLSv1.2"),
        ("", "TLS12", "TLSv1_2", "TLSv1_3", "TLSv1.2"),
        ("TLS13", "TLS13", "TLSv1_2", "TLSv1_3", "TLSv1.3"),
        ("TLS11", "", "TLSv1_1", "TLSv1_1", "TLSv1.1"),
        ("TLS10", "TLS11", "TLSv1", "TLSv1_3", "TLSv1.1"),
        ("TLS10", "TLS10", "TLSv1", "TLSv1_3", "TLSv1"),
    ],
)
def test_versions_can_be_chosen(
    leaf: trustme.LeafCert, *, least: str, most: str, lowest: str, highest: str, spoken: str
) -> None:
    """The newest version that both speak is spoken; old ones only where they are asked for."""
    given = Tls(insecure_skip_verify=True, min_version=least, max_version=most)
    server = versions(server_context(leaf), lowest, highest)
    assert shaken(tls.Contexts().get(given), server, None) == spoken


@pytest.mark.parametrize(
    ("least", "lowest", "highest"),
    [("", "TLSv1_1", "TLSv1_1"), ("TLS13", "TLSv1_2", "TLSv1_2")],
)
def test_too_old_a_version_is_refused(
    leaf: trustme.LeafCert, least: str, lowest: str, highest: str
) -> None:
    """TLS 1.2 is the least that is spoken unless the configuration says something else."""
    given = Tls(insecure_skip_verify=True, min_version=least)
    with pytest.raises(ssl.SSLError, match="PROTOCOL"):
        shaken(tls.Contexts().get(given), versions(server_context(leaf), lowest, highest), None)


def test_the_client_shows_its_certificate(authority: trustme.CA, leaf: trustme.LeafCert) -> None:
    """Certificate and key are shown to a server that wants them."""
    given = Tls(
        ca=pem(authority.cert_pem), cert=pem(*leaf.cert_chain_pems), key=pem(leaf.private_key_pem)
    )
    server = server_context(leaf, clients=authority)
    assert shaken(tls.Contexts().get(given), server, "node-1.example")


def protected(leaf: trustme.LeafCert) -> Secret:
    """Put a password on a key."""
    key = serialization.load_pem_private_key(leaf.private_key_pem.bytes(), None)
    text = key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.BestAvailableEncryption(b"hunter2"),
    )
    return Secret(text=text.decode())


@pytest.mark.parametrize("kind", ["no pem", "empty", "another key", "protected", "swapped"])
def test_certificates_that_cannot_be_used(leaf: trustme.LeafCert, kind: str) -> None:
    """What is no PEM, no pair or has a password is said to be so, without what it holds."""
    cert, key = pem(*leaf.cert_chain_pems), pem(leaf.private_key_pem)
    given = {
        "no pem": (Secret(text="hunter2"), key),
        "empty": (cert, Secret(text="")),
        "another key": (cert, pem(trustme.CA().issue_cert("x").private_key_pem)),
        "protected": (cert, protected(leaf)),
        "swapped": (key, key),
    }[kind]
    with pytest.raises(CredentialsError) as caught:
        tls.Contexts().get(Tls(cert=given[0], key=given[1]))
    assert str(caught.value).startswith("tls_config.cert and tls_config.key cannot be used (")
    assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize("held", ["", "hunter2", "-----BEGIN CERTIFICATE-----\nhunter2\n"])
def test_an_authority_that_is_none(tmp_path: Path, held: str) -> None:
    """A file without a certificate is named; nobody else is trusted in its place."""
    path = tmp_path / "ca.crt"
    path.write_text(held)
    with pytest.raises(CredentialsError) as caught:
        tls.Contexts().get(Tls(ca=Secret(file=str(path))))
    assert str(caught.value).startswith(f"tls_config.ca_file {path} holds no certificate")
    assert "hunter2" not in str(caught.value)
    broken = "-----BEGIN CERTIFICATE-----\n????\n-----END CERTIFICATE-----\n"
    with pytest.raises(CredentialsError):
        tls.Contexts().get(Tls(ca=Secret(text=broken)))


def test_a_broken_rotation_heals(tmp_path: Path, leaf: trustme.LeafCert) -> None:
    """While certificate and key do not fit together that is said; when they do it works."""
    other = trustme.CA().issue_cert("x")
    cert, key = tmp_path / "cert", tmp_path / "key"
    given = Tls(cert=Secret(file=str(cert)), key=Secret(file=str(key)))
    contexts = tls.Contexts()
    cert.write_bytes(leaf.cert_chain_pems[0].bytes())
    key.write_bytes(leaf.private_key_pem.bytes())
    first = contexts.get(given)
    cert.write_bytes(other.cert_chain_pems[0].bytes())
    with pytest.raises(CredentialsError, match=f"tls_config.cert_file {cert} and"):
        contexts.get(given)
    key.write_bytes(other.private_key_pem.bytes())
    assert contexts.get(given) is not first
