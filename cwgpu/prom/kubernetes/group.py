"""One Kubernetes object is one target group."""

from cwgpu.model import objects
from cwgpu.model.target import TargetGroup
from cwgpu.prom.kubernetes import endpoints, ingress, meta, node, pod, service, slices
from cwgpu.prom.kubernetes.lookup import Lookup
from cwgpu.prom.kubernetes.meta import Found
from cwgpu.prom.kubernetes.role import Role

_SOURCES = {Role.SERVICE: "svc"}
"""The role's name begins the source of a group, this one's aside."""


def group(role: Role, found: objects.Discoverable, lookup: Lookup) -> TargetGroup:
    """Make the target group of an object of the role's kind; it may hold no target."""
    targets, labels = _made(found, lookup)
    own = found.metadata
    place = f"{own.namespace}/{own.name}" if own.namespace else own.name
    return TargetGroup(f"{_SOURCES.get(role, role.value)}/{place}", targets, labels)


def _made(found: objects.Discoverable, lookup: Lookup) -> tuple[tuple[Found, ...], Found]:
    if isinstance(found, objects.Pod):
        attached = meta.of_node(lookup.node(found.spec.node_name))
        return pod.targets(found), {**pod.group(found), **attached}
    if isinstance(found, objects.Service):
        return service.targets(found), service.labels(found)
    if isinstance(found, objects.Endpoints):
        return endpoints.targets(found, lookup), endpoints.group(found, lookup)
    if isinstance(found, objects.EndpointSlice):
        return slices.targets(found, lookup), slices.group(found, lookup)
    if isinstance(found, objects.Node):
        return node.targets(found), node.group(found)
    return ingress.targets(found), ingress.group(found)
