"""What is left of a spool when a call of the operating system is the last one, or fails.

Python tells a profile function of every call of its own C code, and the kernel is asked nowhere
else. Here that function counts calls; at the n-th the process kills itself, or an error comes in
the call's place. Nothing of the spool is replaced.

    python -m tests.spool.calls KIND DEED DIRECTORY

does it for every n, each in a process and a directory of its own, and prints what is found after.
"""

import errno
import json
import os
import shutil
import signal
import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from types import BuiltinFunctionType, FrameType
from typing import Self

from cwgpu.logs import parcel
from cwgpu.model.errors import CwgpuError
from cwgpu.spool import intent, names, wal
from cwgpu.spool.directory import Spool, look
from tests.spool import samples

_MODULES = {"posix", "fcntl"}
_NO_CALLS = {"fspath", "getpid", "geteuid", "strerror", "_path_splitroot", "_exit"}


class Hook:
    """Counts the calls of one deed, and strikes at one of them, or from it on."""

    def __init__(self, kind: str, strike_at: int) -> None:
        """``kind``: kill, fail (once, and what is done about it goes on), or dead (for ever)."""
        self._kind = kind
        self._strike_at = strike_at
        self.calls = 0

    def __enter__(self) -> Self:
        """Begin to count."""
        if self._kind == "dead":
            sys.settrace(self._again)
        sys.setprofile(self._see)
        return self

    def __exit__(self, *_: object) -> None:
        """Count no more."""
        sys.settrace(None)
        sys.setprofile(None)

    def _again(self, _frame: FrameType, _event: str, _argument: object) -> None:
        """Go on after a strike, which ends the profile; told of every function of Python's."""
        sys.setprofile(self._see)

    def _see(self, _frame: FrameType, event: str, called: object) -> None:
        if event != "c_call" or not isinstance(called, BuiltinFunctionType):
            return
        if called.__module__ not in _MODULES or called.__name__ in _NO_CALLS:
            return
        self.calls += 1
        if self._kind == "kill" and self.calls == self._strike_at:
            os.kill(os.getpid(), signal.SIGKILL)
        elif self.calls == self._strike_at or (
            self._kind == "dead" and self.calls > self._strike_at
        ):
            raise OSError(errno.EIO, os.strerror(errno.EIO))


@dataclass(frozen=True, slots=True)
class Stage:
    """Where a deed is done."""

    directory: Path
    spool: Spool
    hook: Hook

    def strike(self, deed: Callable[[], object], *, again: bool = True) -> None:
        """Do it under the hook; should it fail, do it once more without."""
        try:
            with self.hook:
                deed()
        except (OSError, CwgpuError):
            if again:
                deed()


def _commit(stage: Stage) -> None:
    """Make two batches of two segments; try again when it fails, as the agent does."""
    segments = []
    for first in (0, 2):
        stage.spool.note(samples.events(first, first + 2))
        if segment := stage.spool.seal():
            segments.append(segment)
    parcels = [samples.packed(samples.events(0, 3)), samples.packed(samples.events(3, 4))]
    stage.strike(lambda: stage.spool.commit(parcels, segments))


def _replace(stage: Stage) -> None:
    """Cut a batch in two."""
    whole = samples.packed(samples.events(0, 4))
    (slip,) = stage.spool.commit([whole])
    first, second = parcel.halve(whole)
    stage.strike(lambda: stage.spool.replace(slip, (first, second)))


def _note(stage: Stage) -> None:
    """Append to a log that has something, and to one that begins."""
    stage.spool.note(samples.events(0, 2))
    stage.strike(lambda: stage.spool.note(samples.events(2, 3)))
    stage.spool.seal()
    stage.strike(lambda: stage.spool.note(samples.events(3, 4)))


def _close(stage: Stage) -> None:
    """Close what has something in its log."""
    stage.spool.note(samples.events(0, 4))
    stage.strike(stage.spool.close, again=False)


def _quarantine(stage: Stage) -> None:
    """Take one batch of two out of the way."""
    _, slip = stage.spool.commit(
        [samples.packed(samples.events(0, 4)), samples.packed(samples.events(4, 5))]
    )
    stage.strike(lambda: stage.spool.quarantine(slip, "nobody wants it"), again=False)


