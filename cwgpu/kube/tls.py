"""TLS as a kubeconfig or a pod has it: certificates are bytes, and nothing is written to disk.

Python's own default context asks more of a certificate than Go does (VERIFY_X509_STRICT, since
3.13); the authorities of clusters that were made years ago do not have it.
"""

import contextlib
import os
import ssl
from collections.abc import Iterator
from dataclasses import dataclass, field

from cwgpu.kube.failure import CredentialsError


@dataclass(frozen=True, slots=True)
class Material:
    """What a context is made of, in PEM; empty is none."""

    authorities: bytes = b""
    """Empty trusts the system's."""
    certificate: bytes = field(default=b"", repr=False)
    key: bytes = field(default=b"", repr=False)
    verifies: bool = True


class Contexts:
    """The last context, which stays as long as its material does: connections are kept by it."""

    def __init__(self) -> None:
        self._material: Material | None = None
        self._context: ssl.SSLContext | None = None

    def get(self, material: Material, where: str) -> ssl.SSLContext:
        """Give the context for a request; raises CredentialsError, which says where to look."""
        if self._context is None or material != self._material:
            self._context, self._material = _context(material, where), material
        return self._context


def _context(material: Material, where: str) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN  # as in Go: an authority may be no root
    context.set_alpn_protocols(["http/1.1"])
    if not material.verifies:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    try:
        if material.authorities:
            context.load_verify_locations(cadata=material.authorities.decode("ascii"))
        else:
            context.load_default_certs()
    except (ssl.SSLError, ValueError) as error:
        raise CredentialsError(
            f"{where}: the certificate authority cannot be read; it must be certificates in PEM"
        ) from error
    if material.certificate:
        _identify(context, material, where)
    return context


def _identify(context: ssl.SSLContext, material: Material, where: str) -> None:
    try:
        with _unnamed(material.certificate + b"\n" + material.key) as path:
            context.load_cert_chain(path, password=_no_password)
    except ssl.SSLError as error:
        raise CredentialsError(
            f"{where}: client certificate and key cannot be used ({error.reason or 'unreadable'}); "
            "are they PEM, without a password, and of one pair?"
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
