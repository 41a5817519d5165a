"""What went wrong with a request, in the words of who has to repair it.

The HTTP library has some thirty kinds of errors; an operator has a port, a scheme, a name, a
certificate, a proxy and a timeout to look at. Each sentence says what was seen and what to check.
Nothing of the URL but host and port is repeated: it may hold a password or a token.
"""

import errno
import traceback
from collections.abc import Callable
from typing import Any, TypeAlias

import aiohttp
from yarl import URL

from cwgpu.client import address, handshake, hide
from cwgpu.client.connect import Progress
from cwgpu.client.failure import CredentialsError, ProxyError, RedirectError, WithdrawnError
from cwgpu.model.scrape import FailReason

Fault: TypeAlias = tuple[FailReason, str]

# Promised by ScrapeFailed.detail: a few hundred characters.
_LONGEST = 300
# What of an answer's text is repeated: an error is a line or two.
_WORDS = 120


class BrokenError(aiohttp.ClientConnectionError):
    """A connection made for this request ended before the answer began."""


OUTSIDE = (
    aiohttp.ClientError,
    OSError,
    ValueError,  # the HTTP library's word for a bad URL
    CredentialsError,
    ProxyError,
    RedirectError,
    WithdrawnError,
)
"""All that asking and reading an answer can raise, but for TimeoutError and one's own checks."""


def timed_out(url: str, timeout_s: float, progress: Progress) -> Fault:
    """Explain that the time was over before the answer was there."""
    reason = FailReason.TIMEOUT
    if progress.token_from:
        reason, found = FailReason.CREDENTIALS, f"no token from {progress.token_from}"
        check = "does the issuer of oauth2 tokens answer?"
    elif progress.status is not None:
        reason = FailReason.SLOW_BODY
        found = f"it answered, but not all of the page came ({progress.body_bytes} bytes did)"
        check = "is it overloaded, or the timeout too short?"
    elif progress.heard:
        reason = FailReason.SLOW_HEADERS
        found = "it began to answer, but the headers did not end"
        check = "is it overloaded, or does this port speak something else than HTTP?"
    elif progress.connected:
        found = "it took the connection but did not answer"
        check = "is it hanging, and is this its port?"
    elif progress.proxy is not None:
        reason, found = FailReason.PROXY, "no connection"
        check = "does the proxy answer, and can it reach the server?"
    else:
        found = "no TLS connection to it" if _secure(progress) else "no connection to it"
        check = "do a firewall, security group or NetworkPolicy let us in?"
    return reason, said(f"{found} in {timeout_s:g} s; {check}", url, progress)


def explain(error: Exception, url: str, progress: Progress) -> Fault:
    """Put an error of the connection or the answer into words."""
    reason, sentence = bare(error, progress)
    return reason, said(sentence, url, progress)


def bare(error: Exception, progress: Progress) -> Fault:
    """Do the same without saying whose error it is."""
    for kinds, speak in _SPEAKERS:
        if isinstance(error, kinds):
            return speak(error, progress)
    return FailReason.OTHER, type(error).__name__


def forget(error: BaseException) -> None:
    """Let go of all that led to an error which was told.

    The HTTP library has errors in variables of the very functions that raise them: circles that
    stay, with 15 KB for each server that refuses us, until somebody looks for them.
    """
    told: set[int] = set()
    errors: list[BaseException | None] = [error]
    while errors:
        each = errors.pop()
        if each is not None and id(each) not in told:
            told.add(id(each))
            traceback.clear_frames(each.__traceback__)
            errors += (each.__cause__, each.__context__)


def said(sentence: str, url: str, progress: Progress) -> str:
    """Put in front of a sentence of whom it speaks, and make it fit to print."""
    place = where(url)
    if progress.redirected and progress.at is not None:
        place += f", redirected to {where(progress.at)}"
    if progress.proxy is not None:
        place += f", through the proxy {where(progress.proxy)}"
    text = printable(f"{place}: {sentence}")
    return text if len(text) <= _LONGEST else text[: _LONGEST - 3] + "..."


def where(url: str | URL) -> str:
    """Give host and port of a URL; a URL that cannot be read is no place to name."""
    try:
        parsed = address.url(url) if isinstance(url, str) else url
        host = parsed.raw_host or ""
    except ValueError:
        return "this URL"
    if not host:
        return "this URL"
    return f"[{host}]:{parsed.port}" if ":" in host else f"{host}:{parsed.port}"


def printable(text: str, most: int = 1000) -> str:
    """Make somebody else's text one line without control characters."""
    return " ".join("".join(c if c.isprintable() else " " for c in text[:most]).split())


def words(text: str, progress: Progress, most: int = _WORDS) -> str:
    """Give the beginning of what the other side says, fit to print; none of it is a secret."""
    # Hidden before it is cut: half a secret would not be found.
    return printable(hide.text(text, progress.secrets))[:most]


