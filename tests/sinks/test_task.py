"""The cluster that the metadata of an ECS task names."""

import pytest

from cwgpu.sinks import task
from cwgpu.sinks.told import Told
from tests.fakes.exporter import Answer, FakeExporter

PATH = "/v4/3d2b6a/task"
ARN = b'{"Cluster": "arn:aws:ecs:eu-west-1:111122223333:cluster/lab", "Family": "gpu"}'


def asked(answer: Answer) -> Told:
    """Ask a service that answers so."""
    with FakeExporter(answer, path=PATH) as service:
        return task.cluster_name(service.url.removesuffix("/task"))


@pytest.mark.parametrize("body", [ARN, b'{"Cluster": "lab"}'])
def test_the_cluster_by_name_or_arn(body: bytes) -> None:
    """Both forms occur."""
    assert asked(Answer(body=body)) == Told("lab")


@pytest.mark.parametrize(
    ("answer", "fault"),
    [
        (Answer(status=500), "answer with status 500"),
        (Answer(body=b"<html>"), "cannot be read"),
        (Answer(body=b"{}"), "cannot be read"),
        (Answer(body=b"[1]"), "cannot be read"),
        (Answer(reset=True), "cannot be read"),
    ],
    ids=["status", "no JSON", "no cluster", "no object", "reset"],
)
def test_an_answer_that_names_none(answer: Answer, fault: str) -> None:
    """It is told why, and nothing is made up."""
    told = asked(answer)
    assert told.name == ""
    assert fault in told.fault


@pytest.mark.parametrize(
    "address", ["http://127.0.0.1:1/v4/x", "http://127.0.0.1:x/", "http://[::1/", "nothing"]
)
def test_nobody_there(address: str) -> None:
    """An address that leads nowhere is a fault like the others."""
    assert "cannot be read" in task.cluster_name(address).fault


def test_an_answer_that_takes_too_long() -> None:
    """Whoever waits goes on without it, also where a little of it comes all the time."""
    slow = Answer(body=ARN, drip_bytes=1, drip_s=0.005)
    with FakeExporter(slow, path=PATH) as service:
        told = task.cluster_name(service.url.removesuffix("/task"), 0.02)
        service.release()
    assert told == Told(fault="the metadata of this ECS task were not there within 0.02 s")
