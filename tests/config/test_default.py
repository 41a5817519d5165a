"""The configuration that is shipped: what it scrapes and what it sends."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from cwgpu.config import load
from cwgpu.emf import declare
from cwgpu.model.target import DroppedTarget, Target, TargetGroup
from cwgpu.plan.plan import Job, Plan
from cwgpu.prom import targeting

_FILE = Path(__file__).parents[2] / "config/cwagent.json"
_POD = "__meta_kubernetes_pod_"


def plan(**environ: str) -> Plan:
    """Load the file in an environment that knows its cluster."""
    return load.load(_FILE, None, {"CLUSTER_NAME": "lab", **environ}).plan


def targets(job: Job, *groups: TargetGroup) -> Iterator[Target | DroppedTarget]:
    """Give what becomes of the targets of some groups, or of the job's own."""
    for group in groups or job.static:
        yield from targeting.targets(job, group)


def test_nothing_is_wrong_with_it() -> None:
    """All that is said about it is that no variable names an exporter."""
    loaded = load.load(_FILE, None, {"CLUSTER_NAME": "lab"})
    assert [each.code for each in loaded.complaints] == ["variable-not-set"]


def test_it_selects_the_articles_metrics() -> None:
    """Fourteen metrics of a Service that has dcgm in its name."""
    (declaration,) = plan().emf.declarations
    assert declaration.matches("nvidia-dcgm-exporter")
    assert not declaration.matches("grafana")
    assert declaration.selects("DCGM_FI_DEV_GPU_UTIL")
    assert not declaration.selects("DCGM_FI_DEV_GPU_UTIL_SAMPLES")
    assert plan().emf.namespace == "ContainerInsights/Prometheus"
    assert plan().flush_interval_s == 5.0


@pytest.mark.parametrize("pod", ["train-0", ""])
def test_a_gpu_without_a_pod_is_seen(pod: str) -> None:
    """A busy GPU counts for its pod and for the fleet; an idle one for the fleet."""
    config = plan().emf
    labels = {"Service": "dcgm-exporter", "Namespace": "n", "ClusterName": "lab", "job": "j"}
    declared = declare.directives(config.declarations, labels | {"pod": pod}, dedup=config.dedup)
    fleet = ("ClusterName", "Namespace", "Service", "job")
    assert declared.sets == (((*fleet, "pod"), fleet) if pod else (fleet,),)


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("http://gpu-1:9400/metrics", "http://gpu-1:9400/metrics"),
        ("https://gpu-1:9400", "https://gpu-1:9400/metrics"),
        ("gpu-1:9400", "http://gpu-1:9400/metrics"),
        ("http://gpu-1:9400/", "http://gpu-1:9400/metrics"),
        ("http://[::1]:9400/gpu/metrics", "http://[::1]:9400/gpu/metrics"),
    ],
)
def test_one_variable_names_the_exporter(url: str, expected: str) -> None:
    """``DCGM_EXPORTER_URL`` is an address or a URL."""
    (target,) = targets(plan(DCGM_EXPORTER_URL=url).jobs[0])
    assert isinstance(target, Target)
    assert target.url == expected
    assert target.labels["Service"] == "dcgm-exporter"
    assert target.labels["Namespace"] == "default"


def test_the_variable_may_name_several_exporters() -> None:
    """A list with commas gives a target each, and no variable none."""
    several = plan(DCGM_EXPORTER_URL="http://a:9400/metrics, b:9400,").jobs[0]
    found = [each.url for each in targets(several) if isinstance(each, Target)]
    assert found == ["http://a:9400/metrics", "http://b:9400/metrics"]
    assert list(targets(plan().jobs[0])) == []


