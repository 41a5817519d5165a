"""From a log event to what became of it: event -> batch -> parcel -> outcome."""

from dataclasses import dataclass, field
from typing import NamedTuple, Self, TypeAlias

from cwgpu.model import quoting
from cwgpu.model.drop import DropReason


# Of every scrape come several of the next two, and one looks for where they go. A frozen dataclass
# takes three times as long to make, and ten times to be looked for.
class StreamKey(NamedTuple):
    """Where a log event goes."""

    group: str
    stream: str


class EmfEvent(NamedTuple):
    """One log event, ready to send."""

    stream: StreamKey
    at_ms: int
    quoted: bytes
    """The message, a JSON text, as it stands within a JSON string: see ``quoting``."""
    size_bytes: int
    """UTF-8 bytes of the message, which are fewer."""
    samples: int
    """Samples of a page, or of several, that it carries."""
    datapoints: int
    """Datapoints CloudWatch makes of it: samples times dimension sets."""

    @classmethod
    def of(cls, stream: StreamKey, at_ms: int, message: bytes, *load: int) -> Self:
        """Make one of a message that is there, UTF-8; what is none becomes U+FFFD.

        ``load`` are its samples and its datapoints.
        """
        sent = message.decode(errors="replace").encode()
        return cls(stream, at_ms, quoting.quote(sent), len(sent), *load)

    @property
    def message(self) -> bytes:
        """Give the message, which is read back."""
        return quoting.read(self.quoted)


@dataclass(frozen=True, slots=True)
class LogBatch:
    """The events of one PutLogEvents call, in order of time."""

    stream: StreamKey
    events: tuple[EmfEvent, ...]

    @property
    def samples(self) -> int:
        """Samples that the batch carries."""
        return sum(event.samples for event in self.events)

    @property
    def datapoints(self) -> int:
        """Datapoints that CloudWatch makes of the batch."""
        return sum(event.datapoints for event in self.events)

    @property
    def size_bytes(self) -> int:
        """UTF-8 bytes of the messages, as billed before CloudWatch's 26 bytes an event."""
        return sum(event.size_bytes for event in self.events)


Run: TypeAlias = tuple[int, int, int]
"""Events in a row that are alike: how many, and the samples and datapoints of each of them."""


class Load(NamedTuple):
    """What some events of a batch carry."""

    events: int
    samples: int
    datapoints: int


@dataclass(frozen=True, slots=True)
class Waybill:
    """What is known of a batch without its content: enough to keep, judge and account for it."""

    stream: StreamKey
    first_ms: int
    """Time of its oldest event."""
    last_ms: int
    """Time of its newest event."""
    runs: tuple[Run, ...]
    """The events in their order."""
    size_bytes: int
    """UTF-8 bytes of the messages, as in ``LogBatch``."""

    @property
    def load(self) -> Load:
        """What all of it carries."""
        return self.part(0, self.events)

    @property
    def events(self) -> int:
        """Events of the batch."""
        return sum(count for count, _, _ in self.runs)

    def part(self, start: int, end: int) -> Load:
        """Give what the events from index ``start`` up to, and without, ``end`` carry."""
        events = samples = datapoints = at = 0
        for count, each_samples, each_datapoints in self.runs:
            taken = max(0, min(at + count, end) - max(at, start))
            events += taken
            samples += taken * each_samples
            datapoints += taken * each_datapoints
            at += count
        return Load(events, samples, datapoints)


@dataclass(frozen=True, slots=True)
class Parcel:
    """One PutLogEvents call, ready to be sent."""

    waybill: Waybill
    body: bytes
    """The request's JSON document, gzipped: what ``logs.parcel`` packs."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one batch, once that is decided."""

    stream: StreamKey
    delivered_events: int
    delivered_samples: int
    delivered_datapoints: int
    dropped: tuple[tuple[DropReason, int], ...] = field(default=())
    """Samples lost for good, by reason."""
    detail: str = ""
    """The service's own words where something was lost."""
