"""What a URL must be, as Go's ``net/url`` has it (https://pkg.go.dev/net/url#Parse).

Python's own parser takes blanks in hosts, ports of letters and broken escapes, which Prometheus
refuses. No sentence here repeats the URL: it may hold a password.
"""

import re
from dataclasses import dataclass

_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*(?=:)")
_BAD_ESCAPE = re.compile(r"%(?![0-9A-Fa-f]{2})")
_USER = re.compile(r"[A-Za-z0-9._:~!$&'()*+,;=%@-]*")
_HOST = re.compile(
    r"(?:[A-Za-z0-9._~!$&'()*+,;=:\[\]<>\"-]|[^\x00-\x7f]|%25|%[89A-Fa-f][0-9A-Fa-f])*"
)
_PORT = re.compile(r"(?::[0-9]*)?")


@dataclass(frozen=True, slots=True)
class Url:
    """The parts that somebody asks for."""

    scheme: str
    """In lower case; empty when there is none."""
    host: str
    """Without the port."""


class UrlError(ValueError):
    """What is wrong with a URL, such that ``the URL ...`` makes a sentence."""


def parse(text: str) -> Url:
    """Read a URL or raise UrlError, for what Go refuses and nothing else."""
    whole, _, fragment = text.partition("#")
    if _CONTROL.search(whole):
        raise UrlError("holds a control character")
    if whole.startswith(":"):
        raise UrlError("begins with a colon")
    found = _SCHEME.match(whole)
    scheme = found[0].lower() if found else ""
    rest = (whole[len(scheme) + 1 :] if found else whole).partition("?")[0]
    if found and not rest.startswith("/"):
        authority, path = "", ""  # such as mailto:somebody, which is never looked into
    elif ":" in rest.partition("/")[0]:
        raise UrlError("has a colon before its first slash, but no scheme")
    elif rest.startswith("//") and (found or not rest.startswith("///")):
        authority, slash, path = rest[2:].partition("/")
        path = slash + path
    else:
        authority, path = "", rest
    if _BAD_ESCAPE.search(path) or _BAD_ESCAPE.search(fragment):
        raise UrlError("has a % that two hexadecimal digits do not follow")
    return Url(scheme, _host(authority))


def web_fault(text: str) -> str | None:
    """Say why nothing can be fetched from there; None when something can."""
    try:
        parts = parse(text)
    except UrlError as error:
        return str(error)
    if parts.scheme not in ("http", "https"):
        return "must begin with http:// or https://"
    return None if parts.host else "names no host"


def _host(authority: str) -> str:
    user, _, host = authority.rpartition("@")
    if not _USER.fullmatch(user) or _BAD_ESCAPE.search(user):
        raise UrlError("has a user or password that needs escapes such as %2F")
    if host.startswith("["):
        name, bracket, port = host.rpartition("]")
        name += bracket
        if not bracket:
            raise UrlError("has a [ without a ]")
    else:
        name, colon, port = host.rpartition(":")
        name, port = (name, colon + port) if colon else (host, "")
    if not _PORT.fullmatch(port):
        raise UrlError("has a port that is no number")
    if not _HOST.fullmatch(name) or "[" in name[1:]:
        raise UrlError("has a host with characters that no host has")
    return name
