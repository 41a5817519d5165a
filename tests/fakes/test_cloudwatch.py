"""The fake CloudWatch Logs, as boto3 and bare HTTP see it."""

import asyncio
import gzip
import http.client
import json
import math
import time
from collections.abc import Iterator
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any

import boto3
import pytest
from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.config import Config
from botocore.credentials import Credentials
from botocore.exceptions import ClientError, ConnectionClosedError, ReadTimeoutError

from tests.fakes import cloudwatch, faults
from tests.fakes.cloudwatch import FakeCloudWatch
from tests.fakes.door import JSON
from tests.fakes.emf import Datapoint

if TYPE_CHECKING:
    from mypy_boto3_logs.client import CloudWatchLogsClient

DAY_MS = 86_400_000


@pytest.fixture
def service() -> Iterator[FakeCloudWatch]:
    """Run the fake in a thread, with a log group and stream."""
    with FakeCloudWatch() as fake:
        fake.add("gpu", "s")
        yield fake


@pytest.fixture
def client(service: FakeCloudWatch) -> Iterator["CloudWatchLogsClient"]:
    """Give a boto3 client of it that never tries twice."""
    made = client_of(service, patience_s=30)
    yield made
    made.close()


def client_of(service: FakeCloudWatch, patience_s: float) -> "CloudWatchLogsClient":
    """Give a client that waits so long for an answer."""
    return boto3.client(
        "logs",
        region_name=cloudwatch.REGION,
        endpoint_url=service.url,
        aws_access_key_id=cloudwatch.KEY_ID,
        aws_secret_access_key=cloudwatch.SECRET,
        config=Config(retries={"total_max_attempts": 1}, read_timeout=patience_s),
    )


def now_ms() -> int:
    """Give the time, as log events have it."""
    return int(time.time() * 1000)


def emf(at_ms: int, value: float = 87) -> str:
    """Give a message that is one datapoint."""
    directive = {"Namespace": "GPU", "Dimensions": [["pod"]], "Metrics": [{"Name": "util"}]}
    aws = {"Timestamp": at_ms, "CloudWatchMetrics": [directive]}
    return json.dumps({"_aws": aws, "pod": "train-0", "util": value})


def put(client: "CloudWatchLogsClient", *messages: str, at_ms: int | None = None) -> Any:  # noqa: ANN401
    """Send messages to the stream that is there."""
    at_ms = now_ms() if at_ms is None else at_ms
    return client.put_log_events(
        logGroupName="gpu",
        logStreamName="s",
        logEvents=[{"timestamp": at_ms, "message": message} for message in messages],
    )


def code(raised: pytest.ExceptionInfo[ClientError]) -> tuple[str, int]:
    """Give what a caller decides on."""
    response = raised.value.response
    return response["Error"]["Code"], response["ResponseMetadata"]["HTTPStatusCode"]


def test_emf_that_comes_in_is_stored_and_becomes_datapoints(
    service: FakeCloudWatch, client: "CloudWatchLogsClient"
) -> None:
    """A log event is text to the stream and a datapoint to CloudWatch."""
    at_ms = now_ms()
    answer = put(client, emf(at_ms), "an ordinary line", at_ms=at_ms)
    assert "rejectedLogEventsInfo" not in answer
    assert service.datapoints == [
        Datapoint("GPU", frozenset({("pod", "train-0")}), "util", 87.0, at_ms),
    ]
    assert [event.message for event in service.events("gpu", "s")][1] == "an ordinary line"
    assert service.emf_errors == []


def test_broken_emf_is_stored_and_the_fault_is_remembered(
    service: FakeCloudWatch, client: "CloudWatchLogsClient"
) -> None:
    """The caller gets a 200, as from AWS; only the test can see the error."""
    put(client, '{"_aws": {}}')
    assert service.messages("gpu", "s") == [{"_aws": {}}]
    assert [(fault.group, fault.stream, fault.reason) for fault in service.emf_errors] == [
        ("gpu", "s", "CloudWatchMetrics is missing or no array"),
    ]


def test_events_of_the_wrong_age_are_rejected_alone(
    service: FakeCloudWatch, client: "CloudWatchLogsClient"
) -> None:
    """The others are stored, and the indexes say which were not."""
    service.add("gpu", "s", retention_days=None)
    now = now_ms()
    times = (now - 15 * DAY_MS, now, now + DAY_MS)
    answer = client.put_log_events(
        logGroupName="gpu",
        logStreamName="s",
        logEvents=[{"timestamp": at_ms, "message": str(at_ms)} for at_ms in times],
    )
    assert answer["rejectedLogEventsInfo"] == {
        "tooOldLogEventEndIndex": 1,
        "tooNewLogEventStartIndex": 2,
    }
    assert [event.at_ms for event in service.events("gpu", "s")] == [now]


