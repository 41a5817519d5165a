"""Writing the write-ahead log."""

import threading
from pathlib import Path

import pytest

from cwgpu.model.event import EmfEvent
from cwgpu.spool import names, wal
from cwgpu.spool.log import Log
from tests.spool import samples


def _log(folder: Path) -> Log:
    return Log(folder, names.Names(samples.TOKEN))


def _events(path: Path) -> list[EmfEvent]:
    with path.open("rb") as file:
        reading = wal.read(file, path.stat().st_size)
    assert reading.fault is None
    return list(reading.events)


def test_what_is_noted_is_in_the_segment(tmp_path: Path) -> None:
    """Notes are appended to one segment until it is closed; the next note begins another."""
    log = _log(tmp_path)
    log.note(samples.events(0, 2))
    log.note(iter(samples.events(2, 3)))
    first = log.seal()
    log.note(samples.events(3, 4))
    second = log.seal()
    assert first is not None
    assert second is not None
    assert _events(tmp_path / first.name) == samples.events(0, 3)
    assert _events(tmp_path / second.name) == samples.events(3, 4)
    assert first.size_bytes == 4096


def test_nothing_noted_is_no_segment(tmp_path: Path) -> None:
    """No events make no file, and there is nothing to close."""
    log = _log(tmp_path)
    log.note([])
    assert log.seal() is None
    assert list(tmp_path.iterdir()) == []


def test_what_is_noted_is_there_at_once(tmp_path: Path) -> None:
    """Nothing waits in the process: who reads the file now finds the events."""
    log = _log(tmp_path)
    log.note(samples.events(0, 2))
    (path,) = tmp_path.iterdir()
    assert _events(path) == samples.events(0, 2)
    log.seal()


def test_a_folder_that_is_gone_is_an_error_of_each_note(tmp_path: Path) -> None:
    """The log neither stops nor pretends; with the folder back it goes on."""
    folder = tmp_path / "wal"
    log = _log(folder)
    with pytest.raises(FileNotFoundError):
        log.note(samples.events(0, 1))
    folder.mkdir()
    log.note(samples.events(1, 2))
    segment = log.seal()
    assert segment is not None
    assert _events(folder / segment.name) == samples.events(1, 2)


def test_two_threads_share_it(tmp_path: Path) -> None:
    """Every event that one thread notes is in one of the segments that the other one closes."""
    log = _log(tmp_path)
    every = samples.events(0, 500)

    def note() -> None:
        for event in every:
            log.note([event])

    thread = threading.Thread(target=note)
    thread.start()
    segments = []
    while thread.is_alive():
        segments.append(log.seal())
    thread.join()
    segments.append(log.seal())
    found = [event for each in segments if each for event in _events(tmp_path / each.name)]
    assert found == every
