"""What an API server's refusal means, and what went wrong on the way to it: sentences.

Each says what was asked, what was found, and what to change. Nothing of the URL but host and port
is repeated, and of somebody else's text a line at most.
https://kubernetes.io/docs/reference/kubernetes-api/common-definitions/status/
"""

import errno
import re
from collections.abc import Callable, Mapping
from typing import Any

import aiohttp
import msgspec
from yarl import URL

from cwgpu.kube import failure
from cwgpu.kube.decode import BROKEN
from cwgpu.kube.failure import CredentialsError, Failure
from cwgpu.kube.request import Request

OUTSIDE = (
    aiohttp.ClientError,
    OSError,
    ValueError,  # the HTTP library's word for a bad URL, and a line that does not end
    CredentialsError,
    TimeoutError,
)
"""All that a request can raise."""

# Of somebody else's text: a Status' message is a line or two.
_WORDS = 300
# No server knows what comes later; agents that wait for longer seem dead.
_LONGEST_WAIT_S = 300.0
# Who is told of one verb will need the others, too: a reflector those, and a lease these.
_TOGETHER = ("list", "watch"), ("get", "create", "update")
_ELSEWHERE = range(300, 400)
_USER = re.compile(r'User "([^"]*)"')
_ACCOUNT = re.compile(r"system:serviceaccount:([^:]+):([^:]+)")


class Details(msgspec.Struct, frozen=True, rename="camel"):
    """More on a failure."""

    retry_after_seconds: int | None = None


class Status(msgspec.Struct, frozen=True):
    """What the API answers instead of what was asked for."""

    kind: str | None = None
    code: int | None = None
    message: str | None = None
    details: Details | None = None


_STATUS = msgspec.json.Decoder(Status)


def answered(request: Request, status: int, headers: Mapping[str, str], body: bytes) -> Failure:
    """Explain an HTTP answer that is not the one that was asked for."""
    held = _read(body)
    wait_s = _wait_s(headers.get("Retry-After", ""), held)
    return _explain(request, status, held.message or _said(body), wait_s)


def told(request: Request, body: bytes) -> Failure:
    """Explain the Status that came as an ERROR in a stream."""
    held = _read(body)
    return _explain(request, held.code or 0, held.message or "", _wait_s("", held))


def odd(request: Request, body: bytes, why: str) -> Failure:
    """Explain an answer that is not what was asked for, though the server says that all is well."""
    if _read(body).kind == "Status":
        return told(request, body)
    return Failure(f"{request.failed}: {why}")


def broken(request: Request, error: Exception, url: str, limit_s: float = 0.0) -> Failure:
    """Explain what was raised on the way to an answer."""
    if isinstance(error, CredentialsError):
        return Failure(f"{request.failed}: {error}")
    place = where(url) if url else "its credentials"
    return Failure(f"{request.failed}: {place}: {_why(error, limit_s)}")


def where(url: str) -> str:
    """Give host and port of a URL."""
    try:
        parsed = URL(url)
    except ValueError:
        return "the API server's URL"
    host = parsed.host or ""
    return f"[{host}]:{parsed.port}" if ":" in host else f"{host}:{parsed.port}"


def _explain(request: Request, status: int, message: str, wait_s: float) -> Failure:
    text = printable(message)
    if status == failure.FORBIDDEN:
        advice = _grant(request, text)
    elif status == failure.UNAUTHORIZED:
        advice = "the API server does not know who this is; is the token or certificate expired?"
    elif status == failure.NOT_FOUND and not request.name:
        kind = f"{request.resource.group or 'core'}/{request.resource.version}"
        advice = f"this server has no {request.resource.plural} in {kind}; is it a Kubernetes API?"
    elif status in _ELSEWHERE:
        advice = f"HTTP status {status} leads somewhere else; is this the URL of a Kubernetes API?"
    elif status:
        advice = f"HTTP status {status}"
    else:
        advice = "the API server ended the stream"
    said = f" ({text})" if text else ""
    return Failure(f"{request.failed}: {advice}{said}", status, wait_s)