def test_events_older_than_the_retention_are_expired(
    service: FakeCloudWatch, client: "CloudWatchLogsClient"
) -> None:
    """A group that keeps a day does not take what is two days old."""
    client.put_retention_policy(logGroupName="gpu", retentionInDays=1)
    answer = put(client, "x", at_ms=now_ms() - 2 * DAY_MS)
    assert answer["rejectedLogEventsInfo"] == {"expiredLogEventEndIndex": 1}
    assert service.groups["gpu"].retention_days == 1


def test_a_missing_group_or_stream_is_not_found(client: "CloudWatchLogsClient") -> None:
    """Nothing is made by putting events into it."""
    for group, stream, what in (("x", "s", "group"), ("gpu", "x", "stream")):
        with pytest.raises(ClientError, match=f"specified log {what} does not exist") as raised:
            client.put_log_events(
                logGroupName=group,
                logStreamName=stream,
                logEvents=[{"timestamp": now_ms(), "message": "x"}],
            )
        assert code(raised) == ("ResourceNotFoundException", 400)


def test_groups_and_streams_are_made_once_and_described(client: "CloudWatchLogsClient") -> None:
    """A second creation says that it is there already; a description pages."""
    client.create_log_group(logGroupName="new", logGroupClass="INFREQUENT_ACCESS")
    client.create_log_stream(logGroupName="new", logStreamName="a")
    client.create_log_stream(logGroupName="new", logStreamName="b")
    with pytest.raises(ClientError, match="stream already exists") as raised:
        client.create_log_stream(logGroupName="new", logStreamName="b")
    assert code(raised) == ("ResourceAlreadyExistsException", 400)
    with pytest.raises(ClientError, match="group already exists") as raised:
        client.create_log_group(logGroupName="new")
    assert code(raised) == ("ResourceAlreadyExistsException", 400)
    (group,) = client.describe_log_groups(logGroupNamePrefix="n")["logGroups"]
    assert (group["logGroupName"], group["logGroupClass"]) == ("new", "INFREQUENT_ACCESS")
    first = client.describe_log_streams(logGroupName="new", limit=1)
    rest = client.describe_log_streams(logGroupName="new", limit=1, nextToken=first["nextToken"])
    names = [stream["logStreamName"] for stream in (*first["logStreams"], *rest["logStreams"])]
    assert (names, "nextToken" in rest) == (["a", "b"], False)


def test_what_breaks_the_model_is_refused(client: "CloudWatchLogsClient") -> None:
    """boto3 checks neither names nor lists; the service does."""
    calls: list[tuple[Any, dict[str, Any]]] = [
        (client.create_log_group, {"logGroupName": "a b"}),
        (client.create_log_group, {"logGroupName": "aws/x"}),
        (client.create_log_group, {"logGroupName": "x", "logGroupClass": "CHEAP"}),
        (client.create_log_stream, {"logGroupName": "gpu", "logStreamName": "a:b"}),
        (client.put_retention_policy, {"logGroupName": "gpu", "retentionInDays": 8}),
        (client.describe_log_groups, {"limit": 51}),
    ]
    for call, request in calls:
        with pytest.raises(ClientError) as raised:
            call(**request)
        assert code(raised) == ("InvalidParameterException", 400), request


def test_another_log_class_extracts_no_metrics(
    service: FakeCloudWatch, client: "CloudWatchLogsClient"
) -> None:
    """Infrequent Access stores EMF as any text."""
    client.create_log_group(logGroupName="cheap", logGroupClass="INFREQUENT_ACCESS")
    client.create_log_stream(logGroupName="cheap", logStreamName="s")
    events: Any = [{"timestamp": now_ms(), "message": emf(now_ms())}]
    client.put_log_events(logGroupName="cheap", logStreamName="s", logEvents=events)
    assert (len(service.events("cheap", "s")), service.datapoints) == (1, [])


def test_a_group_may_be_there_with_its_class(
    service: FakeCloudWatch, client: "CloudWatchLogsClient"
) -> None:
    """As if somebody had made it so before."""
    service.add("cheap", "s", log_class="INFREQUENT_ACCESS")
    (group,) = client.describe_log_groups(logGroupNamePrefix="cheap")["logGroups"]
    assert group["logGroupClass"] == "INFREQUENT_ACCESS"


