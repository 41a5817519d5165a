"""The official client of Kubernetes works against the fake API server as it is."""

import threading
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from kubernetes import client as typed_client
from kubernetes import config as typed_config
from kubernetes import watch as typed_watch

from tests.fakes.kubernetes import FakeKubernetes
from tests.fakes.kubernetes.asking import pod

PATIENCE_S = 20

# Half of the package is typed, and there every field may be None, which here is a failure anyway.
client: Any = typed_client
config: Any = typed_config
watch: Any = typed_watch


@pytest.fixture
def api() -> Iterator[FakeKubernetes]:
    """Serve in a thread, with TLS, five pods."""
    with FakeKubernetes(tls=True) as api:
        for number in range(5):
            api.put(pod(f"p{number}", app="dcgm"))
        yield api


@pytest.fixture
def connection(api: FakeKubernetes, tmp_path: Path) -> Iterator[typed_client.ApiClient]:
    """Connect as a kubeconfig says."""
    path = api.kubeconfig(tmp_path / "config", api.admin)
    with config.new_client_from_config(str(path)) as connection:
        yield connection


def test_lists_come_in_pages(connection: typed_client.ApiClient) -> None:
    """Limit, continue, and how many remain; objects read into the client's models."""
    core = client.CoreV1Api(connection)
    first = core.list_pod_for_all_namespaces(limit=2)
    token = first.metadata._continue  # noqa: SLF001 - so is it called
    second = core.list_pod_for_all_namespaces(limit=2, _continue=token)
    assert first.metadata.remaining_item_count == 3
    assert [each.metadata.name for each in second.items] == ["p2", "p3"]
    assert second.items[0].status.pod_ip == "127.0.1.1"
    chosen = core.list_namespaced_pod("gpu-operator", label_selector="app in (dcgm),!x")
    assert len(chosen.items) == 5


def test_watches_stream(api: FakeKubernetes, connection: typed_client.ApiClient) -> None:
    """Its Watch sees what happens after a list, bookmarks too."""
    core = client.CoreV1Api(connection)
    version = core.list_pod_for_all_namespaces().metadata.resource_version
    seen: list[tuple[str, Any]] = []
    streaming = watch.Watch()

    def follow() -> None:
        for event in streaming.stream(
            core.list_pod_for_all_namespaces,
            resource_version=version,
            allow_watch_bookmarks=True,
            timeout_seconds=PATIENCE_S,
        ):
            seen.append((event["type"], event["raw_object"]["metadata"].get("name")))
            if event["type"] == "BOOKMARK":
                streaming.stop()

    thread = threading.Thread(target=follow)
    thread.start()
    api.wait(lambda: api.watches)
    api.put(pod("new"))
    api.delete("pods", "gpu-operator", "p0")
    api.chaos.end()
    thread.join(PATIENCE_S)
    assert seen == [("ADDED", "new"), ("MODIFIED", "p0"), ("DELETED", "p0"), ("BOOKMARK", None)]


def test_a_lease_is_taken_and_lost(connection: typed_client.ApiClient) -> None:
    """Create, replace, and 409 for who does not hold the newest version."""
    leases = client.CoordinationV1Api(connection)
    now = datetime.now(UTC)
    spec = client.V1LeaseSpec(holder_identity="a", lease_duration_seconds=15, renew_time=now)
    metadata = client.V1ObjectMeta(name="cwgpu")
    made = leases.create_namespaced_lease("default", client.V1Lease(metadata=metadata, spec=spec))
    made.spec.holder_identity = "b"
    taken = leases.replace_namespaced_lease("cwgpu", "default", made)
    with pytest.raises(client.ApiException, match="Conflict"):
        leases.replace_namespaced_lease("cwgpu", "default", made)
    assert taken.spec.renew_time == now
    assert leases.read_namespaced_lease("cwgpu", "default").spec.holder_identity == "b"
    leases.delete_namespaced_lease("cwgpu", "default")
    with pytest.raises(client.ApiException, match="Not Found"):
        leases.read_namespaced_lease("cwgpu", "default")


def test_every_kind_can_be_listed(connection: typed_client.ApiClient) -> None:
    """By the client's own methods, into its own models."""
    core, discovery = client.CoreV1Api(connection), client.DiscoveryV1Api(connection)
    lists: list[Callable[[], Any]] = [
        core.list_endpoints_for_all_namespaces,
        core.list_namespace,
        core.list_node,
        core.list_pod_for_all_namespaces,
        core.list_service_for_all_namespaces,
        discovery.list_endpoint_slice_for_all_namespaces,
        client.NetworkingV1Api(connection).list_ingress_for_all_namespaces,
        client.CoordinationV1Api(connection).list_lease_for_all_namespaces,
    ]
    assert [each().items is not None for each in lists] == [True] * len(lists)
    assert client.VersionApi(connection).get_code().git_version == "v1.36.2"
