"""What is watched for a discovery, and why something is not."""

from pathlib import Path

import pytest

from cwgpu.discovery import question
from cwgpu.discovery.question import Question, Questions
from cwgpu.plan.kubernetes import (
    Address,
    InCluster,
    Kubeconfig,
    KubernetesDiscovery,
    Selector,
    Server,
)
from cwgpu.prom.kubernetes.role import Role
from tests.discovery.sight import IN_CLUSTER, NO_FOLDER

HERE = InCluster()


def asked(discovery: KubernetesDiscovery, **environ: str) -> Questions:
    """Give what a discovery asks in a cluster."""
    return question.questions(discovery, {**IN_CLUSTER, **environ}, NO_FOLDER)


@pytest.mark.parametrize("role", [Role.POD, Role.SERVICE, Role.NODE, Role.INGRESS])
def test_one_kind_is_enough_for_most_roles(role: Role) -> None:
    """All of them, wherever they are."""
    assert asked(KubernetesDiscovery(role)).parts == ({role.value: Question(HERE, role.value)},)


def test_each_namespace_is_asked_about_alone() -> None:
    """What becomes targets, and what tells more of it; nodes are in no namespace."""
    discovery = KubernetesDiscovery(Role.ENDPOINTS, namespaces=("a", "b"), attach_node=True)
    parts = asked(discovery).parts
    assert [list(part) for part in parts] == [["endpoints", "service", "pod", "node"]] * 2
    assert [part["service"].namespace for part in parts] == ["a", "b"]
    assert {part["node"] for part in parts} == {Question(HERE, "node")}


def test_nodes_are_of_no_namespace() -> None:
    """For that role namespaces mean nothing, as in Prometheus."""
    discovery = KubernetesDiscovery(Role.NODE, namespaces=("a",), own_namespace=True)
    assert asked(discovery) == Questions(({"node": Question(HERE, "node")},))


def test_selectors_are_the_servers_work() -> None:
    """Each narrows the objects of its own kind."""
    discovery = KubernetesDiscovery(
        Role.ENDPOINTS, selectors={"pod": Selector("a=b"), "service": Selector(field="x=y")}
    )
    (part,) = asked(discovery).parts
    assert part["pod"] == Question(HERE, "pod", labels="a=b")
    assert part["service"] == Question(HERE, "service", fields="x=y")
    assert part["endpoints"] == Question(HERE, "endpoints")


def test_our_own_node_and_no_other() -> None:
    """Its pods, on top of what a selector asks; and of all nodes just this one."""
    discovery = KubernetesDiscovery(
        Role.POD,
        selectors={"pod": Selector("a=b", "status.phase=Running")},
        attach_node=True,
        node_local=True,
    )
    (part,) = asked(discovery, NODE_NAME="node-1").parts
    fields = "status.phase=Running,spec.nodeName=node-1"
    assert part == {
        "pod": Question(HERE, "pod", labels="a=b", fields=fields),
        "node": Question(HERE, "node", fields="metadata.name=node-1"),
    }


def test_a_node_that_nobody_names() -> None:
    """Nothing is asked, rather than everything; the manifest's missing line is said."""
    found = asked(KubernetesDiscovery(Role.POD, node_local=True))
    assert found.parts == ()
    (fault,) = found.faults
    assert "{name: NODE_NAME, valueFrom: {fieldRef: {fieldPath: spec.nodeName}}}" in fault


def test_our_own_namespace(tmp_path: Path) -> None:
    """It is one of those that are named, and looked at once."""
    (tmp_path / "namespace").write_text("amazon-cloudwatch\n")
    for names in ((), ("amazon-cloudwatch",)):
        discovery = KubernetesDiscovery(Role.POD, namespaces=names, own_namespace=True)
        found = question.questions(discovery, IN_CLUSTER, tmp_path)
        assert found.parts == ({"pod": Question(HERE, "pod", "amazon-cloudwatch")},)


def test_a_namespace_of_our_own_that_is_not_known() -> None:
    """The others are looked at; where there are none nothing is, rather than everything."""
    found = asked(KubernetesDiscovery(Role.POD, namespaces=("a",), own_namespace=True))
    assert found.parts == ({"pod": Question(HERE, "pod", "a")},)
    (fault,) = found.faults
    assert fault.startswith("own_namespace: /nowhere/namespace cannot be read")
    assert asked(KubernetesDiscovery(Role.POD, own_namespace=True)).parts == ()


@pytest.mark.parametrize("server", [Kubeconfig("/k"), Address("https://a:6443")])
def test_outside_of_a_cluster(server: Server) -> None:
    """There is nothing to ask and nothing wrong, unless a cluster is named."""
    outside = question.questions(KubernetesDiscovery(Role.POD), {}, NO_FOLDER)
    assert (outside.parts, outside.faults) == ((), ())
    (note,) = outside.notes
    assert note.startswith("this is no pod of a cluster (KUBERNETES_SERVICE_HOST is not set)")
    named = question.questions(KubernetesDiscovery(Role.POD, server), {}, NO_FOLDER)
    assert named == Questions(({"pod": Question(server, "pod")},))
