"""CloudWatch Logs as a sink, against the fake that checks signatures and limits."""

import asyncio
import contextlib
import json
import math
import subprocess
import sys
import time
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from aiohttp import web

import cwgpu
from cwgpu.logs.parcel import pack
from cwgpu.logs.verdict import Answer, Rejected
from cwgpu.model.event import EmfEvent, LogBatch, Parcel, StreamKey
from cwgpu.sinks import session
from cwgpu.sinks.access import Access
from cwgpu.sinks.cloudwatch import CloudWatchSink
from tests.fakes import faults, sigv4
from tests.fakes.cloudwatch import REGION, SECRET, FakeCloudWatch
from tests.fakes.emf import Datapoint
from tests.fakes.faults import Fault
from tests.fakes.refusal import Refusal

ROOT = Path(__file__).parents[2]
KEY = StreamKey("/gpu/lab", "node-1")
DAY_MS = 86_400_000


@pytest.fixture
async def service(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[FakeCloudWatch]:
    """Run the fake, with the stream there, and an environment that leads to it alone."""
    async with FakeCloudWatch() as fake:
        fake.add(KEY.group, KEY.stream)
        for name in ("AWS_REGION", "AWS_PROFILE", "AWS_ROLE_ARN", "AWS_SESSION_TOKEN"):
            monkeypatch.delenv(name, raising=False)
        for name, value in fake.environ.items():
            monkeypatch.setenv(name, value)
        yield fake


@pytest.fixture
async def sink(service: FakeCloudWatch) -> AsyncIterator[CloudWatchSink]:
    """Give a sink that keeps the events of its groups for a week."""
    made = CloudWatchSink(Access(endpoint_url=service.url), retention_days=7)
    yield made
    await made.close()


def now_ms() -> int:
    """Give the time, as log events have it."""
    return int(time.time() * 1000)


def parcel(*messages: str, at_ms: int | None = None) -> Parcel:
    """Give messages of one time, ready to be sent."""
    at_ms = now_ms() if at_ms is None else at_ms
    events = (EmfEvent(KEY, at_ms, text.encode(), 1, 1) for text in messages)
    return pack(LogBatch(KEY, tuple(events)))


def emf(at_ms: int, pod: str = "train-0") -> str:
    """Give a message that is one datapoint."""
    directive = {"Namespace": "GPU", "Dimensions": [["pod"]], "Metrics": [{"Name": "util"}]}
    aws = {"Timestamp": at_ms, "CloudWatchMetrics": [directive]}
    return json.dumps({"_aws": aws, "pod": pod, "util": 87})


async def test_a_batch_arrives_as_datapoints(service: FakeCloudWatch, sink: CloudWatchSink) -> None:
    """The success is an answer without a code; the signature was good."""
    at_ms = now_ms()
    answer = await sink.send(parcel(emf(at_ms), '{"plain": "ü"}', at_ms=at_ms))
    assert answer == Answer("", status=200)
    dimensions = frozenset({("pod", "train-0")})
    assert service.datapoints == [Datapoint("GPU", dimensions, "util", 87.0, at_ms)]
    assert [event.message for event in service.events(KEY.group, KEY.stream)] == [
        emf(at_ms),
        '{"plain": "ü"}',
    ]
    assert service.emf_errors == []


async def test_the_request_is_compressed_and_says_what_and_who_it_is(
    service: FakeCloudWatch, sink: CloudWatchSink
) -> None:
    """Compression saves the network; the format and the agent can be told."""
    await sink.send(parcel(*[emf(now_ms())] * 100))
    (call,) = service.calls
    assert call.headers["content-encoding"] == "gzip"
    assert call.headers["x-amzn-logs-format"] == "json/emf"
    assert f"cwgpu/{cwgpu.__version__}" in call.headers["user-agent"]
    assert call.wire_bytes * 5 < len(call.body)


async def test_a_batch_at_the_limit_passes(service: FakeCloudWatch, sink: CloudWatchSink) -> None:
    """Ten thousand events that make a mebibyte with their overhead are one call."""
    messages = ["x" * (1_048_576 // 10_000 - 26)] * 10_000
    assert (await sink.send(parcel(*messages))).code == ""
    assert len(service.events(KEY.group, KEY.stream)) == 10_000


async def test_rejected_events_are_named_by_their_indexes(sink: CloudWatchSink) -> None:
    """The call succeeds; too old ends before, too new begins at its index."""
    now = now_ms()
    events = tuple(
        EmfEvent(KEY, at_ms, b"x", 1, 1) for at_ms in (now - 15 * DAY_MS, now, now + DAY_MS)
    )
    answer = await sink.send(pack(LogBatch(KEY, events)))
    assert answer == Answer("", status=200, rejected=Rejected(too_old_end=1, too_new_start=2))


async def test_expired_events_are_named_too(service: FakeCloudWatch, sink: CloudWatchSink) -> None:
    """A group that keeps a day rejects what is older."""
    service.groups[KEY.group].retention_days = 1
    answer = await sink.send(parcel("x", at_ms=now_ms() - 2 * DAY_MS))
    assert answer.rejected == Rejected(expired_end=1)


ANSWERS: dict[str, tuple[Fault, str, int, float | None]] = {
    "throttled": (faults.throttled(), "ThrottlingException", 400, None),
    "throttled, with a hint": (faults.throttled(1500), "ThrottlingException", 400, 1.5),
    "seconds of a proxy": (
        Refusal("Busy", "", 503, {"Retry-After": "7"}),
        "Busy",
        503,
        7.0,
    ),
    "no date": (
        Refusal("Busy", "", 503, {"Retry-After": "Wed, 21 Oct 2026 07:28:00 GMT"}),
        "Busy",
        503,
        None,
    ),
    "500": (faults.server_error(), "InternalFailure", 500, None),
    "503": (faults.server_error(503), "ServiceUnavailableException", 503, None),
    "expired": (faults.expired_token(), "ExpiredTokenException", 400, None),
    "denied": (faults.access_denied(), "AccessDeniedException", 400, None),
    "deleted": (faults.GroupDeleted(), "ResourceNotFoundException", 400, None),
    "reset": (faults.Reset(), "ConnectionClosed", 0, None),
    "reply lost": (faults.AcceptThenDrop(), "ConnectionClosed", 0, None),
}


@pytest.mark.parametrize("case", ANSWERS)
async def test_what_goes_wrong_is_an_answer_after_one_attempt(
    case: str, service: FakeCloudWatch, sink: CloudWatchSink
) -> None:
    """Codes, status and hints come through; whether to try again is not the sink's to say."""
    fault, code, status, retry_after_s = ANSWERS[case]
    service.fail(fault)
    answer = await sink.send(parcel("x"))
    assert (answer.code, answer.status, answer.retry_after_s) == (code, status, retry_after_s)
    assert len(service.calls) == 1
    assert (await sink.send(parcel("x"))).code in {"", "ResourceNotFoundException"}


async def test_a_refused_batch_is_told_in_the_words_of_the_service(sink: CloudWatchSink) -> None:
    """A person who reads the journal learns what CloudWatch Logs objects to."""
    answer = await sink.send(parcel("x" * 1_048_576))
    assert answer.code == "InvalidParameterException"
    assert answer.message == "Log event too large: 1048602 bytes exceeds limit of 1048576"


async def test_a_late_answer_is_a_read_timeout(service: FakeCloudWatch) -> None:
    """The events may be stored all the same."""
    sink = CloudWatchSink(Access(endpoint_url=service.url, read_timeout_s=0.1))
    service.fail(faults.Hold())
    assert (await sink.send(parcel("x"))).code == "ReadTimeout"
    await sink.close()


async def test_nobody_at_the_address_is_a_connection_error(service: FakeCloudWatch) -> None:
    """The message names the endpoint, without a password that stands in it."""
    sink = CloudWatchSink(Access(endpoint_url="http://user:password@127.0.0.1:1"))
    answer = await sink.send(parcel("x"))
    await sink.close()
    assert (answer.code, answer.status) == ("ConnectionError", 0)
    assert "http://***@127.0.0.1:1/" in answer.message
    assert service.calls == []


async def test_an_endpoint_that_is_no_address_is_an_answer(service: FakeCloudWatch) -> None:
    """Even nonsense from a configuration does not raise."""
    sink = CloudWatchSink(Access(endpoint_url="nonsense"))
    answer = await sink.send(parcel("x"))
    await sink.close()
    assert ("nonsense" in answer.message, bool(answer.code)) == (True, True)
    assert service.calls == []


async def test_a_page_of_a_proxy_is_no_success(service: FakeCloudWatch) -> None:
    """Status 200 and HTML: nothing was stored, so nothing may be taken for delivered."""
    async with serving({"/": "<h1>Sign in</h1>"}) as (url, _):
        sink = CloudWatchSink(Access(endpoint_url=url))
        answer = await sink.send(parcel("x"))
        await sink.close()
    assert (answer.code, answer.status) == ("ResponseParserError", 0)
    assert "is there a proxy" in answer.message
    assert service.calls == []


@contextlib.asynccontextmanager
async def serving(pages: dict[str, str]) -> AsyncIterator[tuple[str, list[web.Request]]]:
    """Serve pages by path; gives the address, and the requests as they come."""
    came: list[web.Request] = []

    async def page(request: web.Request) -> web.Response:
        came.append(request)
        text = pages.get(request.path)
        if text is None:
            return web.Response(status=404)
        content_type = "text/html" if text.startswith("<h1>") else "text/plain"
        status = 403 if "<Error>" in text else 200
        return web.Response(text=text, status=status, content_type=content_type)

    app = web.Application()
    app.router.add_route("*", "/{path:.*}", page)
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    host, port = runner.addresses[0][:2]
    try:
        yield f"http://{host}:{port}", came
    finally:
        await runner.cleanup()


# ---- creating


async def test_a_missing_group_is_made_with_its_stream_and_retention(
    service: FakeCloudWatch, sink: CloudWatchSink
) -> None:
    """Afterwards the batch that found nothing is taken."""
    service.groups.clear()
    assert (await sink.send(parcel("x"))).code == "ResourceNotFoundException"
    assert await sink.create(KEY) == Answer("", status=200)
    assert (await sink.send(parcel("x"))).code == ""
    assert service.groups[KEY.group].retention_days == 7


async def test_a_group_of_somebody_else_keeps_its_retention(
    service: FakeCloudWatch, sink: CloudWatchSink
) -> None:
    """Only the stream is made, and no permission for groups is needed."""
    assert await sink.create(StreamKey(KEY.group, "new")) == Answer("", status=200)
    assert service.actions == ["CreateLogStream"]
    assert service.groups[KEY.group].retention_days is None


async def test_without_a_retention_none_is_set(service: FakeCloudWatch) -> None:
    """CloudWatch Logs then keeps events for ever."""
    service.groups.clear()
    sink = CloudWatchSink(Access(endpoint_url=service.url))
    assert await sink.create(KEY) == Answer("", status=200)
    await sink.close()
    assert service.actions == ["CreateLogStream", "CreateLogGroup", "CreateLogStream"]


async def test_what_exists_counts_as_made(service: FakeCloudWatch, sink: CloudWatchSink) -> None:
    """Another agent may have been faster with the stream, and with the group."""
    assert (await sink.create(KEY)).code == ""
    missing = Refusal("ResourceNotFoundException", "The specified log group does not exist.")
    service.fail(missing, action="CreateLogStream")
    assert (await sink.create(StreamKey(KEY.group, "new"))).code == ""
    assert service.actions[1:] == ["CreateLogStream", "CreateLogGroup", "CreateLogStream"]
    assert service.groups[KEY.group].retention_days is None


async def test_trouble_with_the_group_is_the_answer(
    service: FakeCloudWatch, sink: CloudWatchSink
) -> None:
    """Two agents that create at once make one of them try again, which is the caller's to do."""
    service.groups.clear()
    service.fail(Refusal("OperationAbortedException", "conflict"), action="CreateLogGroup")
    assert (await sink.create(KEY)).code == "OperationAbortedException"
    assert (await sink.create(KEY)).code == ""


async def test_a_retention_that_may_not_be_set_stops_nothing(
    service: FakeCloudWatch, sink: CloudWatchSink
) -> None:
    """Events flow; the message says what is not as wished, once."""
    service.groups.clear()
    denied = faults.access_denied("logs:PutRetentionPolicy")
    service.fail(denied, action="PutRetentionPolicy", times=math.inf)
    answer = await sink.create(KEY)
    assert answer.code == ""
    assert "/gpu/lab keeps its events for ever: AccessDeniedException" in answer.message
    assert await sink.create(KEY) == Answer("", status=400)
    assert service.actions.count("PutRetentionPolicy") == 1


async def test_a_retention_that_fails_for_now_is_set_at_the_next_try(
    service: FakeCloudWatch, sink: CloudWatchSink
) -> None:
    """The group is still known as ours although it exists by then."""
    service.groups.clear()
    service.fail(faults.throttled(), action="PutRetentionPolicy")
    assert (await sink.create(KEY)).code == "ThrottlingException"
    assert (await sink.create(KEY)).code == ""
    assert service.groups[KEY.group].retention_days == 7
    await sink.create(KEY)
    assert service.actions.count("PutRetentionPolicy") == 2


async def test_one_stream_is_made_once_for_all_who_ask(
    service: FakeCloudWatch, sink: CloudWatchSink
) -> None:
    """They share the answer, also when one of them does not wait for it."""
    service.fail(faults.Hold(), action="CreateLogStream")
    asking = [asyncio.create_task(sink.create(KEY)) for _ in range(3)]
    await asyncio.to_thread(service.wait, lambda: service.calls)
    asking[0].cancel()
    service.release()
    answers = await asyncio.gather(*asking, return_exceptions=True)
    assert isinstance(answers[0], asyncio.CancelledError)
    assert answers[1:] == [Answer("", status=400)] * 2
    assert service.actions == ["CreateLogStream"]
    await sink.create(KEY)
    assert service.actions == ["CreateLogStream"] * 2


# ---- credentials


async def test_renewing_finds_new_credentials(
    service: FakeCloudWatch, sink: CloudWatchSink, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The old ones are used until then, since nothing says that they are bad."""
    assert (await sink.send(parcel("x"))).code == ""
    service.secrets.clear()
    service.secrets["AKIDOTHER"] = sigv4.Secret(SECRET, "token")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIDOTHER")
    monkeypatch.setenv("AWS_SESSION_TOKEN", "token")
    assert (await sink.send(parcel("x"))).code == "UnrecognizedClientException"
    await sink.renew()
    assert (await sink.send(parcel("x"))).code == ""


async def test_renewing_before_the_first_call_is_nothing(sink: CloudWatchSink) -> None:
    """There is no session yet to throw away."""
    await sink.renew()
    assert (await sink.send(parcel("x"))).code == ""


async def test_a_wrong_clock_is_told_as_the_service_tells_it(
    service: FakeCloudWatch, sink: CloudWatchSink
) -> None:
    """Both times are in the message, so that the difference can be seen."""
    service.skew_s = -3600.0
    answer = await sink.send(parcel("x"))
    assert (answer.code, answer.status) == ("InvalidSignatureException", 400)
    assert "Signature not yet current" in answer.message


async def test_a_service_that_quotes_our_secrets_is_not_quoted(
    service: FakeCloudWatch, sink: CloudWatchSink, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The text of a refused signature may hold the whole request with its token."""
    monkeypatch.setenv("AWS_SESSION_TOKEN", "sesame/token==")
    text = f"Wrong: x-amz-security-token:sesame/token== {SECRET}\n\nThe Canonical String ..."
    service.fail(Refusal("InvalidSignatureException", text))
    answer = await sink.send(parcel("x"))
    assert answer.message == "Wrong: x-amz-security-token:*** ***"


async def test_without_credentials_the_answer_says_what_to_give(
    service: FakeCloudWatch, monkeypatch: pytest.MonkeyPatch
) -> None:
    """None at all, half of a pair, and a role with nothing to ask for it."""
    cases = [
        (["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"], None, "Unable to locate credentials; "),
        (["AWS_SECRET_ACCESS_KEY"], None, "missing: AWS_SECRET_ACCESS_KEY"),
        (
            ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"],
            "arn:aws:iam::123456789012:role/gpu",
            "Unable to locate credentials; ",
        ),
    ]
    for absent, role_arn, expected in cases:
        with monkeypatch.context() as patch:
            for name in absent:
                patch.delenv(name)
            sink = CloudWatchSink(Access(endpoint_url=service.url, role_arn=role_arn))
            answer = await sink.send(parcel("x"))
            await sink.close()
        assert answer.code == "NoCredentials"
        assert expected in answer.message
        assert "give the pod's service account a role" in answer.message
    assert service.calls == []


async def test_without_a_region_the_answer_says_where_to_write_it(
    service: FakeCloudWatch, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing is guessed: a wrong region would be somebody's bill."""
    monkeypatch.delenv("AWS_DEFAULT_REGION")
    sink = CloudWatchSink(Access(endpoint_url=service.url))
    answer = await sink.send(parcel("x"))
    await sink.close()
    assert answer.code == "NoRegion"
    assert 'write "region" under "agent"' in answer.message


async def test_the_configured_region_goes_before_every_variable(
    service: FakeCloudWatch, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Then AWS_REGION, which pods are given, then AWS_DEFAULT_REGION, as in other SDKs."""
    monkeypatch.setenv("AWS_REGION", "eu-north-1")
    for region, expected in (("us-east-2", "us-east-2"), (None, "eu-north-1")):
        sink = CloudWatchSink(Access(region, endpoint_url=service.url))
        assert (await sink.send(parcel("x"))).code == ""
        await sink.close()
        assert f"/{expected}/logs/" in service.calls[-1].headers["authorization"]
    monkeypatch.delenv("AWS_REGION")
    sink = CloudWatchSink(Access(endpoint_url=service.url))
    await sink.send(parcel("x"))
    await sink.close()
    assert f"/{REGION}/logs/" in service.calls[-1].headers["authorization"]


async def test_credentials_that_cannot_be_had_are_an_answer(
    service: FakeCloudWatch, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A profile that is nowhere, a role that STS refuses, an STS that talks nonsense or is away."""
    role = "arn:aws:iam::123456789012:role/gpu"
    denied = "<ErrorResponse><Error><Code>AccessDenied</Code><Message>no</Message></Error>"
    pages = {"/denied/": f"{denied}</ErrorResponse>", "/nonsense/": "SecretAccessKey: abc"}
    async with serving(pages) as (url, _):
        sts, lost = "AWS_ENDPOINT_URL_STS", "CredentialRetrievalError"
        cases = [
            ("AWS_PROFILE", "nowhere", None, lost, "nowhere"),
            (sts, f"{url}/denied/", role, lost, "(AccessDenied) when calling the AssumeRole"),
            (sts, f"{url}/nonsense/", role, lost, "Unable to parse response"),
            (sts, "http://127.0.0.1:1", role, "ConnectionError", "127.0.0.1:1"),
        ]
        for name, value, role_arn, code, words in cases:
            with monkeypatch.context() as patch:
                patch.setenv(name, value)
                sink = CloudWatchSink(Access(endpoint_url=service.url, role_arn=role_arn))
                answer = await sink.send(parcel("x"))
                await sink.close()
            assert (answer.code, words in answer.message) == (code, True), answer
            assert "abc" not in answer.message
    assert service.calls == []


@pytest.fixture
def instance(monkeypatch: pytest.MonkeyPatch) -> None:
    """Take away what says who and where we are; only the surroundings are left to ask."""
    names = ("ACCESS_KEY_ID", "SECRET_ACCESS_KEY", "DEFAULT_REGION", "EC2_METADATA_DISABLED")
    for name in names:
        monkeypatch.delenv(f"AWS_{name}")


GIVEN = {"AccessKeyId": "ASIAGIVEN", "SecretAccessKey": "given", "Token": "token"}


async def test_an_instance_gives_region_and_credentials(
    service: FakeCloudWatch, instance: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a node whose role is used nothing needs to be configured."""
    given = {"Code": "Success", "Expiration": "2999-01-01T00:00:00Z", **GIVEN}
    pages = {
        "/latest/api/token": "t",
        "/latest/meta-data/placement/availability-zone/": "eu-west-1b",
        "/latest/meta-data/iam/security-credentials/": "node",
        "/latest/meta-data/iam/security-credentials/node": json.dumps(given),
    }
    service.secrets["ASIAGIVEN"] = sigv4.Secret("given", "token")
    async with serving(pages) as (url, _):
        monkeypatch.setenv("AWS_EC2_METADATA_SERVICE_ENDPOINT", url)
        monkeypatch.setenv("AWS_METADATA_SERVICE_TIMEOUT", "10")  # this one does answer
        sink = CloudWatchSink(Access(endpoint_url=service.url))
        assert (await sink.send(parcel("x"))).code == ""
        await sink.close()
    assert "ASIAGIVEN/" in service.calls[0].headers["authorization"]
    assert "/eu-west-1/logs/" in service.calls[0].headers["authorization"]


async def test_pod_identity_gives_credentials(
    service: FakeCloudWatch, instance: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The token that Kubernetes mounts is shown to the agent of EKS Pod Identity."""
    token = tmp_path / "token"
    token.write_text("pod-token")
    given = json.dumps({"Expiration": "2999-01-01T00:00:00Z", **GIVEN})
    service.secrets["ASIAGIVEN"] = sigv4.Secret("given", "token")
    async with serving({"/v1/credentials": given}) as (url, came):
        monkeypatch.setenv("AWS_CONTAINER_CREDENTIALS_FULL_URI", f"{url}/v1/credentials")
        monkeypatch.setenv("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE", str(token))
        sink = CloudWatchSink(Access(REGION, endpoint_url=service.url))
        assert (await sink.send(parcel("x"))).code == ""
        await sink.close()
    assert [request.headers["Authorization"] for request in came] == ["pod-token"]


def test_the_metadata_service_is_not_waited_for_more_than_a_second(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """From a pod it may never answer, and it is asked twice; who sets a time-out has it."""
    name = session.IMDS_TIMEOUT
    assert 0 < session._core(Access(), 1).get_config_variable(name) * 2 < 1  # noqa: SLF001
    monkeypatch.setenv("AWS_METADATA_SERVICE_TIMEOUT", "5")
    assert session._core(Access(), 1).get_config_variable(name) == 5  # noqa: SLF001


def test_boto3_is_not_imported_before_the_first_call() -> None:
    """A dry run, and a program that only imports the sink, do not pay for it."""
    code = """
import sys
from cwgpu.sinks import access, cloudwatch, stdout
cloudwatch.CloudWatchSink(access.Access())
print(sorted({"boto3", "botocore"} & set(sys.modules)))
"""
    ran = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, check=True)
    assert ran.stdout == b"[]\n"
