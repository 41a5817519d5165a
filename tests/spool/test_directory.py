"""The spool as its owner uses it."""

import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from cwgpu.logs import parcel
from cwgpu.model.errors import UnavailableError
from cwgpu.model.event import EmfEvent, Parcel
from cwgpu.spool import batch, intent, names
from cwgpu.spool.directory import Spool, look
from cwgpu.spool.found import Damaged, Found, Quarantined
from tests.spool import samples


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Give where the spool is to be."""
    return tmp_path / "spool"


@pytest.fixture
def spool(path: Path) -> Iterator[Spool]:
    """Give an open and empty one."""
    made, found = samples.opened(path)
    assert found == Found((), (), ())
    yield made
    made.close()


def _quarantined(path: Path) -> list[Quarantined]:
    """Open what others left, and give what could not be used."""
    spool, found = samples.opened(path, "ffffffff")
    spool.close()
    return list(found.quarantined)


def _left(path: Path) -> list[str]:
    """List what is there, but for the lock and the quarantine."""
    every = (each.relative_to(path) for each in path.rglob("*") if not each.is_dir())
    return sorted(str(each) for each in every if each.parts[0] not in {"lock", "quarantine"})


def _in_quarantine(path: Path) -> list[str]:
    every = sorted(each.name for each in (path / "quarantine").iterdir())
    return [name for name in every if not name.endswith(".why")]


def test_what_is_noted_is_found_at_the_next_start(spool: Spool, path: Path) -> None:
    """Events that came into no batch are there, with the segment that has them."""
    spool.note(samples.events(0, 2))
    first = spool.seal()
    spool.note(samples.events(2, 3))
    spool.close()
    again, found = samples.opened(path, "ffffffff")
    assert [list(some) for _, some in found.segments] == [
        samples.events(0, 2),
        samples.events(2, 3),
    ]
    assert found.segments[0][0] == first
    again.commit([samples.packed(samples.events(0, 3))], [each for each, _ in found.segments])
    again.close()
    assert samples.recovered(path) == samples.events(0, 3)
    assert [name.split("/")[0] for name in _left(path)] == ["new"]


def test_a_batch_is_read_until_it_is_removed(spool: Spool, path: Path) -> None:
    """It comes back as it was, at the next start too, and does not once it was removed."""
    packed = samples.packed(samples.events(0, 3))
    (slip,) = spool.commit([packed])
    assert slip.waybill == packed.waybill
    assert spool.read(slip) == packed
    spool.close()
    again, found = samples.opened(path, "ffffffff")
    assert found.slips == (slip,)
    again.remove(slip)
    again.remove(slip)
    with pytest.raises(FileNotFoundError):
        again.read(slip)
    again.close()
    assert samples.recovered(path) == []


def test_sizes_are_those_on_the_disk(spool: Spool, path: Path) -> None:
    """A file takes whole blocks of 4096 bytes."""
    waybill = samples.packed(samples.events(0, 1)).waybill
    overhead = len(batch.encode(Parcel(waybill, bytes(4000)))) - 4000
    bodies = [bytes(4096 - overhead), bytes(4097 - overhead)]
    slips = spool.commit([Parcel(waybill, body) for body in bodies])
    assert [slip.size_bytes for slip in slips] == [4096, 8192]
    assert {slip.name: slip.size_bytes for slip in look(path).slips} == {
        slip.name: slip.size_bytes for slip in slips
    }


def test_batches_are_found_oldest_first(spool: Spool, path: Path) -> None:
    """Whoever wrote them and when, their events' time is what counts."""
    for first in (4, 0, 2):
        spool.commit([samples.packed(samples.events(first, first + 1))])
    spool.close()
    for token, first in (("00000000", 3), ("eeeeeeee", 1)):
        other, _ = samples.opened(path, token)
        other.commit([samples.packed(samples.events(first, first + 1))])
        other.close()
    found = look(path).slips
    assert [slip.waybill.first_ms - samples.AT_MS for slip in found] == [0, 1, 2, 3, 4]
    assert [slip.name for slip in found] == sorted(slip.name for slip in found)


