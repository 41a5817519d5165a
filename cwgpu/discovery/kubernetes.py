"""Target groups from the Kubernetes API, which is watched and not asked again and again.

https://prometheus.io/docs/prometheus/latest/configuration/configuration/#kubernetes_sd_config

Watching is somebody else's: a view is what is known of some objects now (``cwgpu.kube.view``), and
discoveries that ask the same share one. As in Prometheus there are no targets before all objects of
a namespace that they are made of were seen once: a rule that asks for a service's annotation would
drop what it is to keep. After that, targets stay when the server goes.
"""

import asyncio
import os
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from cwgpu.discovery.findings import Findings
from cwgpu.discovery.join import Join, Views
from cwgpu.discovery.question import Question, questions
from cwgpu.kube import incluster, limit
from cwgpu.kube.view import View
from cwgpu.plan.kubernetes import KubernetesDiscovery

# Prometheus hands on what has changed every 5 s at most (discovery/manager.go); the first change
# after a quiet time is handed on at once.
_CALM_S = 5.0
# What stays wrong is told again after this.
_REMIND_S = 600.0


class KubernetesSource:
    """One entry of kubernetes_sd_configs. Reading waits until there is something new."""

    every_s = _CALM_S

    def __init__(
        self,
        discovery: KubernetesDiscovery,
        index: int,
        view: Callable[[Question], View[Any]],
        *,
        sleep: limit.Sleep = asyncio.sleep,
        environ: Mapping[str, str] = os.environ,
        folder: Path = incluster.FOLDER,
    ) -> None:
        """``index`` is the entry's place in its job; it makes the groups' sources unique.

        ``view`` gives what is known of one of ``questions``, when it is watched.
        """
        self._asked = questions(discovery, environ, folder)
        self._view = view
        self._sleep = sleep
        self._join = Join(discovery.role, f"kubernetes/{index}/", discovery.environment)
        self._versions: dict[View[Any], int] = {}
        """What the last answer was made of."""
        self._answered = False

    @property
    def questions(self) -> tuple[Question, ...]:
        """All that has to be watched, each once."""
        asked = (each for part in self._asked.parts for each in part.values())
        return tuple(_each_once(asked))

    async def read(self) -> Findings:
        """Give what is known, as soon as that is new.

        At first that is when each view has seen all, or has told why it cannot.
        """
        parts = [
            {kind: self._view(question) for kind, question in part.items()}
            for part in self._asked.parts
        ]
        views = {view for part in parts for view in part.values()}
        if self._answered:
            await self._news()
        self._note(views)
        while any(not (view.synced or view.trouble) for view in views):
            await self._news()
            self._note(views)
        self._answered = True
        return self._findings(parts)

    def _note(self, views: set[View[Any]]) -> None:
        self._versions = {view: view.version for view in views}

    async def _news(self) -> None:
        """Wait until a view has changed, or until it is time to tell again what is wrong."""
        waits = [asyncio.ensure_future(view.wait(at)) for view, at in self._versions.items()]
        reminds = asyncio.ensure_future(self._sleep(_REMIND_S))
        try:
            await asyncio.wait((*waits, reminds), return_when=asyncio.FIRST_COMPLETED)
        finally:
            for each in (*waits, reminds):
                each.cancel()

    def _findings(self, parts: list[dict[str, View[Any]]]) -> Findings:
        known: list[Views | None] = [
            part if all(view.synced for view in part.values()) else None for part in parts
        ]
        faults = (fault for part in parts for view in part.values() for fault in _faults(view))
        return Findings(
            self._join.groups(known),
            tuple(dict.fromkeys((*self._asked.faults, *faults))),
            any(view.denied for part in parts for view in part.values()),
            self._asked.notes,
        )


def _faults(view: View[Any]) -> Iterator[str]:
    if view.trouble:
        known = "the targets that are known stay in use" if view.synced else "no targets come of it"
        yield f"{view.trouble}; until then {known}"
    if view.unreadable:
        (namespace, name), why = next(iter(view.unreadable.items()))
        others = f", nor {len(view.unreadable) - 1} more" if len(view.unreadable) > 1 else ""
        yield f"the object {namespace}/{name} cannot be read{others}: {why}"


def _each_once(asked: Iterator[Question]) -> Iterator[Question]:
    """Leave out what was there before; questions may hold mappings, which have no hash."""
    given: list[Question] = []
    for each in asked:
        if each not in given:
            given.append(each)
            yield each
