"""A cluster's name that neither files nor the environment tell, and when EC2 is asked for it."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from cwgpu.cli.configure import Configuration
from cwgpu.config.complaint import InvalidError
from tests.cli import program
from tests.fakes.exporter import FakeExporter
from tests.fakes.instance import FakeInstance

ASKED = ["token", "instance-id", "region", "DescribeTags"]


@pytest.fixture
def ec2(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeInstance]:
    """Be on an instance of the cluster "lab"."""
    with FakeInstance({"eks:cluster-name": "lab"}) as fake:
        for name, value in fake.environ.items():
            monkeypatch.setenv(name, value)
        yield fake


def configuration(
    folder: Path,
    fake: FakeInstance,
    *,
    dimension: str = "pod",
    environ: dict[str, str] | None = None,
    **section: Any,  # noqa: ANN401 - JSON
) -> Configuration:
    """Write an agent's file without a cluster's name, but for what ``section`` holds."""
    declaration = {
        "source_labels": ["job"],
        "dimensions": [[dimension]],
        "metric_selectors": ["^util$"],
    }
    section["emf_processor"] = {"metric_declaration": [declaration]}
    job = {"job_name": "gpu", "static_configs": [{"targets": ["127.0.0.1:9400"]}]}
    file = folder / "agent.json"
    collected = {"metrics_collected": {"prometheus": section}}
    file.write_text(json.dumps({"logs": collected, "cwgpu": {"scrape_configs": [job]}}))
    return Configuration(file, None, {**fake.environ, **(environ or {})})


@pytest.mark.parametrize(
    ("section", "group"),
    [
        ({}, "/aws/containerinsights/lab/prometheus"),
        ({"log_group_name": "/gpu/{ClusterName}"}, "/gpu/{ClusterName}"),
        ({"log_group_name": "g", "dimension": "ClusterName"}, "g"),
    ],
    ids=["default group", "placeholder", "dimension"],
)
def test_a_name_that_is_needed(
    section: dict[str, Any], group: str, tmp_path: Path, ec2: FakeInstance
) -> None:
    """Log group, namespace and label are made of it."""
    plan = configuration(tmp_path, ec2, **section).plan()
    assert plan.emf.cluster_name == "lab"
    assert plan.emf.namespace == "ContainerInsights/Prometheus"
    assert plan.cloudwatch.log_group == group
    assert ec2.asked == ASKED


def test_a_task_of_ecs(tmp_path: Path, ec2: FakeInstance) -> None:
    """C09: it knows its cluster by its own metadata, and has a log group and namespace of ECS."""
    arn = b'{"Cluster": "arn:aws:ecs:eu-west-1:111122223333:cluster/ecs-lab"}'
    with FakeExporter(arn, path="/v4/3d2b6a/task") as metadata:
        here = {"ECS_CONTAINER_METADATA_URI_V4": metadata.url.removesuffix("/task")}
        plan = configuration(tmp_path, ec2, environ=here).plan()
    assert plan.emf.cluster_name == "ecs-lab"
    assert plan.emf.namespace == "ECS/ContainerInsights/Prometheus"
    assert plan.cloudwatch.log_group == "/aws/ecs/containerinsights/ecs-lab/prometheus"
    assert ec2.asked == []


def test_a_task_of_ecs_whose_metadata_is_away(tmp_path: Path, ec2: FakeInstance) -> None:
    """The complaint about the log group says why the name is not known."""
    here = {"ECS_CONTAINER_METADATA_URI_V4": "http://127.0.0.1:1/v4/3d2b6a"}
    with pytest.raises(InvalidError, match="the metadata of this ECS task cannot be read"):
        configuration(tmp_path, ec2, environ=here).plan()


def test_it_is_asked_for_once(tmp_path: Path, ec2: FakeInstance) -> None:
    """After a reload dimensions are the same, whatever EC2 says by then."""
    found = configuration(tmp_path, ec2)
    first = found.plan()
    ec2.tags.clear()
    assert found.plan() == first
    assert ec2.asked == ASKED


@pytest.mark.parametrize(
    ("section", "environ"),
    [
        ({"cluster_name": "prod"}, {}),
        ({}, {"K8S_CLUSTER_NAME": "prod"}),
        ({}, {"CLUSTER_NAME": "prod"}),
        ({"log_group_name": "g"}, {}),
    ],
    ids=["written", "K8S_CLUSTER_NAME", "CLUSTER_NAME", "not needed"],
)
def test_nobody_is_asked_without_need(
    section: dict[str, str], environ: dict[str, str], tmp_path: Path, ec2: FakeInstance
) -> None:
    """A name that is told is enough, and so is a configuration that makes nothing of it."""
    plan = configuration(tmp_path, ec2, environ=environ, **section).plan()
    assert plan.emf.cluster_name == ("" if "log_group_name" in section else "prod")
    assert ec2.asked == []


def test_nobody_is_asked_about_a_broken_file(tmp_path: Path, ec2: FakeInstance) -> None:
    """A name would not make it right."""
    with pytest.raises(InvalidError, match=r"wrong-type|wrong-value"):
        configuration(tmp_path, ec2, prometheus_config_path=[]).plan()
    assert ec2.asked == []


def test_an_instance_without_such_tags(tmp_path: Path, ec2: FakeInstance) -> None:
    """The error is that of any other place: it says what to write."""
    ec2.tags = {"kubernetes.io/cluster/lab": "shared"}
    with pytest.raises(InvalidError) as error:
        configuration(tmp_path, ec2).plan()
    (complaint,) = error.value.complaints
    assert complaint.code == "no-log-group"
    assert "EC2" not in complaint.help


def test_tags_that_cannot_be_read(tmp_path: Path, ec2: FakeInstance) -> None:
    """Why they cannot stands beside the complaint, or among the warnings of a run that goes on."""
    ec2.refusal = "UnauthorizedOperation"
    with pytest.raises(InvalidError) as error:
        configuration(tmp_path, ec2).plan()
    (complaint,) = error.value.complaints
    assert complaint.help.endswith("; to have them read allow ec2:DescribeTags")
    plan = configuration(tmp_path, ec2, dimension="ClusterName", log_group_name="g").plan()
    named, refused = plan.warnings
    assert "declarations name the label ClusterName" in named
    assert "allow ec2:DescribeTags" in refused


def test_the_program_asks(tmp_path: Path) -> None:
    """The events of a run have the name that the tags tell."""
    with FakeInstance({"eks:cluster-name": "lab"}) as fake, FakeExporter(program.page()) as page:
        path = program.configuration(tmp_path / "agent.json", page.address)
        document = json.loads(path.read_text())
        section = document["logs"]["metrics_collected"]["prometheus"]
        del section["cluster_name"]
        section["emf_processor"]["metric_declaration"][0]["dimensions"] = [["ClusterName"]]
        path.write_text(json.dumps(document))
        done = program.run("run", "-c", str(path), "--dry-run", "--once", env=fake.environ)
    assert done.code == 0
    assert [event["ClusterName"] for event in done.events] == ["lab"]