def _grant(request: Request, message: str) -> str:
    """Say which rule is missing, and for whom."""
    verbs = next(each for each in _TOGETHER if request.verb in each)
    rule = (
        f'{{apiGroups: ["{request.resource.group}"], resources: [{request.resource.plural}], '
        f"verbs: [{', '.join(verbs)}]}}"
    )
    role = "Role" if request.namespace and request.resource.namespaced else "ClusterRole"
    place = f" in namespace {request.namespace}" if role == "Role" else ""
    return f"not allowed; add {rule} to a {role}{place} that is bound to {_whom(message)}"


def _whom(message: str) -> str:
    found = _USER.search(message)
    if found is None:
        return "us"
    account = _ACCOUNT.fullmatch(found[1])
    if account is None:
        return f"the user {found[1]}"
    return f"the service account {account[2]} in namespace {account[1]}"


def _read(body: bytes) -> Status:
    try:
        return _STATUS.decode(body)
    except BROKEN:
        return Status()


def _said(body: bytes) -> str:
    """Give a body that is no Status; a page of HTML says nothing that helps."""
    text = body[: 2 * _WORDS].decode(errors="replace")
    return "" if text.lstrip().startswith(("<", "{")) else text


def _wait_s(header: str, status: Status) -> float:
    """Give for how long to wait; a date, which HTTP allows here, is nothing that Kubernetes sends.

    https://www.rfc-editor.org/rfc/rfc9110#section-10.2.3
    """
    named = status.details.retry_after_seconds if status.details is not None else None
    wait_s = int(header) if header.isascii() and header.isdigit() else named or 0
    return min(float(max(wait_s, 0)), _LONGEST_WAIT_S)


def _why(error: Exception, limit_s: float) -> str:
    if isinstance(error, TimeoutError):
        return f"no answer in {limit_s:g} s; is it reachable from here, and is it overloaded?"
    for kinds, speak in _SPEAKERS:
        if isinstance(error, kinds):
            return speak(error)
    return f"the connection broke ({printable(str(error)) or type(error).__name__})"


def _unresolved(error: aiohttp.ClientConnectorDNSError) -> str:
    return f"the name does not resolve ({error.os_error.strerror}); check address and DNS"


def _untrusted(error: aiohttp.ClientConnectorCertificateError) -> str:
    why = getattr(error.certificate_error, "verify_message", "") or "unreadable"
    return f"its certificate is not trusted ({printable(why)}); check the authority and the name"


def _insecure(error: aiohttp.ClientSSLError) -> str:
    return f"no TLS connection ({printable(str(error.os_error))}); does it speak TLS there?"


def _unconnected(error: aiohttp.ClientConnectorError) -> str:
    text = printable(str(error.os_error))
    if error.os_error.errno == errno.ECONNREFUSED or f"[Errno {errno.ECONNREFUSED}]" in text:
        return "connection refused; is the API server running?"
    return f"no connection ({text}); do firewall and NetworkPolicy allow it?"


def _unproxied(error: aiohttp.ClientHttpProxyError) -> str:
    return f"the proxy answered with HTTP status {error.status}; does it allow this server?"


def _unread(error: aiohttp.ClientResponseError) -> str:
    return f"the answer is no HTTP ({printable(error.message)}); is this its port?"


# Narrow kinds stand before the wide ones that they belong to.
_SPEAKERS: tuple[tuple[type[Exception], Callable[[Any], str]], ...] = (
    (aiohttp.ClientConnectorDNSError, _unresolved),
    (aiohttp.ClientConnectorCertificateError, _untrusted),
    (aiohttp.ClientSSLError, _insecure),
    (aiohttp.ClientConnectorError, _unconnected),
    (aiohttp.ClientHttpProxyError, _unproxied),
    (aiohttp.ClientResponseError, _unread),
    (aiohttp.InvalidURL, lambda _: "no URL that can be asked; check api_server or the kubeconfig"),
)


def printable(text: str) -> str:
    """Make somebody else's text one line without control characters, and not too long."""
    cut = text[: _WORDS + 1]
    line = " ".join("".join(c if c.isprintable() else " " for c in cut).split())
    return line if len(line) <= _WORDS else line[: _WORDS - 3] + "..."
