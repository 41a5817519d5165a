"""CloudWatch Logs as a sink: boto3's blocking calls in a few threads of their own."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from cwgpu.logs.verdict import Answer
from cwgpu.model.event import Parcel, StreamKey
from cwgpu.sinks.access import Access
from cwgpu.sinks.caller import Caller
from cwgpu.sinks.groups import Groups

WORKERS = 2
"""Calls at a time. A call takes 0.1 s and a thousand GPUs need one in three seconds; the second
lets one stream's trouble pass the others by."""

T = TypeVar("T")


class CloudWatchSink:
    """Sends batches and makes streams; every answer is a value, and nothing is tried twice.

    boto3 is imported, and credentials are looked for, by the first call, in a thread.
    """

    def __init__(
        self, access: Access, *, retention_days: int | None = None, workers: int = WORKERS
    ) -> None:
        """``retention_days`` is for log groups that this sink creates; None keeps for ever."""
        self._caller = Caller(access, connections=workers)
        self._threads = ThreadPoolExecutor(workers, thread_name_prefix="cloudwatch")
        self._groups = Groups(self._caller, self._run, retention_days)

    async def send(self, parcel: Parcel) -> Answer:
        """Make one PutLogEvents call; none to a group whose class makes no metrics of it."""
        stream = parcel.waybill.stream
        refusal = await self._groups.refusal(stream.group)
        if refusal is not None:
            return refusal
        answer = await self._run(lambda: self._caller.put(parcel))
        self._groups.told(stream, answer)
        return answer

    async def create(self, stream: StreamKey) -> Answer:
        """Make the log stream and, when missing, its group; that they exist is a success.

        Those who ask for one stream at the same time share one answer. A message with a success
        says that the group was made but its retention could not be set.
        """
        return await self._groups.create(stream)

    async def renew(self) -> None:
        """Throw session and credentials away, if they were refused; the next call finds new ones.

        Calls that are under way with them go on.
        """
        if self._caller.renew():
            self._groups.forgive()

    async def close(self) -> None:
        """Take no more calls. Those under way are not waited for."""
        self._groups.close()
        self._threads.shutdown(wait=False, cancel_futures=True)
        self._caller.close()

    async def _run(self, call: Callable[[], T], /) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._threads, call)
