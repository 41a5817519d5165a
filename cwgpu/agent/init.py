"""Signals that end a container's first process as they end any other.

The kernel gives process 1 no signal that it has no handler for (pid_namespaces(7)): what ends every
other process at once would be ignored there, and a pod would wait for all of its grace.
"""

import os
import signal
from types import FrameType

_FIRST = 1
_BY_SIGNAL = 128
"""What shells add to the number of a signal for the exit code of a process that it ended."""


def terminable() -> None:
    """Let SIGTERM end this process at once. In the main thread only, as Python has it."""
    first = os.getpid() == _FIRST
    signal.signal(signal.SIGTERM, _end if first else signal.SIG_DFL)


def _end(number: int, _frame: FrameType | None) -> None:
    os._exit(_BY_SIGNAL + number)
