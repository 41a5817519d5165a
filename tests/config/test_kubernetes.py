"""Kubernetes discoveries become questions to an API server with nothing left to interpret."""

from collections.abc import Mapping
from typing import Any

import pytest

from cwgpu.config import document, load
from cwgpu.config.complaint import Complaint, Level
from cwgpu.config.document import Form
from cwgpu.config.where import Found
from cwgpu.plan.client import Authorization, Client, Secret
from cwgpu.plan.kubernetes import (
    Address,
    InCluster,
    Kubeconfig,
    KubernetesDiscovery,
    Selector,
)
from cwgpu.prom.kubernetes.role import Role
from tests.config.inline import HERE, examined


def made(
    *discoveries: Mapping[str, Any],
    **own: Any,  # noqa: ANN401 - JSON
) -> tuple[KubernetesDiscovery, ...]:
    """Give what the plan has of them; nothing may be said."""
    found = examined(*discoveries, **own)
    assert found.complaints == ()
    assert found.plan is not None
    return found.plan.jobs[0].kubernetes


def of_prometheus(discovery: str) -> tuple[tuple[KubernetesDiscovery, ...], list[Complaint]]:
    """Do the same with a prometheus.yml."""
    text = f"scrape_configs: [{{job_name: gpu, kubernetes_sd_configs: [{discovery}]}}]"
    read = document.read(text.encode(), "prometheus.yml", Form.YAML)
    jobs, said = load.prometheus_file(Found(read.root, read.complaints, HERE))
    return jobs[0].kubernetes, list(said)


def test_a_role_is_enough() -> None:
    """The pod's own cluster, all namespaces, all objects."""
    assert made({"role": "pod"}) == (KubernetesDiscovery(Role.POD),)


def test_every_key_arrives() -> None:
    """Namespaces once each, selectors by kind, nodes to attach; several discoveries in order."""
    keys = {
        "role": "endpoints",
        "namespaces": {"own_namespace": True, "names": ["gpu", "ml", "gpu"]},
        "selectors": [{"role": "pod", "label": "a=b"}, {"role": "service", "field": "x=y"}],
        "attach_metadata": {"node": True},
    }
    whole, plain = made(keys, {"role": "node"})
    assert whole == KubernetesDiscovery(
        Role.ENDPOINTS,
        InCluster(),
        ("gpu", "ml"),
        own_namespace=True,
        selectors={"pod": Selector(label="a=b"), "service": Selector(field="x=y")},
        attach_node=True,
    )
    assert plain == KubernetesDiscovery(Role.NODE)


def test_servers() -> None:
    """A kubeconfig's path begins at the configuration's; an address has an HTTP client of its own.

    Without an address no client is there to be configured.
    """
    named, addressed = made(
        {"role": "pod", "kubeconfig_file": "kube/config"},
        {
            "role": "pod",
            "api_server": "https://kube:6443",
            "authorization": {"credentials_file": "token"},
        },
    )
    assert named.server == Kubeconfig("/etc/gpu/kube/config")
    token = Authorization("Bearer", Secret(file="/etc/gpu/token"))
    assert addressed.server == Address("https://kube:6443", Client(credentials=token))


def test_a_discovery_that_cannot_be() -> None:
    """What is wrong is told, and the rest of the job read."""
    found = examined({"role": "pods"}, {"role": "pod"})
    assert [each.code for each in found.complaints] == ["wrong-value"]


def test_nodes_of_our_own() -> None:
    """``node_local`` is for jobs in the agent's file and for pods."""
    (local,) = made({"role": "pod", "node_local": True})
    assert local.node_local
    (said,) = examined({"role": "node", "node_local": True}).complaints
    assert (said.code, said.path) == (
        "wrong-value",
        "cwgpu.scrape_configs[0].kubernetes_sd_configs[0].node_local",
    )
    assert said.message == "role 'node' finds nothing that is of one node"


@pytest.mark.parametrize("value", ["true", "false"])
def test_prometheus_files_stay_pure(value: str) -> None:
    """A key that Prometheus would refuse is refused there, with the place where it may stand."""
    _, (said,) = of_prometheus(f"{{role: pod, node_local: {value}}}")
    assert (said.code, said.level) == ("unknown-key", Level.ERROR)
    assert said.message == "Prometheus has no key node_local"
    assert said.help == "only jobs in cwgpu.scrape_configs of the agent's JSON may have it"


def test_the_environment_of_our_pod() -> None:
    """Listed variables are labels of every discovery; one that is not set is told."""
    environ = {"NODE_NAME": "node-1", "ZONE": "", "SECRET": "x"}
    found = examined(
        {"role": "pod"},
        {"role": "node"},
        environ=environ,
        meta_env=["NODE_NAME", "ZONE", "RACK"],
    )
    (said,) = found.complaints
    assert (said.code, said.level, said.path) == (
        "variable-not-set",
        Level.NOTE,
        "cwgpu.meta_env[2]",
    )
    assert found.plan is not None
    labels = {"__meta_cwgpu_env_NODE_NAME": "node-1", "__meta_cwgpu_env_ZONE": ""}
    assert [each.environment for each in found.plan.jobs[0].kubernetes] == [labels, labels]


def test_a_name_that_no_variable_has() -> None:
    """It could be no label either."""
    (said,) = examined({"role": "pod"}, meta_env=["NODE-NAME"]).complaints
    assert (said.code, said.path) == ("wrong-value", "cwgpu.meta_env[0]")


def test_nothing_of_the_environment_is_in_the_way_of_jobs_elsewhere() -> None:
    """A prometheus.yml is read by itself, too."""
    found, said = of_prometheus("{role: pod}")
    assert (found, said) == ((KubernetesDiscovery(Role.POD),), [])
