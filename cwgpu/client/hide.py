"""Secrets out of what the other side says.

Whoever is asked may repeat what he was asked with: pages of errors show the request, and a server
may be one that spies. What was sent is known here, so it is looked for as it is, and not by what
secrets commonly look like.
"""

import base64
import contextlib
from collections.abc import Iterable, Iterator

MASK = "***"

# Of a shorter one nothing is gained: it would be found in every other word.
_SHORTEST = 4


def text(said: str, secrets: Iterable[str]) -> str:
    """Give the text with three stars in place of each secret."""
    for secret in sorted(secrets, key=len, reverse=True):
        said = said.replace(secret, MASK)
    return said


def within(value: str) -> Iterator[str]:
    """Give what must not be shown of a header's value: ``Basic ...`` has its password, too."""
    kind, _, rest = value.partition(" ")
    found = [rest.strip() or kind]
    if kind == "Basic":
        with contextlib.suppress(ValueError):  # somebody's own header may look so
            found.append(base64.b64decode(rest).decode(errors="replace").partition(":")[2])
    return (one for one in found if len(one) >= _SHORTEST)
