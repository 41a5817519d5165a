"""The standard streams as the caller left them: closed, on a full disk, or with nobody reading."""

import contextlib
import os
import sys
from pathlib import Path
from typing import IO, NoReturn


def fill() -> None:
    """Have all three: of a closed one Python makes None, and the next file takes its number."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, _nowhere(mode))


def _nowhere(mode: str) -> IO[str]:
    return Path(os.devnull).open(mode, encoding="utf-8")


def say(text: str) -> None:
    """Write to stderr. That it cannot be written is no reason to stop, nor to fail."""
    with contextlib.suppress(OSError):
        sys.stderr.write(text)
        sys.stderr.flush()


def leave(code: int) -> NoReturn:
    """End the process, whatever still waits or cannot be written."""
    # Python's own way out would try once more what cannot be written, and change the code; wait for
    # a thread whose call nobody answers, until it times out; and take everything apart piece by
    # piece, which is a sixth of the time of `cwgpu check`.
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError):
            stream.flush()
    os._exit(code)
