"""A target and the page it gave: what a simulation plays."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from cwgpu.model.errors import ExpositionError
from cwgpu.model.labels import Labels
from cwgpu.plan.plan import Job
from cwgpu.prom import content, exposition, family
from cwgpu.prom.exposition import Format, SeriesItem, TypeItem

_ESCAPE = re.compile(r"[_\W]")

_GPU = frozenset({"uuid", "gpuuuid"})
_POD = frozenset({"pod", "podname", "poduid", "podip", "exportedpod"})
_NODE = frozenset(
    {
        *("host", "hostname", "hostip", "instance", "exportedinstance", "instanceid"),
        *("node", "nodename", "nodeip", "kubernetesnode", "k8snodename"),
    }
)


def is_gpu(name: str) -> bool:
    """Tell a label that names one GPU of all there are, in any spelling."""
    return _plain(name) in _GPU


def is_pod(name: str) -> bool:
    """Tell a label that names one pod."""
    return _plain(name) in _POD


def is_node(name: str) -> bool:
    """Tell a label that names one node, or one target, which is the same here."""
    return _plain(name) in _NODE


def _plain(name: str) -> str:
    return _ESCAPE.sub("", name).lower()


@dataclass(frozen=True, slots=True)
class Part:
    """A sample of the page."""

    item: SeriesItem
    cumulative: bool
    """Whether it is a counter, by the TYPE of its family."""


@dataclass(frozen=True)
class Subject:
    """One target with one answer of its exporter."""

    name: str
    """As it is shown: the file, or the URL."""
    job: Job
    labels: Labels
    body: bytes
    content_type: str

    @cached_property
    def format(self) -> Format:
        """How the page is read; of one that is refused, any."""
        try:
            return content.choose(self.content_type, self.job.fallback_format)
        except ExpositionError:
            return Format.TEXT

    @cached_property
    def parts(self) -> tuple[Part, ...]:
        """The samples, in the page's order."""
        types = {}
        items = []
        for item in exposition.scan(self.body, self.format):
            if isinstance(item, TypeItem):
                types[item.name] = item.kind
            elif isinstance(item, SeriesItem):
                items.append(item)
        roles = [family.role(item.name, types) for item in items]
        return tuple(
            Part(item, cumulative=role is not None and role.cumulative)
            for item, role in zip(items, roles, strict=True)
        )

    @cached_property
    def gpus(self) -> frozenset[str]:
        """The UUIDs of its GPUs; a MIG instance has that of its GPU."""
        return frozenset(
            value
            for part in self.parts
            for name, value in part.item.labels
            if value and is_gpu(name)
        )

    @cached_property
    def pods(self) -> frozenset[tuple[str, str]]:
        """The pods that use them, each with its namespace."""
        return frozenset(pod for part in self.parts for pod in _pods(dict(part.item.labels)))


def _pods(labels: Labels) -> Iterator[tuple[str, str]]:
    pod = labels.get("pod") or labels.get("pod_name")
    if pod:
        yield labels.get("namespace") or labels.get("pod_namespace") or "", pod
