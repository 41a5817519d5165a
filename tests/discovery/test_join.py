"""Objects joined into groups: what counts, what is looked up, what stays the same object."""

from collections.abc import Mapping
from typing import Any

import pytest

from cwgpu.discovery.join import Join
from cwgpu.kube.view import View
from cwgpu.model.target import TargetGroup
from cwgpu.prom.kubernetes.role import Role
from tests.discovery.sight import Sight
from tests.fakes import cluster
from tests.fakes.cluster import Json

P = "__meta_kubernetes_"


class Table:
    """One namespace's objects and what is joined of them."""

    def __init__(self, role: Role, *kinds: str, labels: Mapping[str, str] | None = None) -> None:
        self.sight = Sight()
        for kind in (role.value, *kinds):
            self.sight.views[kind, "", "", ""] = View()
        self.join = Join(role, "kubernetes/0/", labels or {})

    def groups(self) -> tuple[TargetGroup, ...]:
        """Join what there is."""
        views: dict[str, View[Any]] = {at[0]: view for at, view in self.sight.views.items()}
        return self.join.groups([views])

    def names(self) -> list[str]:
        """Name the sources of the groups."""
        return [group.source.removeprefix("kubernetes/0/") for group in self.groups()]


def pods(*documents: Json) -> Table:
    """Lay pods on a table."""
    table = Table(Role.POD)
    table.sight.put(*documents)
    return table


def test_groups_tell_their_discovery() -> None:
    """Of two discoveries in a job both may know a pod: their groups differ in their source."""
    table = Table(Role.POD, labels={"__meta_cwgpu_env_NODE_NAME": "node-7"})
    table.sight.put(cluster.pod("a"))
    (group,) = table.groups()
    assert group.source == "kubernetes/0/pod/gpu/a"
    assert group.labels["__meta_cwgpu_env_NODE_NAME"] == "node-7"
    assert group.labels[f"{P}pod_name"] == "a"


def test_a_label_of_ours_does_not_hide_one_of_theirs() -> None:
    """What discovery tells comes last."""
    table = Table(Role.POD, labels={f"{P}pod_name": "mine"})
    table.sight.put(cluster.pod("a"))
    assert table.groups()[0].labels[f"{P}pod_name"] == "a"


@pytest.mark.parametrize(
    ("phase", "ip", "counts"),
    [
        ("Running", "127.0.1.1", True),
        ("Pending", "127.0.1.1", True),
        ("Unknown", "127.0.1.1", True),
        ("Succeeded", "127.0.1.1", False),
        ("Failed", "127.0.1.1", False),
        ("Running", "", False),
        ("Pending", "", False),
    ],
)
def test_pods_that_are_targets(phase: str, ip: str, counts: bool) -> None:  # noqa: FBT001 - a table
    """Those that have an address and have not ended."""
    assert bool(pods(cluster.pod("a", phase=phase, ip=ip)).groups()) == counts


def test_two_pods_with_one_address() -> None:
    """The one that runs counts, for as long as it runs; a pod never loses to one that ended."""
    waits = cluster.pod("waits", phase="Pending")
    table = pods(waits, cluster.pod("runs"))
    assert table.names() == ["pod/gpu/runs"]
    table.sight.put(cluster.pod("runs", phase="Failed"))
    assert table.names() == ["pod/gpu/waits"]
    table.sight.put(cluster.pod("runs"))
    table.sight.drop(cluster.pod("runs"))
    assert table.names() == ["pod/gpu/waits"]


def test_pods_in_their_nodes_network() -> None:
    """They share its address, each with ports of its own: all count."""
    shared = {"ip": "127.0.0.9", "host_ip": "127.0.0.9"}
    table = pods(cluster.pod("a", phase="Pending", **shared), cluster.pod("b", **shared))
    assert table.names() == ["pod/gpu/a", "pod/gpu/b"]


def test_addresses_count_across_namespaces() -> None:
    """Of discoveries in several namespaces too."""
    table = Table(Role.POD)
    other = Sight()
    other.views["pod", "", "", ""] = View()
    table.sight.put(cluster.pod("waits", namespace="a", phase="Pending"))
    other.put(cluster.pod("runs", namespace="b"))
    parts = [{"pod": each.views["pod", "", "", ""]} for each in (table.sight, other)]
    assert [group.source[-6:] for group in table.join.groups(parts)] == ["b/runs"]
    assert [group.source[-7:] for group in table.join.groups([parts[0], None])] == ["a/waits"]


