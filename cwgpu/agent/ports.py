"""What the agent asks of what it does not know: owned here, by their user."""

from typing import Protocol

from cwgpu.logs.verdict import Answer
from cwgpu.model.event import LogBatch, StreamKey


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
