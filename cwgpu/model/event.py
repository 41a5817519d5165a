"""From a log event to what became of it: event -> batch -> outcome."""

from dataclasses import dataclass, field

from cwgpu.model.drop import DropReason


@dataclass(frozen=True, slots=True)
class StreamKey:
    """Where a log event goes."""

    group: str
    stream: str


@dataclass(frozen=True, slots=True)
class EmfEvent:
    """One log event, ready to send."""

    stream: StreamKey
    at_ms: int
    message: bytes
    """The JSON text, UTF-8, without a newline."""
    samples: int
    """Samples of the page that it carries."""
    datapoints: int
    """Datapoints CloudWatch makes of it: samples times dimension sets."""


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
        return sum(len(event.message) for event in self.events)


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
