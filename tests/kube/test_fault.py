"""What is said of a failure names what was asked, what was found and what to do."""

import errno
from typing import Any, cast

import aiohttp
import pytest

from cwgpu.kube import fault
from cwgpu.kube.connection import Connection
from cwgpu.kube.failure import Failure
from cwgpu.kube.request import Request
from cwgpu.kube.resource import LEASES, NODES, PODS, SERVICES
from tests.fakes.proxy import FakeProxy
from tests.kube.stage import User

PODS_OF_ALL = Request("list", PODS)


def said(request: Request, status: int, body: bytes = b"", **headers: str) -> str:
    """Explain an answer."""
    return fault.answered(request, status, headers, body).sentence


@pytest.mark.parametrize(
    ("request_", "begins"),
    [
        (Request("list", NODES), "nodes cannot be listed: "),
        (Request("watch", NODES, "gpu"), "nodes cannot be watched: "),
        (Request("list", PODS), "pods in all namespaces cannot be listed: "),
        (Request("watch", PODS, "gpu"), "pods in namespace gpu cannot be watched: "),
        (Request("get", LEASES, "gpu", "me"), "leases me in namespace gpu cannot be read: "),
        (Request("create", LEASES, "gpu", "me"), "leases me in namespace gpu cannot be created: "),
    ],
)
def test_what_was_asked_is_named(request_: Request, begins: str) -> None:
    """Verb, kind, name and where."""
    assert said(request_, 500).startswith(begins)


@pytest.mark.parametrize(
    ("request_", "body", "ends"),
    [
        (
            Request("watch", NODES),
            b'{"message": "User \\"jane\\" cannot"}',
            (
                'add {apiGroups: [""], resources: [nodes], verbs: [list, watch]} to a ClusterRole '
                'that is bound to the user jane (User "jane" cannot)'
            ),
        ),
        (
            Request("list", SERVICES, "gpu"),
            b'{"message": "User \\"system:serviceaccount:a:b\\" cannot"}',
            (
                'add {apiGroups: [""], resources: [services], verbs: [list, watch]} to a Role in '
                "namespace gpu that is bound to the service account b in namespace a "
                '(User "system:serviceaccount:a:b" cannot)'
            ),
        ),
        (
            Request("list", NODES, "gpu"),
            b"",
            (
                'add {apiGroups: [""], resources: [nodes], verbs: [list, watch]} to a ClusterRole '
                "that is bound to us"
            ),
        ),
    ],
)
def test_the_missing_rule_is_written_out(request_: Request, body: bytes, ends: str) -> None:
    """It can be copied into the role; nodes are in no namespace, so a Role is of no use."""
    sentence = said(request_, 403, body)
    assert sentence == f"{request_.failed}: not allowed; {ends}"


@pytest.mark.parametrize(
    ("body", "shown"),
    [
        (b'{"message": "no\\nquota"}', " (no quota)"),
        (b'{"message": null}', ""),
        (b'{"message": 1}', ""),
        (b"<html>a proxy's page", ""),
        (b"upstream\r\nunavailable\x00", " (upstream unavailable)"),
        (b"\xff" * 4, " (\ufffd\ufffd\ufffd\ufffd)"),
        (b"x" * 1000, f" ({'x' * 297}...)"),
        (b"", ""),
    ],
)
def test_the_servers_words_are_one_short_line(body: bytes, shown: str) -> None:
    """A Status speaks by its message; pages of HTML are not repeated."""
    assert said(PODS_OF_ALL, 503, body) == (
        f"pods in all namespaces cannot be listed: HTTP status 503{shown}"
    )


@pytest.mark.parametrize(
    ("header", "body", "wait_s"),
    [
        ("", b"", 0),
        ("7", b"", 7),
        ("7", b'{"details": {"retryAfterSeconds": 3}}', 7),
        ("", b'{"details": {"retryAfterSeconds": 3}}', 3),
        ("", b'{"details": {"retryAfterSeconds": -3}}', 0),
        ("", b'{"details": null}', 0),
        ("Wed, 21 Oct 2026 07:28:00 GMT", b"", 0),
        ("99999", b"", 300),
    ],
)
def test_how_long_to_wait_is_said(header: str, body: bytes, wait_s: float) -> None:
    """In the header or the Status; a server that wants a day gets five minutes."""
    failed = fault.answered(PODS_OF_ALL, 429, {"Retry-After": header}, body)
    assert failed.retry_after_s == wait_s


@pytest.mark.parametrize(
    ("body", "status", "ends"),
    [
        (b'{"code": 410, "message": "too old"}', 410, "HTTP status 410 (too old)"),
        (b'{"message": "etcd went"}', 0, "the API server ended the stream (etcd went)"),
        (b"null", 0, "the API server ended the stream"),
    ],
)
def test_an_error_in_a_stream_is_a_failure(body: bytes, status: int, ends: str) -> None:
    """Its Status has the code that the answer's own no longer can have."""
    failed = fault.told(Request("watch", PODS), body)
    assert failed.status == status
    assert failed.sentence == f"pods in all namespaces cannot be watched: {ends}"


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("https://10.0.0.1", "10.0.0.1:443"),
        ("http://user:s3cret@host:8080/path?token=s3cret", "host:8080"),
        ("https://[fd00::1]:6443", "[fd00::1]:6443"),
        ("http://[", "the API server's URL"),
    ],
)
def test_of_a_url_the_place_is_shown(url: str, shown: str) -> None:
    """Nothing else of it, for it may hold secrets."""
    assert fault.where(url) == shown


def test_credentials_that_take_too_long_are_named() -> None:
    """There is no place yet whose fault it could be."""
    failed = fault.broken(PODS_OF_ALL, TimeoutError(), "", 30)
    assert "cannot be listed: its credentials: no answer in 30 s" in failed.sentence


def test_a_server_that_is_not_reached_is_told() -> None:
    """Something in between does not let us through."""
    unreachable = OSError(errno.EHOSTUNREACH, "No route to host")
    error = aiohttp.ClientConnectorError(cast("Any", None), unreachable)
    failed = fault.broken(PODS_OF_ALL, error, "http://host:1")
    assert failed.sentence.endswith(
        f"host:1: no connection ([Errno {errno.EHOSTUNREACH}] No route to host); do firewall and "
        "NetworkPolicy allow it?"
    )


def test_an_error_without_words_has_a_name() -> None:
    """Some have nothing but their kind."""
    failed = fault.broken(PODS_OF_ALL, aiohttp.ClientError(), "http://host:1")
    assert failed.sentence.endswith("host:1: the connection broke (ClientError)")


@pytest.mark.parametrize("scheme", ["http", "https"])
async def test_a_proxy_that_refuses_is_told(scheme: str) -> None:
    """It answers in the server's place, or does not let us through to it."""
    async with FakeProxy(status=403) as proxy:
        user = User(f"{scheme}://api.example:1", way={"proxy": proxy.url})
        async with Connection(user) as connection:
            answer = await connection.ask(PODS_OF_ALL)
    assert isinstance(answer, Failure)
    assert ("the proxy answered with HTTP status 403" in answer.sentence) == (scheme == "https")
