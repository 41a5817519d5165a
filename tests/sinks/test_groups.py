"""Log groups: made once, with their retention, and none of a class that makes no metrics."""

import asyncio
import math

import pytest

from cwgpu.logs import verdict
from cwgpu.logs.verdict import Answer
from cwgpu.model.event import StreamKey
from cwgpu.sinks import groups
from cwgpu.sinks.access import Access
from cwgpu.sinks.cloudwatch import CloudWatchSink
from tests.fakes import faults
from tests.fakes.cloudwatch import FakeCloudWatch
from tests.fakes.faults import Fault
from tests.fakes.refusal import Refusal
from tests.sinks.stage import KEY, bare, parcel


async def test_a_missing_group_is_made_with_its_stream_and_retention(
    service: FakeCloudWatch, sink: CloudWatchSink
) -> None:
    """Afterwards the batch that found nothing is taken."""
    service.groups.clear()
    assert (await sink.send(parcel("x"))).code == "ResourceNotFoundException"
    assert bare(await sink.create(KEY)) == Answer("", status=200)
    assert (await sink.send(parcel("x"))).code == ""
    assert service.groups[KEY.group].retention_days == 7


async def test_a_group_of_somebody_else_keeps_its_retention(
    service: FakeCloudWatch, sink: CloudWatchSink
) -> None:
    """Only the stream is made, and no permission for groups is needed."""
    assert bare(await sink.create(StreamKey(KEY.group, "new"))) == Answer("", status=200)
    assert service.actions == ["CreateLogStream"]
    assert service.groups[KEY.group].retention_days is None


async def test_without_a_retention_none_is_set(service: FakeCloudWatch) -> None:
    """CloudWatch Logs then keeps events for ever."""
    service.groups.clear()
    sink = CloudWatchSink(Access(endpoint_url=service.url))
    assert bare(await sink.create(KEY)) == Answer("", status=200)
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
    assert bare(await sink.create(KEY)) == Answer("", status=400)
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
    told = [bare(answer) for answer in answers[1:] if isinstance(answer, Answer)]
    assert told == [Answer("", status=400)] * 2
    assert service.actions == ["CreateLogStream"]
    await sink.create(KEY)
    assert service.actions == ["CreateLogStream"] * 2


async def test_two_streams_of_a_new_group_make_it_once(
    service: FakeCloudWatch, sink: CloudWatchSink
) -> None:
    """The second waits for the first, and neither is told of a conflict."""
    service.groups.clear()
    streams = [StreamKey(KEY.group, name) for name in ("a", "b")]
    answers = await asyncio.gather(*map(sink.create, streams))
    assert [answer.code for answer in answers] == ["", ""]
    assert set(service.groups[KEY.group].streams) == {"a", "b"}
    assert service.actions.count("CreateLogGroup") == 1
    assert service.actions.count("PutRetentionPolicy") == 1


async def test_a_group_that_somebody_else_made_anew_is_not_limited(
    service: FakeCloudWatch, sink: CloudWatchSink
) -> None:
    """Ours had no retention yet when it was deleted; theirs has what they gave it."""
    service.groups.clear()
    service.fail(faults.throttled(), action="PutRetentionPolicy")
    assert (await sink.create(KEY)).code == "ThrottlingException"
    service.fail(Refusal("ResourceNotFoundException", "gone"), action="CreateLogStream")
    service.fail(Refusal("ResourceAlreadyExistsException", "there"), action="CreateLogGroup")
    assert (await sink.create(KEY)).code == ""
    assert service.groups[KEY.group].retention_days is None


async def test_a_sink_that_is_closed_creates_nothing_more(service: FakeCloudWatch) -> None:
    """What waits for it is told so, and nothing is left behind."""
    sink = CloudWatchSink(Access(endpoint_url=service.url))
    service.fail(faults.Hold(), action="CreateLogStream")
    creating = asyncio.create_task(sink.create(KEY))
    await asyncio.to_thread(service.wait, lambda: service.calls)
    await sink.close()
    service.release()
    (answer,) = await asyncio.gather(creating, return_exceptions=True)
    assert isinstance(answer, asyncio.CancelledError)
    assert service.actions == ["CreateLogStream"]


# ---- their class


