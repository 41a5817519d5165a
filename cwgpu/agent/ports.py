"""What the agent asks of what it does not know: owned here, by their user."""

from typing import Protocol

from cwgpu.discovery.findings import Findings
from cwgpu.kube.failure import Failure
from cwgpu.logs.verdict import Answer
from cwgpu.model.event import Parcel, StreamKey
from cwgpu.pace.election import Record, Write


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

    async def send(self, parcel: Parcel) -> Answer:
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


class Leases(Protocol):
    """One lease that agents contend for. Each call ends within its limit, and fails by value.

    A write that came too late, because somebody else wrote, has status 409.
    """

    async def read(self, limit_s: float) -> Record | Failure | None:
        """Give the lease; None when there is none."""
        ...

    async def write(
        self, write: Write, holder: str, duration_s: float, limit_s: float
    ) -> Record | Failure:
        """Let the lease be held by this holder, if it is still as it was read."""
        ...

    async def release(self, record: Record, limit_s: float) -> Record | Failure:
        """Let it be held by nobody, if it is still as it was read."""
        ...
