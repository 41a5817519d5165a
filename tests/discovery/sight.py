"""Views of Kubernetes objects that a test fills, and a source that looks through them."""

import asyncio
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from cwgpu.discovery.findings import Findings
from cwgpu.discovery.kubernetes import KubernetesSource
from cwgpu.discovery.question import Question
from cwgpu.kube.decode import Reader, Unreadable
from cwgpu.kube.resource import DISCOVERABLE
from cwgpu.kube.view import View
from cwgpu.plan.kubernetes import KubernetesDiscovery

KINDS = {
    "Pod": "pod",
    "Node": "node",
    "Service": "service",
    "Endpoints": "endpoints",
    "EndpointSlice": "endpointslice",
    "Ingress": "ingress",
}
IN_CLUSTER = {"KUBERNETES_SERVICE_HOST": "127.0.0.1", "KUBERNETES_SERVICE_PORT": "6443"}
NO_FOLDER = Path("/nowhere")


class Sight:
    """Every view that is asked for; all see the same objects, of their kind and namespace."""

    def __init__(self) -> None:
        self.views: dict[tuple[str, str, str, str], View[Any]] = {}
        self.naps: list[float] = []
        self.alarm = asyncio.Event()
        """Set it to end the sleep that is slept."""

    def view(self, question: Question) -> View[Any]:
        """Give the view of a question."""
        at = (question.kind, question.namespace, question.labels, question.fields)
        return self.views.setdefault(at, View())

    def of(self, kind: str, namespace: str = "") -> View[Any]:
        """Give the first view of a kind that has been asked for."""
        return next(view for at, view in self.views.items() if at[:2] == (kind, namespace))

    def put(self, *documents: Mapping[str, Any]) -> None:
        """Let these objects be there, or be so now."""
        for document in documents:
            kind = KINDS[document["kind"]]
            made = Reader(DISCOVERABLE[kind].type).read(json.dumps(document).encode())
            assert not isinstance(made, Unreadable)
            for at, view in self.views.items():
                if at[0] == kind and at[1] in {"", made.metadata.namespace}:
                    view.put(made)
                    view.tell()

    def drop(self, document: Mapping[str, Any]) -> None:
        """Let this object be gone."""
        kind = KINDS[document["kind"]]
        made = Reader(DISCOVERABLE[kind].type).read(json.dumps(document).encode())
        for at, view in self.views.items():
            if at[0] == kind:
                view.drop(made)
                view.tell()

    def sync(self) -> None:
        """Let every view have seen all."""
        for view in self.views.values():
            view.complete(view.objects.keys() | view.unreadable.keys())

    async def sleep(self, seconds: float) -> None:
        """Sleep until the alarm."""
        self.naps.append(seconds)
        await self.alarm.wait()
        self.alarm.clear()

    def source(
        self,
        discovery: KubernetesDiscovery,
        environ: Mapping[str, str] | None = None,
        folder: Path = NO_FOLDER,
        *,
        index: int = 0,
    ) -> KubernetesSource:
        """Make a source that looks through these views, in a cluster."""
        made = KubernetesSource(
            discovery,
            index,
            self.view,
            sleep=self.sleep,
            environ={**IN_CLUSTER, **(environ or {})},
            folder=folder,
        )
        for question in made.questions:
            self.view(question)
        return made


def addresses(found: Findings) -> list[str]:
    """List the addresses found."""
    return [target["__address__"] for group in found.groups for target in group.targets]
