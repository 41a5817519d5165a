"""Roles and what they have to know."""

import pytest

from cwgpu.prom.kubernetes.role import Role, kinds


@pytest.mark.parametrize(
    ("role", "attach_node", "expected"),
    [
        (Role.POD, False, ("pod",)),
        (Role.POD, True, ("pod", "node")),
        (Role.ENDPOINTS, False, ("endpoints", "service", "pod")),
        (Role.ENDPOINTSLICE, True, ("endpointslice", "service", "pod", "node")),
        (Role.NODE, True, ("node",)),
        (Role.SERVICE, True, ("service",)),
        (Role.INGRESS, False, ("ingress",)),
    ],
)
def test_a_role_watches_no_more_than_it_needs(
    role: Role,
    attach_node: bool,  # noqa: FBT001 - a column of the table
    expected: tuple[str, ...],
) -> None:
    """Every kind that is watched is a permission that somebody has to grant."""
    assert kinds(role, attach_node=attach_node) == expected
