"""TLS as a kubeconfig or a pod has it: certificates are bytes."""

import ssl
from dataclasses import dataclass, field

from cwgpu.client import pem
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
    context = pem.context(verifies=material.verifies)
    try:
        pem.trust(context, material.authorities or None)
    except pem.UNREADABLE as error:
        raise CredentialsError(
            f"{where}: the certificate authority cannot be read; it must be certificates in PEM"
        ) from error
    if material.certificate:
        _identify(context, material, where)
    return context


def _identify(context: ssl.SSLContext, material: Material, where: str) -> None:
    try:
        pem.identify(context, material.certificate, material.key)
    except ssl.SSLError as error:
        raise CredentialsError(
            f"{where}: client certificate and key cannot be used ({error.reason or 'unreadable'}); "
            "are they PEM, without a password, and of one pair?"
        ) from error
