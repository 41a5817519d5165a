"""Certificates and keys as bytes, into a TLS context that asks what Go's asks.

An authority need not be a root, and a certificate's name stands in its subjectAltName, never in its
common name (https://pkg.go.dev/crypto/tls#Config). Python's own default context asks more than Go
does (VERIFY_X509_STRICT, since 3.13); authorities that were made years ago do not have it. Nothing
is written to a disk.
"""

import contextlib
import os
import re
import ssl
from collections.abc import Iterator

_CERTIFICATE = re.compile(rb"-----BEGIN CERTIFICATE-----.*?-----END CERTIFICATE-----", re.DOTALL)

UNREADABLE = (ssl.SSLError, ValueError)
"""What comes of bytes that are no certificates or keys."""


def context(*, verifies: bool) -> ssl.SSLContext:
    """Make a context that trusts nobody yet and speaks TLS 1.2 or newer."""
    made = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    made.minimum_version = ssl.TLSVersion.TLSv1_2
    made.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
    made.hostname_checks_common_name = False
    made.set_alpn_protocols(["http/1.1"])
    if not verifies:
        made.check_hostname = False
        made.verify_mode = ssl.CERT_NONE
    return made


def trust(made: ssl.SSLContext, authorities: bytes | None) -> None:
    """Trust these authorities, or the system's where there are none; raises ``UNREADABLE``."""
    if authorities is None:
        made.load_default_certs()
        return
    # Text between the certificates, a key beside them: none of our business, as in Go.
    certificates = b"\n".join(_CERTIFICATE.findall(authorities))
    made.load_verify_locations(cadata=certificates.decode("ascii"))


def identify(made: ssl.SSLContext, certificate: bytes, key: bytes) -> None:
    """Show this certificate where one is asked for; raises ``ssl.SSLError``."""
    with _unnamed(certificate + b"\n" + key) as path:
        made.load_cert_chain(path, password=_no_password)


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
