"""Role ``pod``: a target for each port of each container (discovery/kubernetes/pod.go)."""

from collections.abc import Iterator

from cwgpu.model.objects import Container, ContainerPort, Pod
from cwgpu.prom.kubernetes import meta, workload
from cwgpu.prom.kubernetes.meta import NAMESPACE, Found


def targets(pod: Pod) -> tuple[Found, ...]:
    """Give the pod's targets; none before it has an address."""
    if not pod.status.pod_ip:
        return ()
    return tuple(each for one, init in containers(pod) for each in _targets(pod, one, init=init))


def labels(pod: Pod) -> Found:
    """Give what all of a pod's targets have, its namespace aside."""
    found = {
        meta.label("pod_ip"): pod.status.pod_ip,
        meta.label("pod_ready"): _ready(pod),
        meta.label("pod_phase"): pod.status.phase,
        meta.label("pod_node_name"): pod.spec.node_name,
        meta.label("pod_host_ip"): pod.status.host_ip,
        meta.label("pod_uid"): pod.metadata.uid,
        **meta.described("pod", pod.metadata),
    }
    owner = workload.controller(pod)
    if owner and owner.kind:
        found[meta.label("pod_controller_kind")] = owner.kind
    if owner and owner.name:
        found[meta.label("pod_controller_name")] = owner.name
    kind, name = workload.workload(pod)
    if kind:
        found |= {meta.label("pod_workload_kind"): kind, meta.label("pod_workload_name"): name}
    return found


def group(pod: Pod) -> Found:
    """Give what all targets of the role ``pod`` have."""
    return {**labels(pod), NAMESPACE: pod.metadata.namespace} if pod.status.pod_ip else {}


def containers(pod: Pod) -> Iterator[tuple[Container, bool]]:
    """Give the containers, and then the init containers with True."""
    for each in pod.spec.containers or ():
        yield each, False
    for each in pod.spec.init_containers or ():
        yield each, True


def port(one: Container, declared: ContainerPort, *, init: bool) -> Found:
    """Give the labels of a declared port."""
    return {
        meta.label("pod_container_name"): one.name,
        meta.label("pod_container_image"): one.image,
        meta.label("pod_container_port_name"): declared.name,
        meta.label("pod_container_port_number"): str(declared.container_port),
        meta.label("pod_container_port_protocol"): declared.protocol,
        meta.label("pod_container_init"): "true" if init else "false",
    }


def _targets(pod: Pod, one: Container, *, init: bool) -> Iterator[Found]:
    identity = {meta.label("pod_container_id"): _identity(pod, one, init=init)}
    if not one.ports:
        yield {
            "__address__": pod.status.pod_ip,
            meta.label("pod_container_name"): one.name,
            meta.label("pod_container_image"): one.image,
            meta.label("pod_container_init"): "true" if init else "false",
            **identity,
        }
    for declared in one.ports or ():
        address = meta.joined(pod.status.pod_ip, declared.container_port)
        yield {"__address__": address, **port(one, declared, init=init), **identity}


def _identity(pod: Pod, one: Container, *, init: bool) -> str:
    statuses = pod.status.init_container_statuses if init else pod.status.container_statuses
    return next((each.container_id for each in statuses or () if each.name == one.name), "")


def _ready(pod: Pod) -> str:
    for condition in pod.status.conditions or ():
        if condition.type == "Ready":
            return condition.status.lower()
    return "unknown"
