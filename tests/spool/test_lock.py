"""One owner for a directory."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from cwgpu.model.errors import UnavailableError
from cwgpu.spool.lock import Lock

ROOT = Path(__file__).parent.parent.parent
OWNER = """
import sys, pathlib, signal
from cwgpu.spool.lock import Lock
Lock(pathlib.Path(sys.argv[1])).take()
print("taken", flush=True)
signal.pause()
"""


def test_the_second_owner_is_told_of_the_first(tmp_path: Path) -> None:
    """Directory, process and what to do are named; after kill -9 the directory is free."""
    path = tmp_path / "lock"
    with subprocess.Popen(
        [sys.executable, "-c", OWNER, str(path)], cwd=ROOT, stdout=subprocess.PIPE, text=True
    ) as owner:
        assert owner.stdout is not None
        assert owner.stdout.readline() == "taken\n"
        with pytest.raises(UnavailableError) as caught:
            Lock(path).take()
        owner.kill()
    assert f"{tmp_path}: the spool is in use by process {owner.pid}," in str(caught.value)
    assert "a directory of its own in cwgpu.spool.dir" in str(caught.value)
    lock = Lock(path)
    lock.take()
    assert path.read_text("utf-8") == f"{os.getpid()}\n"
    lock.release()


def test_it_can_be_taken_again(tmp_path: Path) -> None:
    """What is released is free; releasing what is not held is nothing."""
    path = tmp_path / "lock"
    for _ in range(2):
        lock = Lock(path)
        lock.take()
        lock.release()
        lock.release()
    assert path.stat().st_mode & 0o777 == 0o600


def test_a_failed_attempt_leaves_the_owner_alone(tmp_path: Path) -> None:
    """Who is refused neither takes the lock with it nor changes what the file says."""
    path = tmp_path / "lock"
    lock = Lock(path)
    lock.take()
    for _ in range(2):
        with pytest.raises(UnavailableError):
            Lock(path).take()
    assert path.read_text("utf-8") == f"{os.getpid()}\n"
    lock.release()


@pytest.mark.parametrize("text", [b"", b"\xff\xfe", b"x" * 1000, b"-5\n"])
def test_an_owner_that_left_no_name_is_an_owner(text: bytes, tmp_path: Path) -> None:
    """Whatever the file holds, the lock is what counts."""
    path = tmp_path / "lock"
    lock = Lock(path)
    lock.take()
    path.write_bytes(text)
    with pytest.raises(UnavailableError, match="in use by another process"):
        Lock(path).take()
    lock.release()


@pytest.mark.parametrize("what", ["folder", "link", "pipe"])
def test_what_is_no_file_is_not_opened(what: str, tmp_path: Path) -> None:
    """A folder, a link and a pipe in the lock's place are errors at once, and are left as found."""
    path = tmp_path / "lock"
    if what == "folder":
        path.mkdir()
    elif what == "link":
        path.symlink_to(tmp_path / "elsewhere")
    else:
        os.mkfifo(path)
    lock = Lock(path)
    with pytest.raises(OSError, match="lock"):
        lock.take()
    assert not (tmp_path / "elsewhere").exists()