def pod(
    labels: dict[str, str],
    container: str,
    port: str = "9400",
    port_name: str = "metrics",
    **more: str,
) -> TargetGroup:
    """Make the group that Kubernetes discovery gives for one container and port of a pod."""
    target = {
        "__address__": f"10.0.0.1:{port}",
        f"{_POD}container_name": container,
        f"{_POD}container_image": f"registry/{container}:1",
        f"{_POD}container_init": "false",
        f"{_POD}container_port_number": port,
        f"{_POD}container_port_name": port_name,
        **{f"{_POD}{name}": value for name, value in more.items()},
    }
    group = {
        "__meta_kubernetes_namespace": "gpu",
        f"{_POD}name": "exporter-abc",
        f"{_POD}phase": "Running",
        f"{_POD}node_name": "node-1",
        **{f"{_POD}label_{name}": value for name, value in labels.items()},
    }
    kept = {name: value for name, value in group.items() if name not in target}
    return TargetGroup("pod/gpu/exporter-abc", (target,), kept)


_NAME = "app_kubernetes_io_name"
_ADD_ON = {
    "k8s_app": "dcgm-exporter",
    _NAME: "dcgm-exporter",
    "app_kubernetes_io_managed_by": "amazon-cloudwatch-agent-operator",
}


@pytest.mark.parametrize(
    ("group", "service", "scheme"),
    [
        (
            pod({"app": "nvidia-dcgm-exporter"}, "nvidia-dcgm-exporter"),
            "nvidia-dcgm-exporter",
            "http",
        ),
        (
            pod({"app": "nvidia-dcgm-exporter-dra"}, "nvidia-dcgm-exporter-dra"),
            "nvidia-dcgm-exporter-dra",
            "http",
        ),
        (pod({_NAME: "dcgm-exporter"}, "exporter"), "dcgm-exporter", "http"),
        (pod({_NAME: "dcgm-exporter"}, "dcgm-exporter", port_name=""), "dcgm-exporter", "http"),
        (pod({_NAME: "dcgm-exporter"}, "exporter", port="9401"), "dcgm-exporter", "http"),
        (pod(_ADD_ON, "dcgm-exporter"), "dcgm-exporter", "https"),
        (
            pod({"app": "gpu-metrics"}, "main", container_image="nvcr.io/k8s/dcgm-exporter:4"),
            "dcgm-exporter",
            "http",
        ),
        (
            pod({}, "main", port="8080", container_image="dcgm-exporter@sha256:0"),
            "dcgm-exporter",
            "http",
        ),
    ],
)
def test_every_known_deployment_of_the_exporter_is_found(
    group: TargetGroup, service: str, scheme: str
) -> None:
    """The GPU operator's, the Helm chart's, the plain manifest's, the add-on's and an own one."""
    (target,) = targets(plan().jobs[1], group)
    assert isinstance(target, Target)
    assert target.labels["Service"] == service
    assert target.labels["Namespace"] == "gpu"
    assert target.labels["NodeName"] == "node-1"
    assert "pod" not in target.labels
    assert target.url == f"{scheme}://{target.labels['instance']}/metrics"


@pytest.mark.parametrize(
    "group",
    [
        pod({"app": "nvidia-dcgm-exporter"}, "nvidia-dcgm-exporter", phase="Pending"),
        pod({"app": "nvidia-dcgm-exporter"}, "toolkit-validation", port="", port_name=""),
        pod({"app": "nvidia-dcgm-exporter"}, "warm-up", container_init="true"),
        pod({_NAME: "dcgm-exporter"}, "rbac-proxy", port="8443", port_name="https"),
        pod({_NAME: "dcgm-exporter"}, "sidecar", port="9090", port_name="metrics"),
        pod({"k8s_app": "dcgm-server"}, "agent", container_image="x/dcgm-exporter:3"),
        pod({"app": "grafana"}, "grafana"),
        pod({"app": "my-dcgm-exporter-ui"}, "ui"),
    ],
)
def test_nothing_else_is_scraped(group: TargetGroup) -> None:
    """Other pods, other containers and other ports of the exporter's pods are dropped."""
    (target,) = targets(plan().jobs[1], group)
    assert isinstance(target, DroppedTarget)
    assert not target.rejected


def test_the_workloads_pod_keeps_its_name() -> None:
    """Labels of the page win: ``pod`` is who uses the GPU, not who exports."""
    assert all(job.honor_labels for job in plan().jobs)
