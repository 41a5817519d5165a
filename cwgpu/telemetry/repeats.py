"""The same line again and again says no more than once, and how often.

The first of a kind is written at once. More of it within the window are counted, and the count is
written when the window is over, or before the same thing says something else for the first time.
"""

import heapq
import itertools
import logging
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TypeAlias

from cwgpu.telemetry import lines

WINDOW_S = 10.0
"""Long enough to be a relief, short enough that nobody waits for the count."""
STATE_S = 300.0
"""For what is wrong with something, for a reason: that lasts, and comes again at every scrape."""

# The fields that say what an event is about. With one of them and a reason, details do not make a
# difference: they hold times and numbers. Otherwise every text has to be the same.
_SUBJECTS = ("target", "stream", "job", "lease", "directory")
_REASON = "reason"
# Windows open at a time. More would be a flood of different lines, which must not cost memory.
_MOST = 4_096

Subject: TypeAlias = tuple[str, str, str]
"""Logger, event, and what it is about."""
Key: TypeAlias = tuple[Subject, int, str]
"""Subject, level, and what is said about it."""


@dataclass(slots=True)
class _Window:
    lasts_s: float
    last: logging.LogRecord
    held: int = 0


class Repeats:
    """Decides which records are written. Not thread-safe: its handler holds a lock."""

    def __init__(self, monotonic: Callable[[], float]) -> None:
        """``monotonic`` gives seconds."""
        self._monotonic = monotonic
        self._windows: dict[Key, _Window] = {}
        self._ends: list[tuple[float, int, Key]] = []  # of the same windows, a heap
        self._numbers = itertools.count()
        self._latest: dict[Subject, Key] = {}

    def take(self, record: logging.LogRecord) -> Iterator[logging.LogRecord]:
        """Give the records to write now that this one has come."""
        yield from self.over()
        key = _key(record)
        window = self._windows.get(key)
        if window is not None:
            window.held += 1
            window.last = record
            return
        former = self._windows.get(self._latest.get(key[0], key))
        if former is not None:
            yield from self._count(former)
        if len(self._windows) >= _MOST:
            yield from self._close()
        lasts_s = STATE_S if _is_state(_said(record)) else WINDOW_S
        self._windows[key] = _Window(lasts_s, record)
        heapq.heappush(self._ends, (self._monotonic() + lasts_s, next(self._numbers), key))
        self._latest[key[0]] = key
        yield record

    def over(self) -> Iterator[logging.LogRecord]:
        """Give the counts of windows that are over."""
        now_s = self._monotonic()
        while self._ends and self._ends[0][0] <= now_s:
            yield from self._close()

    def all(self) -> Iterator[logging.LogRecord]:
        """Give every count that is held, whether its window is over or not."""
        while self._ends:
            yield from self._close()

    def _close(self) -> Iterator[logging.LogRecord]:
        _, _, key = heapq.heappop(self._ends)
        if self._latest.get(key[0]) == key:
            del self._latest[key[0]]
        yield from self._count(self._windows.pop(key))

    def _count(self, window: _Window) -> Iterator[logging.LogRecord]:
        held, window.held = window.held, 0
        if held > 1:  # a single one is simply written late
            said = {**_said(window.last), "repeated": held, "within_s": window.lasts_s}
            setattr(window.last, lines.FIELDS, said)
        if held:
            yield window.last


def _said(record: logging.LogRecord) -> dict[str, object]:
    return dict(getattr(record, lines.FIELDS, None) or {"message": record.getMessage()})


def _is_state(said: dict[str, object]) -> bool:
    return _REASON in said and any(said.get(name) for name in _SUBJECTS)


def _key(record: logging.LogRecord) -> Key:
    said = _said(record)
    about = next((said[name] for name in _SUBJECTS if said.get(name)), "")
    subject = (record.name, lines.event(record), str(about))
    if _is_state(said):
        return subject, record.levelno, str(said[_REASON])
    texts = [(name, one) for name, one in said.items() if isinstance(one, str)]
    return subject, record.levelno, str(texts)
