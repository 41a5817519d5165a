"""What a page holds, as a list: every sample with its type, every fault with its place.

For whoever wants to see what was read, or to compare it with what another parser reads. Strictly
read, the list ends where Prometheus 3.0.1 fails the page.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from cwgpu.model.kind import Kind
from cwgpu.prom import exposition, family
from cwgpu.prom.cursor import Cursor
from cwgpu.prom.exposition import BadItem, Format, SeriesItem, TypeItem
from cwgpu.prom.quote import quoted


@dataclass(frozen=True, slots=True)
class Sample:
    """One sample."""

    item: SeriesItem
    kind: Kind
    """The TYPE of its family, wherever on the page that stands."""


@dataclass(frozen=True, slots=True)
class Fault:
    """What is not allowed on the page."""

    line: int
    """Counted from 1."""
    column: int
    """Counted in characters from 1."""
    text: str


@dataclass(frozen=True, slots=True)
class Listing:
    """A page that was read."""

    samples: tuple[Sample, ...]
    faults: tuple[Fault, ...]
    """Strictly read, there is one at most."""


def read(body: bytes, format: Format, *, strict: bool) -> Listing:  # noqa: A002 - what else is it
    """List the samples of a page; with ``strict`` those that Prometheus' parser hands out.

    A sample with a label twice is among those: it is the storage that fails the page for it.
    """
    items: list[SeriesItem] = []
    faults: list[Fault] = []
    types: dict[str, Kind] = {}
    for item, fault in _scan(body, format):
        if fault is not None:
            faults.append(fault)
        if isinstance(item, TypeItem):
            types[item.name] = item.kind
        elif isinstance(item, SeriesItem) and (strict or fault is None):
            items.append(item)
        if strict and faults:
            break
    samples = tuple(Sample(item, _kind(item.name, types)) for item in items)
    return Listing(samples, tuple(faults))


def _kind(name: str, types: dict[str, Kind]) -> Kind:
    role = family.role(name, types)
    return Kind.UNKNOWN if role is None else role.kind


def _scan(body: bytes, fmt: Format) -> Iterator[tuple[exposition.Item, Fault | None]]:
    """Give each item, with what is wrong with it."""
    line, counted = 1, 0
    for item in exposition.scan(body, fmt):
        line += body.count(b"\n", counted, item.start)
        counted = item.start
        yield item, _fault(body, line, item)


def _fault(body: bytes, line: int, item: exposition.Item) -> Fault | None:
    if isinstance(item, BadItem):
        cursor = Cursor(body, item.start)
        text = item.fault.removeprefix(f"{cursor.place(item.at)}: ")
        return Fault(line + body.count(b"\n", item.start, item.at), cursor.column(item.at), text)
    if isinstance(item, SeriesItem):
        name = exposition.repeated(item.labels)
        if name is not None:
            return Fault(line, 1, f"label {quoted(name.encode())} is there twice")
    return None
