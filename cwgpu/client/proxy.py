"""The way to a server: straight, or through which proxy.

The rules are those of Go's ``httpproxy``, which Prometheus asks as soon as there is a ``no_proxy``
or ``proxy_from_environment``: then localhost and loopback addresses are always reached straight.
With ``proxy_url`` alone everything goes through the proxy.
https://pkg.go.dev/golang.org/x/net/http/httpproxy#Config
"""

import contextlib
import ipaddress
from collections.abc import Mapping
from typing import TypeAlias

from yarl import URL

from cwgpu.client import address as addresses
from cwgpu.client.failure import ProxyError
from cwgpu.plan.client import Proxy

_Address: TypeAlias = ipaddress.IPv4Address | ipaddress.IPv6Address


def choose(proxy: Proxy, url: URL, environ: Mapping[str, str]) -> URL | None:
    """Give the proxy for a URL, or None for the straight way; raises ProxyError."""
    if proxy.from_environment:
        # Requests to https go by HTTPS_PROXY, all others by HTTP_PROXY.
        name = "HTTPS_PROXY" if url.scheme == "https" else "HTTP_PROXY"
        through, no_proxy = _variable(environ, name), _variable(environ, "NO_PROXY")
        rules = True
    else:
        name, through, no_proxy = "proxy_url", proxy.url, proxy.no_proxy
        rules = bool(no_proxy)
    if not through or (rules and _straight(url, no_proxy)):
        return None
    return _parsed(through, name)


def _variable(environ: Mapping[str, str], name: str) -> str:
    return environ.get(name) or environ.get(name.lower(), "")


def _parsed(through: str, name: str) -> URL:
    written = through if "://" in through else f"http://{through}"
    try:
        url = addresses.url(written)
    except ValueError as error:
        raise ProxyError(f"{name} is no URL; write http://HOST:PORT") from error
    if url.scheme not in {"http", "https"} or not url.raw_host:
        found = f"{name} is no http or https URL with a host"
        raise ProxyError(f"{found}, and no other proxy can be used; write http://HOST:PORT")
    return url


def _straight(url: URL, no_proxy: str) -> bool:
    host = (url.raw_host or "").lower()
    address = _address(host)
    if host == "localhost" or (address is not None and address.is_loopback):
        return True
    rules = [rule.strip().lower() for rule in no_proxy.split(",")]
    return any(_matches(rule, host, url.port, address) for rule in rules if rule)


def _matches(rule: str, host: str, port: int | None, address: _Address | None) -> bool:
    if rule == "*":
        return True
    network = _network(rule)
    if network is not None:
        return address is not None and address in network
    name, of_port = _split(rule)
    if of_port and of_port != str(port):
        return False
    as_address = _address(name)
    if as_address is not None:
        return address == as_address
    return bool(name) and _in_domain(name, host)


def _network(rule: str) -> ipaddress.IPv4Network | ipaddress.IPv6Network | None:
    try:
        return ipaddress.ip_network(rule, strict=False) if "/" in rule else None
    except ValueError:
        return None


def _in_domain(name: str, host: str) -> bool:
    domain = name[1:] if name.startswith("*.") else name
    with contextlib.suppress(UnicodeError):
        domain = domain.encode("idna").decode()
    if domain.startswith("."):
        return host.endswith(domain)
    return host == domain or host.endswith(f".{domain}")


def _split(rule: str) -> tuple[str, str]:
    if rule.startswith("["):
        name, _, rest = rule[1:].partition("]")
        return name, rest.removeprefix(":")
    if rule.count(":") == 1:
        name, _, port = rule.partition(":")
        return name, port
    return rule, ""


def _address(text: str) -> _Address | None:
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        return None
    mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
    return mapped or address
