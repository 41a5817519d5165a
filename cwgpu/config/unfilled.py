"""``{{region_name}}`` and the like: what somebody was to replace before a file is used."""

import re

CODE = "template-not-filled-in"
ADVICE = "write the real value"

_LEFT = re.compile(r"\{\{[^{}]*\}\}")


def said_of(text: str) -> str:
    """Say what is left in a text; nothing if nothing is."""
    found = _LEFT.search(text)
    return f"{found[0]} was to be replaced before this is used" if found else ""