def _dns(error: aiohttp.ClientConnectorDNSError, progress: Progress) -> Fault:
    why = error.os_error.strerror or str(error.os_error)
    if progress.proxy is not None:
        return FailReason.PROXY, f"the proxy's name does not resolve ({why}); check proxy_url"
    return FailReason.DNS, f"the name does not resolve ({why}); check the address and the DNS"


def _connector(error: aiohttp.ClientConnectorError, progress: Progress) -> Fault:
    cause = error.os_error
    why = printable(str(cause))
    refused = cause.errno == errno.ECONNREFUSED or f"[Errno {errno.ECONNREFUSED}]" in why
    if progress.proxy is not None:
        found = "connection refused" if refused else f"no connection ({why})"
        return FailReason.PROXY, f"the proxy: {found}; is it running, and is proxy_url right?"
    if refused:
        return FailReason.REFUSED, "connection refused; is it running, and is this its port?"
    if isinstance(cause, TimeoutError):
        return FailReason.TIMEOUT, "no connection; do a firewall or NetworkPolicy let us in?"
    if isinstance(cause, ConnectionError) and _secure(progress):
        return FailReason.TLS, handshake.ended("without a word", progress.client)
    if isinstance(cause, ConnectionError):
        return FailReason.RESET, f"the connection broke at once ({why})"
    return FailReason.OTHER, f"no connection ({why})"


def _tunnel(error: aiohttp.ClientHttpProxyError, _: Progress) -> Fault:
    return FailReason.PROXY, refused_by_proxy(error.status)


def refused_by_proxy(status: int) -> str:
    """Say that a proxy answered in the server's place."""
    if status == _PROXY_AUTHENTICATION:
        return f"the proxy answered with HTTP status {status}; write user and password in proxy_url"
    return f"the proxy answered with HTTP status {status}; does it allow and reach this server?"


# The first bytes of an alert as the HTTP library writes them, 21 and the version 3.x:
# https://www.rfc-editor.org/rfc/rfc8446#section-5.1
_ALERT = r"b'\x15\x03"
# https://www.rfc-editor.org/rfc/rfc9110#section-15.5.8
_PROXY_AUTHENTICATION = 407


def _broken(error: Exception, progress: Progress) -> Fault:
    alert = handshake.alert(error)
    if alert is not None:
        return handshake.explain(alert, progress.client)
    if _secure(progress) and not progress.heard:
        # In TLS 1.3 a client certificate is refused after the handshake, and then the alert that
        # says so may be lost with the connection.
        return FailReason.TLS, handshake.ended("before an answer", progress.client)
    if progress.status is None:
        check = "does this port speak HTTP, or TLS (scheme: https)?"
        return FailReason.RESET, f"it closed the connection without an answer; {check}"
    return FailReason.RESET, "it broke off in the middle of the page; was it restarted?"


def _payload(error: Exception, progress: Progress) -> Fault:
    if "ConnectionResetError" in str(error):
        return _broken(error, progress)
    why = words(str(getattr(error.__cause__, "message", error)), progress, _LONGEST)
    return FailReason.SHORT, f"not all of the page came ({why}); was it restarted?"


def _protocol(error: aiohttp.ClientResponseError, progress: Progress) -> Fault:
    why = words(error.message or "unreadable", progress)
    if _ALERT in why:
        return FailReason.TLS, "it answered in TLS; write scheme: https"
    return FailReason.NOT_HTTP, f"the answer is no HTTP ({why}); is this its port?"


def _secure(progress: Progress) -> bool:
    return progress.at is not None and progress.at.scheme == "https"


def _tls(error: aiohttp.ClientConnectorError, progress: Progress) -> Fault:
    return handshake.explain(error.os_error, progress.client)


def _url(_: Exception, __: Progress) -> Fault:
    return FailReason.OTHER, "not a URL that can be fetched; check address, scheme and path"


def _credentials(error: CredentialsError, progress: Progress) -> Fault:
    if progress.token_from:
        return FailReason.CREDENTIALS, f"no token from {progress.token_from}: {error}"
    return FailReason.CREDENTIALS, str(error)


_Speaker: TypeAlias = Callable[[Any, Progress], Fault]
_Kinds: TypeAlias = type[Exception] | tuple[type[Exception], ...]
# Narrow kinds stand before the wide ones they belong to.
_SPEAKERS: tuple[tuple[_Kinds, _Speaker], ...] = (
    (CredentialsError, _credentials),
    (ProxyError, lambda error, _: (FailReason.PROXY, str(error))),
    (RedirectError, lambda error, _: (FailReason.REDIRECT, str(error))),
    (WithdrawnError, lambda error, _: (FailReason.OTHER, str(error))),
    (aiohttp.ClientConnectorDNSError, _dns),
    (aiohttp.ClientSSLError, _tls),
    (aiohttp.ClientConnectorError, _connector),
    (aiohttp.ClientHttpProxyError, _tunnel),
    (aiohttp.ClientResponseError, _protocol),
    (aiohttp.ClientPayloadError, _payload),
    ((aiohttp.InvalidURL, aiohttp.NonHttpUrlClientError, ValueError), _url),
    ((aiohttp.ClientConnectionError, ConnectionError), _broken),
)