def test_what_has_not_changed_is_the_same_object() -> None:
    """A change of one pod makes one group anew; what has gone and comes again is new."""
    table = pods(cluster.pod("a"), cluster.pod("b", ip="127.0.1.2"))
    before = table.groups()
    assert [one is other for one, other in zip(before, table.groups(), strict=True)] == [True] * 2
    table.sight.put(cluster.pod("a", labels={"x": "y"}))
    after = table.groups()
    assert after[1] is before[1]
    assert after[0].labels[f"{P}pod_label_x"] == "y"
    table.sight.drop(cluster.pod("b"))
    assert table.names() == ["pod/gpu/a"]
    table.sight.put(cluster.pod("b", ip="127.0.1.2"))
    assert table.groups()[1] is not before[1]


def test_nodes_are_attached() -> None:
    """A change of the node is one of the pods on it, and of no others."""
    table = Table(Role.POD, "node")
    table.sight.put(cluster.pod("a"), cluster.pod("b", ip="127.0.1.2", node="node-2"))
    bare = table.groups()
    assert f"{P}node_label_zone" not in bare[0].labels
    table.sight.put(cluster.node("node-1", zone="z"))
    first, second = table.groups()
    assert first.labels[f"{P}node_label_zone"] == "z"
    assert second is bare[1]
    table.sight.drop(cluster.node("node-1"))
    assert table.groups() == bare


@pytest.mark.parametrize(
    ("role", "write"), [(Role.ENDPOINTS, cluster.endpoints), (Role.ENDPOINTSLICE, cluster.slices)]
)
def test_endpoints_have_pods_and_services(role: Role, write: Any) -> None:  # noqa: ANN401 - either
    """Their groups change when what they lead to comes, changes or goes, and no others do."""
    pod, other = cluster.pod("a"), cluster.pod("b", ip="127.0.1.2")
    table = Table(role, "service", "pod")
    table.sight.put(write("dcgm", [pod]), write("others", [other]), other)
    first, second = table.groups()
    assert f"{P}pod_name" not in first.targets[0]
    table.sight.put(pod)
    made, same = table.groups()
    assert made.targets[0][f"{P}pod_name"] == "a"
    assert same is second
    table.sight.put(cluster.service("dcgm", annotations={"prometheus.io/scrape": "true"}))
    made, same = table.groups()
    assert made.labels[f"{P}service_annotation_prometheus_io_scrape"] == "true"
    assert same is second
    table.sight.put(cluster.service("unrelated"), cluster.pod("unrelated", ip="127.0.1.3"))
    assert [one is other for one, other in zip(table.groups(), (made, same), strict=True)] == [
        True,
        True,
    ]
    table.sight.drop(cluster.service("dcgm"))
    table.sight.drop(pod)
    assert table.groups() == (first, second)


def test_the_policy_is_for_pods_alone() -> None:
    """Whom an endpoint leads to is the endpoint's business."""
    ended = cluster.pod("a", phase="Failed")
    table = Table(Role.ENDPOINTS, "service", "pod")
    table.sight.put(cluster.endpoints("dcgm", [ended]), ended)
    (group,) = table.groups()
    assert group.targets[0][f"{P}pod_phase"] == "Failed"


@pytest.mark.parametrize(
    ("role", "document", "source"),
    [
        (Role.NODE, cluster.node("node-1"), "node/node-1"),
        (Role.SERVICE, cluster.service("dcgm"), "svc/gpu/dcgm"),
        (
            Role.INGRESS,
            {
                "kind": "Ingress",
                "metadata": {"name": "web", "namespace": "gpu"},
                "spec": {"rules": [{"host": "gpu.example.test"}]},
            },
            "ingress/gpu/web",
        ),
    ],
)
def test_other_roles(role: Role, document: Json, source: str) -> None:
    """Each object is a group of its own."""
    table = Table(role)
    table.sight.put(document)
    assert table.names() == [source]
