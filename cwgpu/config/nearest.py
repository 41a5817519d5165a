"""What somebody may have meant."""

import difflib
from collections.abc import Iterable

# Below this the suggestion is more often wrong than right.
_SIMILAR = 0.6


def nearest(written: str, known: Iterable[str], cutoff: float = _SIMILAR) -> str | None:
    """Find the known word that is most like the written one, upper and lower case aside."""
    folded = {word.lower(): word for word in sorted(known, reverse=True)}
    close = difflib.get_close_matches(written.lower(), list(folded), n=1, cutoff=cutoff)
    return folded[close[0]] if close else None
