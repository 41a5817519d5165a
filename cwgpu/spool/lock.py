"""One owner for a directory: two would take each other's files for leftovers.

flock(2): the kernel lets go of it when the process ends, in whatever way.
"""

import errno
import fcntl
import os
import stat
from contextlib import suppress
from pathlib import Path

from cwgpu.model.errors import UnavailableError

_FLAGS = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
_PID_BYTES = 32


class Lock:
    """A file that is locked, and holds the owner's process id for people."""

    def __init__(self, path: Path) -> None:
        """``path`` is made when it is not there."""
        self._path = path
        self._descriptor: int | None = None

    def take(self) -> None:
        """Become the owner; UnavailableError when somebody else is; OSError."""
        owner = b""
        descriptor = os.open(self._path, _FLAGS, 0o600)
        try:
            _regular(descriptor, self._path)
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            with suppress(OSError):
                owner = os.pread(descriptor, _PID_BYTES, 0)
            os.close(descriptor)
            raise UnavailableError(_in_use(self._path.parent, owner)) from error
        except OSError:
            os.close(descriptor)
            raise
        self._descriptor = descriptor
        with suppress(OSError):  # a full disk must not keep anybody from emptying it
            os.fchmod(descriptor, 0o600)
            os.ftruncate(descriptor, 0)
            os.pwrite(descriptor, b"%d\n" % os.getpid(), 0)

    def release(self) -> None:
        """Let others be the owner."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None


def _regular(descriptor: int, path: Path) -> None:
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        raise FileExistsError(errno.EEXIST, "it is no file", str(path))


def _in_use(directory: Path, owner: bytes) -> str:
    pid = owner.split(b"\n")[0]
    who = f"process {int(pid)}" if pid.isdigit() else "another process"
    return (
        f"{directory}: the spool is in use by {who}, perhaps of another container: stop that one "
        "first, or give each agent a directory of its own in cwgpu.spool.dir"
    )
