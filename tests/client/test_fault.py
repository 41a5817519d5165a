"""Errors in the words of who has to repair them."""

import errno
import ssl
from typing import Any, cast

import aiohttp
import pytest
from aiohttp.client_reqrep import ConnectionKey

from cwgpu.client import fault
from cwgpu.client.connect import Progress
from cwgpu.model.scrape import FailReason

KEY = cast("ConnectionKey", None)
URL = "http://node-1:9400/metrics"


def connector(number: int | None, text: str, kind: type[OSError] = OSError) -> Exception:
    """Make the library's error for a connection that the system did not make."""
    cause = kind(text) if number is None else kind(number, text)
    return aiohttp.ClientConnectorError(KEY, cause)


@pytest.mark.parametrize(
    ("error", "reason", "says"),
    [
        (connector(errno.ECONNREFUSED, "Connect call failed"), FailReason.REFUSED, "refused;"),
        (
            connector(None, "Multiple exceptions: [Errno 111] v4, [Errno 99] v6"),
            FailReason.REFUSED,
            "refused;",
        ),
        (connector(errno.ETIMEDOUT, "timed out"), FailReason.TIMEOUT, "firewall"),
        (connector(errno.ECONNRESET, "reset"), FailReason.RESET, "broke at once"),
        (connector(errno.EHOSTUNREACH, "No route to host"), FailReason.OTHER, "No route to host"),
        (connector(errno.EMFILE, "Too many open files"), FailReason.OTHER, "Too many open"),
        (ConnectionResetError(), FailReason.RESET, "without an answer"),
        (aiohttp.ClientPayloadError("cut"), FailReason.SHORT, "(cut)"),
        (
            aiohttp.ClientConnectorSSLError(KEY, ssl.SSLError(1, "odd\nthing")),
            FailReason.TLS,
            "(odd thing)",
        ),
        (aiohttp.ClientError("?"), FailReason.OTHER, "ClientError"),
        (OSError("?"), FailReason.OTHER, "OSError"),
    ],
)
def test_errors_have_reasons(error: Exception, reason: FailReason, says: str) -> None:
    """Each kind of error has its reason, names host and port, and says what was seen."""
    found, detail = fault.explain(error, URL, Progress())
    assert found is reason
    assert detail.startswith("node-1:9400: ")
    assert says in detail


def test_a_break_in_the_middle_is_told_from_one_before() -> None:
    """Once the answer has begun, a broken connection is a page that broke off."""
    _, detail = fault.explain(ConnectionResetError(), URL, Progress(status=200))
    assert "middle of the page" in detail


def test_a_sentence_is_not_too_long() -> None:
    """What others wrote into an error is cut, and cannot break the line."""
    error: Any = aiohttp.ClientPayloadError("x\n" * 1000)
    _, detail = fault.explain(error, URL, Progress())
    assert len(detail) == 300
    assert detail.endswith("...")
    assert detail.isprintable()


@pytest.mark.parametrize(
    ("url", "place"),
    [
        ("http://me:secret@node-1:9400/metrics?token=secret", "node-1:9400"),
        ("https://node-1/metrics", "node-1:443"),
        ("http://[2001:db8::1]:9400/metrics", "[2001:db8::1]:9400"),
        ("/metrics", "this URL"),
        ("http://[::1", "this URL"),
    ],
)
def test_a_place_is_host_and_port(url: str, place: str) -> None:
    """Of a URL only host and port are repeated."""
    assert fault.where(url) == place
