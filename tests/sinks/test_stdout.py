"""Standard output as a sink."""

import errno
import io
import os
import subprocess
import sys
from pathlib import Path

import pytest

from cwgpu.logs.parcel import pack
from cwgpu.model.event import EmfEvent, LogBatch, Parcel, StreamKey
from cwgpu.sinks.stdout import StdoutSink

ROOT = Path(__file__).parents[2]
KEY = StreamKey("gpu", "node-1")


def parcel(*messages: bytes) -> Parcel:
    """Give a batch of these messages, ready to be sent."""
    return pack(LogBatch(KEY, tuple(EmfEvent.of(KEY, 1, text, 1, 1) for text in messages)))


async def test_every_event_is_a_line_of_its_own() -> None:
    """What would be sent is written as it is, in its order."""
    stream = io.BytesIO()
    sink = StdoutSink(stream)
    answer = await sink.send(parcel(b'{"a":1}', b'{"b":"\xc3\xbc"}'))
    assert stream.getvalue() == b'{"a":1}\n{"b":"\xc3\xbc"}\n'
    assert answer.code == ""


async def test_every_batch_is_flushed() -> None:
    """A reader of the pipe sees a batch when it is sent, not when a buffer is full."""
    raw = io.BytesIO()
    sink = StdoutSink(io.BufferedWriter(raw))
    await sink.send(parcel(b"{}"))
    assert raw.getvalue() == b"{}\n"


async def test_there_is_nothing_to_create_renew_or_close() -> None:
    """The stream stays its owner's."""
    stream = io.BytesIO()
    sink = StdoutSink(stream)
    assert (await sink.create(KEY)).code == ""
    await sink.renew()
    await sink.close()
    assert not stream.closed


async def test_a_closed_pipe_is_answered_and_then_all_is_quiet() -> None:
    """Nothing is written to a pipe that nobody reads, now or at the interpreter's end."""
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "wb") as stream:
        sink = StdoutSink(stream)
        answers = [await sink.send(parcel(b"{}")) for _ in range(2)]
        answers.append(await sink.create(KEY))
        stream.write(b"more than is said")  # closing flushes it, and does not raise
    assert [answer.code for answer in answers] == ["ClosedPipe"] * 3


async def test_a_stream_that_was_closed_here_is_a_closed_pipe_too() -> None:
    """Whoever closed it, nobody reads it."""
    stream = io.BytesIO()
    stream.close()
    assert (await StdoutSink(stream).send(parcel(b"{}"))).code == "ClosedPipe"


class Full(io.BytesIO):
    """A file on a full disk."""

    def flush(self) -> None:
        """Fail as the system does."""
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


async def test_a_full_disk_is_named() -> None:
    """Other failures are no closed pipe, and their reason is told."""
    answer = await StdoutSink(Full()).send(parcel(b"{}"))
    assert (answer.code, "No space left on device" in answer.message) == ("WriteFailed", True)


PROGRAM = """
import asyncio, sys
from cwgpu.logs.parcel import pack
from cwgpu.model.event import EmfEvent, LogBatch, StreamKey
from cwgpu.sinks.stdout import StdoutSink

async def run():
    key, sink = StreamKey("g", "s"), StdoutSink(sys.stdout.buffer)
    events = tuple(EmfEvent.of(key, 1, b"x" * 1000, 1, 1) for _ in range(1000))
    parcel = pack(LogBatch(key, events))
    while not (answer := await sink.send(parcel)).code:
        pass
    print(answer.code, file=sys.stderr)

asyncio.run(run())
"""


@pytest.mark.parametrize("reads", [0, 10])
def test_a_program_whose_reader_leaves_ends_without_noise(reads: int) -> None:
    """As in ``| head -1``: no trace on stderr and exit code 0."""
    with subprocess.Popen(
        [sys.executable, "-c", PROGRAM],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.read(reads)
        process.stdout.close()
        said = process.stderr.read()
    assert (said, process.returncode) == (b"ClosedPipe\n", 0)
