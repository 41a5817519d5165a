"""What went wrong with a scrape, in the words of who has to repair it.

Connections, TLS, proxies and credentials have their words in ``cwgpu.client.fault``. Here are those
of an answer that is no page.
"""

from collections.abc import Callable
from typing import Any

from cwgpu.client import auth, fault, redirect
from cwgpu.client.connect import Progress
from cwgpu.client.fault import Fault
from cwgpu.model.scrape import FailReason
from cwgpu.scrape import answer

OK = 200
"""The one status that comes with a page."""

OUTSIDE = (*fault.OUTSIDE, answer.AnswerError)
"""All that a scrape can raise, but for TimeoutError."""


def timed_out(url: str, timeout_s: float, progress: Progress) -> Fault:
    """Explain that the time was over before the page was there."""
    if progress.status is not None and progress.status != OK:
        return explain(answer.StatusError(progress.status, ""), url, progress)
    return fault.timed_out(url, timeout_s, progress)


def explain(error: Exception, url: str, progress: Progress) -> Fault:
    """Put an error of the connection or the page into words."""
    for kind, speak in _SPEAKERS:
        if isinstance(error, kind):
            reason, sentence = speak(error, progress)
            return reason, fault.said(sentence, url, progress)
    return fault.explain(error, url, progress)


# The first status that is an error: https://www.rfc-editor.org/rfc/rfc9110#section-15
_ERRORS = 400
_STATUS_CHECKS = {
    400: "check scheme (http or https), path and params",
    404: "check metrics_path: most exporters have /metrics",
}
_UNAUTHORIZED = {
    401: "are they right?",
    403: "may they see this page, and may our address?",
}
_PROXY_AUTHENTICATION = 407
# What Go's and nginx's TLS servers answer to plain HTTP.
_NOT_PLAIN = ("HTTP request to an HTTPS server", "plain HTTP request was sent to HTTPS port")


def _status(error: answer.StatusError, progress: Progress) -> Fault:
    status = error.status
    if status == _PROXY_AUTHENTICATION and progress.proxy is not None:
        return FailReason.PROXY, fault.refused_by_proxy(status)
    said = fault.words(error.words, progress)
    found = f"answered with HTTP status {status}" + (f" ({said})" if said else "")
    if status in _UNAUTHORIZED:
        check = f"we sent {_sent(progress)}; {_UNAUTHORIZED[status]}"
        return FailReason.UNAUTHORIZED, f"{found}; {check}"
    if any(words in said for words in _NOT_PLAIN):
        return FailReason.TLS, f"{found}; it speaks TLS, so write scheme: https"
    if status in redirect.STATUSES:
        return FailReason.REDIRECT, f"{found}, which is a redirect to nowhere; check metrics_path"
    return FailReason.STATUS, f"{found}; {_status_check(status)}"


def _sent(progress: Progress) -> str:
    if progress.trusted:
        return auth.describe(progress.client)
    return "no credentials, which stay with the host that the job names"


def _status_check(status: int) -> str:
    if status in _STATUS_CHECKS:
        return _STATUS_CHECKS[status]
    return "check metrics_path" if status < _ERRORS else "the exporter's log may say more"


def _large(_: Exception, progress: Progress) -> Fault:
    found = f"the page reached the limit of {progress.limit_bytes} bytes, unpacked"
    return FailReason.TOO_LARGE, f"{found}; body_size_limit allows larger ones"


def _gzip(error: Exception, _: Progress) -> Fault:
    return FailReason.ENCODING, f"the body says gzip and cannot be unpacked ({error})"


_SPEAKERS: tuple[tuple[type[Exception], Callable[[Any, Progress], Fault]], ...] = (
    (answer.StatusError, _status),
    (answer.TooLargeError, _large),
    (answer.GzipError, _gzip),
)
