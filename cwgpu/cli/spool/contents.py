"""What a spool holds as a document: the table's source, and what ``-o json`` prints."""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeAlias

from cwgpu.model.event import EmfEvent, Waybill
from cwgpu.spool.found import Found, Quarantined, Segment, Slip

Value: TypeAlias = dict[str, Any]


def document(directory: Path, found: Found, now_s: float) -> Value:
    """Tell everything that ``look`` found, the oldest first."""
    batches = [_batch(slip, now_s) for slip in found.slips]
    segments = [_segment(segment, events, now_s) for segment, events in found.segments]
    quarantine = [_quarantined(each) for each in found.quarantined]
    return {
        "directory": str(directory),
        "batches": batches,
        "segments": segments,
        "quarantine": quarantine,
        "total": {
            "batches": _total(batches),
            "segments": _total(segments),
            "quarantine": {"count": len(quarantine)},
        },
    }


def header(name: str, waybill: Waybill) -> Value:
    """Tell what is known of a batch without its content."""
    load = waybill.load
    return {
        "name": name,
        "group": waybill.stream.group,
        "stream": waybill.stream.stream,
        "from": moment(waybill.first_ms),
        "to": moment(waybill.last_ms),
        "events": load.events,
        "samples": load.samples,
        "datapoints": load.datapoints,
        "message_bytes": waybill.size_bytes,
    }


def moment(at_ms: int) -> str:
    """Write a time as RFC 3339; one that no calendar has, as it is."""
    try:
        return datetime.fromtimestamp(at_ms / 1000, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    except (ValueError, OverflowError, OSError):
        return f"{at_ms} ms since 1970"


def segment(name: str, events: Sequence[EmfEvent]) -> Value:
    """Tell what a part of the write-ahead log has."""
    times = [event.at_ms for event in events]
    return {
        "name": name,
        "from": moment(min(times)) if times else None,
        "to": moment(max(times)) if times else None,
        "events": len(events),
        "samples": sum(event.samples for event in events),
        "datapoints": sum(event.datapoints for event in events),
        "message_bytes": sum(event.size_bytes for event in events),
    }


def _batch(slip: Slip, now_s: float) -> Value:
    return {
        **header(slip.name, slip.waybill),
        "size_bytes": slip.size_bytes,
        "age_s": _age_s(slip.waybill.first_ms, now_s),
    }


def _segment(found: Segment, events: Sequence[EmfEvent], now_s: float) -> Value:
    oldest = min((event.at_ms for event in events), default=None)
    return {
        **segment(found.name, events),
        "size_bytes": found.size_bytes,
        "age_s": None if oldest is None else _age_s(oldest, now_s),
    }


def _quarantined(found: Quarantined) -> Value:
    load = found.waybill.load if found.waybill else None
    return {
        "file": found.file,
        "reason": found.reason,
        "events": load.events if load else None,
        "samples": load.samples if load else None,
    }


def _age_s(at_ms: int, now_s: float) -> float:
    return round(max(0.0, now_s - at_ms / 1000), 1)


def _total(rows: Iterable[Value]) -> Value:
    every = list(rows)
    names = ("events", "samples", "datapoints", "size_bytes")
    return {"count": len(every), **{name: sum(each[name] for each in every) for name in names}}
