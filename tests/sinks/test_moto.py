"""The sink against moto: a second opinion on the API, and roles from its STS."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import boto3
import pytest
from moto.server import ThreadedMotoServer

from cwgpu.logs.parcel import pack
from cwgpu.logs.verdict import Answer, Rejected
from cwgpu.model.event import EmfEvent, LogBatch, Parcel, StreamKey
from cwgpu.sinks.access import Access
from cwgpu.sinks.cloudwatch import CloudWatchSink
from tests.fakes import sigv4
from tests.fakes.cloudwatch import FakeCloudWatch
from tests.sinks.stage import DAY_MS, bare, now_ms

if TYPE_CHECKING:
    from mypy_boto3_logs.client import CloudWatchLogsClient

ROLE = "arn:aws:iam::123456789012:role/gpu"
REGION = "us-west-2"


@pytest.fixture(scope="module")
def moto() -> Iterator[str]:
    """Run moto's server and give its address."""
    server = ThreadedMotoServer("127.0.0.1", 0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    yield f"http://{host}:{port}"
    server.stop()


@pytest.fixture(autouse=True)
def environment(moto: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Lead every AWS SDK to moto."""
    for name, value in {
        "AWS_ACCESS_KEY_ID": "AKIDEXAMPLE",
        "AWS_SECRET_ACCESS_KEY": "secret",
        "AWS_REGION": REGION,
        "AWS_ENDPOINT_URL": moto,
        "AWS_EC2_METADATA_DISABLED": "true",
        "AWS_CONFIG_FILE": "/dev/null",
        "AWS_SHARED_CREDENTIALS_FILE": "/dev/null",
    }.items():
        monkeypatch.setenv(name, value)


@pytest.fixture
async def sink() -> AsyncIterator[CloudWatchSink]:
    """Give a sink to moto."""
    made = CloudWatchSink(Access(), retention_days=7)
    yield made
    await made.close()


@pytest.fixture
def client() -> Iterator["CloudWatchLogsClient"]:
    """Give a client to look with."""
    made = boto3.session.Session(region_name=REGION).client("logs")
    yield made
    made.close()


def parcel(key: StreamKey, *times: int) -> Parcel:
    """Give a batch with an event for every time, ready to be sent."""
    events = (EmfEvent.of(key, at, b'{"at":%d}' % at, 1, 1) for at in times)
    return pack(LogBatch(key, tuple(events)))


async def test_a_stream_is_made_and_its_events_are_there(
    sink: CloudWatchSink, client: "CloudWatchLogsClient"
) -> None:
    """Not found, created with retention, sent, and read back as text."""
    key, now = StreamKey("/gpu/lab", "node-1"), now_ms()
    assert (await sink.send(parcel(key, now))).code == "ResourceNotFoundException"
    assert (await sink.create(key)).code == ""
    assert bare(await sink.send(parcel(key, now, now + 1))) == Answer("", status=200)
    events = client.get_log_events(logGroupName=key.group, logStreamName=key.stream)["events"]
    assert [event["message"] for event in events] == [f'{{"at":{now}}}', f'{{"at":{now + 1}}}']
    (group,) = client.describe_log_groups(logGroupNamePrefix=key.group)["logGroups"]
    assert group["retentionInDays"] == 7


async def test_a_stream_that_exists_is_a_success(sink: CloudWatchSink) -> None:
    """Made once or twice, it is there."""
    key = StreamKey("/gpu/twice", "node-1")
    assert [(await sink.create(key)).code for _ in range(2)] == ["", ""]


async def test_events_of_the_wrong_age_are_rejected(sink: CloudWatchSink) -> None:
    """The call succeeds and says so (where moto counts otherwise than AWS, AWS is right)."""
    key, now = StreamKey("/gpu/ages", "node-1"), now_ms()
    await sink.create(key)
    answer = await sink.send(parcel(key, now - 15 * DAY_MS, now - 15 * DAY_MS, now))
    assert (answer.code, answer.status) == ("", 200)
    assert answer.rejected is not None
    assert answer.rejected != Rejected()


async def test_events_out_of_order_are_refused(sink: CloudWatchSink) -> None:
    """The whole call fails, as at AWS."""
    key, now = StreamKey("/gpu/order", "node-1"), now_ms()
    await sink.create(key)
    answer = await sink.send(parcel(key, now, now - 1))
    assert (answer.code, answer.status) == ("InvalidParameterException", 400)


def _let_in(service: FakeCloudWatch, key_id: str) -> None:
    """Let the fake know what moto's STS gave out."""
    from moto.sts.models import sts_backends  # noqa: PLC0415 - loads after the server's patches

    for role in sts_backends["123456789012"]["aws"].assumed_roles:
        if role.access_key_id == key_id:
            service.secrets[key_id] = sigv4.Secret(role.secret_access_key, role.session_token)


async def _role_of(access: Access) -> str:
    """Send with what ``access`` and the environment give, and give the key id that signed.

    The first call shows the key, the second must then be signed with all three parts of it.
    """
    key = StreamKey("gpu", "s")
    async with FakeCloudWatch() as service:
        service.add(key.group, key.stream)
        sink = CloudWatchSink(Access(REGION, access.role_arn, service.url))
        assert (await sink.send(parcel(key, now_ms()))).code == "UnrecognizedClientException"
        authorization = service.calls[0].headers["authorization"]
        key_id = authorization.partition("Credential=")[2].partition("/")[0]
        _let_in(service, key_id)
        assert (await sink.send(parcel(key, now_ms()))).code == ""
        await sink.close()
    return key_id


async def test_the_role_of_the_configuration_is_taken_on() -> None:
    """Its temporary credentials sign, not the ones that asked for it."""
    assert (await _role_of(Access(role_arn=ROLE))).startswith("ASIA")


@pytest.fixture
def irsa(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Give what EKS gives a pod whose service account has a role."""
    token = tmp_path / "token"
    token.write_text("web-identity")
    monkeypatch.delenv("AWS_ACCESS_KEY_ID")
    monkeypatch.delenv("AWS_SECRET_ACCESS_KEY")
    monkeypatch.setenv("AWS_ROLE_ARN", ROLE)
    monkeypatch.setenv("AWS_WEB_IDENTITY_TOKEN_FILE", str(token))


async def test_the_role_of_a_service_account_is_taken_on(irsa: None) -> None:
    """IRSA: a token in a file becomes temporary credentials."""
    assert (await _role_of(Access())).startswith("ASIA")


async def test_a_role_may_be_taken_on_from_the_role_of_a_service_account(irsa: None) -> None:
    """As for logs that go to another account."""
    other = "arn:aws:iam::123456789012:role/other"
    assert (await _role_of(Access(role_arn=other))).startswith("ASIA")
