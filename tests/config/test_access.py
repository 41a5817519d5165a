"""The HTTP client's keys become a client."""

import pytest

from cwgpu.config.complaint import Complaint
from cwgpu.plan.client import (
    Authorization,
    BasicAuth,
    Client,
    OAuth2,
    Proxy,
    Secret,
    Tls,
)
from tests.config.test_jobs import job, said


def client(keys: str) -> Client:
    """Make the client of a job in /etc/gpu."""
    return job(keys).client


def complaints(keys: str) -> list[Complaint]:
    """Give what is said about the keys of a job that has targets."""
    return said(
        f"scrape_configs:\n- job_name: gpu\n  {keys}\n  static_configs: [{{targets: ['a:1']}}]\n"
    )


@pytest.mark.parametrize("keys", ["", "basic_auth:", "enable_http2: false", "oauth2: ~"])
def test_nothing_written_is_the_plain_client(keys: str) -> None:
    """Without keys, or without values, a server is asked plainly."""
    assert client(keys) == Client()


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        ("basic_auth: {username: u, password: p}", BasicAuth(Secret("u"), Secret("p"))),
        (
            "basic_auth: {username_file: u, password_file: /p}",
            BasicAuth(Secret(file="/etc/gpu/u"), Secret(file="/p")),
        ),
        ("basic_auth: {}", BasicAuth(Secret(), Secret())),
        ("authorization: {credentials: c}", Authorization("Bearer", Secret("c"))),
        ("authorization: {type: ' Token '}", Authorization("Token", Secret())),
        ("authorization: {type: }", Authorization("Bearer", Secret())),
        (
            "authorization: {credentials_file: c}",
            Authorization("Bearer", Secret(file="/etc/gpu/c")),
        ),
        ("bearer_token: t", Authorization("Bearer", Secret("t"))),
        ("bearer_token_file: t", Authorization("Bearer", Secret(file="/etc/gpu/t"))),
    ],
)
def test_credentials(keys: str, expected: object) -> None:
    """A bearer token is an authorization; names of files begin where the configuration is."""
    assert client(keys).credentials == expected


def test_oauth2() -> None:
    """Every key of it arrives."""
    keys = """oauth2:
      client_id: me
      client_secret_file: s
      token_url: https://issuer/token
      scopes: [a, b]
      endpoint_params: {audience: gpu}
      tls_config: {ca_file: ca.pem}
      proxy_url: http://proxy:3128
      no_proxy: internal"""
    assert client(keys).credentials == OAuth2(
        client_id="me",
        client_secret=Secret(file="/etc/gpu/s"),
        token_url="https://issuer/token",  # noqa: S106 - no password
        scopes=("a", "b"),
        endpoint_params={"audience": "gpu"},
        tls=Tls(ca=Secret(file="/etc/gpu/ca.pem")),
        proxy=Proxy("http://proxy:3128", "internal"),
    )


def test_tls() -> None:
    """Every key of it arrives; files and texts alike."""
    keys = """tls_config:
      ca_file: ca.pem
      cert: CERT
      key: KEY
      server_name: exporter
      insecure_skip_verify: yes
      min_version: TLS12
      max_version: TLS13"""
    assert client(keys).tls == Tls(
        ca=Secret(file="/etc/gpu/ca.pem"),
        cert=Secret("CERT"),
        key=Secret("KEY"),
        server_name="exporter",
        insecure_skip_verify=True,
        min_version="TLS12",
        max_version="TLS13",
    )


def test_versions_of_tls_may_be_left_open() -> None:
    """A version without a value is the default, as in Go."""
    assert client("tls_config: {min_version: , max_version: ~}").tls == Tls()


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        ("proxy_url: http://p:1", Proxy("http://p:1")),
        ("proxy_url: http://p:1\n  no_proxy: a,b", Proxy("http://p:1", "a,b")),
        ("proxy_from_environment: true", Proxy(from_environment=True)),
        (
            "proxy_url: https://p\n  proxy_connect_header: {X: [a, b], Y: }",
            Proxy("https://p", connect_headers={"X": (Secret("a"), Secret("b")), "Y": ()}),
        ),
    ],
)
def test_proxy(keys: str, expected: Proxy) -> None:
    """The way to the server is written, or taken from the environment."""
    assert client(keys).proxy == expected


