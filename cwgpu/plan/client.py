"""How a web server is spoken to: the HTTP client's keys of prometheus.yml, checked and at rest.

https://prometheus.io/docs/prometheus/latest/configuration/configuration/#http_config
"""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Secret:
    """A text that must not be shown, or the absolute path of the file that holds it."""

    text: str = field(default="", repr=False)
    file: str = ""


@dataclass(frozen=True, slots=True)
class BasicAuth:
    """User and password."""

    username: Secret
    password: Secret


@dataclass(frozen=True, slots=True)
class Authorization:
    """What the Authorization header says; a bearer token is the type ``Bearer``."""

    type: str
    credentials: Secret


@dataclass(frozen=True, slots=True)
class Tls:
    """What is shown to and asked of a TLS server; certificates and keys are PEM."""

    ca: Secret | None = None
    """None trusts the system's authorities."""
    cert: Secret | None = None
    key: Secret | None = None
    server_name: str = ""
    """Name that the certificate must have; empty is the host of the URL."""
    insecure_skip_verify: bool = False
    min_version: str = ""
    """``TLS10`` to ``TLS13``; empty is TLS12, as Go has it."""
    max_version: str = ""


@dataclass(frozen=True, slots=True)
class Proxy:
    """The way to the server."""

    url: str = field(default="", repr=False)
    """Empty goes straight there; may hold a password."""
    no_proxy: str = ""
    """Hosts, domains and networks with commas between, that are reached straight."""
    from_environment: bool = False
    """Take HTTP_PROXY, HTTPS_PROXY and NO_PROXY instead."""
    connect_headers: Mapping[str, tuple[Secret, ...]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class OAuth2:
    """Client credentials, https://www.rfc-editor.org/rfc/rfc6749#section-4.4."""

    client_id: str
    client_secret: Secret
    token_url: str
    scopes: tuple[str, ...] = ()
    endpoint_params: Mapping[str, str] = field(default_factory=dict, repr=False)
    tls: Tls = field(default_factory=Tls)
    proxy: Proxy = field(default_factory=Proxy)


@dataclass(frozen=True, slots=True)
class Client:
    """All of it. The default asks plainly and straight, and verifies TLS."""

    credentials: BasicAuth | Authorization | OAuth2 | None = None
    tls: Tls = field(default_factory=Tls)
    proxy: Proxy = field(default_factory=Proxy)
    follow_redirects: bool = True
    headers: Mapping[str, tuple[Secret, ...]] = field(default_factory=dict)
    """Added to each request; several values are several fields."""
