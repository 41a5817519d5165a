"""Where targets come from, watched: each source is asked at its own pace and keeps nobody waiting.

A directory may lie on a file system that has gone, a discovery service may take its time: the
other sources and the targets that stand in the configuration are not concerned.
"""

import asyncio
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from cwgpu.agent import aside
from cwgpu.agent.clock import Clock
from cwgpu.agent.ports import Source
from cwgpu.client.clients import Clients
from cwgpu.discovery import static
from cwgpu.discovery.file import FileSource
from cwgpu.discovery.findings import Findings
from cwgpu.discovery.http import HttpSource
from cwgpu.model.target import TargetGroup
from cwgpu.plan.kubernetes import KubernetesDiscovery
from cwgpu.plan.plan import FileDiscovery, HttpDiscovery, Job

if TYPE_CHECKING:  # it is loaded when a job asks for it
    from cwgpu.agent.watches import Watches

Order: TypeAlias = FileDiscovery | HttpDiscovery | KubernetesDiscovery
"""What the plan says of a source."""

# How often target files are looked at. Prometheus hears of a change at once; a person who edits
# a file expects no less than "in a moment", and looking at files costs next to nothing.
_LOOK_S = 5.0


@dataclass(eq=False, slots=True)
class _Watched:
    """One source, and what it said last."""

    job: str
    place: str
    """Where in the job it stands."""
    order: Order
    source: Source
    findings: Findings | None = None
    """None until its first answer."""
    task: asyncio.Task[None] | None = None


class Watch:
    """Knows what every source of the plan at work knows."""

    def __init__(
        self,
        clients: Clients,
        clock: Clock,
        *,
        fault: Callable[[str, str], None],
        note: Callable[[str, str], None],
        bug: Callable[[str, Exception], None],
    ) -> None:
        """``fault`` is told the job and what is wrong, at each reading.

        ``note`` is told, once, why nothing is found where nothing is wrong. ``bug`` is told what a
        source raised that it should not have; it is asked again, and what it knew stays.
        """
        self._clients = clients
        self._clock = clock
        self._fault = fault
        self._note = note
        self._bug = bug
        self._watches: Watches | None = None
        """What jobs ask Kubernetes; None before one does."""
        self._jobs: dict[str, list[_Watched]] = {}
        self._followed = asyncio.Event()
        self.changed = asyncio.Event()
        """Set when there is something new to be taken up; whoever does so clears it."""

    def follow(self, jobs: Sequence[Job]) -> None:
        """Ask the sources of these jobs from now on; those that stay know what they knew."""
        former = list(self._all())
        self._jobs = {job.name: [_kept(former, new) for new in self._sources(job)] for job in jobs}
        if self._watches is not None:
            self._watches.follow(one.source for one in self._all())
        stay = set(self._all())
        for one in former:
            if one not in stay and one.task is not None:
                one.task.cancel()
        self._followed.set()
        self.changed.set()

    def groups(self, job: Job) -> Iterator[TargetGroup]:
        """Give what is known now of the job's targets; groups differ in their source."""
        yield from static.groups(job)
        for one in self._jobs.get(job.name, ()):
            if one.findings is not None:
                yield from one.findings.groups

    def said(self, job: Job) -> Iterator[tuple[str, Findings | None]]:
        """Give where each of the job's sources stands and what it said last; None: nothing yet."""
        return ((one.place, one.findings) for one in self._jobs.get(job.name, ()))

    def waiting(self) -> str:
        """Say which source has not answered yet, well or badly; empty when all have."""
        silent = [one for one in self._all() if one.findings is None]
        if not silent:
            return ""
        others = f" and {len(silent) - 1} more" if silent[1:] else ""
        return f"waiting for the first answer of {silent[0].place} of job {silent[0].job}{others}"

    async def run(self) -> None:
        """Ask for ever. Raises what ``bug`` does, and what no reflector should have raised."""
        watching: asyncio.Task[None] | None = None
        async with asyncio.TaskGroup() as tasks:
            while True:
                self._followed.clear()
                if self._watches is not None:
                    watching = watching or tasks.create_task(self._watches.run())
                for one in self._all():
                    one.task = one.task or tasks.create_task(self._ask(one))
                await self._followed.wait()

    def _sources(self, job: Job) -> Iterator[_Watched]:
        for index, files in enumerate(job.files):
            place = f"file_sd_configs[{index}]"
            yield _Watched(job.name, place, files, _Files(FileSource(files, index)))
        for index, service in enumerate(job.http):
            place = f"http_sd_configs[{index}]"
            yield _Watched(job.name, place, service, HttpSource(service, index, self._clients))
        for index, asked in enumerate(job.kubernetes):
            place = f"kubernetes_sd_configs[{index}]"
            yield _Watched(job.name, place, asked, self._kubernetes().source(asked, index))

    def _kubernetes(self) -> "Watches":
        if self._watches is None:
            from cwgpu.agent.watches import Watches  # noqa: PLC0415 - a sidecar has no use for it

            self._watches = Watches(self._clients, self._clock)
        return self._watches

    async def _ask(self, one: _Watched) -> None:
        while True:
            began_s = self._clock.monotonic()
            findings = await self._read(one)
            for fault in findings.faults:
                self._fault(one.job, fault)
            for note in findings.notes:
                if one.findings is None:
                    self._note(one.job, note)
            if one.findings is None or one.findings.groups != findings.groups:
                self.changed.set()
            one.findings = findings
            passed_s = self._clock.monotonic() - began_s
            await self._clock.sleep(max(0.0, one.source.every_s - passed_s))

    async def _read(self, one: _Watched) -> Findings:
        try:
            return await one.source.read()
        except Exception as error:  # noqa: BLE001 - one source's bug must not end all the others
            self._bug(one.job, error)
        return one.findings or Findings()

    def _all(self) -> Iterable[_Watched]:
        return (one for watched in self._jobs.values() for one in watched)


def _kept(former: list[_Watched], new: _Watched) -> _Watched:
    identity = (new.job, new.place, new.order)
    return next((one for one in former if (one.job, one.place, one.order) == identity), new)


@dataclass(frozen=True, slots=True)
class _Files:
    """Target files as a source: they are read beside the event loop."""

    files: FileSource
    every_s: float = _LOOK_S

    async def read(self) -> Findings:
        return await aside.run(self.files.read)
