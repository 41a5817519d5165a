"""SIGHUP while the program is not up yet: a request to be kept, and no reason to end.

Whoever changes a file and sends SIGHUP cannot know that the process is half a second old.
"""

import signal
from types import FrameType


class Hangup:
    """Remembers a SIGHUP from ``catch`` on, until another handler takes its place."""

    def __init__(self) -> None:
        """Nothing has come."""
        self._came = False

    def catch(self) -> None:
        """Begin. In the main thread only, as Python has it."""
        signal.signal(signal.SIGHUP, self._note)

    def came(self) -> bool:
        """Tell whether there was one."""
        return self._came

    def _note(self, _number: int, _frame: FrameType | None) -> None:
        self._came = True
