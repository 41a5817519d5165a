"""URLs as targets have them, read so that they can be asked.

Discovery names an IPv6 address without a port as it is, ``2001:db8::5``, and Prometheus puts it
into the URL just so, where it cannot be told from host and port. Brackets are wanted there
(https://www.rfc-editor.org/rfc/rfc3986#section-3.2.2): they are added here, at the door, so that a
target's URL still reads as in Prometheus.
"""

import ipaddress
import re

from yarl import URL

_PARTS = re.compile(r"([a-z]+://)([^/?#@\[\]]*:[^/?#@\[\]]*:[^/?#@\[\]]*)(.*)", re.DOTALL)


def url(text: str) -> URL:
    """Read a URL; raises ValueError."""
    parts = _PARTS.fullmatch(text)
    if parts is not None and _is_v6(parts[2]):
        text = f"{parts[1]}[{parts[2]}]{parts[3]}"
    try:
        return URL(text)
    except IndexError as error:  # brackets with nothing between, which the library trips over
        raise ValueError("a URL without a host") from error


def _is_v6(host: str) -> bool:
    try:
        ipaddress.IPv6Address(host)
    except ValueError:
        return False
    return True