def test_headers() -> None:
    """Values come before secrets, and those before files."""
    keys = "http_headers: {X-A: {files: [f], secrets: [s], values: [v, w]}, X-B: , X-C: {}}"
    assert client(keys).headers == {
        "X-A": (Secret("v"), Secret("w"), Secret("s"), Secret(file="/etc/gpu/f")),
        "X-B": (),
        "X-C": (),
    }


def test_redirects() -> None:
    """Redirects are followed, unless the key says no or nothing."""
    assert client("").follow_redirects
    assert not client("follow_redirects: off").follow_redirects
    assert not client("follow_redirects:").follow_redirects


@pytest.mark.parametrize(
    ("keys", "code", "level"),
    [
        ("proxy_url: socks5://p:1080", "proxy-unusable", "warning"),
        ("proxy_url: a b", "proxy-unusable", "warning"),
        ("proxy_url: http://:3128", "proxy-unusable", "warning"),
        ("proxy_url: ''\n  proxy_connect_header: {a: [b]}", "missing-key", "error"),
        ("proxy_url: ~\n  no_proxy: a", "missing-key", "error"),
        ("proxy_from_environment: on\n  no_proxy: a", "conflicting-keys", "error"),
        ("http_headers: {authorization: {values: [a]}}", "conflicting-keys", "error"),
        ("http_headers: {User-Agent: {values: [a]}}", "conflicting-keys", "error"),
        ("http_headers: {'X A': {values: [a]}}", "header-left-out", "warning"),
        ("http_headers: {X: {values: ['a', \"a\\nb\"]}}", "header-left-out", "warning"),
        ("tls_config: {min_version: TLS13, max_version: TLS12}", "no-tls-version", "warning"),
        ("tls_config: {min_version: ''}", "wrong-value", "error"),
        ("bearer_token: a\n  basic_auth: {}", "conflicting-keys", "error"),
    ],
)
def test_what_cannot_work(keys: str, code: str, level: str) -> None:
    """What Prometheus refuses is an error; what it takes and cannot use either, a warning."""
    assert [(each.code, each.level.value) for each in complaints(keys)] == [(code, level)]


@pytest.mark.parametrize(
    "keys",
    [
        "proxy_url: ''\n  no_proxy: a",
        "proxy_url: proxy",
        "proxy_url: proxy:3128",
        "proxy_from_environment: true\n  proxy_connect_header: {a: [b]}",
        'http_headers: {X-A: {values: [a, "b\\tc"]}}',
        "basic_auth:\n  authorization: {credentials_file: a}",
    ],
)
def test_what_goes_together(keys: str) -> None:
    """Keys that Prometheus takes beside each other are taken."""
    assert complaints(keys) == []


def test_headers_that_http_does_not_have_are_left_out() -> None:
    """The others are sent all the same, to the proxy, too."""
    made = client(
        "http_headers: {'X A': {values: [a]}, B: {values: [b]}}\n"
        "  proxy_url: http://p\n  proxy_connect_header: {'': [a], B: [\"b\\r\"], C: [c]}"
    )
    assert made.headers == {"B": (Secret("b"),)}
    assert made.proxy.connect_headers == {"C": (Secret("c"),)}


def test_a_plan_does_not_show_secrets() -> None:
    """What is printed of a client holds none of them."""
    keys = """basic_auth: {username: hunter1, password: hunter2}
  tls_config: {cert: hunter2, key: hunter2}
  proxy_url: http://me:hunter2@proxy:3128
  http_headers: {X: {secrets: [hunter2]}}"""
    assert "hunter" not in repr(job(keys))