@pytest.mark.parametrize("log_class", sorted(groups.WITHOUT_METRICS))
async def test_nothing_is_sent_to_a_group_that_makes_no_metrics(
    log_class: str, service: FakeCloudWatch, sink: CloudWatchSink
) -> None:
    """CloudWatch would take the events and never make a datapoint of them, without a word."""
    service.groups[KEY.group].log_class = log_class
    answer = await sink.send(parcel("x"))
    assert bare(answer) == Answer(
        "LogGroupClass",
        f"log group /gpu/lab is of class {log_class}, where CloudWatch makes no metrics of EMF; "
        "name another log group (log_group_name): the class of a group cannot be changed",
    )
    assert answer.date_s is not None
    assert isinstance(verdict.judge(answer, parcel("x").waybill), verdict.Denied)
    assert service.actions == ["DescribeLogGroups"]


async def test_a_group_that_is_made_anew_is_looked_at_again(
    service: FakeCloudWatch, sink: CloudWatchSink
) -> None:
    """That is the way out, so it must not need a restart."""
    service.groups[KEY.group].log_class = "INFREQUENT_ACCESS"
    for _ in range(groups.ASKS + 1):
        assert (await sink.send(parcel("x"))).code == "LogGroupClass"
    service.groups.clear()
    service.add(KEY.group, KEY.stream)
    assert [(await sink.send(parcel("x"))).code for _ in range(2)] == ["", ""]
    asked = groups.ASKS + 2
    assert service.actions == ["DescribeLogGroups"] * asked + ["PutLogEvents"] * 2


async def test_a_class_that_is_not_known_is_sent_to(
    service: FakeCloudWatch, sink: CloudWatchSink
) -> None:
    """What may work is tried; it is asked about once all the same."""
    service.groups[KEY.group].log_class = "ESSENTIALS"
    assert [(await sink.send(parcel("x"))).code for _ in range(2)] == ["", ""]
    assert service.actions.count("DescribeLogGroups") == 1


async def test_a_group_is_asked_about_once_for_all_its_streams(
    service: FakeCloudWatch, sink: CloudWatchSink
) -> None:
    """Whether they come at the same time, one by one, or are new."""
    streams = [StreamKey(KEY.group, f"node-{number}") for number in range(6)]
    for stream in streams:
        service.add(stream.group, stream.stream)
    answers = await asyncio.gather(*(sink.send(parcel(key=stream)) for stream in streams))
    assert {answer.code for answer in answers} == {""}
    for name in ("new-1", "new-2"):
        stream = StreamKey(KEY.group, name)
        assert (await sink.send(parcel(key=stream))).code == "ResourceNotFoundException"
        await sink.create(stream)
        assert (await sink.send(parcel(key=stream))).code == ""
    assert service.actions.count("DescribeLogGroups") == 1


async def test_a_group_of_our_own_is_not_asked_about(
    service: FakeCloudWatch, sink: CloudWatchSink
) -> None:
    """The question before the first call found nothing, and what we make is of class STANDARD."""
    service.groups.clear()
    await sink.send(parcel("x"))
    await sink.create(KEY)
    assert [(await sink.send(parcel("x"))).code for _ in range(2)] == ["", ""]
    assert service.actions.count("DescribeLogGroups") == 1


async def test_a_group_that_somebody_else_made_meanwhile_is_asked_about(
    service: FakeCloudWatch, sink: CloudWatchSink
) -> None:
    """It was not there at the first question, and is not of our making."""
    service.groups.clear()
    await sink.send(parcel("x"))
    service.add(KEY.group, "other", log_class="INFREQUENT_ACCESS")
    missing = Refusal("ResourceNotFoundException", "The specified log group does not exist.")
    service.fail(missing, action="CreateLogStream")
    assert (await sink.create(KEY)).code == ""
    assert (await sink.send(parcel("x"))).code == "LogGroupClass"


async def test_the_name_is_the_whole_name(service: FakeCloudWatch, sink: CloudWatchSink) -> None:
    """Groups whose names begin with it come along and are not meant."""
    service.add(f"{KEY.group}/more", "s", log_class="INFREQUENT_ACCESS")
    assert (await sink.send(parcel("x"))).code == ""
    service.groups[KEY.group].streams.clear()
    del service.groups[KEY.group]
    assert (await sink.send(parcel("x"))).code == "ResourceNotFoundException"
    assert (await sink.send(parcel("x"))).code == "ResourceNotFoundException"


