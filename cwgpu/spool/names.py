"""Names of files: they sort by time, and none comes twice, whatever clocks and restarts do."""

import itertools
import re

BATCH = re.compile(r"[0-9]{15}-[0-9a-f]{8}-[0-9]{6,}\.batch")
SEGMENT = re.compile(r"[0-9]{15}-[0-9a-f]{8}-[0-9]{6,}\.log")
BEGUN = re.compile(r"[0-9a-f]{8}-[0-9]{6,}\.begun")
DONE = re.compile(r"[0-9a-f]{8}-[0-9]{6,}\.done")

_MOST_MS = 10**15 - 1


class Names:
    """Gives names that no other start of the agent gives."""

    def __init__(self, token: str) -> None:
        """``token``: 8 hexadecimal digits that are new at every start."""
        self._token = token
        self._numbers = itertools.count()

    def batch(self, at_ms: int) -> str:
        """Name a batch whose oldest event is of this time."""
        return f"{self._timed(at_ms)}.batch"

    def segment(self, at_ms: int) -> str:
        """Name a segment whose first event is of this time."""
        return f"{self._timed(at_ms)}.log"

    def commit(self) -> str:
        """Name what is done in one step."""
        return f"{self._token}-{next(self._numbers):06}"

    def _timed(self, at_ms: int) -> str:
        return f"{min(max(at_ms, 0), _MOST_MS):015}-{self.commit()}"
