"""What went wrong with a scrape, in the words of who has to repair it.

The HTTP library has some thirty kinds of errors; an operator has a port, a scheme, a name, a
certificate and a timeout to look at. Each sentence says what was seen and what to check. Nothing of
the URL but host and port is repeated: it may hold a password or a token.
"""

import errno
import ssl
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import aiohttp
from yarl import URL

from cwgpu.model.scrape import FailReason
from cwgpu.scrape import answer

Fault: TypeAlias = tuple[FailReason, str]

OK = 200
"""The one status that comes with a page."""

# Promised by ScrapeFailed.detail: a few hundred characters.
_LONGEST = 300
# What of a refusing answer's text is repeated: an exporter's error is a line or two.
_WORDS = 120


class BrokenError(aiohttp.ClientConnectionError):
    """A connection made for this scrape ended before the answer began."""


@dataclass(slots=True)
class Progress:
    """How far a scrape has come. The fetch fills it in, so that a timeout can say where it was."""

    connected: bool = False
    reused: bool = False
    """The connection was left over from an earlier scrape."""
    status: int | None = None
    limit_bytes: int = 0


def timed_out(url: str, timeout_s: float, progress: Progress) -> Fault:
    """Explain that the time was over before the page was there."""
    if progress.status is not None and progress.status != OK:
        return explain(answer.StatusError(progress.status, ""), url, progress)
    if progress.status is not None:
        found = "it answered, but not all of the page came"
        check = "is the exporter overloaded, or scrape_timeout too short?"
    elif progress.connected:
        found = "it took the connection but did not answer"
        check = "is the exporter hanging, and is this its port?"
    else:
        found = "no connection to it"
        check = "do a firewall, security group or NetworkPolicy let us in?"
    return FailReason.TIMEOUT, _short(f"{where(url)}: {found} in {timeout_s:g} s; {check}")


def explain(error: Exception, url: str, progress: Progress) -> Fault:
    """Put an error of the connection or the body into words."""
    for kinds, speak in _SPEAKERS:
        if isinstance(error, kinds):
            reason, sentence = speak(error, progress)
            return reason, _short(f"{where(url)}: {sentence}")
    return FailReason.OTHER, _short(f"{where(url)}: {_named(error)}")


def where(url: str) -> str:
    """Give host and port of a URL; a URL that cannot be read is no place to name."""
    try:
        parsed = URL(url)
        host = parsed.raw_host or ""
    except ValueError:
        return "this URL"
    if not host:
        return "this URL"
    return f"[{host}]:{parsed.port}" if ":" in host else f"{host}:{parsed.port}"


# The first status that is an error: https://www.rfc-editor.org/rfc/rfc9110#section-15
_ERRORS = 400
_STATUS_CHECKS = {
    # What Go's TLS servers answer to plain HTTP, too.
    400: "check scheme (http or https), path and params",
    401: "does it ask for credentials?",
    403: "does it ask for credentials, or refuse our address?",
    404: "check metrics_path",
}


def _status_check(status: int) -> str:
    if status in _STATUS_CHECKS:
        return _STATUS_CHECKS[status]
    return "check metrics_path" if status < _ERRORS else "the exporter's log may say more"


def _status(error: answer.StatusError, _: Progress) -> Fault:
    words = _printable(error.words)[:_WORDS]
    said = f" ({words})" if words else ""
    check = _status_check(error.status)
    return FailReason.STATUS, f"answered with HTTP status {error.status}{said}; {check}"


def _dns(error: aiohttp.ClientConnectorDNSError, _: Progress) -> Fault:
    said = error.os_error.strerror or str(error.os_error)
    return FailReason.DNS, f"the name does not resolve ({said}); check __address__ and the DNS"


def _certificate(error: aiohttp.ClientConnectorCertificateError, _: Progress) -> Fault:
    cause = error.certificate_error
    said = getattr(cause, "verify_message", "") or str(cause)
    return FailReason.TLS, f"its certificate is not trusted ({said}); is its CA installed here?"