def test_a_batch_is_cut_in_two(spool: Spool, path: Path) -> None:
    """The parts are there in its place."""
    whole = samples.packed(samples.events(0, 5))
    (slip,) = spool.commit([whole])
    parts = parcel.halve(whole)
    slips = spool.replace(slip, parts)
    assert [spool.read(each) for each in slips] == list(parts)
    assert look(path).slips == slips


def test_what_is_dropped_does_not_come_again(spool: Spool, path: Path) -> None:
    """Segments whose events are held elsewhere are forgotten, also those that are gone."""
    spool.note(samples.events(0, 2))
    segment = spool.seal()
    assert segment is not None
    for _ in range(2):
        spool.drop([segment])
    spool.close()
    assert samples.recovered(path) == []


def test_segments_can_go_without_a_batch(spool: Spool, path: Path) -> None:
    """Where all events are too old there is nothing to write."""
    spool.note(samples.events(0, 2))
    segment = spool.seal()
    assert segment is not None
    assert spool.commit([], [segment]) == ()
    assert _left(path) == []


def test_a_batch_that_is_too_large_is_an_error_of_the_disk(spool: Spool, path: Path) -> None:
    """It could not be read again; nothing is written, and the segment still counts."""
    spool.note(samples.events(0, 1))
    segment = spool.seal()
    assert segment is not None
    huge = Parcel(samples.packed(samples.events(0, 1)).waybill, bytes(batch.MOST_BYTES))
    with pytest.raises(OSError, match="File too large"):
        spool.commit([huge], [segment])
    assert samples.ordered(look(path).segments[0][1]) == samples.events(0, 1)
    assert _left(path) == [f"wal/{segment.name}"]


def test_what_nobody_takes_is_kept_for_people(spool: Spool, path: Path) -> None:
    """From the spool or from memory, it is out of the way, explained, and a whole batch still."""
    packed = samples.packed(samples.events(0, 1))
    (slip,) = spool.commit([packed])
    told = [
        spool.quarantine(slip, "InvalidParameterException: no"),
        spool.set_aside(packed, "InvalidParameterException: never"),
    ]
    assert [each.waybill for each in told] == [packed.waybill] * 2
    assert {batch.decode(Path(each.file).read_bytes()) == packed for each in told} == {True}
    assert set(look(path).quarantined) == set(told)
    assert _left(path) == []


def test_everything_is_private(tmp_path: Path) -> None:
    """Whatever the umask, nobody else reads a file or enters a folder."""
    for umask in (0o000, 0o077, 0o777):
        path = tmp_path / f"{umask:o}"
        before = os.umask(umask)
        try:
            spool, _ = samples.opened(path)
            slip, _ = spool.commit([samples.packed(samples.events(0, 1))] * 2)
            spool.quarantine(slip, "nobody wants it")
            spool.set_aside(samples.packed(samples.events(0, 1)), "nobody wants it")
            spool.note(samples.events(0, 1))
            spool.close()
        finally:
            os.umask(before)
        modes = {
            (each.is_dir(), stat.S_IMODE(each.stat().st_mode)) for each in (path, *path.rglob("*"))
        }
        assert modes == {(True, 0o700), (False, 0o600)}


def test_a_directory_that_is_there_keeps_its_mode(path: Path) -> None:
    """What the operator made, or Kubernetes, is the operator's."""
    path.mkdir()
    path.chmod(0o2770)
    (path / "lost+found").mkdir()
    (path / "README").write_bytes(b"precious")
    samples.opened(path)[0].close()
    assert stat.S_IMODE(path.stat().st_mode) == 0o2770
    assert (path / "README").read_bytes() == b"precious"
    assert (path / "lost+found").is_dir()


def test_the_second_owner_changes_nothing(spool: Spool, path: Path) -> None:
    """It is refused, and the first one works on; looking needs no lock."""
    (slip,) = spool.commit([samples.packed(samples.events(0, 2))])
    spool.note(samples.events(2, 3))
    with pytest.raises(UnavailableError, match=f"in use by process {os.getpid()}"):
        Spool(path, "ffffffff").open()
    spool.note(samples.events(3, 4))
    found = look(path)
    assert found.slips == (slip,)
    assert [list(some) for _, some in found.segments] == [samples.events(2, 4)]


