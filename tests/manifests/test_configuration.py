"""Each overlay's configuration: right, and no more apart from the default than it must be."""

import json
from pathlib import Path

import pytest

from cwgpu.config.complaint import Level
from cwgpu.plan.kubernetes import Shard, ShardLease
from tests.manifests import plans, rendered
from tests.manifests.rendered import Json

SHIPPED: Json = json.loads((rendered.ROOT / "config/cwagent.json").read_text("utf-8"))
JOB = "kubernetes-pod-dcgm-exporter"


@pytest.mark.parametrize("name", rendered.ALL)
def test_nothing_is_wrong(name: str, tmp_path: Path) -> None:
    """`cwgpu check` complains about no overlay's configuration, where the pod's variables are."""
    said = plans.complaints(name, tmp_path)
    assert [each for each in said if each.level is not Level.NOTE] == []


@pytest.mark.parametrize("name", rendered.ALL)
def test_the_cluster_has_a_name(name: str, tmp_path: Path) -> None:
    """The cluster's name reaches the log group, wherever it is written."""
    group = plans.plan(name, tmp_path).cloudwatch.log_group
    assert group == "/aws/containerinsights/lab/prometheus"


@pytest.mark.parametrize("name", ["base", "operator"])
def test_a_cluster_without_a_name_is_refused(name: str) -> None:
    """Until somebody names the cluster the variable is empty, with which the agent ends at once."""
    (source,) = rendered.container(name)["envFrom"]
    assert rendered.data(name, source["configMapRef"]["name"]) == {"CLUSTER_NAME": ""}


def test_a_node_local_agent_differs_in_its_jobs_alone() -> None:
    """The DaemonSet's file is the default with the job of Kubernetes only, bound to its node."""
    expected = json.loads(json.dumps(SHIPPED))
    (job,) = (each for each in SHIPPED["cwgpu"]["scrape_configs"] if each["job_name"] == JOB)
    local = {"kubernetes_sd_configs": [{"role": "pod", "node_local": True}]}
    expected["cwgpu"]["scrape_configs"] = [job | local]
    assert plans.written("daemonset") == expected


def test_a_sidecar_differs_in_its_jobs_alone() -> None:
    """The sidecar's file sends what the default sends, from a job of the same name and interval."""
    sidecar = plans.written("operator")
    (job,) = (each for each in SHIPPED["cwgpu"]["scrape_configs"] if each["job_name"] == JOB)
    (own,) = sidecar["cwgpu"]["scrape_configs"]
    assert sidecar["logs"] == SHIPPED["logs"]
    assert sidecar.keys() == SHIPPED.keys()
    assert sidecar["cwgpu"].keys() == SHIPPED["cwgpu"].keys()
    for key in ("job_name", "scrape_interval", "honor_labels"):
        assert own[key] == job[key]


def test_only_one_agent_of_two_scrapes(tmp_path: Path) -> None:
    """The overlay ha has a Lease, in the pod's own namespace; no other overlay has one."""
    leases = {name: plans.plan(name, tmp_path / name).lease for name in rendered.ALL}
    assert [name for name, lease in leases.items() if lease] == ["ha"]
    lease = leases["ha"]
    assert lease is not None
    assert (lease.name, lease.namespace) == ("cwgpu", "")


def test_each_shard_has_its_part(tmp_path: Path) -> None:
    """The overlay sharded counts its pods, and takes the number at the end of the pod's name."""
    shards = {name: plans.plan(name, tmp_path / name).shard for name in rendered.ALL}
    assert [name for name, shard in shards.items() if shard] == ["sharded"]
    shard = shards["sharded"]
    assert shard is not None
    assert shard == Shard(3, 1, ShardLease("cwgpu-shards"))
