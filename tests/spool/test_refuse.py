"""A directory that cannot be used."""

import errno
import os
import subprocess
import sys
from pathlib import Path

import pytest

from cwgpu.model.errors import CwgpuError, PermissionError_, UnavailableError
from cwgpu.spool import directory, refuse
from tests.spool import samples

ROOT = Path(__file__).parent.parent.parent
DENIED = """
import os, sys, pathlib
from cwgpu.model.errors import PermissionError_
from cwgpu.spool import directory
os.chdir(sys.argv[1])
if os.geteuid() == 0:
    os.setgroups([])
    os.setresgid(65534, 65534, 65534)
    os.setresuid(65534, 65534, 65534)
spool = pathlib.Path("spool")
for deed in (directory.Spool(spool, "0a1b2c3d").open, lambda: directory.look(spool)):
    try:
        deed()
    except PermissionError_ as error:
        print(error)
print(os.geteuid())
"""


def _refusal(path: Path) -> CwgpuError:
    with pytest.raises(CwgpuError) as caught:
        directory.Spool(path, samples.TOKEN).open()
    return caught.value


def test_a_missing_parent_is_to_be_made(tmp_path: Path) -> None:
    """The last folder is made, but no more: a volume that is not mounted is not covered up."""
    error = _refusal(tmp_path / "volume" / "spool")
    assert isinstance(error, UnavailableError)
    assert str(error).startswith(f"{tmp_path}/volume/spool: the spool cannot be opened")
    assert f"create {tmp_path}/volume, or mount a volume there" in str(error)


@pytest.mark.parametrize("place", ["spool", "spool/new", "spool/quarantine"])
def test_a_file_in_the_way_is_named(place: str, tmp_path: Path) -> None:
    """Something that is no folder is not removed for one."""
    (tmp_path / place).parent.mkdir(exist_ok=True)
    (tmp_path / place).write_bytes(b"precious")
    error = _refusal(tmp_path / "spool")
    assert isinstance(error, UnavailableError)
    assert str(error).startswith(f"{tmp_path}/{place}: ")
    assert "something else is there: move it" in str(error)
    assert (tmp_path / place).read_bytes() == b"precious"


@pytest.mark.parametrize("mode", [0o500, 0o000])
def test_without_rights_the_user_is_named(mode: int, tmp_path: Path) -> None:
    """What the agent's user may not write or read says which user that is."""
    # The user of the child cannot come here from the root; it begins here.
    outer = tmp_path / "outer"
    (outer / "spool").mkdir(parents=True)
    outer.chmod(0o755)
    (outer / "spool").chmod(mode)
    done = subprocess.run(
        [sys.executable, "-c", DENIED, str(outer)],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    (outer / "spool").chmod(0o700)
    assert done.returncode == 0, done.stderr
    opening, *looking, user = done.stdout.splitlines()
    assert opening.startswith("spool/lock: the spool cannot be written (Permission denied)")
    assert f"let user {user} write there" in opening
    # As its owner, an empty folder can be listed, and is no spool.
    assert all("cannot be read (Permission denied)" in each for each in looking)


def test_what_is_no_spool_is_not_looked_at(tmp_path: Path) -> None:
    """A directory of something else is told as such, and is left without a trace."""
    (tmp_path / "file").write_bytes(b"x")
    with pytest.raises(UnavailableError, match=r"^[^:]*: there is no spool"):
        directory.look(tmp_path)
    with pytest.raises(UnavailableError, match=r"^[^:]*: there is no spool"):
        directory.look(tmp_path / "nowhere")
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


@pytest.mark.parametrize(
    ("number", "words"),
    [
        (errno.EDQUOT, "free some space"),
        (errno.ENOLCK, "its file system has no locks"),
        (errno.EIO, "see what the kernel says of this disk"),
    ],
)
def test_each_error_has_its_advice(number: int, words: str) -> None:
    """What the system says, in its words, and what to do about it."""
    error = refuse.opening(Path("/spool"), OSError(number, os.strerror(number)))
    assert isinstance(error, UnavailableError)
    assert str(error).startswith(f"/spool: the spool cannot be opened ({os.strerror(number)}): ")
    assert words in str(error)


def test_a_read_only_disk_is_a_refusal() -> None:
    """It is told as a missing right: the operator has to give it."""
    error = OSError(errno.EROFS, os.strerror(errno.EROFS), "/spool/lock")
    assert isinstance(refuse.opening(Path("/spool"), error), PermissionError_)
    assert isinstance(refuse.looking(Path("/spool"), error), PermissionError_)
