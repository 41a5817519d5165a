"""The law: what was noted is there until it is removed, once, whatever happens between."""

import itertools
import shutil
from collections.abc import Iterable, Sequence
from pathlib import Path

from hypothesis import assume, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from cwgpu.logs import parcel
from cwgpu.model.event import EmfEvent
from cwgpu.spool.directory import Spool, look
from cwgpu.spool.found import Damaged, Segment, Slip
from tests.spool import samples


class Machine(RuleBasedStateMachine):
    """A spool beside a list of what it should hold; killed and opened again at any time.

    A kill is a copy of the directory: what the kernel has of it, and nothing of the process.
    """

    def __init__(self) -> None:
        """Begin with nothing."""
        super().__init__()
        self._folder = samples.folder()
        self._root = self._folder.__enter__()
        self._starts = itertools.count()
        self._numbers = itertools.count()
        self._noted: list[EmfEvent] = []
        self._segments: list[tuple[Segment, list[EmfEvent]]] = []
        self._slips: list[tuple[Slip, list[EmfEvent]]] = []
        self._damaged: set[str] = set()

    @initialize()
    def begin(self) -> None:
        """Open an empty spool."""
        self._open(self._root / "0")

    @rule(count=st.integers(1, 4))
    def note(self, count: int) -> None:
        """Note new events."""
        events = self._new(count)
        self._spool.note(events)
        self._noted += events

    @rule()
    def seal(self) -> None:
        """Close the segment."""
        segment = self._spool.seal()
        assert (segment is not None) == bool(self._noted)
        if segment is not None:
            self._segments.append((segment, self._noted))
            self._noted = []

    @rule(take=st.integers(0, 3), cuts=st.integers(1, 3), fresh=st.integers(0, 2))
    def commit(self, take: int, cuts: int, fresh: int) -> None:
        """Make batches of some segments, and of events that were in memory only."""
        taken, self._segments = self._segments[:take], self._segments[take:]
        events = [event for _, some in taken for event in some] + self._new(fresh)
        parts = [part for part in _cut(events, cuts) if part]
        slips = self._spool.commit(list(map(samples.packed, parts)), [each for each, _ in taken])
        self._slips += zip(slips, parts, strict=True)

    @precondition(lambda self: self._segments)
    @rule()
    def drop(self) -> None:
        """Forget a segment."""
        self._spool.drop([self._segments.pop()[0]])

    @precondition(lambda self: self._slips)
    @rule(at=st.integers(0))
    def remove(self, at: int) -> None:
        """Forget a batch."""
        self._spool.remove(self._slips.pop(at % len(self._slips))[0])

    @precondition(lambda self: self._slips)
    @rule(at=st.integers(0))
    def quarantine(self, at: int) -> None:
        """Take a batch out of the way."""
        self._spool.quarantine(self._slips.pop(at % len(self._slips))[0], "nobody wants it")

    @precondition(lambda self: any(len(events) > 1 for _, events in self._slips))
    @rule()
    def replace(self) -> None:
        """Cut a batch in two."""
        at = next(at for at, (_, events) in enumerate(self._slips) if len(events) > 1)
        slip, events = self._slips.pop(at)
        parts = parcel.halve(self._spool.read(slip))
        middle = len(events) // 2
        slips = self._spool.replace(slip, parts)
        self._slips += zip(slips, (events[:middle], events[middle:]), strict=True)

    @rule()
    def end(self) -> None:
        """Close it, and open it again."""
        self._spool.close()
        self._open(self._path)

    @rule()
    def kill(self) -> None:
        """Kill the process, and open what it left."""
        self._open(self._killed())

    @rule(cut=st.integers(1, 200))
    def kill_in_a_note(self, cut: int) -> None:
        """Kill it while it notes: a part of the last line, or of some, is there."""
        events = self._new(2)
        self._spool.note(events)
        self._noted += events
        path = self._killed()
        file = max((path / "wal").iterdir())
        size = file.stat().st_size
        with file.open("r+b") as opened:
            opened.truncate(max(size - cut, 0))
        self._open(path, lost=self._noted)

    @precondition(lambda self: self._slips or self._segments)
    @rule(at=st.integers(0), place=st.integers(0), bit=st.integers(0, 7))
    def damage(self, at: int, place: int, bit: int) -> None:
        """Turn a bit of a file while nobody looks."""
        names = [f"new/{slip.name}" for slip, _ in self._slips]
        names += [f"wal/{segment.name}" for segment, _ in self._segments]
        name = names[at % len(names)]
        assume(name not in self._damaged)  # turning a bit twice would mend it
        self._damaged.add(name)
        path = self._killed()
        file = path / name
        data = bytearray(file.read_bytes())
        data[place % len(data)] ^= 1 << bit
        file.write_bytes(data)
        every = [events for _, events in (*self._slips, *self._segments)]
        lost, told = self._open(path, lost=every[at % len(names)])
        assert told or not lost
        assert file.parent.name == "new" or len(lost) <= 2

    @invariant()
    def nothing_is_lost_and_nothing_comes_twice(self) -> None:
        """Whoever looks finds what there should be."""
        found = look(self._path)
        noted = [event for _, some in found.segments for event in some]
        expected = [event for _, some in self._segments for event in some] + self._noted
        assert samples.ordered(noted) == samples.ordered(expected)
        assert {slip.name for slip in found.slips} == {slip.name for slip, _ in self._slips}
        for slip, events in self._slips:
            assert list(parcel.unpack(self._spool.read(slip)).events) == events

    def teardown(self) -> None:
        """Leave nothing behind."""
        self._spool.close()
        self._folder.__exit__(None, None, None)

    def _new(self, count: int) -> list[EmfEvent]:
        return [event for _ in range(count) for event in _one(next(self._numbers))]

    def _killed(self) -> Path:
        path = self._root / f"{next(self._starts) + 1}"
        shutil.copytree(self._path, path)
        self._spool.close()
        return path

    def _open(self, path: Path, lost: Sequence[EmfEvent] = ()) -> tuple[list[EmfEvent], list[str]]:
        """Open it; of ``lost`` some may be missing. Gives those, and what was told of damage."""
        held = self._every()
        self._path = path
        self._spool = Spool(path, f"{next(self._starts):08x}")
        found = self._spool.open()
        self._noted = []
        self._segments = [(segment, list(events)) for segment, events in found.segments]
        self._slips = []
        told = [each.reason for each in found.quarantined]
        for slip in found.slips:
            try:
                self._slips.append((slip, list(parcel.unpack(self._spool.read(slip)).events)))
            except Damaged as damage:
                told.append(self._spool.quarantine(slip, damage.reason).reason)
        every = self._every()
        missing = [event for event in held if event not in every]
        assert all(event in lost for event in missing)
        assert samples.ordered([*every, *missing]) == samples.ordered(held)
        return missing, told

    def _every(self) -> list[EmfEvent]:
        held = [events for _, events in (*self._slips, *self._segments)]
        return [event for events in (*held, self._noted) for event in events]


def _one(number: int) -> list[EmfEvent]:
    return samples.events(number, number + 1)


def _cut(events: list[EmfEvent], parts: int) -> Iterable[list[EmfEvent]]:
    size = -(-len(events) // parts) or 1
    return (events[at : at + size] for at in range(0, len(events), size))


def test_what_is_noted_is_there_once_until_it_is_removed() -> None:
    """No order of calls, kills, torn writes and damaged bytes loses or doubles an event.

    But for those that were torn or damaged themselves, of which somebody is told.
    """
    _check(Machine)


def _check(machine: type[RuleBasedStateMachine]) -> None:
    run_state_machine_as_test(machine, settings=settings(max_examples=40, stateful_step_count=25))
