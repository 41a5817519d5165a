"""The cluster's name from the tags of the EC2 instance that we run on."""

from collections.abc import Iterator
from pathlib import Path

import boto3
import pytest
from moto.server import ThreadedMotoServer

from cwgpu.sinks import instance
from cwgpu.sinks.told import Told
from tests.fakes.instance import ID, REGION, FakeInstance

OWNED = {"kubernetes.io/cluster/lab": "owned"}
ALL = ["token", "instance-id", "region", "DescribeTags"]


@pytest.fixture
def ec2(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeInstance]:
    """Be on an instance of the cluster "lab"."""
    with FakeInstance(OWNED) as fake:
        for name in ("AWS_REGION", "AWS_DEFAULT_REGION", "AWS_PROFILE", "AWS_SESSION_TOKEN"):
            monkeypatch.delenv(name, raising=False)
        for name, value in fake.environ.items():
            monkeypatch.setenv(name, value)
        yield fake


@pytest.mark.parametrize(
    ("tags", "name"),
    [
        ({**OWNED, "Name": "n1"}, "lab"),
        ({"kubernetes.io/cluster/lab": "shared"}, ""),
        ({"eks:cluster-name": "prod"}, "prod"),
        ({"eks:cluster-name": "prod", **OWNED}, "prod"),
        ({**OWNED, "kubernetes.io/cluster/other": "owned"}, ""),
        ({"kubernetes.io/cluster/": "owned"}, ""),
        ({}, ""),
    ],
)
def test_tags_that_name_a_cluster(tags: dict[str, str], name: str) -> None:
    """EKS' own tag first, then the one cluster that owns the instance; no guess between two."""
    assert instance.named(tags) == name


@pytest.mark.parametrize(
    ("environ", "files", "expected"),
    [
        ({}, {"sys/class/dmi/id/sys_vendor": "Amazon EC2\n"}, True),
        ({}, {"sys/class/dmi/id/sys_vendor": "Xen", "sys/hypervisor/uuid": "ec2e1916-9"}, True),
        ({}, {"sys/class/dmi/id/sys_vendor": "LENOVO\n"}, False),
        ({}, {}, True),
        ({"AWS_EC2_METADATA_DISABLED": "True"}, {}, False),
        (
            {"AWS_EC2_METADATA_SERVICE_ENDPOINT": "http://127.0.0.1"},
            {"sys/class/dmi/id/sys_vendor": "QEMU"},
            True,
        ),
    ],
)
def test_where_asking_makes_sense(
    environ: dict[str, str], files: dict[str, str], *, expected: bool, tmp_path: Path
) -> None:
    """The kernel knows whose machine this is; elsewhere nobody is asked, and no time is lost."""
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    assert instance.is_instance(environ, tmp_path) is expected


def test_the_name_is_that_of_the_tags(ec2: FakeInstance) -> None:
    """The metadata service says which instance this is and where, the API what its tags are."""
    assert instance.cluster_name(ec2.environ, 30) == Told("lab")
    assert ec2.asked == ALL


def test_tags_without_a_cluster(ec2: FakeInstance) -> None:
    """That is no fault: the instance is of no cluster."""
    ec2.tags = {"Name": "n1"}
    assert instance.cluster_name(ec2.environ, 30) == Told()


def test_a_right_that_is_missing(ec2: FakeInstance) -> None:
    """It is named, for whoever can give it."""
    ec2.refusal = "UnauthorizedOperation"
    told = instance.cluster_name(ec2.environ, 30)
    assert told.name == ""
    assert told.fault.startswith("the tags of this EC2 instance cannot be read: Unauthorized")
    assert told.fault.endswith("; to have them read allow ec2:DescribeTags")


def test_nobody_to_ask_as(ec2: FakeInstance, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without credentials the API cannot be asked."""
    monkeypatch.delenv("AWS_ACCESS_KEY_ID")
    monkeypatch.delenv("AWS_SECRET_ACCESS_KEY")
    assert "NoCredentials" in instance.cluster_name(ec2.environ, 30).fault
    assert "DescribeTags" not in ec2.asked


def test_a_metadata_service_that_pods_do_not_reach(ec2: FakeInstance) -> None:
    """What is to be changed there is said."""
    ec2.metadata_status = 403
    assert "hop limit is 2" in instance.cluster_name(ec2.environ, 30).fault
    assert ec2.asked == ["token"]


def test_no_metadata_service(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody listens there, and this need not be an instance at all."""
    monkeypatch.setenv("AWS_EC2_METADATA_SERVICE_ENDPOINT", "http://127.0.0.1:1/")
    told = instance.cluster_name({"AWS_EC2_METADATA_SERVICE_ENDPOINT": "http://127.0.0.1:1/"}, 30)
    assert told.fault.startswith(
        "the metadata service of EC2 does not answer; if this is an EC2 instance, "
    )


def test_an_answer_that_takes_too_long(ec2: FakeInstance) -> None:
    """Whoever waits goes on without it."""
    ec2.silent = True
    told = instance.cluster_name(ec2.environ, 0.01)
    assert told == Told(
        fault="the tags of the instance, if this is one of EC2, were not there within 0.01 s"
    )


def test_moto_has_such_an_instance(monkeypatch: pytest.MonkeyPatch) -> None:
    """A second opinion on the API."""
    server = ThreadedMotoServer("127.0.0.1", 0, verbose=False)
    server.start()
    try:
        host, port = server.get_host_and_port()
        with FakeInstance() as fake:
            for name, value in fake.environ.items():
                monkeypatch.setenv(name, value)
            monkeypatch.setenv("AWS_ENDPOINT_URL_EC2", f"http://{host}:{port}")
            client = boto3.client("ec2", region_name=REGION)
            tags = [{"Key": key, "Value": value} for key, value in OWNED.items()]
            client.create_tags(Resources=[ID], Tags=tags)
            client.close()
            assert instance.cluster_name(fake.environ, 30) == Told("lab")
    finally:
        server.stop()