def _tls(error: ssl.SSLError, _: Progress) -> Fault:
    said = error.strerror or str(error)
    return (
        FailReason.TLS,
        f"no TLS with this port ({said}); does it speak plain HTTP (scheme: http)?",
    )


def _connector(error: aiohttp.ClientConnectorError, _: Progress) -> Fault:
    cause = error.os_error
    said = _printable(str(cause))
    if cause.errno == errno.ECONNREFUSED or f"[Errno {errno.ECONNREFUSED}]" in said:
        check = "is the exporter running, and is this its port?"
        return FailReason.REFUSED, f"connection refused; {check}"
    if isinstance(cause, TimeoutError):
        return FailReason.TIMEOUT, "no connection; do a firewall or NetworkPolicy let us in?"
    if isinstance(cause, ConnectionError):
        return FailReason.RESET, f"the connection broke at once ({said})"
    return FailReason.OTHER, f"no connection ({said})"


def _broken(_: Exception, progress: Progress) -> Fault:
    if progress.status is None:
        check = "does this port speak HTTP, or TLS (scheme: https)?"
        return FailReason.RESET, f"it closed the connection without an answer; {check}"
    return FailReason.RESET, "it broke off in the middle of the page; was it restarted?"


def _payload(error: Exception, _: Progress) -> Fault:
    said = _printable(str(error.__cause__ or error))
    return FailReason.RESET, f"not all of the page came ({said}); was it restarted?"


def _redirects(_: Exception, __: Progress) -> Fault:
    return FailReason.STATUS, "it redirects again and again; check metrics_path"


def _redirect(error: Exception, _: Progress) -> Fault:
    return FailReason.STATUS, f"it redirects to something that is no HTTP URL ({_named(error)})"


def _protocol(error: aiohttp.ClientResponseError, _: Progress) -> Fault:
    said = _printable(error.message or "unreadable")[:_WORDS]
    check = "does this port speak HTTP, or TLS (scheme: https)?"
    return FailReason.OTHER, f"the answer is no HTTP ({said}); {check}"


def _url(_: Exception, __: Progress) -> Fault:
    return FailReason.OTHER, "not a URL that can be fetched; check __address__, scheme and path"


def _large(_: Exception, progress: Progress) -> Fault:
    found = f"the page has {progress.limit_bytes} bytes or more, unpacked"
    return FailReason.TOO_LARGE, f"{found}; body_size_limit allows larger ones"


def _gzip(error: Exception, _: Progress) -> Fault:
    return FailReason.ENCODING, f"the body says gzip and cannot be unpacked ({error})"


_Speaker: TypeAlias = Callable[[Any, Progress], Fault]
_Kinds: TypeAlias = type[Exception] | tuple[type[Exception], ...]
# Narrow kinds stand before the wide ones they belong to.
_SPEAKERS: tuple[tuple[_Kinds, _Speaker], ...] = (
    (answer.StatusError, _status),
    (answer.TooLargeError, _large),
    (answer.GzipError, _gzip),
    (aiohttp.ClientConnectorDNSError, _dns),
    (aiohttp.ClientConnectorCertificateError, _certificate),
    (ssl.SSLError, _tls),
    (aiohttp.ClientConnectorError, _connector),
    (aiohttp.TooManyRedirects, _redirects),
    (aiohttp.RedirectClientError, _redirect),
    (aiohttp.ClientResponseError, _protocol),
    (aiohttp.ClientPayloadError, _payload),
    ((aiohttp.InvalidURL, aiohttp.NonHttpUrlClientError, ValueError), _url),
    ((aiohttp.ClientConnectionError, ConnectionError), _broken),
)


def _named(error: Exception) -> str:
    return type(error).__name__


def _printable(text: str) -> str:
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())


def _short(sentence: str) -> str:
    text = _printable(sentence)
    return text if len(text) <= _LONGEST else text[: _LONGEST - 3] + "..."