@pytest.mark.parametrize("metrics", [True, False])
def test_texts_need_not_be_kept(metrics: bool) -> None:  # noqa: FBT001 - a table of one column
    """Then events are counted, and become datapoints if that is wanted; memory stays small."""
    with FakeCloudWatch(texts=False, metrics=metrics) as service:
        service.add("gpu", "s")
        client = client_of(service, patience_s=30)
        put(client, emf(now_ms()), emf(now_ms()))
        client.close()
        assert (service.taken, service.events("gpu", "s")) == (2, [])
        assert len(service.datapoints) == (2 if metrics else 0)
        (call,) = service.calls
        assert (call.action, call.status, call.body, call.headers) == ("PutLogEvents", 200, b"", {})


def test_an_action_that_the_fake_lacks_is_unknown(client: "CloudWatchLogsClient") -> None:
    """Nobody takes silence for success."""
    with pytest.raises(ClientError) as raised:
        client.delete_log_group(logGroupName="gpu")
    assert code(raised) == ("UnknownOperationException", 400)


def test_refusals_come_as_often_as_told_and_for_the_action_told(
    service: FakeCloudWatch, client: "CloudWatchLogsClient"
) -> None:
    """A fault waits for its action and then is used up."""
    service.fail(faults.throttled(1500), action="PutLogEvents", times=2)
    client.describe_log_groups()
    for _ in range(2):
        with pytest.raises(ClientError) as raised:
            put(client, "x")
        assert code(raised) == ("ThrottlingException", 400)
        headers = raised.value.response["ResponseMetadata"]["HTTPHeaders"]
        assert headers["x-amz-retry-after"] == "1500"
    put(client, "x")
    assert [call.status for call in service.calls] == [200, 400, 400, 200]


REFUSALS = {
    "throttled": (faults.throttled(), ("ThrottlingException", 400)),
    "503": (faults.server_error(503), ("ServiceUnavailableException", 503)),
    "500": (faults.server_error(), ("InternalFailure", 500)),
    "expired": (faults.expired_token(), ("ExpiredTokenException", 400)),
    "denied": (faults.access_denied(), ("AccessDeniedException", 400)),
}


@pytest.mark.parametrize("case", REFUSALS)
def test_every_refusal_has_the_code_and_status_of_aws(
    case: str, service: FakeCloudWatch, client: "CloudWatchLogsClient"
) -> None:
    """Nothing is stored, and healing forgets what is still to come."""
    fault, expected = REFUSALS[case]
    service.fail(fault, times=math.inf)
    with pytest.raises(ClientError) as raised:
        put(client, "x")
    assert (code(raised), service.events("gpu", "s")) == (expected, [])
    service.heal()
    put(client, "x")
    assert len(service.events("gpu", "s")) == 1


def test_a_reset_does_nothing_and_a_dropped_reply_did_all(
    service: FakeCloudWatch, client: "CloudWatchLogsClient"
) -> None:
    """The caller sees the same broken connection and cannot know."""
    for fault, stored in ((faults.Reset(), 0), (faults.AcceptThenDrop(), 1)):
        service.fail(fault)
        with pytest.raises(ConnectionClosedError):
            put(client, "x")
        assert len(service.events("gpu", "s")) == stored
    assert [call.status for call in service.calls] == [0, 0]


def test_a_held_answer_was_done_and_comes_when_it_is_released(
    service: FakeCloudWatch, client: "CloudWatchLogsClient"
) -> None:
    """An impatient caller runs into its own time-out, a patient one is served."""
    service.fail(faults.Hold())
    impatient = client_of(service, patience_s=0.1)
    with pytest.raises(ReadTimeoutError):
        put(impatient, "x")
    impatient.close()
    service.wait(lambda: service.events("gpu", "s"))
    service.fail(faults.Hold(0.001))
    put(client, "x")
    assert len(service.events("gpu", "s")) == 2


async def test_it_serves_in_the_loop_of_a_test_too() -> None:
    """Held answers go out on release; the test's loop does the serving."""
    async with FakeCloudWatch() as service:
        service.fail(faults.Hold())
        asking = asyncio.create_task(asyncio.to_thread(_ask, service, b"{}"))
        await asyncio.to_thread(service.wait, lambda: service.calls)
        service.release()
        status, _, document = await asking
        assert (status, document) == (200, {"logGroups": []})


