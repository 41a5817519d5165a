"""TLS as tls_config says it: whom we trust, who we are, and which versions we speak.

The files are read for each request that needs TLS. When what stands in them has changed there is a
new context, and with it new connections: a rotated certificate counts from the next scrape on, and
connections made with the old one are not used again. The system's own authorities are read once.

As in Go's crypto/tls a ``ca`` is trusted instead of the system's authorities.
"""

import ssl
import warnings

from cwgpu.client import pem, secret
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
    context = pem.context(verifies=not tls.insecure_skip_verify)
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
    try:
        pem.trust(context, held)
    except pem.UNREADABLE as error:
        place = _where(ca or Secret(), "ca")
        raise CredentialsError(
            f"{place} holds no certificate that can be read; write certificates in PEM"
        ) from error


def _identify(context: ssl.SSLContext, tls: Tls, material: tuple[bytes | None, ...]) -> None:
    _, certificate, key = material
    if tls.cert is None or tls.key is None or certificate is None or key is None:
        return
    try:
        pem.identify(context, certificate, key)
    except ssl.SSLError as error:
        found = f"{_where(tls.cert, 'cert')} and {_where(tls.key, 'key')}"
        check = "are they PEM, without a password, and of one pair?"
        raise CredentialsError(
            f"{found} cannot be used ({error.reason or 'unreadable'}); {check}"
        ) from error


def _where(held: Secret, key: str) -> str:
    return f"tls_config.{secret.place(held, key)}"
