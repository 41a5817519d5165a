"""Keys of the HTTP client that do not go together.

The rules are those of prometheus/common 0.62, ``config/http_config.go``.
"""

from urllib.parse import urlsplit

from cwgpu.config.client import Authorization, BasicAuth, Client, OAuth2, Proxy, Tls
from cwgpu.config.node import Loc, short
from cwgpu.config.report import Report
from cwgpu.config.shape import Model

_CODE = "conflicting-keys"
_TLS_VERSIONS = ("", "TLS10", "TLS11", "TLS12", "TLS13")


def check(client: Client, report: Report, loc: Loc) -> None:
    """Complain about every pair of keys that exclude each other, and about missing partners."""
    bearer = "bearer_token_file" if client.bearer_token_file else "bearer_token"
    _one_of(client, report, loc, ("bearer_token", "bearer_token_file"))
    _one_of(client, report, loc, ("basic_auth", "authorization", "oauth2", bearer))
    _proxy(client, report, loc)
    if client.basic_auth:
        _basic(client.basic_auth, report, (*loc, "basic_auth"))
    if client.authorization:
        _authorization(client.authorization, report, (*loc, "authorization"))
    if client.oauth2:
        _oauth2(client.oauth2, report, (*loc, "oauth2"))
    if client.tls_config:
        _tls(client.tls_config, report, (*loc, "tls_config"))


def url_fault(url: str) -> str | None:
    """Say why this is no URL that something can be fetched from; None when it is."""
    try:
        parts = urlsplit(url)
        _ = parts.port
    except ValueError as error:
        return f"is no URL: {error}"
    if parts.scheme not in ("http", "https"):
        return "must begin with http:// or https://"
    return None if parts.hostname else "names no host"


def _one_of(model: Model, report: Report, loc: Loc, names: tuple[str, ...]) -> None:
    given = [name for name in names if getattr(model, name)]
    if len(given) > 1:
        message = f"{' and '.join(given)} exclude each other"
        report.error((*loc, given[1]), _CODE, message, "keep one of them")


def _basic(basic: BasicAuth, report: Report, loc: Loc) -> None:
    _one_of(basic, report, loc, ("username", "username_file"))
    _one_of(basic, report, loc, ("password", "password_file"))


def _authorization(authorization: Authorization, report: Report, loc: Loc) -> None:
    _one_of(authorization, report, loc, ("credentials", "credentials_file"))
    if authorization.type.strip().lower() == "basic":
        message = "authorization cannot be of type Basic"
        report.error((*loc, "type"), _CODE, message, "write basic_auth with username and password")


def _oauth2(oauth2: OAuth2, report: Report, loc: Loc) -> None:
    _one_of(oauth2, report, loc, ("client_secret", "client_secret_file"))
    for name in ("client_id", "token_url"):
        if not getattr(oauth2, name):
            report.error((*loc, name), "missing-key", f"oauth2 needs {name}")
    _proxy(oauth2, report, loc)
    if oauth2.tls_config:
        _tls(oauth2.tls_config, report, (*loc, "tls_config"))


def _tls(tls: Tls, report: Report, loc: Loc) -> None:
    for name in ("ca", "cert", "key"):
        _one_of(tls, report, loc, (name, f"{name}_file"))
    has_cert, has_key = bool(tls.cert or tls.cert_file), bool(tls.key or tls.key_file)
    if has_cert != has_key:
        missing = "key_file" if has_cert else "cert_file"
        message = "a client certificate needs both cert_file and key_file"
        report.error((*loc, missing), "missing-key", message, f"add {missing}")
    for name in ("min_version", "max_version"):
        if getattr(tls, name) not in _TLS_VERSIONS:
            message = f"{short(getattr(tls, name))} is no TLS version"
            report.error((*loc, name), "wrong-value", message, "write TLS10, TLS11, TLS12 or TLS13")


def _proxy(proxy: Proxy, report: Report, loc: Loc) -> None:
    _one_of(proxy, report, loc, ("proxy_from_environment", "proxy_url"))
    _one_of(proxy, report, loc, ("proxy_from_environment", "no_proxy"))
    some = bool(proxy.proxy_url or proxy.proxy_from_environment)
    for name in ("no_proxy", "proxy_connect_header"):
        if getattr(proxy, name) and not some:
            report.error((*loc, name), "missing-key", f"{name} needs proxy_url")
    if proxy.proxy_url:
        try:
            urlsplit(proxy.proxy_url)
        except ValueError as error:
            report.error((*loc, "proxy_url"), "bad-url", f"proxy_url is no URL: {error}")
