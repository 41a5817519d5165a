"""A disk that is full, or read-only: a small file system of its own."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent.parent


def _played(scene: str, folder: Path) -> dict[str, Any]:
    namespaces = ["--mount", *([] if os.geteuid() == 0 else ["--map-root-user"])]
    done = subprocess.run(
        ["unshare", *namespaces, sys.executable, "-m", "tests.spool.full", scene, str(folder)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=50,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    seen: dict[str, Any] = json.loads(done.stdout)
    return seen


def _events(*numbers: int) -> list[str]:
    return [f'{{"event":{number}}}' for number in numbers]


def test_a_note_that_does_not_fit_leaves_the_log_as_it_was(tmp_path: Path) -> None:
    """The half of a write that fits is taken back, and the next one that fits is there."""
    seen = _played("note", tmp_path)
    assert seen["failed"] == "ENOSPC"
    assert seen["as_before"]
    assert seen["small"] == ""
    assert seen["events"] == _events(0, 1, 6, 7)


def test_a_commit_that_does_not_fit_changes_nothing(tmp_path: Path) -> None:
    """However far it comes, nothing of it is left, and it can be done when there is space."""
    seen = _played("commit", tmp_path)
    for blocks in range(3):
        assert seen[f"with {blocks}"] == "ENOSPC"
        assert seen[f"left {blocks}"] == [".log"]
    assert seen["with 3"] == ""
    assert seen["left 3"] == [".batch", ".batch"]
    assert seen["events"] == _events(0, 1, 2, 3)


def test_a_batch_that_cannot_be_cut_in_two_stays_whole(tmp_path: Path) -> None:
    """It can still be read, and be cut when there is space."""
    seen = _played("replace", tmp_path)
    assert seen["failed"] == "ENOSPC"
    assert seen["left"] == [".batch"]
    assert seen["read"]
    assert seen["events"] == _events(0, 1, 2, 3)


def test_a_full_disk_can_be_opened_and_emptied(tmp_path: Path) -> None:
    """All is found, what was taken goes, and what cannot be kept for people is named."""
    seen = _played("work", tmp_path)
    assert seen["events"] == _events(0, 1, 2, 3)
    assert seen["left"]
    assert seen["aside"] == ""
    assert seen["n"] == 2  # the batch that was set aside, and the damaged log where it lies
    (named,) = seen["named"]
    assert named.startswith("lines that are damaged or cut off: 1; each was an event")
    assert named.endswith("(it cannot be kept: No space left on device)")


def test_a_spool_that_cannot_be_made_says_what_to_do(tmp_path: Path) -> None:
    """No space for the folders is told as such."""
    opened = _played("make", tmp_path)["opened"]
    assert opened.startswith(f"UnavailableError: {tmp_path}/spool/")
    assert "No space left on device" in opened
    assert "free some space, or name a directory of another volume in cwgpu.spool.dir" in opened


def test_a_read_only_spool_is_refused_and_can_be_looked_at(tmp_path: Path) -> None:
    """The error names the file and what to do; people still see what is there."""
    seen = _played("read_only", tmp_path)
    assert seen["opened"].startswith(f"PermissionError_: {tmp_path}/spool/lock: ")
    assert "Read-only file system" in seen["opened"]
    assert "or name another directory in cwgpu.spool.dir" in seen["opened"]
    assert seen["seen"] == 1
    assert seen["events"] == _events(0, 1)
