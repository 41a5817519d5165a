"""Which of the formats a page is written in, by its Content-Type header.

Follows ``extractMediaType`` of Prometheus 3.0.1 (model/textparse/interface.go), and for the header
Go's ``mime.ParseMediaType`` (https://pkg.go.dev/mime), which refuses a whole header for a parameter
that it cannot read.
"""

import re

from cwgpu.model.errors import ExpositionError
from cwgpu.prom.items import Format

_BLANKS = " \t\n\v\f\r"
_SPACE = rf"[{_BLANKS}]*+"
_WORD = r"[!#$%&'*+\-.^_`{|}~0-9A-Za-z]+"
_SPECIAL = r'[()<>@,;:\\"/\[\]?=]'
_PARAMETER = re.compile(
    rf"{_SPACE};{_SPACE}(?P<name>{_WORD}){_SPACE}={_SPACE}"
    # A backslash escapes only RFC 2045's tspecials; before other characters it is data.
    rf'(?:(?P<token>{_WORD})|"(?P<quoted>(?:\\{_SPECIAL}|\\(?!{_SPECIAL})|[^"\\\r\n])*)")'
)
_ESCAPE = re.compile(rf"\\({_SPECIAL})")
_TRAILER = re.compile(rf"{_SPACE};?{_SPACE}")

_PROTOBUF = "application/vnd.google.protobuf"


def choose(content_type: str, fallback: Format | None) -> Format:
    """Give the format that a Content-Type names, or else ``fallback``.

    Raises ExpositionError when there is neither, and for protobuf, which is not read here.
    """
    media_type = content_type.partition(";")[0].strip(_BLANKS).lower()
    readable = _readable(content_type)
    if readable and media_type == _PROTOBUF:
        raise ExpositionError(
            "the answer's Content-Type is protobuf, which nobody asked for; the exporter has to "
            "serve text/plain or application/openmetrics-text"
        )
    for known in Format:
        if readable and media_type == known.value:
            return known
    if fallback is not None:
        return fallback
    found = f'the Content-Type "{content_type}"' if content_type else "no Content-Type"
    raise ExpositionError(
        f"the answer has {found}; a metrics page has text/plain or application/openmetrics-text "
        "(or set fallback_scrape_protocol on the job)"
    )


def _readable(content_type: str) -> bool:
    """Tell whether all parameters of the header are well-formed and agree with one another."""
    at = len(content_type.partition(";")[0])
    values: dict[str, str] = {}
    while parameter := _PARAMETER.match(content_type, at):
        at = parameter.end()
        value = parameter["token"] or _ESCAPE.sub(r"\1", parameter["quoted"])
        if values.setdefault(parameter["name"].lower(), value) != value:
            return False
    return _TRAILER.fullmatch(content_type, at) is not None
