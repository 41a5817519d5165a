"""CloudWatch Logs on loopback: signatures, limits, faults, and EMF that becomes datapoints.

In a test's own event loop, or in a thread of its own for tests that start processes::

    async with FakeCloudWatch() as cloudwatch: ...
    with FakeCloudWatch() as cloudwatch: ...

``cloudwatch.environ`` holds the AWS_* variables that lead a program to it. Afterwards
``cloudwatch.datapoints``, ``.emf_errors``, ``.calls`` and ``.messages(group, stream)`` say what
came; ``cloudwatch.fail(faults.throttled(), times=3)`` says what goes wrong next. Before the first
events of a log group a sink asks ``DescribeLogGroups`` for its class, so a fault that is meant for
events alone names them: ``cloudwatch.fail(fault, action="PutLogEvents")``.

For tens of thousands of calls ``FakeCloudWatch(texts=False)`` keeps neither messages nor bodies,
only ``.taken`` (how many events came), what was answered, and datapoints; ``metrics=False`` leaves
the datapoints out too, and saves the CPU that reading EMF takes. ``told`` is told of each call as
it comes, with its body, kept or not.
"""

import asyncio
import json
import threading
import time
from collections.abc import Callable
from typing import Any, Self

from aiohttp import web

from tests.fakes import sigv4
from tests.fakes.door import Call, Door
from tests.fakes.emf import Datapoint
from tests.fakes.faults import Fault
from tests.fakes.limits import LogEvent
from tests.fakes.service import EmfFault, Group, Service, Stream

KEY_ID = "AKIDEXAMPLE"
SECRET = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"  # noqa: S105 - of AWS' own documentation
REGION = "us-west-2"
BODY_BYTES = 64 * 1024 * 1024
"""Far beyond what a batch may hold, so that the documented limits are what tests meet."""


class FakeCloudWatch:
    """The service and its HTTP door."""

    def __init__(
        self,
        clock: Callable[[], float] = time.time,
        *,
        texts: bool = True,
        metrics: bool = True,
        told: Callable[[Call], None] = lambda _: None,
    ) -> None:
        """Take the service's clock, in seconds since 1970.

        Without ``texts`` events are counted and not kept; without ``metrics`` none is read as EMF.
        """
        self.url = ""
        self.skew_s = 0.0
        """How far the service's clock is ahead of ``clock``."""
        self.secrets = {KEY_ID: sigv4.Secret(SECRET)}
        """Whose signatures are good: access key id -> what belongs to it."""
        self._service = Service(texts=texts, metrics=metrics)
        self._clock = clock
        self._door = Door(self._service, self._now, self.secrets, told=told)

    @property
    def environ(self) -> dict[str, str]:
        """Give the environment variables that lead an AWS SDK here, and nowhere else."""
        return {
            "AWS_ACCESS_KEY_ID": KEY_ID,
            "AWS_SECRET_ACCESS_KEY": SECRET,
            "AWS_DEFAULT_REGION": REGION,
            "AWS_ENDPOINT_URL_CLOUDWATCH_LOGS": self.url,
            "AWS_EC2_METADATA_DISABLED": "true",
            "AWS_CONFIG_FILE": "/dev/null",
            "AWS_SHARED_CREDENTIALS_FILE": "/dev/null",
        }

    # ---- what came

    @property
    def datapoints(self) -> list[Datapoint]:
        """Every datapoint that came, in the order of arrival."""
        return self._service.datapoints

    @property
    def emf_errors(self) -> list[EmfFault]:
        """Every message that was stored but breaks EMF's rules."""
        return self._service.emf_errors

    @property
    def groups(self) -> dict[str, Group]:
        """The log groups, by name."""
        return self._service.groups

    @property
    def calls(self) -> list[Call]:
        """Every request that came."""
        return self._door.calls

    @property
    def actions(self) -> list[str]:
        """The actions of the requests that came."""
        return [call.action for call in self.calls]

    @property
    def taken(self) -> int:
        """How many events were stored, in all streams that are there."""
        return sum(
            stream.taken for group in self.groups.values() for stream in group.streams.values()
        )

    def events(self, group: str, stream: str) -> list[LogEvent]:
        """Give what a stream holds, in the order of arrival."""
        return self.groups[group].streams[stream].events

    def messages(self, group: str, stream: str) -> list[Any]:
        """Give the messages of a stream, read as JSON."""
        return [json.loads(event.message) for event in self.events(group, stream)]

    def wait(self, until: Callable[[], object], timeout_s: float = 10.0) -> None:
        """Block this thread until a call has made the condition true; TimeoutError otherwise.

        In the loop that serves: ``await asyncio.to_thread(cloudwatch.wait, condition)``.
        """
        with self._door.came:
            if not self._door.came.wait_for(until, timeout_s):
                raise TimeoutError(f"not in {timeout_s} s; the calls were {self.actions}")

    # ---- what shall happen

    def add(
        self,
        group: str,
        stream: str,
        *,
        retention_days: int | None = None,
        log_class: str = "STANDARD",
    ) -> None:
        """Let a log group and stream be there already."""
        fresh = Group(int(self._now() * 1000), log_class, retention_days)
        self.groups.setdefault(group, fresh).streams[stream] = Stream()

    def fail(self, fault: Fault, *, action: str | None = None, times: float = 1) -> None:
        """Let the next calls (of one action, if given) go wrong; ``math.inf`` until ``heal``."""
        self._door.pending.add(fault, action=action, times=times)

    def heal(self) -> None:
        """Forget the faults that have not happened yet, and release what is held."""
        self._door.pending.planned.clear()
        self.release()

    def release(self) -> None:
        """Send the answers that ``faults.Hold`` holds back."""
        self._loop.call_soon_threadsafe(self._door.release)

    # ---- life

    async def __aenter__(self) -> Self:
        """Serve in the running event loop."""
        self._loop = asyncio.get_running_loop()
        app = web.Application(client_max_size=BODY_BYTES)
        app.router.add_route("*", "/{path:.*}", self._door.answer)
        # aiohttp would inflate the very bytes that the signature was made over
        self._runner = web.AppRunner(app, auto_decompress=False, shutdown_timeout=0.1)
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", 0).start()
        host, port = self._runner.addresses[0][:2]
        self.url = f"http://{host}:{port}"
        return self

    async def __aexit__(self, *_: object) -> None:
        """Stop serving."""
        self.release()
        await self._runner.cleanup()

    def __enter__(self) -> Self:
        """Serve in a thread of its own."""
        ready = threading.Event()
        self._thread = threading.Thread(target=asyncio.run, args=(self._serve(ready),))
        self._thread.start()
        ready.wait()
        return self

    def __exit__(self, *_: object) -> None:
        """Stop the thread."""
        self._loop.call_soon_threadsafe(self._closing.set)
        self._thread.join()

    async def _serve(self, ready: threading.Event) -> None:
        self._closing = asyncio.Event()
        async with self:
            ready.set()
            await self._closing.wait()

    def _now(self) -> float:
        return self._clock() + self.skew_s