async def test_a_group_that_was_deleted_under_us_is_looked_at_anew(
    service: FakeCloudWatch, sink: CloudWatchSink
) -> None:
    """A stream that took events is gone: who made the group anew may have chosen another class."""
    assert (await sink.send(parcel("x"))).code == ""
    service.groups.clear()
    service.add(KEY.group, "other", log_class="INFREQUENT_ACCESS")
    assert (await sink.send(parcel("x"))).code == "ResourceNotFoundException"
    assert (await sink.create(KEY)).code == ""
    assert (await sink.send(parcel("x"))).code == "LogGroupClass"


async def test_who_may_not_ask_sends_and_never_asks_again(
    service: FakeCloudWatch, sink: CloudWatchSink
) -> None:
    """The permission is not needed for delivery. With other credentials it may be there."""
    denied = faults.access_denied("logs:DescribeLogGroups")
    service.fail(denied, action="DescribeLogGroups", times=math.inf)
    assert [(await sink.send(parcel("x"))).code for _ in range(5)] == [""] * 5
    assert service.actions.count("DescribeLogGroups") == 1
    await sink.renew()  # nothing is wrong with these
    assert (await sink.send(parcel("x"))).code == ""
    assert service.actions.count("DescribeLogGroups") == 1
    service.heal()
    service.groups[KEY.group].log_class = "DELIVERY"
    service.fail(faults.expired_token())
    assert (await sink.send(parcel("x"))).code == "ExpiredTokenException"
    await sink.renew()
    assert (await sink.send(parcel("x"))).code == "LogGroupClass"


@pytest.mark.parametrize(
    "fault",
    [faults.throttled(), faults.server_error(), faults.Reset(), faults.AcceptThenDrop()],
    ids=["throttled", "500", "reset", "reply lost"],
)
async def test_a_question_that_fails_holds_up_no_event(
    fault: Fault, service: FakeCloudWatch, sink: CloudWatchSink
) -> None:
    """It is asked again after the next call that got through, and not for ever."""
    service.fail(fault, action="DescribeLogGroups", times=math.inf)
    for _ in range(groups.ASKS + 3):
        assert (await sink.send(parcel("x"))).code == ""
    assert service.actions[:4] == ["DescribeLogGroups", "PutLogEvents"] * 2
    assert service.actions.count("DescribeLogGroups") == groups.ASKS


async def test_a_question_that_could_not_be_asked_is_the_answer(
    service: FakeCloudWatch, sink: CloudWatchSink
) -> None:
    """With these credentials no event gets there either; the next try is made with events."""
    service.fail(faults.expired_token(), action="DescribeLogGroups", times=math.inf)
    answers = [(await sink.send(parcel("x"))).code for _ in range(8)]
    assert answers == ["ExpiredTokenException", ""] * groups.ASKS + ["", ""]
    assert service.actions.count("DescribeLogGroups") == groups.ASKS


async def test_nobody_at_the_address_is_found_out_once_a_call(service: FakeCloudWatch) -> None:
    """A connection that times out takes seconds; twice would be twice as long."""
    sink = CloudWatchSink(Access(endpoint_url="http://127.0.0.1:1"))
    for _ in range(2):
        assert (await sink.send(parcel("x"))).code == "ConnectionError"
    await sink.close()
    assert service.calls == []


async def test_a_service_that_is_down_is_not_asked_questions(
    service: FakeCloudWatch, sink: CloudWatchSink
) -> None:
    """Each of them would cost a probe as much time and load as the call that matters."""
    service.fail(faults.server_error(503), times=8)
    answers = [(await sink.send(parcel("x"))).code for _ in range(8)]
    assert answers == ["ServiceUnavailableException"] * 7 + [""]
    service.groups[KEY.group].log_class = "INFREQUENT_ACCESS"
    assert (await sink.send(parcel("x"))).code == "LogGroupClass"
    assert service.actions.count("DescribeLogGroups") == 2


async def test_memory_does_not_grow_with_names(
    service: FakeCloudWatch, sink: CloudWatchSink, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Names of pods come and go; a group that is forgotten is asked about again."""
    monkeypatch.setattr(groups, "MOST", 3)
    keys = [StreamKey(f"/gpu/pod-{number}", f"s-{number}") for number in range(10)]
    for key in (*keys, *(StreamKey(KEY.group, key.stream) for key in keys)):
        service.add(key.group, key.stream)
        assert (await sink.send(parcel(key=key))).code == ""
    known = sink._groups._groups  # noqa: SLF001 - what is held shows nowhere else
    assert len(known) <= 3
    assert len(known[KEY.group].streams) <= 3
    assert (await sink.send(parcel(key=keys[0]))).code == ""
    assert service.actions.count("DescribeLogGroups") == 12
