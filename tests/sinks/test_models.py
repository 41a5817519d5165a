"""Clients are the same that botocore makes of its whole descriptions."""

import itertools
import json
from pathlib import Path
from typing import Any, TypeAlias

import pytest
from botocore.awsrequest import AWSPreparedRequest, AWSResponse, HTTPHeaders
from botocore.config import Config
from botocore.exceptions import ClientError, DataNotFoundError, UnknownServiceError
from botocore.session import Session

from cwgpu.sinks.models import OPERATIONS, Models

REGIONS = ("us-west-2", "us-gov-west-1", "cn-north-1", "eusc-de-east-1", "us-iso-east-1", "mars-1")
GROUP = {"logGroupName": "/gpu/lab"}
STREAM = {**GROUP, "logStreamName": "node-1"}
CALLS: dict[str, dict[str, Any]] = {
    "create_log_group": GROUP,
    "create_log_stream": STREAM,
    "describe_log_groups": {"logGroupNamePrefix": "/gpu"},
    "put_log_events": {**STREAM, "logEvents": [{"timestamp": 1, "message": "one"}]},
    "put_retention_policy": {**GROUP, "retentionInDays": 30},
}


Pair: TypeAlias = tuple[Session, Session]
"""One whose clients are made of botocore's whole descriptions, and one with ours."""


@pytest.fixture(scope="module")
def sessions() -> Pair:
    """Give sessions, which keep what they have read."""
    whole, ours = Session(), Session()
    ours.register_component("data_loader", Models(ours.get_config_variable("data_path")))
    for each in (whole, ours):
        each.set_credentials("AKIDEXAMPLE", "secret")
    return whole, ours


def refused(asked: list[AWSPreparedRequest]) -> Any:  # noqa: ANN401 - a handler, as the hooks have it
    """Give a network that notes each request and refuses it in the service's words."""

    def send(request: AWSPreparedRequest, **_: object) -> AWSResponse:
        asked.append(request)
        return AWSResponse(request.url, 400, HTTPHeaders(), Raw())

    return send


class Raw:
    """A body that says that something is missing."""

    def stream(self, **_: object) -> list[bytes]:
        """Give it."""
        return [json.dumps({"__type": "ResourceNotFoundException", "message": "no"}).encode()]


@pytest.mark.parametrize("call", CALLS)
def test_requests_and_answers_are_those_of_the_whole_description(sessions: Pair, call: str) -> None:
    """Each of our calls is written and its answer read as botocore's own client does."""
    found = []
    for session in sessions:
        asked: list[AWSPreparedRequest] = []
        client: Any = session.create_client("logs", "us-west-2")
        client.meta.events.register("before-send.cloudwatch-logs", refused(asked))
        with pytest.raises(ClientError) as raised:
            getattr(client, call)(**CALLS[call])
        one = asked[0]
        signed = {"X-Amz-Date", "Authorization", "amz-sdk-invocation-id"}
        headers = {name: value for name, value in one.headers.items() if name not in signed}
        found.append((one.method, one.url, headers, one.body, raised.value.response))
        assert type(raised.value).__name__ == "ResourceNotFoundException"
    assert found[0] == found[1]


def test_every_operation_that_is_kept_is_one_that_is_called(sessions: Pair) -> None:
    """The list of operations is what a client can do, and the calls above are all of them."""
    meta = sessions[1].create_client("logs", "us-west-2").meta
    assert set(meta.method_to_api_mapping.values()) == OPERATIONS
    assert meta.method_to_api_mapping.keys() == CALLS.keys()


@pytest.mark.parametrize(
    ("services", "config"),
    [
        (("logs", "sts", "sso", "sso-oidc"), Config()),
        (("logs", "sts"), Config(use_fips_endpoint=True)),
        (("logs", "sts"), Config(use_dualstack_endpoint=True)),
    ],
    ids=["plain", "fips", "dualstack"],
)
def test_endpoints_are_those_of_the_whole_description(
    sessions: Pair, services: tuple[str, ...], config: Config
) -> None:
    """In each partition, and in a region that nobody knows yet, a service is where it was."""
    for service, region in itertools.product(services, REGIONS):
        found = []
        for session in sessions:
            meta = session.create_client(service, region, config=config).meta
            found.append((meta.endpoint_url, meta.region_name, meta.partition))
        assert found[0] == found[1]


@pytest.mark.parametrize("partition", ["aws", "aws-cn", "aws-us-gov"])
def test_regions_are_those_of_the_whole_description(sessions: Pair, partition: str) -> None:
    """Where the service is, is known as before."""
    whole, ours = (each.get_available_regions("logs", partition) for each in sessions)
    assert ours == whole


def test_a_folder_of_ones_own_comes_first(tmp_path: Path) -> None:
    """AWS_DATA_PATH may hold another description, as for botocore."""
    folder = tmp_path / "lamp/2026-01-01"
    folder.mkdir(parents=True)
    (folder / "service-2.json").write_text('{"metadata": {"apiVersion": "2026-01-01"}}')
    models = Models(str(tmp_path))
    assert models.load_service_model("lamp", "service-2") == {
        "metadata": {"apiVersion": "2026-01-01"}
    }


def test_what_is_not_there_is_said_to_be_missing() -> None:
    """A service or a kind of file that nobody has is none."""
    models = Models(None)
    with pytest.raises(UnknownServiceError, match="no-such-service"):
        models.load_service_model("no-such-service", "service-2")
    with pytest.raises(DataNotFoundError):
        models.load_service_model("logs", "no-such-kind")
