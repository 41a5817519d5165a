"""Where redirects lead, and who may see credentials."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from yarl import URL

from cwgpu.client import redirect
from cwgpu.client.failure import RedirectError


@pytest.mark.parametrize(
    ("location", "to"),
    [
        ("/b?x=1", "http://node-1:9400/b?x=1"),
        ("b", "http://node-1:9400/a/b"),
        ("?x=1", "http://node-1:9400/a/metrics?x=1"),
        ("//node-2/b", "http://node-2/b"),
        ("https://node-2/b", "https://node-2/b"),
    ],
)
def test_a_location_is_seen_from_where_it_was_given(location: str, to: str) -> None:
    """Relative references are resolved."""
    assert redirect.destination(URL("http://node-1:9400/a/metrics"), location) == URL(to)


@pytest.mark.parametrize("location", ["ftp://node-1/", "http://[::1", "http:///x", "data:,x"])
def test_what_is_no_http_url_is_not_followed(location: str) -> None:
    """A redirect to nowhere is an error."""
    with pytest.raises(RedirectError, match="no HTTP URL"):
        redirect.destination(URL("http://node-1/"), location)


@pytest.mark.parametrize(
    ("url", "to", "kept"),
    [
        ("http://a:1/x", "http://a:1/y", True),
        ("http://a/x", "http://a:80/y", True),
        ("http://a:9400/", "https://a:9443/", True),
        ("http://a/", "https://a/", True),
        ("http://A/", "http://a/", True),
        ("https://a/", "http://a/", False),
        ("https://a:1/", "http://a:1/", False),
        ("http://a:1/", "http://a:2/", False),
        ("https://a:1/", "https://a:2/", False),
        ("http://a/", "http://b/", False),
        ("http://a/", "https://b/", False),
        ("http://a/", "http://b.a/", False),
        ("http://b.a/", "http://a/", False),
    ],
)
def test_credentials_stay_with_their_host(url: str, to: str, kept: bool) -> None:  # noqa: FBT001
    """They follow to the same server, and from http to https of the same host; nowhere else."""
    assert redirect.keeps_credentials(URL(url), URL(to)) is kept


@given(st.text(max_size=40) | st.text("htps:/[]@?#.%0\ud800 \n", max_size=20))
def test_no_location_is_an_exception(location: str) -> None:
    """Whatever a server says, it is a URL of HTTP with a host, or a redirect to nowhere."""
    try:
        to = redirect.destination(URL("http://node-1/"), location)
    except RedirectError:
        return
    assert to.scheme in {"http", "https"}
    assert to.raw_host