def test_the_clock_of_the_service_may_be_off(
    service: FakeCloudWatch, client: "CloudWatchLogsClient"
) -> None:
    """Then signatures are expired, and the Date header says by how much."""
    service.skew_s = 3600.0
    with pytest.raises(ClientError, match="Signature expired") as raised:
        put(client, "x")
    assert code(raised) == ("InvalidSignatureException", 400)
    date = raised.value.response["ResponseMetadata"]["HTTPHeaders"]["date"]
    assert parsedate_to_datetime(date).timestamp() > time.time() + 3000


def test_the_date_header_alone_may_be_off(
    service: FakeCloudWatch, client: "CloudWatchLogsClient"
) -> None:
    """One answer shows another time although its signature was good."""
    service.fail(faults.SkewedDate(-3600.0))
    date = put(client, "x")["ResponseMetadata"]["HTTPHeaders"]["date"]
    assert parsedate_to_datetime(date).timestamp() < time.time() - 3000


def test_a_group_may_be_deleted_under_the_caller(
    service: FakeCloudWatch, client: "CloudWatchLogsClient"
) -> None:
    """The call that it happens to finds nothing."""
    service.fail(faults.GroupDeleted())
    with pytest.raises(ClientError) as raised:
        put(client, "x")
    assert code(raised) == ("ResourceNotFoundException", 400)
    assert service.groups == {}


def _ask(
    service: FakeCloudWatch, body: bytes, *, sign: bool = True, encoding: str = "identity"
) -> tuple[int, http.client.HTTPMessage, dict[str, Any]]:
    """Ask DescribeLogGroups by hand."""
    target = "Logs_20140328.DescribeLogGroups"
    headers = {"X-Amz-Target": target, "Content-Type": JSON, "Content-Encoding": encoding}
    request = AWSRequest("POST", service.url + "/", headers=headers, data=body)
    if sign:
        credentials = Credentials(cloudwatch.KEY_ID, cloudwatch.SECRET)
        SigV4Auth(credentials, "logs", cloudwatch.REGION).add_auth(request)
    connection = http.client.HTTPConnection(service.url.removeprefix("http://"))
    connection.request("POST", "/", body, dict(request.headers.items()))
    response = connection.getresponse()
    document = json.loads(response.read())
    connection.close()
    return response.status, response.headers, document


def test_a_compressed_body_is_signed_as_sent_and_then_inflated(service: FakeCloudWatch) -> None:
    """The signature covers the gzip, the call is what is in it."""
    body = gzip.compress(b'{"logGroupNamePrefix": "none"}')
    assert _ask(service, body, encoding="gzip")[2] == {"logGroups": []}
    assert service.calls[0].body == b'{"logGroupNamePrefix": "none"}'
    assert service.calls[0].wire_bytes == len(body)


@pytest.mark.parametrize("body", [b"{", b"[]", gzip.compress(b"{}", mtime=0)])
def test_a_body_that_is_no_json_object_is_refused(service: FakeCloudWatch, body: bytes) -> None:
    """A gzip that is not declared is no JSON either."""
    status, _, document = _ask(service, body)
    assert (status, document["__type"]) == (400, "SerializationException")


def test_a_body_that_is_declared_compressed_and_is_not_is_refused(service: FakeCloudWatch) -> None:
    """A broken gzip is answered, not crashed on."""
    status, _, document = _ask(service, gzip.compress(b"{}")[:9], encoding="gzip")
    assert (status, document["__type"]) == (400, "SerializationException")


def test_nobody_gets_in_without_a_signature(service: FakeCloudWatch) -> None:
    """An unsigned request is refused before anything is read."""
    status, headers, document = _ask(service, b"{}", sign=False)
    assert (status, document["__type"]) == (400, "MissingAuthenticationTokenException")
    assert headers["content-type"] == JSON


def test_its_environment_leads_an_sdk_to_it(
    service: FakeCloudWatch, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A program needs no more than these variables."""
    for name, value in service.environ.items():
        monkeypatch.setenv(name, value)
    client = boto3.session.Session().client("logs")
    client.describe_log_groups()
    client.close()
    assert service.actions == ["DescribeLogGroups"]


def test_waiting_in_vain_says_what_came_instead(service: FakeCloudWatch) -> None:
    """A test that waits for a call that never comes ends with the calls that did."""
    _ask(service, b"{}")
    with pytest.raises(TimeoutError, match="DescribeLogGroups"):
        service.wait(lambda: service.datapoints, timeout_s=0.001)
