"""Kubernetes objects joined into target groups, of which only those are made anew that changed.

What becomes of an object is Prometheus' (``cwgpu.prom.kubernetes``). Which pods count is ours, and
differs on purpose (docs/compatibility.md): a pod that has ended is no target, though its address
may still stand in its status; and while a pod runs, no other one has its address. Pods that share
their node's network share its address rightly.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from cwgpu.kube.decode import Key
from cwgpu.kube.view import View
from cwgpu.model.objects import Node, Pod, Service
from cwgpu.model.target import TargetGroup
from cwgpu.prom.kubernetes import group
from cwgpu.prom.kubernetes.role import Role

Views: TypeAlias = Mapping[str, View[Any]]
"""What is known of one namespace, by kind; the kind that becomes targets is first."""
_Seen: TypeAlias = dict[tuple[str, str, str], object]
"""What was found, or None, by kind, namespace and name."""

_ENDED = frozenset({"Succeeded", "Failed"})
_RUNNING = "Running"


class _Known:
    """Looks objects up, and remembers what it was asked."""

    def __init__(self, views: Views) -> None:
        self._objects = {kind: view.objects for kind, view in views.items()}
        self.seen: _Seen = {}

    def pod(self, namespace: str, name: str) -> Pod | None:
        found: Pod | None = self._find("pod", namespace, name)
        return found

    def service(self, namespace: str, name: str) -> Service | None:
        found: Service | None = self._find("service", namespace, name)
        return found

    def node(self, name: str) -> Node | None:
        found: Node | None = self._find("node", "", name)
        return found

    def still(self, seen: _Seen) -> bool:
        """Tell whether the same would be found again."""
        return not seen or all(
            self._objects[kind].get((namespace, name)) is found
            for (kind, namespace, name), found in seen.items()
        )

    def _find(self, kind: str, namespace: str, name: str) -> Any:  # noqa: ANN401 - as the kind is
        if kind not in self._objects:
            return None
        found = self._objects[kind].get((namespace, name))
        self.seen[kind, namespace, name] = found
        return found


@dataclass(frozen=True, slots=True)
class _Made:
    """A group, and all that it was made of."""

    group: TargetGroup
    found: object
    seen: _Seen


class Join:
    """The groups of one discovery."""

    def __init__(self, role: Role, prefix: str, labels: Mapping[str, str]) -> None:
        """Begin the sources of groups with ``prefix``, and give every group the labels."""
        self._role = role
        self._prefix = prefix
        self._labels = labels
        self._made: list[dict[Key, _Made]] = []
        """For each part."""

    def groups(self, parts: Sequence[Views | None]) -> tuple[TargetGroup, ...]:
        """Give all groups that have targets; a part that is None is not known yet.

        A group stays the same Python object as long as nothing that it is made of changes.
        """
        former = self._made or [{} for _ in parts]
        running = self._running(parts)
        pairs = zip(parts, former, strict=True)
        self._made = [self._part(views, made, running) for views, made in pairs]
        every = [made.group for part in self._made for made in part.values()]
        return tuple([group for group in every if group.targets])

    def _part(
        self, views: Views | None, former: Mapping[Key, _Made], running: frozenset[str]
    ) -> dict[Key, _Made]:
        if views is None:
            return {}
        known, kept = _Known(views), {}
        chooses = self._role is Role.POD
        for at, found in _primary(views).objects.items():
            # Nearly all run, and have not changed since: 5,000 are passed by here each time.
            if chooses and found.status.phase != _RUNNING and not _counts(found, running):
                continue
            made = former.get(at)
            if (
                made is None
                or made.found is not found
                or (made.seen and not known.still(made.seen))
            ):
                made = self._make(found, known)
            kept[at] = made
        return kept

    def _make(self, found: Any, known: _Known) -> _Made:  # noqa: ANN401 - of any kind
        known.seen = {}
        made = group.group(self._role, found, known)
        labels = {**self._labels, **made.labels} if self._labels else made.labels
        named = TargetGroup(f"{self._prefix}{made.source}", made.targets, labels)
        return _Made(named, found, known.seen)

    def _running(self, parts: Sequence[Views | None]) -> frozenset[str]:
        """Give the addresses that running pods have."""
        if self._role is not Role.POD:
            return frozenset()
        return frozenset(
            pod.status.pod_ip
            for views in parts
            if views is not None
            for pod in _primary(views).objects.values()
            if pod.status.phase == _RUNNING
        )


def _primary(views: Views) -> View[Any]:
    return next(iter(views.values()))


def _counts(pod: Pod, running: frozenset[str]) -> bool:
    """Tell whether a pod counts that does not run."""
    status = pod.status
    if status.phase in _ENDED:
        return False
    return status.pod_ip == status.host_ip or status.pod_ip not in running
