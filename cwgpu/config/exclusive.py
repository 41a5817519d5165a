"""Keys of the HTTP client that do not go together, or that would do nothing good.

What is refused is what prometheus/common 0.62 refuses, ``config/http_config.go`` and
``config/headers.go``; what it takes and then cannot use gives a warning.
"""

import re
from collections.abc import Iterable

from cwgpu.config import url
from cwgpu.config.client import Authorization, BasicAuth, Client, OAuth2, Proxy, Tls
from cwgpu.config.node import Kind, Loc
from cwgpu.config.report import Report
from cwgpu.config.shape import Model

_CODE = "conflicting-keys"

_RESERVED = """
    authorization host content-encoding content-length content-type user-agent connection
    keep-alive proxy-authenticate proxy-authorization www-authenticate accept-encoding
    x-prometheus-remote-write-version x-prometheus-remote-read-version
    x-prometheus-scrape-timeout-seconds x-amz-date x-amz-security-token x-amz-content-sha256
"""
_OURS = frozenset(_RESERVED.split())
"""Headers that http_headers may not set, ``reservedHeaders`` in lower case."""
# A token, https://www.rfc-editor.org/rfc/rfc9110#name-tokens, and a value without its end.
_NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")
_VALUE = re.compile(r"[^\x00-\x08\x0a-\x1f\x7f]*")


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
    _headers(client, report, (*loc, "http_headers"))


def usable(name: str, values: Iterable[str]) -> bool:
    """Tell whether HTTP allows such a header."""
    return bool(_NAME.fullmatch(name)) and all(map(_VALUE.fullmatch, values))


def _headers(client: Client, report: Report, loc: Loc) -> None:
    for name, header in client.http_headers.items():
        if name.lower() in _OURS:
            advice = "write authorization" if name.lower() == "authorization" else "leave it out"
            message = f"http_headers may not set {name}"
            report.refuse((*loc, name), _CODE, message, advice)
        _header(name, (*header.values, *header.secrets), report, (*loc, name))


def _header(name: str, values: Iterable[str], report: Report, loc: Loc) -> None:
    if not usable(name, values):
        what = "a value" if _NAME.fullmatch(name) else "a name"
        message = f"HTTP has no header with such {what}, so that it is left out"
        advice = "names are letters, digits and -; values stand on one line: write >- for |"
        report.warning(loc, "header-left-out", message, advice)


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
    if tls.min_version and tls.max_version and tls.max_version < tls.min_version:
        message = f"no version of TLS is between {tls.min_version} and {tls.max_version}"
        advice = "write a max_version that is not below min_version, or leave it out"
        report.warning((*loc, "max_version"), "no-tls-version", message, advice)


def _proxy(proxy: Proxy, report: Report, loc: Loc) -> None:
    _one_of(proxy, report, loc, ("proxy_from_environment", "proxy_url"))
    _one_of(proxy, report, loc, ("proxy_from_environment", "no_proxy"))
    given = report.root.find((*loc, "proxy_url"))
    some = bool(proxy.proxy_url or proxy.proxy_from_environment)
    # An empty text is enough for no_proxy, but not for headers, and null is for neither.
    named = some or (given is not None and given.kind is not Kind.NULL)
    if proxy.no_proxy and not named:
        report.error((*loc, "no_proxy"), "missing-key", "no_proxy needs proxy_url")
    if proxy.proxy_connect_header and not some:
        message = "proxy_connect_header needs proxy_url or proxy_from_environment"
        report.error((*loc, "proxy_connect_header"), "missing-key", message)
    for name, values in proxy.proxy_connect_header.items():
        _header(name, values, report, (*loc, "proxy_connect_header", name))
    if proxy.proxy_url:
        _proxy_url(proxy.proxy_url, report, (*loc, "proxy_url"))


def _proxy_url(written: str, report: Report, loc: Loc) -> None:
    try:
        url.parse(written)
    except url.UrlError as error:
        report.error(loc, "bad-url", f"proxy_url {error}")
        return
    # A proxy without a scheme is one of HTTP, as in the environment.
    fault = url.web_fault(written if "://" in written else f"http://{written}")
    if fault:
        message = f"nothing can go through this proxy, so that every request fails: it {fault}"
        advice = "write http://HOST:PORT of an HTTP proxy; no other kind can be used here"
        report.warning(loc, "proxy-unusable", message, advice)
