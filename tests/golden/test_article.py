"""The article's page, by the article's configuration, through the whole program.

The page is what a DCGM exporter of the GPU operator serves for an A10G that works for one pod, and
the configuration is the CloudWatch agent's, both as in
https://aws.amazon.com/blogs/machine-learning/enable-pod-based-gpu-metrics-in-amazon-cloudwatch/. A
static job gives the labels that discovery gave there. After a change that is meant to change
something: ``pytest tests/golden --update-golden``, and read the diff.
"""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import boto3
import pytest
from moto.server import ThreadedMotoServer

from tests.cli import program
from tests.fakes.cloudwatch import FakeCloudWatch
from tests.fakes.emf import Datapoint
from tests.fakes.exporter import FakeExporter
from tests.golden import plans

DATA = Path(__file__).parents[1] / "data"
AGENT = DATA / "article/cwagentconfig.json"
PAGE = DATA / "samples/00-seed-a10g-gpu-burn.prom"
GOLDEN = Path(__file__).parent / "article.json"
GROUP, STREAM = "/aws/containerinsights/lab/prometheus", "kubernetes-service-endpoints"
JOBS = """\
scrape_configs:
- job_name: kubernetes-service-endpoints
  static_configs:
  - targets: ["{address}"]
    labels:
      Service: nvidia-dcgm-exporter
      Namespace: gpu-operator
"""


@pytest.fixture
def arguments(tmp_path: Path) -> Iterator[list[str]]:
    """Serve the page, and give the command line that reads it once."""
    with FakeExporter(PAGE.read_bytes()) as exporter:
        jobs = tmp_path / "static.yml"
        jobs.write_text(JOBS.format(address=exporter.address), "utf-8")
        yield ["run", "-c", str(AGENT), "--prometheus-config", str(jobs), "--once"]


def run(arguments: list[str], **environ: str) -> program.Ended:
    """Run in the cluster "lab"."""
    return program.run(*arguments, env={"CLUSTER_NAME": "lab", **environ})


def masked(event: dict[str, Any]) -> dict[str, Any]:
    """Take away what is different in every run: the time and the exporter's port."""
    aws = {**event["_aws"], "Timestamp": 0}
    return {**event, "_aws": aws, "instance": re.sub(r":\d+$", ":0", event["instance"])}


def expected() -> dict[str, Any]:
    """Give what is committed."""
    read: dict[str, Any] = json.loads(GOLDEN.read_text("utf-8"))
    return read


def identities(points: list[Datapoint]) -> set[tuple[str, frozenset[tuple[str, str]], str, float]]:
    """Give the datapoints without their time."""
    return {(point.namespace, point.dimensions, point.name, point.value) for point in points}


def promised() -> set[tuple[str, frozenset[tuple[str, str]], str, float]]:
    """Give the datapoints that the committed event stands for."""
    (event,) = expected()["events"]
    (directive,) = event["_aws"]["CloudWatchMetrics"]
    (names,) = directive["Dimensions"]
    dimensions = frozenset((name, event[name]) for name in names)
    return {
        (directive["Namespace"], dimensions, metric["Name"], event[metric["Name"]])
        for metric in directive["Metrics"]
    }


def test_a_dry_run_is_as_committed(arguments: list[str], request: pytest.FixtureRequest) -> None:
    """One event on stdout, and an account of every sample on stderr."""
    done = run([*arguments, "--dry-run"])
    found = {
        "events": [masked(event) for event in done.events],
        "summary": done.summary.splitlines(),
    }
    if request.config.getoption("--update-golden"):
        GOLDEN.write_text(json.dumps(found, indent=1) + "\n", "utf-8")
    assert done.code == 0
    assert found == expected()


def test_what_is_committed_is_the_article_s() -> None:
    """The 14 metrics that it selects, by the five dimensions that its graphs are made by."""
    points = promised()
    assert {name for _, _, name, _ in points} == set(plans.ARTICLE_METRICS)
    assert len(points) == 14
    ((namespace, dimensions),) = {point[:2] for point in points}
    assert namespace == "ContainerInsights/Prometheus"
    assert dict(dimensions) == {
        "ClusterName": "lab",
        "Namespace": "gpu-operator",
        "Service": "nvidia-dcgm-exporter",
        "job": "kubernetes-service-endpoints",
        "pod": "gpu-burn-c68d8c774-ltg9s",
    }
    lines = PAGE.read_text("utf-8").splitlines()
    samples = sum(not line.startswith("#") for line in lines if line)
    assert expected()["summary"][1].split(": ")[1] == f"14 selected, {samples - 14} dropped"


def test_cloudwatch_gets_exactly_these_datapoints(arguments: list[str]) -> None:
    """Those of the dry run, once, in the group of the cluster and the stream of the job."""
    with FakeCloudWatch() as cloudwatch:
        done = run([*arguments, "--listen", "off"], **cloudwatch.environ)
    assert (done.code, done.stdout) == (0, "")
    assert len(cloudwatch.datapoints) == 14
    assert identities(cloudwatch.datapoints) == promised()
    assert cloudwatch.emf_errors == []
    (message,) = cloudwatch.messages(GROUP, STREAM)
    assert [masked(message)] == expected()["events"]
    assert {point.at_ms for point in cloudwatch.datapoints} == {message["_aws"]["Timestamp"]}


@pytest.fixture
def moto() -> Iterator[str]:
    """Run moto's server and give its address."""
    server = ThreadedMotoServer("127.0.0.1", 0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    yield f"http://{host}:{port}"
    server.stop()


def test_moto_holds_the_event(arguments: list[str], moto: str) -> None:
    """A second opinion on the API: the group and stream are made, and the event can be read."""
    keys = {"AWS_ACCESS_KEY_ID": "AKIDEXAMPLE", "AWS_SECRET_ACCESS_KEY": "secret"}
    environ = {**keys, "AWS_REGION": "us-west-2", "AWS_ENDPOINT_URL": moto}
    done = run([*arguments, "--listen", "off"], **environ)
    assert done.code == 0
    session = boto3.session.Session(keys["AWS_ACCESS_KEY_ID"], "secret", region_name="us-west-2")
    client = session.client("logs", endpoint_url=moto)
    read = client.get_log_events(logGroupName=GROUP, logStreamName=STREAM)["events"]
    client.close()
    messages = [json.loads(event["message"]) for event in read]
    assert [masked(message) for message in messages] == expected()["events"]
    assert [event["timestamp"] for event in read] == [m["_aws"]["Timestamp"] for m in messages]