def _set_aside(stage: Stage) -> None:
    """Keep what nobody wants, beside what is in the log."""
    stage.spool.note(samples.events(0, 4))
    unwanted = samples.packed(samples.events(4, 5))
    stage.strike(lambda: stage.spool.set_aside(unwanted, "nobody wants it"), again=False)


def _remove(stage: Stage) -> None:
    """Forget one batch of two."""
    _, slip = stage.spool.commit(
        [samples.packed(samples.events(0, 4)), samples.packed(samples.events(4, 5))]
    )
    stage.strike(lambda: stage.spool.remove(slip))


def _recover(stage: Stage) -> None:
    """Open what others left at all stages of their work, in part damaged."""
    root = stage.directory
    _, gone = stage.spool.commit([samples.packed(samples.events(0, 2)), samples.packed(_ONCE)])
    (void,) = stage.spool.commit([samples.packed(_ONCE)])
    stage.spool.note(_ONCE)
    old = stage.spool.seal()
    stage.spool.note(samples.events(2, 4))
    assert old is not None
    stage.spool.close()
    for name, meant in {
        "0a1b2c3d-000100.begun": intent.Intent((void.name,), ()),
        "0a1b2c3d-000101.done": intent.Intent((), (gone.name, old.name)),
    }.items():
        (root / "tmp" / name).write_bytes(intent.encode(meant))
    (root / "tmp" / "0a1b2c3d-000102.begun").write_bytes(b"cwgpu-comm")
    (root / "tmp" / "notes.txt").write_bytes(b"not of ours")
    (root / "new" / names.Names("0a1b2c3e").batch(7)).write_bytes(b"cwgpu-batch 1 damaged")
    (root / "wal" / names.Names("0a1b2c3e").segment(7)).write_bytes(wal.FIRST)
    (log,) = (each for each in (root / "wal").iterdir() if each.name > old.name)
    with log.open("ab") as file:
        file.write(b"damaged\n")
    stage.strike(Spool(root, "bbbbbbbb").open, again=False)


_ONCE = samples.events(0, 1)
_DEEDS = {
    deed.__name__.removeprefix("_"): deed
    for deed in (
        _commit,
        _replace,
        _note,
        _close,
        _quarantine,
        _set_aside,
        _remove,
        _recover,
    )
}


@dataclass(slots=True)
class Report:
    """What was found after one strike."""

    call: int
    events: list[str]
    """Messages that the next owner found, in order of time."""
    unwanted: int
    """Events in quarantine."""
    tmp: list[str]
    """Files that are left between."""


def _child(hook: Hook, deed: Callable[[Stage], None], directory: Path) -> int:
    """Strike at one call in a process of its own; give how many there were, or 0."""
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        spool = Spool(directory, samples.TOKEN)
        spool.open()
        deed(Stage(directory, spool, hook))
        os.write(writing, b"%d" % hook.calls)
        os._exit(0)
    os.close(writing)
    calls = os.read(reading, 20)
    os.close(reading)
    _, status = os.waitpid(pid, 0)
    if os.waitstatus_to_exitcode(status) not in {0, -signal.SIGKILL}:
        sys.exit(f"it ended with {status}")
    return int(calls or b"0")


def _report(at: int, directory: Path) -> Report:
    messages = [event.message.decode() for event in samples.recovered(directory)]
    unwanted = sum(each.waybill.events for each in look(directory).quarantined if each.waybill)
    tmp = sorted(path.name for path in (directory / "tmp").iterdir())
    return Report(at, messages, unwanted, tmp)


def main(kind: str, deed: str, folder: str) -> None:
    """Strike at every call until there are no more."""
    reports = []
    at, calls = 1, 0
    while True:
        directory = Path(folder) / str(at)
        calls = _child(Hook(kind, at), _DEEDS[deed], directory)
        reports.append(asdict(_report(at, directory)))
        shutil.rmtree(directory)
        if calls and calls < at:
            break
        at += 1
    json.dump(reports, sys.stdout)


if __name__ == "__main__":
    main(*sys.argv[1:])
