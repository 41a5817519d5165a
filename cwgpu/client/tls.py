"""TLS as tls_config says it: whom we trust, who we are, and which versions we speak.

The files are read for each request that needs TLS. When what stands in them has changed there is a
new context, and with it new connections: a rotated certificate counts from the next scrape on, and
connections made with the old one are not used again. The system's own authorities are read once.

As in Go's crypto/tls: a ``ca`` is trusted instead of the system's authorities and need not be a
root, and a certificate's name stands in its subjectAltName, never in its common name.
https://pkg.go.dev/crypto/tls#Config
"""

import contextlib
import os
import re
import ssl
import warnings
from collections.abc import Iterator

from cwgpu.client import secret
from cwgpu.client.failure import CredentialsError
from cwgpu.plan.client import Secret, Tls

_VERSIONS = {
    "": ssl.TLSVersion.TLSv1_2,
    "TLS10": ssl.TLSVersion.TLSv1,
    "TLS11": ssl.TLSVersion.TLSv1_1,
    "TLS12": ssl.TLSVersion.TLSv1_2,
    "TLS13": ssl.TLSVersion.TLSv1_3,
}
_OLD = {"TLS10", "TLS11"}
_CERTIFICATE = re.compile(rb"-----BEGIN CERTIFICATE-----.*?-----END CERTIFICATE-----", re.DOTALL)


class Contexts:
    """The TLS context of each setting, kept as long as its files say the same."""

    def __init__(self) -> None:
        self._kept: dict[Tls, tuple[tuple[bytes | None, ...], ssl.SSLContext]] = {}

    def get(self, tls: Tls) -> ssl.SSLContext:
        """Give the context for the next request; raises CredentialsError."""
        parts = (tls.ca, tls.cert, tls.key)
        material = tuple(None if part is None else secret.content(part) for part in parts)
        kept = self._kept.get(tls)
        if kept is not None and kept[0] == material:
            return kept[1]
        context = _context(tls)
        _trust(context, tls.ca, material[0])
        _identify(context, tls, material)
        self._kept[tls] = (material, context)
        return context


def _context(tls: Tls) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
    context.hostname_checks_common_name = False
    context.set_alpn_protocols(["http/1.1"])
    if tls.insecure_skip_verify:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    with warnings.catch_warnings():  # Python warns of old versions; who needs them knows
        warnings.simplefilter("ignore", DeprecationWarning)
        context.minimum_version = _VERSIONS[tls.min_version]
        if tls.max_version:
            context.maximum_version = _VERSIONS[tls.max_version]
    if tls.min_version in _OLD:
        # Their signatures are SHA-1, which OpenSSL 3 allows at its lowest level only:
        # https://docs.openssl.org/3.0/man3/SSL_CTX_set_security_level/
        context.set_ciphers("DEFAULT:@SECLEVEL=0")
    return context


def _trust(context: ssl.SSLContext, ca: Secret | None, held: bytes | None) -> None:
    if ca is None or held is None:
        context.load_default_certs()
        return
    # Text between the certificates, a key beside them: none of our business, as in Go.
    certificates = b"\n".join(_CERTIFICATE.findall(held))
    try:
        context.load_verify_locations(cadata=certificates.decode("ascii"))
    except (ssl.SSLError, ValueError) as error:
        found = f"{_where(ca, 'ca')} holds no certificate that can be read"
        raise CredentialsError(f"{found}; write certificates in PEM") from error


def _identify(context: ssl.SSLContext, tls: Tls, material: tuple[bytes | None, ...]) -> None:
    _, certificate, key = material
    if tls.cert is None or tls.key is None or certificate is None or key is None:
        return
    try:
        with _unnamed(certificate + b"\n" + key) as path:
            context.load_cert_chain(path, password=_no_password)
    except ssl.SSLError as error:
        found = f"{_where(tls.cert, 'cert')} and {_where(tls.key, 'key')}"
        check = "are they PEM, without a password, and of one pair?"
        raise CredentialsError(
            f"{found} cannot be used ({error.reason or 'unreadable'}); {check}"
        ) from error


@contextlib.contextmanager
def _unnamed(held: bytes) -> Iterator[str]:
    """Give a path to bytes that are in no file system: OpenSSL's door takes nothing but paths."""
    number = os.memfd_create("tls")
    try:
        os.write(number, held)
        yield f"/proc/self/fd/{number}"
    finally:
        os.close(number)


def _no_password() -> str:
    # Without this OpenSSL would ask at the terminal, and wait.
    return ""


def _where(held: Secret, key: str) -> str:
    return f"tls_config.{secret.place(held, key)}"
