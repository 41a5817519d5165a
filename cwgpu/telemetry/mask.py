"""Secrets out of everything that is written down.

The journal goes to places that more people read than may hold our keys. Masking errs on the side of
hiding: a harmless ``key=...`` in a URL is hidden, too.
"""

import re
from collections.abc import Callable
from typing import TypeAlias

MASK = "***"

# What the name of a parameter, field or header of a secret ends with. ("ExpiredTokenException: ..."
# is the name of an error and tells what is wrong.)
_SECRET_NAME = re.compile(
    r"(?:secrets?|secret_?(?:id|key|string)|tokens?|passw(?:or)?d|passphrase|pwd|credentials?"
    r"|authorization|signature|cookie|api_?key|(?:access|private)_?key(?:_?id)?)$",
    re.IGNORECASE,
)
# In a URL's query these are secrets as well: ?key=..., ?auth=..., ?sig=...
_SECRET_PARAMETER = re.compile(r"(?:^|[-_.])(?:key|auth|sig|code|session)$", re.IGNORECASE)
# Paging and ordering marks of AWS' answers.
_HARMLESS_NAME = re.compile(r"(?:next|sequence)\w{0,20}token$", re.IGNORECASE)


def is_secret(name: str) -> bool:
    """Tell by a field's name whether its value must not be shown."""
    plain = name.replace("-", "_")
    return bool(_SECRET_NAME.search(plain)) and not _HARMLESS_NAME.search(plain)


def text(given: str) -> str:
    """Give the text with what looks like a secret replaced by three stars."""
    for pattern, replacement in _RULES:
        given = pattern.sub(replacement, given)
    return given


def _parameter(found: re.Match[str]) -> str:
    before, name, value = found.groups()
    hide = is_secret(name) or bool(_SECRET_PARAMETER.search(name))
    return f"{before}{name}={MASK if hide else value}"


def _assignment(found: re.Match[str]) -> str:
    name, between, value = found.groups()
    return f"{name}{between}{MASK if is_secret(name) else value}"


def _bare(found: re.Match[str]) -> str:
    """Hide what is built like an AWS secret access key: 40 characters of base64, well mixed."""
    value = found[0]
    kinds = (str.isupper, str.islower, str.isdigit)
    mixed = all(any(kind(character) for character in value) for kind in kinds)
    return MASK if mixed and not value.startswith("/") else value


_Replacement: TypeAlias = str | Callable[[re.Match[str]], str]
# Every pattern either begins with fixed text or is bounded, so that none takes quadratic time.
_RULES: tuple[tuple[re.Pattern[str], _Replacement], ...] = (
    (
        re.compile(r"(-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----).*?(-----END|$)", re.DOTALL),
        rf"\1{MASK}\2",
    ),
    # Authorization: <scheme> <whatever>, as a header, in a dict or as a signed string.
    (
        re.compile(r"(?i)(authorization[\"']?\s{0,4}[:=]\s{0,4}[\"']?)[^\"'\r\n]+"),
        rf"\1{MASK}",
    ),
    (re.compile(r"(?i)(\bbearer\s{1,4})[\w.~+/=-]+"), rf"\1{MASK}"),
    (re.compile(r"(\b[Bb]asic\s{1,4})(?=\S{0,200}[A-Z0-9=])[A-Za-z0-9+/=]{6,}"), rf"\1{MASK}"),
    (re.compile(r"(AWS4-HMAC-SHA256)\s[^\"'\r\n]+"), rf"\1 {MASK}"),
    # http://user:password@host; what a target's address held is percent-encoded in its URL.
    (re.compile(r"(://)[^/\s?#\"']*(@|%40)"), rf"\1{MASK}\2"),
    (re.compile(r"([?&;]|%3F|%26)([^=&;?%\s]{1,64})=([^&;\s\"'#]*)"), _parameter),
    (
        re.compile(
            r"(?<![\w-])([A-Za-z_][\w-]{1,63})([\"']?\s{0,4}[:=]\s{0,4}[\"']?)([^\s\"',;&}]+)"
        ),
        _assignment,
    ),
    # Access key ids (https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_identifiers.html)
    (re.compile(r"\b(AKIA|ASIA)[A-Z0-9]{12,}\b"), rf"\1{MASK}"),
    # Session tokens begin with one of these.
    (re.compile(r"\b(?:IQoJb3JpZ2lu|FwoGZXIvYXdz|FQoGZXIvYXdz)[\w/+=-]*"), MASK),
    (re.compile(r"(?<![\w/+=-])[A-Za-z0-9/+]{40}(?![\w/+=-])"), _bare),
)
