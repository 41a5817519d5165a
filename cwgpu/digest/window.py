"""What of a page waits for its event: the scrapes of one window.

A window is a part of the clock's time, every minute say. The scrapes that wait are of one shape of
the page. They are rendered when the last of the window is there, when the page takes another shape,
or when somebody asks for what there is. The datapoints are the same: several events of one minute
add up in CloudWatch.
"""

from collections.abc import Iterator, Sequence
from itertools import chain, islice
from typing import NamedTuple

from cwgpu.digest.judge import Row
from cwgpu.digest.pick import picker
from cwgpu.digest.record import Record, Templates
from cwgpu.emf import limits
from cwgpu.model.event import EmfEvent

_BETWEEN = b";"
"""Stands between the values of one metric and those of the next."""


class _Packed(NamedTuple):
    """A row, as small as it gets: a thousand pages have some of them for a minute."""

    at_ms: int
    texts: bytes
    """With commas between them; nothing stands for a value that cannot be sent."""
    lost: bool
    """Whether there is such a value."""


class Waiting:
    """Records that are rendered when a window is over, and what of a scrape is kept for them."""

    __slots__ = ("_pick", "_several", "records")

    def __init__(self, records: Sequence[Record]) -> None:
        """All are of one page, and choose from what is kept from now on."""
        self.records = tuple(records)
        columns = [column for record in records for column in record.columns]
        # Where a metric has one value of a scrape, a comma is enough between two of them.
        self._several = any(len(column) > 1 for column in columns)
        if self._several:
            behind_all = -1
            columns = [[*column, behind_all] for column in columns]
            columns[-1] = columns[-1][:-1]
        self._pick = picker(list(chain.from_iterable(columns)))

    def outlines(self) -> list[bytes]:
        """Give the outline of each record."""
        return [record.outline() for record in self.records]

    def pack(self, row: Row) -> _Packed:
        """Keep what the records choose from."""
        texts = self._pick([*row.texts, _BETWEEN] if self._several else row.texts)
        if row.lost:
            texts = [text or b"" for text in texts]
        return _Packed(row.at_ms, b",".join(texts), row.lost > 0)

    def events(self, rows: Sequence[_Packed], templates: Templates) -> Iterator[EmfEvent]:
        """Make the events of what was kept of scrapes, in order of time.

        A value is not looked at again: those of a metric and a scrape stay one text.
        """
        times_ms, lost = [row.at_ms for row in rows], any(row.lost for row in rows)
        between = b",%b," % _BETWEEN if self._several else b","
        columns = zip(*[row.texts.split(between) for row in rows], strict=True)
        for record in self.records:
            own = list(islice(columns, record.width))
            yield from record.window(times_ms, own, templates, lost=lost)


class Window:
    """The open window of one page, if there is one."""

    def __init__(self, window_s: float | None, templates: Templates) -> None:
        """Begin with nothing; None is for a page that never lets anything wait.

        ``templates`` are for records some of whose metrics have no value in the whole window.
        """
        self._window_ms = int(window_s * 1000) if window_s else 1
        self._templates = templates
        self._number = 0
        self._waiting = Waiting(())
        self._rows: list[_Packed] = []

    @property
    def remembered(self) -> int:
        """How many templates are held."""
        return len(self._templates)

    def take(self, waiting: Waiting, row: Row) -> list[EmfEvent]:
        """Let a scrape wait; gives the events of those that it does not join.

        While scrapes wait, the records must be the same, and so the page's shape.
        """
        number = row.at_ms // self._window_ms
        events = self.close() if number != self._number else []
        self._number, self._waiting = number, waiting
        self._rows.append(waiting.pack(row))
        return events

    def ends(self, next_ms: int) -> bool:
        """Whether a scrape at that time would not join those that wait."""
        # More of them would make no fewer events, and memory has an end.
        full = len(self._rows) >= limits.ARRAY_VALUES
        return full or next_ms // self._window_ms != self._number

    def over(self, now_ms: int, patience_ms: int) -> bool:
        """Whether something waits, and its time is over for so long.

        It is over, too, when the clock was set back: that time may be hours away.
        """
        number, latest = self._number, now_ms // self._window_ms
        late = (now_ms - patience_ms) // self._window_ms
        return bool(self._rows) and (late > number or latest < number)

    def close(self) -> list[EmfEvent]:
        """Give the events of what waits."""
        packed, self._rows = self._rows, []
        if not packed:
            return []
        self._templates.age()
        return list(self._waiting.events(packed, self._templates))
