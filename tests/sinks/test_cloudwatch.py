"""CloudWatch Logs as a sink, against the fake that checks signatures and limits."""

import json
import subprocess
import sys
import time
from pathlib import Path

import pytest

import cwgpu
from cwgpu.logs.parcel import pack
from cwgpu.logs.verdict import Answer, Rejected
from cwgpu.model.event import EmfEvent, LogBatch
from cwgpu.sinks.access import Access
from cwgpu.sinks.cloudwatch import CloudWatchSink
from tests.fakes import faults
from tests.fakes.cloudwatch import FakeCloudWatch
from tests.fakes.emf import Datapoint
from tests.fakes.faults import Fault
from tests.fakes.refusal import Refusal
from tests.sinks.stage import DAY_MS, KEY, bare, now_ms, parcel, serving

ROOT = Path(__file__).parents[2]


def emf(at_ms: int, pod: str = "train-0") -> str:
    """Give a message that is one datapoint."""
    directive = {"Namespace": "GPU", "Dimensions": [["pod"]], "Metrics": [{"Name": "util"}]}
    aws = {"Timestamp": at_ms, "CloudWatchMetrics": [directive]}
    return json.dumps({"_aws": aws, "pod": pod, "util": 87})


async def test_a_batch_arrives_as_datapoints(service: FakeCloudWatch, sink: CloudWatchSink) -> None:
    """The success is an answer without a code; the signature was good."""
    at_ms = now_ms()
    answer = await sink.send(parcel(emf(at_ms), '{"plain": "ü"}', at_ms=at_ms))
    assert bare(answer) == Answer("", status=200)
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
    _, call = service.calls
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
        EmfEvent.of(KEY, at_ms, b"x", 1, 1) for at_ms in (now - 15 * DAY_MS, now, now + DAY_MS)
    )
    answer = await sink.send(pack(LogBatch(KEY, events)))
    assert bare(answer) == Answer("", status=200, rejected=Rejected(too_old_end=1, too_new_start=2))


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
    service.fail(fault, action="PutLogEvents")
    answer = await sink.send(parcel("x"))
    assert (answer.code, answer.status, answer.retry_after_s) == (code, status, retry_after_s)
    assert service.actions == ["DescribeLogGroups", "PutLogEvents"]
    assert (await sink.send(parcel("x"))).code in {"", "ResourceNotFoundException"}


async def test_a_refused_batch_is_told_in_the_words_of_the_service(sink: CloudWatchSink) -> None:
    """A person who reads the journal learns what CloudWatch Logs objects to."""
    answer = await sink.send(parcel("x" * 1_048_576))
    assert answer.code == "InvalidParameterException"
    assert answer.message == "Log event too large: 1048602 bytes exceeds limit of 1048576"


async def test_a_late_answer_is_a_read_timeout(service: FakeCloudWatch) -> None:
    """The events may be stored all the same."""
    sink = CloudWatchSink(Access(endpoint_url=service.url, read_timeout_s=0.1))
    service.fail(faults.Hold(), action="PutLogEvents")
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


FOREIGN = {
    "a page": (200, "<h1>Sign in</h1>"),
    "half an object": (200, '{"nextSequenceTok'),
    "nothing": (200, ""),
    "no content": (204, ""),
    "something else that was made": (201, '{"made": true}'),
}


@pytest.mark.parametrize("case", FOREIGN)
async def test_a_page_of_a_proxy_is_no_success(case: str, service: FakeCloudWatch) -> None:
    """HTML, or nothing and no request's id: nothing was stored, so nothing was delivered."""
    status, text = FOREIGN[case]
    async with serving({"/": text}, status) as (url, came):
        sink = CloudWatchSink(Access(endpoint_url=url))
        answer = await sink.send(parcel("x"))
        assert len(came) == 2
        assert (await sink.create(KEY)).code == "ResponseParserError"
        await sink.close()
    assert (answer.code, answer.status, answer.date_s) == ("ResponseParserError", 0, None)
    assert "is there a proxy" in answer.message
    assert service.calls == []


@pytest.mark.parametrize("status", [300, 302, 418])
async def test_any_other_status_is_an_answer_with_it(status: int, service: FakeCloudWatch) -> None:
    """Also one that boto3 takes for neither a success nor an error; a proxy's clock is not told."""
    async with serving({"/": ""}, status) as (url, _):
        sink = CloudWatchSink(Access(endpoint_url=url))
        answer = await sink.send(parcel("x"))
        await sink.close()
    assert (bool(answer.code), answer.status, answer.date_s) == (True, status, None)
    assert service.calls == []


async def test_an_answer_says_what_time_it_is_there(
    service: FakeCloudWatch, sink: CloudWatchSink
) -> None:
    """Of a success and of a refusal alike, so that a wrong clock can be told from wrong keys."""
    service.fail(faults.SkewedDate(-600.0), action="PutLogEvents")
    ahead = await sink.send(parcel("x"))
    service.skew_s = 1200.0
    behind = await sink.send(parcel("x"))
    assert (ahead.code, behind.code) == ("", "InvalidSignatureException")
    assert ahead.date_s == pytest.approx(time.time() - 600, abs=60)
    assert behind.date_s == pytest.approx(time.time() + 1200, abs=60)


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
