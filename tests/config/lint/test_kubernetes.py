"""What targets of Kubernetes discovery are told by."""

import pytest

from cwgpu.config.discovery import AttachMetadata, KubernetesDiscovery
from cwgpu.config.lint import kubernetes

P = kubernetes.PREFIX


def discovery(role: str, *, node: bool = False) -> KubernetesDiscovery:
    """Make a discovery of that role."""
    attach = AttachMetadata.model_construct(node=node)
    return KubernetesDiscovery.model_construct(role=role, attach_metadata=attach)


@pytest.mark.parametrize(
    ("role", "names"),
    [
        ("pod", "namespace pod_name pod_container_id pod_label_app pod_annotationpresent_x"),
        ("node", "node_name node_provider_id node_address_InternalIP node_label_zone"),
        ("service", "namespace service_name service_port_number service_annotation_x"),
        ("endpoints", "endpoints_name endpoint_ready service_label_app pod_container_name"),
        ("endpointslice", "endpointslice_port endpointslice_endpoint_topology_x service_name"),
        ("ingress", "ingress_host ingress_labelpresent_app namespace"),
    ],
)
def test_labels_of_a_role(role: str, names: str) -> None:
    """Each role has the labels that Prometheus documents, and any label and annotation."""
    known = kubernetes.labels([discovery(role)])
    assert known is not None
    assert [name for name in names.split() if not known.has(P + name)] == []


@pytest.mark.parametrize(
    ("role", "names"),
    [
        ("pod", "pod service_name node_name pod_label_ pod_labels_app endpoints_name"),
        ("node", "namespace pod_name"),
        ("service", "pod_name service_cluster"),
        ("endpoints", "pod_container_id service_port_name service_type"),
        ("endpointslice", "endpoint_ready endpoints_name"),
        ("ingress", "service_name"),
    ],
)
def test_labels_that_a_role_has_not(role: str, names: str) -> None:
    """Labels of other roles, and names that are cut short, are none."""
    known = kubernetes.labels([discovery(role)])
    assert known is not None
    assert [name for name in names.split() if known.has(P + name)] == []


def test_several_roles_have_the_labels_of_each() -> None:
    """A job with two discoveries has targets of both."""
    known = kubernetes.labels([discovery("pod"), discovery("node")])
    assert known is not None
    assert known.has(f"{P}pod_name")
    assert known.has(f"{P}node_address_Hostname")


def test_an_unknown_role_is_not_judged() -> None:
    """What a role is that nobody knows is told elsewhere."""
    assert kubernetes.labels([discovery("pods")]) is None


def test_nodes_can_be_attached() -> None:
    """With attach_metadata a pod's target has the labels of its node; a service's has none."""
    zone = f"{P}node_label_zone"
    plain, attached = (kubernetes.labels([discovery("pod", node=node)]) for node in (False, True))
    service = kubernetes.labels([discovery("service", node=True)])
    assert [known.has(zone) for known in (plain, attached, service) if known] == [
        False,
        True,
        False,
    ]
    assert kubernetes.is_attached(zone, [discovery("pod")])
    assert not kubernetes.is_attached(zone, [discovery("service")])


@pytest.mark.parametrize(
    ("head", "continues"),
    [("pod_na", True), ("pod_label_app_", True), ("pod_lab", True), ("pod_labels_", False)],
)
def test_beginnings_of_labels(head: str, continues: bool) -> None:  # noqa: FBT001 - a table
    """A beginning is known if some label goes on from it."""
    known = kubernetes.labels([discovery("pod")])
    assert known is not None
    assert known.continues(P + head) is continues


@pytest.mark.parametrize(
    ("name", "values"),
    [
        (f"{P}pod_ready", ("true", "false", "unknown")),
        (f"{P}service_labelpresent_app", ("true",)),
        (f"{P}pod_label_labelpresent_app", None),
        ("pod_ready", None),
        (f"{P}pod_name", None),
    ],
)
def test_values(name: str, values: tuple[str, ...] | None) -> None:
    """Some labels have one of a few values, most any."""
    assert kubernetes.values(name) == values


@pytest.mark.parametrize(
    ("name", "has", "lacks"),
    [
        (f"{P}namespace", "a-0", "._A"),
        (f"{P}pod_name", "a-0.", "_A"),
        (f"{P}pod_container_port_number", "0", "a-"),
    ],
)
def test_characters(name: str, has: str, lacks: str) -> None:
    """Names of objects are lower-case words, with dots or without; ports are digits."""
    found = kubernetes.characters(name)
    assert found is not None
    assert found.issuperset(has)
    assert found.isdisjoint(lacks)


def test_any_character() -> None:
    """Of a pod's own labels, and of what is not Kubernetes', nothing is known."""
    assert kubernetes.characters(f"{P}pod_label_app") is None
    assert kubernetes.characters("namespace") is None
