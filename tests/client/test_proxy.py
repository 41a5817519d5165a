"""Which way a request goes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from yarl import URL

from cwgpu.client import proxy
from cwgpu.client.failure import ProxyError
from cwgpu.plan.client import Proxy

THROUGH = "http://proxy:3128"


def way(url: str, given: Proxy, **environ: str) -> str | None:
    """Give the proxy for a URL as text."""
    through = proxy.choose(given, URL(url), environ)
    return None if through is None else str(through)


def test_without_a_proxy_the_way_is_straight() -> None:
    """The environment's proxies are not ours to take."""
    assert way("http://node-1/", Proxy(), HTTP_PROXY=THROUGH) is None
    assert way("http://node-1/", Proxy(no_proxy="x"), HTTP_PROXY=THROUGH) is None


@pytest.mark.parametrize("url", ["http://node-1/", "https://node-1/", "http://127.0.0.1/"])
def test_proxy_url_alone_is_for_everything(url: str) -> None:
    """Loopback goes through the proxy, too, as in Prometheus."""
    assert way(url, Proxy(url=THROUGH)) == THROUGH


@pytest.mark.parametrize(
    ("no_proxy", "straight", "through"),
    [
        ("*", ["http://node-1/", "http://10.0.0.1/"], []),
        ("a, * ,b", ["http://node-1/"], []),
        ("x", ["http://localhost/", "http://127.0.0.9/", "http://[::1]/"], ["http://node-1/"]),
        (
            "example.com",
            ["http://example.com/", "http://a.b.EXAMPLE.com/"],
            ["http://badexample.com/", "http://com/"],
        ),
        (".example.com", ["http://a.example.com/"], ["http://example.com/"]),
        ("*.example.com", ["http://a.example.com/"], ["http://example.com/"]),
        ("*example.com", [], ["http://a.example.com/", "http://example.com/"]),
        (
            "example.com:8080",
            ["http://example.com:8080/", "https://a.example.com:8080/"],
            ["http://example.com/"],
        ),
        ("example.com:443", ["https://example.com/"], ["http://example.com/"]),
        ("10.0.0.1", ["http://10.0.0.1:9400/"], ["http://10.0.0.11/", "http://x.10.0.0.1.nip/"]),
        ("10.0.0.1:9400", ["http://10.0.0.1:9400/"], ["http://10.0.0.1:9401/"]),
        ("10.0.0.0/8", ["http://10.255.0.1/"], ["http://11.0.0.1/", "http://node-1/"]),
        ("10.1.2.3/8", ["http://10.255.0.1/"], ["http://11.0.0.1/"]),
        ("fd00::/8", ["http://[fd12::1]:9400/"], ["http://[2001:db8::1]/", "http://10.0.0.1/"]),
        ("2001:db8::1", ["http://[2001:db8::1]:9400/"], ["http://[2001:db8::2]/"]),
        ("[2001:db8::1]:9400", ["http://[2001:db8::1]:9400/"], ["http://[2001:db8::1]/"]),
        ("[2001:db8::1]", ["http://[2001:db8::1]/"], ["http://[2001:db8::2]/"]),
        ("::ffff:10.0.0.1", ["http://10.0.0.1/"], ["http://10.0.0.2/"]),
        ("bücher.example", ["http://xn--bcher-kva.example/"], ["http://b.example/"]),
        (" , ,:80,a/b,10.0.0.0/99", [], ["http://node-1/", "http://10.0.0.1/"]),
        ("a..b", [], ["http://node-1/"]),
    ],
)
def test_no_proxy_lists_who_is_reached_straight(
    no_proxy: str, straight: list[str], through: list[str]
) -> None:
    """Hosts, domains, addresses, networks and ports, as Go's httpproxy reads them."""
    given = Proxy(url=THROUGH, no_proxy=no_proxy)
    assert [url for url in straight if way(url, given) is not None] == []
    assert [url for url in through if way(url, given) != THROUGH] == []


def test_the_environment_is_asked_where_the_job_says_so() -> None:
    """Each scheme has its variable, in either case; NO_PROXY counts."""
    given = Proxy(from_environment=True)
    environ = {"HTTP_PROXY": "http://one:1", "https_proxy": "http://two:2", "NO_PROXY": "node-9"}
    assert way("http://node-1/", given, **environ) == "http://one:1"
    assert way("https://node-1/", given, **environ) == "http://two:2"
    assert way("http://node-9/", given, **environ) is None
    assert way("http://localhost/", given, **environ) is None
    assert way("http://127.0.0.1/", given, **environ) is None
    assert way("http://node-1/", given) is None
    assert way("http://node-1/", given, HTTP_PROXY="http://one:1", no_proxy="*") is None
    assert way("http://node-1/", given, HTTP_PROXY="http://a:1", http_proxy="http://b:1") == (
        "http://a:1"
    )


def test_a_proxy_may_be_written_without_scheme() -> None:
    """Host and port alone are an HTTP proxy's."""
    given = Proxy(from_environment=True)
    assert way("http://node-1/", given, HTTP_PROXY="proxy:3128") == "http://proxy:3128"


@pytest.mark.parametrize("url", ["socks5://proxy:1080", "http://", "http://[::1", "ftp://p/"])
def test_other_proxies_cannot_be_used(url: str) -> None:
    """What is no HTTP proxy is refused, and the sentence holds no password."""
    with pytest.raises(ProxyError, match=r"proxy_url is no .*http://HOST:PORT"):
        way("http://node-1/", Proxy(url=url))
    with pytest.raises(ProxyError) as caught:
        way("http://node-1/", Proxy(url="socks5://u:hunter2@proxy:1080"))
    assert "hunter2" not in str(caught.value)


@given(st.text(".*:/[]0a,é%", max_size=12), st.sampled_from(["node-1", "10.0.0.1", "[::2]"]))
def test_any_list_of_exceptions_is_read(no_proxy: str, host: str) -> None:
    """Entries that are malformed are exceptions for nobody."""
    assert way(f"http://{host}/", Proxy(url=THROUGH, no_proxy=no_proxy)) in {None, THROUGH}


@given(st.text(max_size=12) | st.text("htps:/@[]%0\ud800", max_size=12).map("http://".__add__))
def test_any_proxy_is_one_or_an_error(url: str) -> None:
    """What cannot be used is said to be so."""
    try:
        through = proxy.choose(Proxy(url=url), URL("http://node-1/"), {})
    except ProxyError:
        return
    assert through is None or through.raw_host
