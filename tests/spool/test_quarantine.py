"""What cannot be used, kept for people."""

import os
from pathlib import Path

from cwgpu.model.event import StreamKey, Waybill
from cwgpu.spool import quarantine
from cwgpu.spool.quarantine import Quarantine

WAYBILL = Waybill(StreamKey("g", "s"), 1, 2, ((3, 4, 5),), 6)


def _folders(tmp_path: Path) -> tuple[Path, Path]:
    folders = tmp_path / "new", tmp_path / "quarantine"
    for folder in folders:
        folder.mkdir()
    return folders


def _moved(path: Path, kept: Quarantine) -> None:
    path.write_bytes(b"x")
    kept.move(path, "why not", None)


def test_a_file_is_moved_and_explained(tmp_path: Path) -> None:
    """It lies under its name, beside a text that says why."""
    new, folder = _folders(tmp_path)
    (new / "a.batch").write_bytes(b"content")
    moved = Quarantine(folder).move(new / "a.batch", "its body\nis damaged", WAYBILL)
    assert moved.file == str(folder / "a.batch")
    assert moved.reason == "its body\nis damaged"
    assert moved.waybill == WAYBILL
    assert (folder / "a.batch").read_bytes() == b"content"
    assert (folder / "a.batch.why").read_text("utf-8") == "its body\\nis damaged\n"
    assert list(new.iterdir()) == []


def test_two_of_one_name_are_kept(tmp_path: Path) -> None:
    """A second file of the same name gets a number."""
    new, folder = _folders(tmp_path)
    kept = Quarantine(folder)
    for content in (b"1", b"2"):
        (new / "a").write_bytes(content)
        kept.move(new / "a", "foreign", None)
    assert (folder / "a").read_bytes() == b"1"
    assert (folder / "a.1").read_bytes() == b"2"


def test_what_is_kept_is_private(tmp_path: Path) -> None:
    """A file that is written here is for its owner, and replaces the one of its name."""
    _, folder = _folders(tmp_path)
    kept = Quarantine(folder)
    for content in (b"1", b"2"):
        told = kept.keep("a.log", content, "damaged", None)
        assert told.file == str(folder / "a.log")
    assert (folder / "a.log").read_bytes() == b"2"
    assert {path.stat().st_mode & 0o777 for path in folder.iterdir()} == {0o600}


def test_the_oldest_go_when_there_are_too_many(tmp_path: Path) -> None:
    """A hundred files are kept, with what explains them."""
    new, folder = _folders(tmp_path)
    kept = Quarantine(folder)
    for number in range(quarantine.MOST_FILES + 5):
        _moved(new / f"{number:03}", kept)
        # Renaming is told from renaming by time, in steps of the kernel's clock.
        _tick(folder, folder / f"{number:03}")
    kept.bound()
    left = sorted(path.name for path in folder.iterdir())
    assert len(left) == 2 * quarantine.MOST_FILES
    assert left[:2] == ["005", "005.why"]


def _tick(folder: Path, last: Path) -> None:
    """Wait for the clock that files get their times from to go on."""
    probe = folder.parent / "probe"
    while True:
        probe.write_bytes(b"")
        probe.chmod(0o600)
        if probe.stat().st_ctime_ns > last.stat().st_ctime_ns:
            return


def test_the_oldest_go_when_they_are_too_large(tmp_path: Path) -> None:
    """The bound is on what they take on the disk, reasons included."""
    new, folder = _folders(tmp_path)
    kept = Quarantine(folder)
    for number in range(5):
        (new / f"{number}").write_bytes(bytes(4 << 20))
        kept.move(new / f"{number}", "large", None)
        _tick(folder, folder / f"{number}")
    kept.bound()
    assert sorted(path.name for path in folder.iterdir()) == [
        "2",
        "2.why",
        "3",
        "3.why",
        "4",
        "4.why",
    ]


def test_what_is_larger_than_all_that_fits_stays(tmp_path: Path) -> None:
    """A huge file of others is neither moved nor removed, and pushes nothing out."""
    new, folder = _folders(tmp_path)
    kept = Quarantine(folder)
    _moved(new / "small", kept)
    with (new / "huge").open("wb") as file:
        file.truncate(3 << 30)
    told = kept.move(new / "huge", "foreign", None)
    kept.bound()
    assert told.file == str(new / "huge")
    assert told.reason == "foreign (over 16 MiB: it stays where it is)"
    assert (new / "huge").stat().st_size == 3 << 30
    assert (folder / "small").exists()


def test_links_pipes_and_folders_are_moved_as_they_are(tmp_path: Path) -> None:
    """Nothing is followed, opened or emptied, also when there are too many of them."""
    new, folder = _folders(tmp_path)
    kept = Quarantine(folder)
    target = tmp_path / "target"
    target.write_bytes(b"precious")
    (new / "link").symlink_to(target)
    os.mkfifo(new / "pipe")
    (new / "folder").mkdir()
    (new / "folder" / "file").write_bytes(b"precious")
    for name in ("link", "pipe", "folder"):
        kept.move(new / name, "foreign", None)
        _tick(folder, folder / name)
    assert [each.reason for each in kept.listed()] == ["foreign"] * 3
    for number in range(quarantine.MOST_FILES):
        _moved(new / f"{number}", kept)
    kept.bound()
    assert target.read_bytes() == b"precious"
    assert (folder / "folder" / "file").read_bytes() == b"precious"
    assert not os.path.lexists(folder / "link")
    assert not os.path.lexists(folder / "pipe")


def test_odd_names_are_kept_and_shown_as_text(tmp_path: Path) -> None:
    """Bytes that are no text, and newlines, are spelled out where people read them."""
    new, folder = _folders(tmp_path)
    name = os.fsdecode(b"\xff\xfe\nname")
    (new / name).write_bytes(b"x")
    told = Quarantine(folder).move(new / name, "foreign", None)
    assert told.file == f"{folder}/\\xff\\xfe\\nname"
    assert (folder / name).exists()
    assert [each.file for each in Quarantine(folder).listed()] == [told.file]


def test_a_name_without_room_for_a_reason_is_kept(tmp_path: Path) -> None:
    """A name as long as names can be has no text beside it."""
    new, folder = _folders(tmp_path)
    (new / ("n" * 255)).write_bytes(b"x")
    told = Quarantine(folder).move(new / ("n" * 255), "foreign", None)
    assert told.file == str(folder / ("n" * 255))
    assert [path.name for path in folder.iterdir()] == ["n" * 255]
    (listed,) = Quarantine(folder).listed()
    assert listed.reason == "it is no batch of cwgpu"


def test_what_cannot_be_moved_is_named_where_it_is(tmp_path: Path) -> None:
    """Without its folder nothing is lost and nothing fails."""
    (tmp_path / "a").write_bytes(b"x")
    kept = Quarantine(tmp_path / "quarantine")
    told = kept.move(tmp_path / "a", "foreign", None)
    kept.bound()
    assert told.file == str(tmp_path / "a")
    assert told.reason == "foreign (it cannot be moved: No such file or directory)"
    assert kept.keep("b", b"x", "foreign", None).file == ""
