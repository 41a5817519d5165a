"""What the agent asks of what it does not know: owned here, by their user."""

from typing import Protocol

from cwgpu.discovery.findings import Findings
from cwgpu.logs.verdict import Answer
from cwgpu.model.event import LogBatch, StreamKey


class Source(Protocol):
    """Something that knows targets. It is asked again and again, and never twice at a time."""

    @property
    def every_s(self) -> float:
        """Seconds from one reading to the next; one that takes longer is followed at once."""

    async def read(self) -> Findings:
        """Give what it knows now, and take as long as that takes.

        What goes wrong is among the findings; targets that were known before stay there.
        """
        ...


class Sink(Protocol):
    """Somewhere batches go. Answers, also bad ones, are values; a sink has no retry policy."""

    async def send(self, batch: LogBatch) -> Answer:
        """Try once to deliver a batch."""
        ...

    async def create(self, stream: StreamKey) -> Answer:
        """Make the log group and stream if they are missing."""
        ...

    async def renew(self) -> None:
        """Forget credentials and connections, so that the next call gets fresh ones."""
        ...

    async def close(self) -> None:
        """Give back what is held."""
        ...
