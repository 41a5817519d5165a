"""What to do about a directory that cannot be used."""

import errno
import os
from pathlib import Path

from cwgpu.model.errors import CwgpuError, PermissionError_, UnavailableError

_NOT_ALLOWED = {errno.EACCES, errno.EPERM, errno.EROFS}
_IN_THE_WAY = {errno.EEXIST, errno.ENOTDIR, errno.EISDIR, errno.ELOOP, errno.ENXIO}
_FULL = {errno.ENOSPC, errno.EDQUOT}
_NO_LOCKS = {errno.ENOLCK, errno.EOPNOTSUPP, errno.ENOSYS}


def opening(directory: Path, error: OSError) -> CwgpuError:
    """Explain why a spool cannot be opened."""
    where = _where(directory, error)
    if error.errno in _NOT_ALLOWED:
        return PermissionError_(
            f"{where}: the spool cannot be written ({error.strerror}): let user {os.geteuid()} "
            "write there, or name another directory in cwgpu.spool.dir"
        )
    if error.errno == errno.ENOENT:
        todo = f"create {directory.parent}, or mount a volume there"
    elif error.errno in _IN_THE_WAY:
        todo = "something else is there: move it, or name another directory in cwgpu.spool.dir"
    elif error.errno in _FULL:
        todo = "free some space, or name a directory of another volume in cwgpu.spool.dir"
    elif error.errno in _NO_LOCKS:
        todo = "its file system has no locks: name a directory of a local disk in cwgpu.spool.dir"
    else:
        todo = "see what the kernel says of this disk, or name another directory in cwgpu.spool.dir"
    return UnavailableError(f"{where}: the spool cannot be opened ({error.strerror}): {todo}")


def looking(directory: Path, error: OSError) -> CwgpuError:
    """Explain why a spool cannot be looked at."""
    if error.errno in _NOT_ALLOWED:
        return PermissionError_(
            f"{_where(directory, error)}: cannot be read ({error.strerror}): be the user that the "
            "agent runs as"
        )
    # Which of its folders is missing helps nobody who has mistyped the name.
    return UnavailableError(
        f"{directory}: there is no spool ({error.strerror}): name the directory of cwgpu.spool.dir"
    )


def _where(directory: Path, error: OSError) -> str:
    return os.fsdecode(error.filename) if error.filename else str(directory)
