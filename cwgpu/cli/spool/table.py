"""The document for a person: the batches, the log, the quarantine, and the sums."""

from collections.abc import Iterator, Sequence
from typing import Any, TypeAlias

from cwgpu.telemetry import escape

Value: TypeAlias = dict[str, Any]

_HEAD = ("NAME", "STREAM", "FROM", "TO", "EVENTS", "SAMPLES", "BYTES", "AGE")
_NUMBERS = {"EVENTS", "SAMPLES", "BYTES", "AGE"}
_UNITS = (("d", 86_400), ("h", 3_600), ("m", 60), ("s", 1))


def text(document: Value) -> str:
    """Write everything down."""
    rows = [_batch(each) for each in document["batches"]]
    rows += [_segment(each) for each in document["segments"]]
    lines = [*(_aligned([_HEAD, *rows]) if rows else ()), *_quarantine(document["quarantine"])]
    return "\n".join(map(escape.line, [*lines, _sums(document["total"])]))


def age(seconds: float | None) -> str:
    """Write a duration in its two largest units."""
    if seconds is None:
        return "-"
    whole = int(seconds)
    for number, (unit, size) in enumerate(_UNITS):
        if whole >= size:
            rest = whole % size
            small, small_size = _UNITS[min(number + 1, len(_UNITS) - 1)]
            more = f" {rest // small_size}{small}" if rest and rest >= small_size else ""
            return f"{whole // size}{unit}{more}"
    return "0s"


def _batch(batch: Value) -> Sequence[str]:
    return (batch["name"], f"{batch['group']} {batch['stream']}", *_cells(batch))


def _segment(segment: Value) -> Sequence[str]:
    return (segment["name"], "(not in a batch yet)", *_cells(segment))


def _cells(row: Value) -> Iterator[str]:
    yield from (row["from"] or "-", row["to"] or "-")
    yield from (f"{row[name]:,}" for name in ("events", "samples", "size_bytes"))
    yield age(row["age_s"])


def _quarantine(files: Sequence[Value]) -> Iterator[str]:
    if files:
        yield "In quarantine, or to be put there at the next start:"
    for each in files:
        known = "" if each["samples"] is None else f" ({_count(each['samples'], 'sample')})"
        yield f"  {each['file'] or 'a file'}: {each['reason']}{known}"


def _sums(total: Value) -> str:
    batches, segments = total["batches"], total["segments"]
    if not batches["count"] and not segments["events"]:
        said = "Nothing waits to be delivered."
    else:
        size_bytes = batches["size_bytes"] + segments["size_bytes"]
        said = (
            f"{_count(batches['count'], 'batch', 'batches')} of "
            f"{_count(batches['events'], 'event')}, {_count(segments['events'], 'event')} not in a "
            f"batch yet; {_count(batches['samples'] + segments['samples'], 'sample')}, "
            f"{_count(size_bytes, 'byte')} on disk."
        )
    held = total["quarantine"]["count"]
    return f"{said} {_count(held, 'file')} in quarantine." if held else said


def _count(number: int, one: str, more: str = "") -> str:
    return f"{number:,} {one if number == 1 else more or one + 's'}"


def _aligned(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = [
            cell.rjust(width) if name in _NUMBERS else cell.ljust(width)
            for cell, width, name in zip(row, widths, _HEAD, strict=True)
        ]
        yield "  ".join(cells).rstrip()
