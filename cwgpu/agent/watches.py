"""What is watched at Kubernetes API servers: each question once, whoever asks it.

This module is loaded when a job asks Kubernetes for the first time: others do not pay for it.
"""

import asyncio
import os
import random
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cwgpu.agent.clock import Clock
from cwgpu.agent.ports import Source
from cwgpu.client.clients import Clients
from cwgpu.discovery.entrust import Entrusted
from cwgpu.discovery.kubernetes import KubernetesSource
from cwgpu.discovery.question import Question
from cwgpu.kube import incluster
from cwgpu.kube.connect import connect
from cwgpu.kube.connection import Connection
from cwgpu.kube.reflector import Reflector
from cwgpu.kube.resource import DISCOVERABLE
from cwgpu.kube.view import View
from cwgpu.plan.kubernetes import KubernetesDiscovery, Server


@dataclass(eq=False, slots=True)
class _Asked:
    """One question, and who keeps the answer up to date."""

    question: Question
    reflector: Reflector[Any]
    task: asyncio.Task[None] | None = None


class Watches:
    """Reflectors for the questions of the plan at work; those of one server share a connection."""

    def __init__(
        self,
        clients: Clients,
        clock: Clock,
        *,
        environ: Mapping[str, str] = os.environ,
        folder: Path = incluster.FOLDER,
    ) -> None:
        """Ask nothing yet. ``folder`` is where a pod has its service account."""
        self._clients = clients
        self._clock = clock
        self._environ = environ
        self._folder = folder
        self._asked: list[_Asked] = []
        self._connections: list[tuple[Server, Connection]] = []
        self._followed = asyncio.Event()

    def source(self, discovery: KubernetesDiscovery, index: int) -> KubernetesSource:
        """Make the source of one kubernetes_sd_configs entry."""
        return KubernetesSource(
            discovery,
            index,
            self._view,
            sleep=self._clock.sleep,
            environ=self._environ,
            folder=self._folder,
        )

    def follow(self, sources: Iterable[Source]) -> None:
        """Watch what these ask, and nothing else. What is watched already stays known."""
        former, self._asked = self._asked, []
        ours = (source for source in sources if isinstance(source, KubernetesSource))
        for question in (each for source in ours for each in source.questions):
            if self._find(self._asked, question) is None:
                self._asked.append(self._find(former, question) or self._ask(question))
        for one in former:
            if one not in self._asked and one.task is not None:
                one.task.cancel()
        self._followed.set()

    async def run(self) -> None:
        """Keep all of it up to date, for ever. Raises what no reflector should have raised."""
        try:
            async with asyncio.TaskGroup() as tasks:
                await self._keep(tasks)
        finally:
            self._asked = []
            await self._close_unused()

    async def _keep(self, tasks: asyncio.TaskGroup) -> None:
        while True:
            self._followed.clear()
            for one in self._asked:
                one.task = one.task or tasks.create_task(one.reflector.run())
            await self._close_unused()
            await self._followed.wait()

    def _view(self, question: Question) -> View[Any]:
        asked = self._find(self._asked, question)
        if asked is None:
            raise RuntimeError("a source is read that is not followed")
        return asked.reflector

    def _find(self, asked: list[_Asked], question: Question) -> _Asked | None:
        return next((one for one in asked if one.question == question), None)

    def _ask(self, question: Question) -> _Asked:
        reflector = Reflector(
            self._connection(question.server),
            DISCOVERABLE[question.kind],
            question.namespace,
            labels=question.labels,
            fields=question.fields,
            sleep=self._clock.sleep,
            monotonic=self._clock.monotonic,
            random=random.random,
        )
        return _Asked(question, reflector)

    def _connection(self, server: Server) -> Connection:
        for known, connection in self._connections:
            if known == server:
                return connection
        made = connect(
            server,
            lambda address: Entrusted(address, self._clients),
            environ=self._environ,
            folder=self._folder,
            sleep=self._clock.sleep,
        )
        self._connections.append((server, made))
        return made

    async def _close_unused(self) -> None:
        used = [one.question.server for one in self._asked]
        kept = [each for each in self._connections if each[0] in used]
        closed = [each for each in self._connections if each[0] not in used]
        self._connections = kept
        for _, connection in closed:
            await connection.close()
