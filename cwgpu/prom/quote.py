"""How a piece of somebody else's page looks in a sentence of ours: short and printable."""

_SHOWN = 40
"""Bytes that are shown; the longest float has 24 characters, and a line is found again by these."""


def quoted(text: bytes) -> str:
    """Give the beginning of a text in quotes, with what cannot be printed escaped."""
    beginning = text[:_SHOWN].decode(errors="backslashreplace")
    shown = "".join(
        char if char.isprintable() else char.encode("unicode_escape").decode() for char in beginning
    )
    return f'"{shown}"' if len(text) <= _SHOWN else f'"{shown}..."'
