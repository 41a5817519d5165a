"""CloudWatch Logs in a process of its own, which writes down what came.

    python -m tests.bench.fleet.service

The first line of standard output is JSON: the environment that leads a program here, and the URL of
a place that takes any body and says nothing of it. Then each line of standard input is the path of
a file that the calls go to from now on, and is answered with ``{}``. What is in the calls is read
when all is over (``tests.bench.fleet.record``): meanwhile it costs a write.
"""

import asyncio
import json
import sys
import time
from pathlib import Path
from typing import BinaryIO

from aiohttp import web

from tests.bench.fleet.exporters import say
from tests.bench.fleet.record import UNREAD
from tests.fakes.cloudwatch import BODY_BYTES, FakeCloudWatch
from tests.fakes.door import Call


class _Record:
    """The file that calls go to."""

    def __init__(self) -> None:
        self._file: BinaryIO | None = None

    def begin(self, path: Path) -> None:
        """Write to this file from now on."""
        if self._file is not None:
            self._file.close()
        self._file = path.open("wb", buffering=0)

    def take(self, call: Call) -> None:
        """Write a call down."""
        head = {
            "at_s": time.time(),
            "action": call.action,
            "status": call.status,
            "wire_bytes": call.wire_bytes,
            "body_bytes": len(call.body),
        }
        if self._file is not None:
            self._file.write(json.dumps(head).encode() + b"\n" + call.body)

    async def answer(self, request: web.Request) -> web.Response:
        """Take a body, whatever it is, and write down how large it was."""
        size = len(await request.read())
        self.take(Call(UNREAD, {}, b"", size, 200, ""))
        return web.json_response({})


async def _serve() -> None:
    record = _Record()
    sink = web.Application(client_max_size=BODY_BYTES)
    sink.router.add_route("*", "/", record.answer)
    runner = web.AppRunner(sink, auto_decompress=False, shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    host, port = runner.addresses[0][:2]
    async with FakeCloudWatch(texts=False, metrics=False, told=record.take) as service:
        say({"environ": service.environ, "sink": f"http://{host}:{port}/"})
        while line := await asyncio.to_thread(sys.stdin.readline):
            record.begin(Path(line.strip()))
            say({})
    await runner.cleanup()


if __name__ == "__main__":
    asyncio.run(_serve())
