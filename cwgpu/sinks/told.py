"""What somebody outside says the cluster is called."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Told:
    """An answer, or why there is none."""

    name: str = ""
    """Empty when they do not say."""
    fault: str = ""
    """Why nothing is known; empty when they were asked, or there is nobody to ask."""
