"""Role ``service``: a target for each port of a service (discovery/kubernetes/service.go)."""

from cwgpu.model.objects import Service
from cwgpu.prom.kubernetes import meta
from cwgpu.prom.kubernetes.meta import NAMESPACE, Found


def targets(service: Service) -> tuple[Found, ...]:
    """Give the service's targets, by its name in the cluster's DNS."""
    host = f"{service.metadata.name}.{service.metadata.namespace}.svc"
    return tuple(
        {
            "__address__": f"{host}:{port.port}",
            meta.label("service_port_name"): port.name,
            meta.label("service_port_number"): str(port.port),
            meta.label("service_port_protocol"): port.protocol,
            **_kind(service),
        }
        for port in service.spec.ports or ()
    )


def labels(service: Service | None) -> Found:
    """Give what an endpoint's targets get from their service; nothing if there is none."""
    if service is None:
        return {}
    return {
        NAMESPACE: service.metadata.namespace,
        **meta.described("service", service.metadata),
    }


def _kind(service: Service) -> Found:
    spec = service.spec
    found = {meta.label("service_type"): spec.type}
    if spec.type == "ExternalName":
        return {**found, meta.label("service_external_name"): spec.external_name}
    found[meta.label("service_cluster_ip")] = spec.cluster_ip
    if spec.type == "LoadBalancer":
        found[meta.label("service_loadbalancer_ip")] = spec.load_balancer_ip
    return found
