"""From the events of one log stream to the batches of PutLogEvents calls.

The service refuses a whole call for one event out of order or one byte too many, so the cutting
is done here, where it can be seen that every limit of ``limits`` holds and nothing gets lost.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from operator import attrgetter

from cwgpu.logs import limits
from cwgpu.model.drop import DropReason
from cwgpu.model.event import EmfEvent, LogBatch

_LARGEST_BYTES = limits.BATCH_BYTES - limits.EVENT_OVERHEAD_BYTES
"""A message that is larger fits into no batch."""


@dataclass(frozen=True, slots=True)
class Cut:
    """Every event that came in is in one batch or was dropped."""

    batches: tuple[LogBatch, ...]
    dropped: tuple[tuple[EmfEvent, DropReason], ...]


def cut(events: Sequence[EmfEvent], now_ms: int) -> Cut:
    """Cut the events of one stream into as few batches as their times and sizes allow.

    Events of equal time keep their order. ``now_ms`` decides which are too old or too new.
    """
    taken: list[EmfEvent] = []
    dropped: list[tuple[EmfEvent, DropReason]] = []
    for event in events:
        if fault := _fault(event, now_ms):
            dropped.append((event, fault))
        else:
            taken.append(event)
    taken.sort(key=attrgetter("at_ms"))
    batches = tuple(LogBatch(events[0].stream, part) for part in _parts(taken))
    return Cut(batches, tuple(dropped))


def _fault(event: EmfEvent, now_ms: int) -> DropReason | None:
    if event.at_ms < now_ms - limits.OLDEST_MS:
        return DropReason.TOO_OLD
    if event.at_ms > now_ms + limits.NEWEST_MS:
        return DropReason.TOO_NEW
    return DropReason.TOO_LARGE if event.size_bytes > _LARGEST_BYTES else None


def _parts(events: Iterable[EmfEvent]) -> Iterator[tuple[EmfEvent, ...]]:
    """Cut events in order of time wherever one more would break a limit."""
    part: list[EmfEvent] = []
    size_bytes = 0
    for event in events:
        cost_bytes = event.size_bytes + limits.EVENT_OVERHEAD_BYTES
        if part and (
            size_bytes + cost_bytes > limits.BATCH_BYTES
            or len(part) == limits.BATCH_EVENTS
            or event.at_ms - part[0].at_ms > limits.BATCH_SPAN_MS
        ):
            yield tuple(part)
            part, size_bytes = [], 0
        part.append(event)
        size_bytes += cost_bytes
    if part:
        yield tuple(part)