def test_looking_changes_nothing(spool: Spool, path: Path) -> None:
    """What is damaged, foreign or half done is named where it lies, and lies there still."""
    (slip,) = spool.commit([samples.packed(samples.events(0, 2))])
    void = names.Names("0a1b2c3e").batch(1)
    (path / "new" / void).write_bytes((path / "new" / slip.name).read_bytes())
    (path / "tmp" / "0a1b2c3e-000007.begun").write_bytes(intent.encode(intent.Intent((void,), ())))
    (path / "new" / "foreign").write_bytes(b"x")
    before = {each: each.stat() for each in path.rglob("*")}
    found = look(path)
    assert found.slips == (slip,)
    assert [each.file for each in found.quarantined] == [str(path / "new" / "foreign")]
    after = {each: each.stat() for each in path.rglob("*")}
    assert {each: (was.st_mtime_ns, was.st_ctime_ns) for each, was in before.items()} == {
        each: (now.st_mtime_ns, now.st_ctime_ns) for each, now in after.items()
    }


def test_a_damaged_header_is_found_at_the_start(spool: Spool, path: Path) -> None:
    """A batch with any other byte in its first two lines, or cut off or too long, does not count.

    One with another byte in its body does until it is read, and what it carried is known.
    """
    (slip,) = spool.commit([samples.packed(samples.events(0, 2))])
    file = path / "new" / slip.name
    whole = file.read_bytes()
    body_at = batch.front(whole).body_at
    for at, data in samples.flips(whole):
        file.write_bytes(data)
        found = look(path)
        if at < body_at:
            assert found.slips == (), at
            assert [each.file for each in found.quarantined] == [str(file)]
            continue
        assert found.slips == (slip,)
        with pytest.raises(Damaged, match="its body is damaged") as caught:
            spool.read(slip)
        assert caught.value.waybill == slip.waybill
    for data in (whole + b"x", *(whole[:end] for end in range(len(whole)))):
        file.write_bytes(data)
        assert look(path).slips == ()
        with pytest.raises(Damaged):
            spool.read(slip)


def test_a_damaged_batch_is_moved_and_named(spool: Spool, path: Path) -> None:
    """The others are there; what the damaged one carried is told where that is known."""
    good, torn, bad = spool.commit(
        [samples.packed(samples.events(first, first + 2)) for first in (0, 2, 4)]
    )
    spool.close()
    for slip, end in ((torn, -1), (bad, 60)):
        file = path / "new" / slip.name
        file.write_bytes(file.read_bytes()[:end])
    named = _quarantined(path)
    assert [each.waybill for each in named] == [torn.waybill, None]
    assert named[0].file == str(path / "quarantine" / torn.name)
    assert named[0].reason.startswith("it was cut off: ")
    assert [slip.name for slip in look(path).slips] == [good.name]
    assert _quarantined(path) == []
    assert [each.reason for each in look(path).quarantined] == [each.reason for each in named]


def test_a_damaged_log_gives_its_good_events_once(spool: Spool, path: Path) -> None:
    """The bad lines are kept and named; once the good ones are in a batch, nothing comes again."""
    spool.note(samples.events(0, 3))
    segment = spool.seal()
    spool.close()
    assert segment is not None
    file = path / "wal" / segment.name
    file.write_bytes(file.read_bytes().replace(b'event\\":1', b'event\\":9'))
    again, found = samples.opened(path, "ffffffff")
    good = [samples.events(0, 3)[number] for number in (0, 2)]
    assert samples.held(again, found) == good
    (named,) = found.quarantined
    assert named.reason == "lines that are damaged or cut off: 1; each was an event"
    assert b'event\\":9' in Path(named.file).read_bytes()
    again.commit([samples.packed(good)], [each for each, _ in found.segments])
    again.close()
    assert samples.recovered(path) == good
    assert _quarantined(path) == []


def test_a_torn_log_is_named_also_when_nothing_of_it_is_good(spool: Spool, path: Path) -> None:
    """A segment that was torn in its first line is moved; an empty one is nothing."""
    spool.close()
    source = names.Names("0a1b2c3e")
    (path / "wal" / source.segment(1)).write_bytes(b"cwgpu-l")
    (path / "wal" / source.segment(2)).write_bytes(b"")
    (named,) = _quarantined(path)
    assert named.reason == "its last line was cut off after 7 bytes, when the writer was ended"
    assert _left(path) == []


