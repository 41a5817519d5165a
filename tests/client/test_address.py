"""URLs of targets, with IPv6 addresses in them."""

import pytest

from cwgpu.client import address


@pytest.mark.parametrize(
    ("text", "host", "port"),
    [
        ("http://10.0.0.1/metrics", "10.0.0.1", 80),
        ("http://exporter:9400/metrics", "exporter", 9400),
        ("http://[2001:db8::5]:9400/metrics", "2001:db8::5", 9400),
        ("http://[2001:db8::5]/metrics", "2001:db8::5", 80),
        ("http://2001:db8::5/metrics", "2001:db8::5", 80),
        ("https://::1/metrics?a=b::c", "::1", 443),
        ("http://::ffff:10.0.0.1", "::ffff:a00:1", 80),
        ("http://user:a:b@exporter/metrics", "exporter", 80),
        ("http://exporter/a:b:c", "exporter", 80),
    ],
)
def test_an_address_needs_no_brackets(text: str, host: str, port: int) -> None:
    """An IPv6 address is the host, with brackets or without; other colons mean what they did."""
    read = address.url(text)
    assert (read.host, read.port) == (host, port)


@pytest.mark.parametrize(
    "text", ["http://a:b:c/metrics", "http://::1:x/metrics", "http://[::1/", "http://[]@"]
)
def test_what_is_no_address_is_refused(text: str) -> None:
    """Two colons alone make no IPv6 address."""
    with pytest.raises(ValueError, match=r"URL|port|host"):
        address.url(text)
