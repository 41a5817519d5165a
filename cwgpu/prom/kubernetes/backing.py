"""The pods behind endpoints: their labels, and the ports of theirs that no endpoint names."""

from collections.abc import Iterator

from cwgpu.model.objects import Pod, Reference
from cwgpu.prom.kubernetes import meta, pod
from cwgpu.prom.kubernetes.lookup import Lookup
from cwgpu.prom.kubernetes.meta import Found

_PROTOCOL = meta.label("pod_container_port_protocol")


class Backing:
    """The pods that the endpoints of one object lead to."""

    def __init__(self, lookup: Lookup) -> None:
        """Know no pod yet."""
        self._lookup = lookup
        self._seen: dict[tuple[str, str], tuple[Pod, set[int]]] = {}

    def labels(self, reference: Reference | None, port: int | None, protocol: str | None) -> Found:
        """Give the labels of the pod behind an endpoint, if there is one, and note its port.

        ``protocol`` takes the place of the container port's own, unless it is None.
        """
        if reference is None or reference.kind != "Pod":
            return {}
        found = self._lookup.pod(reference.namespace, reference.name)
        if found is None:
            return {}
        place = (reference.namespace, reference.name)
        _, ports = self._seen.setdefault(place, (found, set()))
        if port is not None:
            ports.add(port)
        return {**pod.labels(found), **_matching(found, port, protocol)}

    def others(self) -> Iterator[Found]:
        """Give a target for each port of the pods that no endpoint has."""
        for found, covered in self._seen.values():
            if found.status.pod_ip:
                yield from _uncovered(found, covered)


def _uncovered(found: Pod, covered: set[int]) -> Iterator[Found]:
    common = pod.labels(found)
    for one, init in pod.containers(found):
        for declared in one.ports or ():
            if declared.container_port not in covered:
                address = meta.joined(found.status.pod_ip, declared.container_port)
                yield {"__address__": address, **pod.port(one, declared, init=init), **common}


def _matching(found: Pod, port: int | None, protocol: str | None) -> Found:
    """Give the labels of the container port that has the endpoint's number; the last one counts."""
    labels: Found = {}
    for one, init in pod.containers(found):
        declared = next((p for p in one.ports or () if p.container_port == port), None)
        if declared is not None:
            labels = pod.port(one, declared, init=init)
            if protocol is not None:
                labels[_PROTOCOL] = protocol
    return labels