@pytest.mark.parametrize("folder", ["new", "tmp", "wal"])
@pytest.mark.parametrize("kind", ["file", "empty", "link", "loop", "pipe", "folder", "odd", "ours"])
def test_what_is_foreign_is_moved_and_named(kind: str, folder: str, path: Path) -> None:
    """Nothing is followed, waited for or read whole, and the spool works."""
    samples.opened(path)[0].close()
    source = names.Names("0a1b2c3e")
    target = path.parent / "target"
    target.write_bytes(b"precious")
    ours = {"new": source.batch(7), "tmp": "0a1b2c3e-000001.done", "wal": source.segment(7)}
    foreign = path / folder / (ours[folder] if kind != "odd" else os.fsdecode(b"\xff\n"))
    if kind in {"link", "loop"}:
        foreign.symlink_to(target if kind == "link" else foreign)
    elif kind == "pipe":
        os.mkfifo(foreign)
    elif kind == "folder":
        foreign.mkdir()
    elif kind == "ours":
        # A file of another folder of the spool.
        foreign = path / folder / {"new": "a.log", "tmp": "a.batch", "wal": "a.batch"}[folder]
        foreign.write_bytes(b"x")
    else:
        foreign.write_bytes(b"" if kind == "empty" else b"hello")
    named = _quarantined(path)
    if (kind, folder) == ("empty", "wal"):
        assert named == []
    else:
        (each,) = named
        assert each.reason
        assert _in_quarantine(path) == [foreign.name]
    assert target.read_bytes() == b"precious"
    assert _left(path) == []


def test_a_huge_file_of_our_name_is_left_alone(path: Path) -> None:
    """Of 3 GB of nothing not more than the beginning is read, and they are not moved."""
    samples.opened(path)[0].close()
    source = names.Names("0a1b2c3e")
    for file in (path / "new" / source.batch(7), path / "wal" / source.segment(7)):
        with file.open("wb") as opened:
            opened.truncate(3 << 30)
    named = _quarantined(path)
    assert [each.reason for each in named] == [
        "it is no batch of cwgpu (over 16 MiB: it stays where it is)",
        "it is no log of cwgpu (over 16 MiB: it stays where it is)",
    ]


def test_bodies_are_not_read_at_the_start(spool: Spool, path: Path) -> None:
    """However much is held, opening costs a header a file."""
    waybill = samples.packed(samples.events(0, 1)).waybill
    for _ in range(4):
        spool.commit([Parcel(waybill, bytes(2 << 20))] * 4)
    before = _read_bytes()
    assert len(look(path).slips) == 16
    assert _read_bytes() - before < 2 << 20


def _read_bytes() -> int:
    """Tell how much this process has read from files, as the kernel counts."""
    with open("/proc/self/io", encoding="utf-8") as file:  # noqa: PTH123 - no file of ours
        return int(file.readline().split()[1])


def test_a_long_header_is_read_whole(spool: Spool, path: Path) -> None:
    """A batch whose events all differ has a header of many blocks."""
    events = [EmfEvent.of(samples.STREAM, samples.AT_MS + n, b"{}", n, n) for n in range(5000)]
    (slip,) = spool.commit([samples.packed(events)])
    assert look(path).slips == (slip,)
    assert slip.waybill.load == (5000, sum(range(5000)), sum(range(5000)))


def test_a_commit_that_says_nothing_is_named(path: Path) -> None:
    """Of a step that was done and whose file is damaged beyond reading, a person is told."""
    samples.opened(path)[0].close()
    (path / "tmp" / "0a1b2c3e-000001.done").write_bytes(b"cwgpu-commit 1 damaged\n")
    (path / "tmp" / "0a1b2c3e-000002.begun").write_bytes(b"cwgpu-commit 1 dam")
    (named,) = _quarantined(path)
    assert named.file == str(path / "quarantine" / "0a1b2c3e-000001.done")
    assert named.reason == "it is damaged, or of another format than this cwgpu reads"
    assert _left(path) == []
