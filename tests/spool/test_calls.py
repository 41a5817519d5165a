"""A spool whose process is killed, or whose disk fails, at any call of the operating system."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.spool import samples

ROOT = Path(__file__).parent.parent.parent

ALL = (0, 1, 2, 3)
LAWS: dict[str, set[tuple[tuple[int, ...], int]]] = {
    "commit": {(ALL, 0)},
    "replace": {(ALL, 0)},
    "recover": {(ALL, 0)},
    "close": {(ALL, 0)},
    "quarantine": {((*ALL, 4), 0), (ALL, 1)},
    # The fifth event was in memory only.
    "set_aside": {(ALL, 0), (ALL, 1)},
    "remove": {((*ALL, 4), 0), (ALL, 0)},
}
"""Which events the next owner may find, and how many more in quarantine."""
NOTED = {((0, 1), 0), ((0, 1, 2), 0), (ALL, 0)}
"""What is noted in two calls, each whole or not at all."""


def _reports(kind: str, deed: str) -> list[dict[str, Any]]:
    with samples.folder() as folder:
        done = subprocess.run(
            [sys.executable, "-m", "tests.spool.calls", kind, deed, str(folder)],
            cwd=ROOT,
            capture_output=True,
            text=True,
            timeout=55,
            check=False,
        )
    assert done.returncode == 0, done.stderr
    reports: list[dict[str, Any]] = json.loads(done.stdout)
    return reports


def _check(kind: str, deed: str, allowed: set[tuple[tuple[int, ...], int]]) -> None:
    reports = _reports(kind, deed)
    assert [report["call"] for report in reports] == list(range(1, len(reports) + 1))
    assert len(reports) > 1
    for report in reports:
        events = tuple(json.loads(text)["event"] for text in report["events"])
        assert (events, report["unwanted"]) in allowed, report
        assert report["tmp"] == [], report


@pytest.mark.parametrize("deed", LAWS)
def test_killed_at_any_call_it_has_every_event_once(deed: str) -> None:
    """Either what was before or what was to be, whole; and nothing is left between."""
    _check("kill", deed, LAWS[deed])


@pytest.mark.parametrize("deed", LAWS)
def test_with_any_call_failing_it_has_every_event_once(deed: str) -> None:
    """An error of the disk is dealt with, and what is tried again after it works."""
    _check("fail", deed, LAWS[deed])


@pytest.mark.parametrize("deed", LAWS)
def test_with_a_disk_that_is_gone_for_a_while_it_has_every_event_once(deed: str) -> None:
    """All calls fail from any one on, those that would take it back too; then the disk returns."""
    _check("dead", deed, LAWS[deed])


def test_a_note_is_whole_or_not_there() -> None:
    """Killed at any call, the log has all events of a note or none."""
    _check("kill", "note", NOTED)


@pytest.mark.parametrize("kind", ["fail", "dead"])
def test_a_note_that_failed_can_be_noted_again(kind: str) -> None:
    """What failed left nothing behind that would come twice."""
    _check(kind, "note", {(ALL, 0)})
