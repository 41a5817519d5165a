"""What is asked of the operating system, so that a file is private, whole and really there."""

import contextlib
import errno
import os
import stat
from collections.abc import Iterator
from pathlib import Path

from cwgpu.spool.found import Damaged

_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_OLD = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC


def create(path: Path, flags: int = 0) -> int:
    """Make a file that only we read, whatever the umask, and give its descriptor."""
    descriptor = os.open(path, _NEW | flags, 0o600)
    try:
        os.fchmod(descriptor, 0o600)
    except OSError:
        os.close(descriptor)
        raise
    return descriptor


def write(path: Path, data: bytes) -> None:
    """Make a file that survives a power cut, once its folder is synced as well."""
    descriptor = create(path)
    try:
        view = memoryview(data)
        while view:
            view = view[os.write(descriptor, view) :]
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def sync(folder: Path) -> None:
    """Make the names in a folder survive a power cut."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno != errno.EINVAL:  # a file system that has no such thing
            raise
    finally:
        os.close(descriptor)


def folder(path: Path) -> None:
    """Make a folder that only we enter, unless it is there."""
    try:
        path.mkdir(0o700)
    except FileExistsError:
        if not path.is_dir():
            raise
    else:
        path.chmod(0o700)
        with contextlib.suppress(OSError):  # a folder that only the system's owner may open
            sync(path.parent)


def remove(path: Path) -> None:
    """Remove a file that may be gone."""
    with contextlib.suppress(FileNotFoundError):
        path.unlink()


def entries(folder: Path) -> list[Path]:
    """List a folder, sorted."""
    return sorted(folder.iterdir())


@contextlib.contextmanager
def regular(path: Path) -> Iterator[tuple[int, int]]:
    """Open a file to read: descriptor and size. Damaged for what is none, which is not touched."""
    if not stat.S_ISREG(os.lstat(path).st_mode):
        raise Damaged("it is no regular file")
    descriptor = os.open(path, _OLD)
    try:
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode):  # it was swapped just now
            raise Damaged("it is no regular file")
        yield descriptor, found.st_size
    finally:
        os.close(descriptor)


def read(descriptor: int, start: int, end: int) -> bytes:
    """Read these bytes of a file, or as many of them as there are."""
    pieces = []
    while start < end and (piece := os.pread(descriptor, end - start, start)):
        pieces.append(piece)
        start += len(piece)
    return b"".join(pieces)
