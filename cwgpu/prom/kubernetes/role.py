"""The roles of a Kubernetes discovery, and the kinds of object that each has to know.

A plan names roles, so this module loads nothing that only a discovery at work needs.
"""

import enum


class Role(enum.Enum):
    """What becomes a target."""

    POD = "pod"
    SERVICE = "service"
    ENDPOINTS = "endpoints"
    ENDPOINTSLICE = "endpointslice"
    NODE = "node"
    INGRESS = "ingress"


_KINDS = {
    Role.POD: ("pod",),
    Role.SERVICE: ("service",),
    Role.ENDPOINTS: ("endpoints", "service", "pod"),
    Role.ENDPOINTSLICE: ("endpointslice", "service", "pod"),
    Role.NODE: ("node",),
    Role.INGRESS: ("ingress",),
}


def kinds(role: Role, *, attach_node: bool) -> tuple[str, ...]:
    """Name the kinds of object that have to be watched; the one that becomes targets is first."""
    attaches = attach_node and role in {Role.POD, Role.ENDPOINTS, Role.ENDPOINTSLICE}
    return (*_KINDS[role], "node") if attaches else _KINDS[role]
