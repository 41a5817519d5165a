"""URLs are taken and refused as Go takes and refuses them."""

import pytest

from cwgpu.config import url


@pytest.mark.parametrize(
    ("text", "scheme", "host"),
    [
        ("http://a", "http", "a"),
        ("HTTPS://a.b:8080/c?d=%zz#e", "https", "a.b"),
        ("http://me:p%2Fw@a:1", "http", "a"),
        ("http://[::1]:80/x", "http", "[::1]"),
        ("http://[::1]", "http", "[::1]"),
        ("http://:80", "http", ""),
        ("http:///a", "http", ""),
        ("socks5://a:1080", "socks5", "a"),
        ("a:3128", "a", ""),
        ("proxy", "", ""),
        ("/a:b", "", ""),
        ("//a/b", "", "a"),
        ("///a", "", ""),
        ("", "", ""),
        ("http://é.example", "http", "é.example"),
        ("http://%C3%A9", "http", "%C3%A9"),
        ("1a/b", "", ""),
    ],
)
def test_what_go_takes(text: str, scheme: str, host: str) -> None:
    """The scheme is in lower case, the host without user and port."""
    assert url.parse(text) == url.Url(scheme, host)


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("http://[::1", "has a [ without a ]"),
        ("http://a[b", "has a host with characters that no host has"),
        ("http://a b", "has a host with characters that no host has"),
        ("http://a%41", "has a host with characters that no host has"),
        ("http://a:x", "has a port that is no number"),
        ("http://[::1]x", "has a port that is no number"),
        ("http://a b:p@c", "has a user or password that needs escapes such as %2F"),
        ("http://a%:p@c", "has a user or password that needs escapes such as %2F"),
        (":a", "begins with a colon"),
        ("1a:b", "has a colon before its first slash, but no scheme"),
        ("http://a/%zz", "has a % that two hexadecimal digits do not follow"),
        ("http://a#%", "has a % that two hexadecimal digits do not follow"),
        ("http://a\t", "holds a control character"),
    ],
)
def test_what_go_refuses(text: str, fault: str) -> None:
    """The fault is named without repeating the URL."""
    with pytest.raises(url.UrlError) as caught:
        url.parse(text)
    assert str(caught.value) == fault
    assert url.web_fault(text) == fault


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("http://a/b", None),
        ("HTTPS://me:pw@a:1", None),
        ("ftp://a", "must begin with http:// or https://"),
        ("a:9400", "must begin with http:// or https://"),
        ("", "must begin with http:// or https://"),
        ("http:///b", "names no host"),
        ("http://:80", "names no host"),
    ],
)
def test_what_something_can_be_fetched_from(text: str, fault: str | None) -> None:
    """It needs a scheme that is spoken, and a host."""
    assert url.web_fault(text) == fault
