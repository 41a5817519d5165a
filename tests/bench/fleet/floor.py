"""The least that any such agent must do: get the pages, and put as many bytes as it puts.

    python -m tests.bench.fleet.floor TARGETS.json INTERVAL_S URL CALLS BYTES SECONDS

With aiohttp, one kept connection for each target, each target at its own place in the interval; a
page is read to its end, and nothing is done with it. In so many seconds that many calls go to the
URL, of so many bytes each, evenly. Ends when it is ended.
"""

import asyncio
import gc
import json
import os
import sys
import time
from pathlib import Path

import aiohttp

from cwgpu.pace import cadence


async def _get(client: aiohttp.ClientSession, url: str, interval_s: float) -> None:
    offset_s = cadence.offset_s(url.encode(), interval_s)
    while True:
        due = cadence.next_due(time.time(), offset_s, interval_s)
        await asyncio.sleep(due - time.time())
        async with client.get(url) as answer:
            await answer.read()


async def _put(
    client: aiohttp.ClientSession, url: str, calls: int, size: int, seconds: float
) -> None:
    if not calls:
        return
    body = os.urandom(size)  # as little to be compressed as what is compressed
    began = time.monotonic()
    number = 0
    while True:
        number += 1
        await asyncio.sleep(began + number * seconds / calls - time.monotonic())
        async with client.put(url, data=body) as answer:
            await answer.read()


async def _run(targets: list[str], interval_s: float, *putting: str) -> None:
    url, calls, size, seconds = putting
    connector = aiohttp.TCPConnector(limit=0, keepalive_timeout=3600)
    async with aiohttp.ClientSession(connector=connector) as client, asyncio.TaskGroup() as tasks:
        gc.freeze()  # as the agent does
        for target in targets:
            tasks.create_task(_get(client, f"http://{target}/metrics", interval_s))
        tasks.create_task(_put(client, url, int(calls), int(size), float(seconds)))


if __name__ == "__main__":
    found = [group["targets"][0] for group in json.loads(Path(sys.argv[1]).read_text("utf-8"))]
    asyncio.run(_run(found, float(sys.argv[2]), *sys.argv[3:]))
