"""From the pages in hand to all nodes: what is multiplied, by how much, and what is not.

A page is a node, its GPUs are the different UUIDs on it. If some pages have GPUs and others have
none, the others are taken to be of something that there is once.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from cwgpu.cli.cost.subject import Subject
from cwgpu.model.errors import UsageError
from cwgpu.telemetry.identity import MetricIdentity


@dataclass(frozen=True, slots=True)
class Fleet:
    """How many there are of what."""

    pages: int
    """Pages that are multiplied."""
    page_gpus: int
    page_pods: int
    nodes: float
    gpus: float

    @property
    def per_node(self) -> float:
        """How often there is what a node has."""
        return self.nodes / self.pages

    @property
    def per_gpu(self) -> float:
        """How often there is what GPUs and their pods have."""
        return self.gpus / self.page_gpus if self.page_gpus else self.per_node


def fleet(subjects: Sequence[Subject], gpus: int | None, nodes: int | None) -> Fleet:
    """Make the fleet; one of GPUs and nodes, if it is not given, follows from the pages."""
    pages = scaled(subjects)
    uuids = frozenset[str]().union(*(one.gpus for one in pages))
    pods = frozenset[tuple[str, str]]().union(*(one.pods for one in pages))
    if gpus is not None and not uuids:
        raise UsageError("no page names a GPU by a label UUID, so --gpus says nothing: use --nodes")
    if nodes is not None:
        made_nodes = float(nodes)
    else:
        made_nodes = len(pages) * (1.0 if gpus is None else gpus / len(uuids))
    made_gpus = len(uuids) * made_nodes / len(pages) if gpus is None else float(gpus)
    return Fleet(len(pages), len(uuids), len(pods), made_nodes, made_gpus)


def scaled(subjects: Sequence[Subject]) -> Sequence[Subject]:
    """Give those of which there is one on each node."""
    return [one for one in subjects if one.gpus] or subjects


@dataclass(frozen=True, slots=True)
class Metrics:
    """The different metrics of some pages, and of pages that differ from them in names alone."""

    here: set[MetricIdentity] = field(default_factory=set)
    """Of the pages as they are: exactly those that CloudWatch would create."""
    other_nodes: set[MetricIdentity] = field(default_factory=set)
    other_gpus: set[MetricIdentity] = field(default_factory=set)
    other_pods: set[MetricIdentity] = field(default_factory=set)

    def times(self, one: MetricIdentity, among: Fleet) -> float:
        """Say how many metrics of the fleet stand for this one of the pages."""
        if one in self.other_nodes:
            return 1.0
        return among.per_node if one in self.other_gpus else among.per_gpu

    def per_pod(self, among: Fleet) -> float:
        """Say how many metrics a pod brings with it."""
        own = sum(one not in self.other_pods for one in self.here)
        return own / among.page_pods if among.page_pods else 0.0
