"""The same line again and again says no more than once, and how often.

The first of a kind is written at once. More of it within the window are counted, and the count is
written when the window is over or when the same thing says something else.
"""

import logging
from collections import OrderedDict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TypeAlias

from cwgpu.telemetry import lines

WINDOW_S = 10.0
"""Long enough to be a relief, short enough that nobody waits for the count."""

# The fields that make two events of one name the same thing, where there is one of them. Its
# reason may change, its details change all the time. Without one, every text has to be the same.
_SUBJECTS = ("target", "stream")
_KIND = "reason"
# Windows open at a time. More would be a flood of different lines, which must not cost memory.
_MOST = 4_096

Key: TypeAlias = tuple[str, str, str]


@dataclass(slots=True)
class _Window:
    ends_s: float
    sameness: tuple[int, str]
    last: logging.LogRecord
    held: int = 0


class Repeats:
    """Decides which records are written. Not thread-safe: its handler holds a lock."""

    def __init__(self, monotonic: Callable[[], float], window_s: float = WINDOW_S) -> None:
        """``monotonic`` gives seconds."""
        self._monotonic = monotonic
        self._window_s = window_s
        self._windows: OrderedDict[Key, _Window] = OrderedDict()  # by their end, soonest first

    def take(self, record: logging.LogRecord) -> Iterator[logging.LogRecord]:
        """Give the records to write now that this one has come."""
        yield from self.over()
        key, sameness = _key(record), _sameness(record)
        window = self._windows.get(key)
        if window is not None and window.sameness == sameness:
            window.held += 1
            window.last = record
            return
        if window is not None:
            yield from self._close(key)
        elif len(self._windows) >= _MOST:
            yield from self._close(next(iter(self._windows)))
        ends_s = self._monotonic() + self._window_s
        self._windows[key] = _Window(ends_s, sameness, record)
        yield record

    def over(self) -> Iterator[logging.LogRecord]:
        """Give the counts of windows that are over."""
        now_s = self._monotonic()
        while self._windows:
            key, window = next(iter(self._windows.items()))
            if window.ends_s > now_s:
                return
            yield from self._close(key)

    def all(self) -> Iterator[logging.LogRecord]:
        """Give every count that is held, whether its window is over or not."""
        while self._windows:
            yield from self._close(next(iter(self._windows)))

    def _close(self, key: Key) -> Iterator[logging.LogRecord]:
        window = self._windows.pop(key)
        if window.held:
            yield self._summary(window)

    def _summary(self, window: _Window) -> logging.LogRecord:
        record = window.last
        if window.held > 1:  # a single one is simply written late
            said = {**_said(record), "repeated": window.held, "within_s": self._window_s}
            setattr(record, lines.FIELDS, said)
        return record


def _said(record: logging.LogRecord) -> dict[str, object]:
    return dict(getattr(record, lines.FIELDS, None) or {"message": record.getMessage()})


def _key(record: logging.LogRecord) -> Key:
    said = _said(record)
    subject = next((said[name] for name in _SUBJECTS if name in said and _KIND in said), None)
    if subject is None:
        subject = tuple((name, one) for name, one in said.items() if isinstance(one, str))
    return (record.name, lines.event(record), str(subject))


def _sameness(record: logging.LogRecord) -> tuple[int, str]:
    return (record.levelno, str(_said(record).get(_KIND, "")))
