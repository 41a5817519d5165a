"""Standard output as a sink: what a dry run would have sent, one JSON document to a line.

Writing blocks the event loop while the reader of a pipe is slow. That is what holds a dry run
back, as it does any filter.
"""

import os
from contextlib import suppress
from typing import BinaryIO

from cwgpu.logs.parcel import unpack
from cwgpu.logs.verdict import Answer
from cwgpu.model.event import LogBatch, Parcel, StreamKey

CLOSED = "ClosedPipe"
"""Code of the answers when nobody reads any more, as after ``| head -1``."""

FAILED = "WriteFailed"
"""Code of the answers when it cannot be written, as on a full disk; the message says why."""


class StdoutSink:
    """Writes events; after a failure it is quiet and gives the same answer again."""

    def __init__(self, stream: BinaryIO) -> None:
        """Take ``sys.stdout.buffer``, or anything else that takes bytes."""
        self._stream = stream
        self._failure: Answer | None = None

    async def send(self, parcel: Parcel) -> Answer:
        """Write the events of a batch, and flush."""
        if self._failure is None:
            self._failure = self._written(unpack(parcel))
        return self._failure or Answer("")

    async def create(self, stream: StreamKey) -> Answer:
        """Say that there is nothing to create."""
        del stream
        return self._failure or Answer("")

    async def renew(self) -> None:
        """Do nothing: a stream has no session."""

    async def close(self) -> None:
        """Do nothing: every batch is flushed, and the stream is its owner's."""

    def _written(self, batch: LogBatch) -> Answer | None:
        try:
            self._stream.write(b"".join(event.message + b"\n" for event in batch.events))
            self._stream.flush()
        except BrokenPipeError:
            self._discard()
            return Answer(CLOSED, "nobody reads standard output any more")
        except OSError as error:
            self._discard()
            return Answer(FAILED, f"standard output cannot be written: {error.strerror or error}")
        except ValueError:  # the stream was closed on our own side
            return Answer(CLOSED, "standard output is closed")
        return None

    def _discard(self) -> None:
        """Let what the stream still holds go nowhere.

        Otherwise the interpreter's last flush of it would fail once more, and loudly.
        """
        with suppress(OSError):  # a stream in memory has no descriptor
            descriptor = self._stream.fileno()
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, descriptor)
            os.close(nowhere)
