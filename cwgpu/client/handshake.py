"""Why no TLS came about, in the words of who has to repair it.

OpenSSL tells by the names of its errors: https://docs.openssl.org/3.0/man1/openssl-verify/ has
those of certificates, https://www.rfc-editor.org/rfc/rfc8446#section-6.2 the alerts of the other
side.
"""

import ssl

from cwgpu.client import secret
from cwgpu.model.scrape import FailReason
from cwgpu.plan.client import Client

# X509_V_ERR_CERT_NOT_YET_VALID and _HAS_EXPIRED; of the name and of the address.
_TIMES = {9, 10}
_NAMES = {62, 64}

_OURS = (
    "HANDSHAKE_FAILURE",  # what OpenSSL's servers say to us in TLS 1.2 when we have none
    "CERTIFICATE_REQUIRED",
    "BAD_CERTIFICATE",
    "NO_CERTIFICATE",
    "CERTIFICATE_UNKNOWN",
    "CERTIFICATE_EXPIRED",
    "CERTIFICATE_REVOKED",
    "UNSUPPORTED_CERTIFICATE",
    "UNKNOWN_CA",
    "DECRYPT_ERROR",
    "ACCESS_DENIED",
)
_VERSIONS = ("PROTOCOL_VERSION", "UNSUPPORTED_PROTOCOL", "NO_PROTOCOLS_AVAILABLE")


def alert(error: BaseException | None) -> ssl.SSLError | None:
    """Find the TLS error that ended a connection, if one did."""
    while error is not None and not isinstance(error, ssl.SSLError):
        error = error.__cause__
    return error


def explain(error: OSError, client: Client) -> tuple[FailReason, str]:
    """Give reason and sentence."""
    if isinstance(error, ssl.SSLCertVerificationError):
        return _theirs(error, client)
    name = getattr(error, "reason", None) or ""
    said = name or error.strerror or str(error)
    if "ALERT" in name and name.endswith(_OURS):
        return FailReason.TLS, ended(said, client)
    if name.endswith(_VERSIONS):
        check = "look at min_version and max_version in tls_config"
        return FailReason.TLS, f"no TLS version is common to both ({said}); {check}"
    check = "does it speak plain HTTP (scheme: http)?"
    return FailReason.TLS, f"no TLS with this port ({said}); {check}"


def _theirs(error: ssl.SSLCertVerificationError, client: Client) -> tuple[FailReason, str]:
    said = error.verify_message
    if error.verify_code in _TIMES:
        check = "renew it, or correct the clocks"
        return FailReason.TLS_EXPIRED, f"its certificate is not valid now ({said}); {check}"
    if error.verify_code in _NAMES:
        check = "set tls_config.server_name to the name that it has"
        return FailReason.TLS_NAME, f"its certificate is another server's ({said}); {check}"
    ca = client.tls.ca
    by = "the system's authorities" if ca is None else f"tls_config.{secret.place(ca, 'ca')}"
    check = "is its CA there?" if ca is not None else "tls_config.ca_file names a private CA"
    return FailReason.TLS_UNTRUSTED, f"its certificate is not trusted by {by} ({said}); {check}"


def ended(said: str, client: Client) -> str:
    """Say that the other side ended the handshake, and guess why."""
    cert = client.tls.cert
    if cert is None:
        check = "does it want a client certificate (cert_file and key_file in tls_config)?"
    else:
        check = f"does it take our client certificate, tls_config.{secret.place(cert, 'cert')}?"
    return f"it ended the TLS connection ({said}); {check}"
