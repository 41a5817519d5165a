"""Verdicts: what an answer means for the batch."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cwgpu.logs import codes, parcel, verdict
from cwgpu.logs.verdict import (
    Answer,
    Bisect,
    Create,
    Created,
    Credentials,
    Delivered,
    Denied,
    Rejected,
    Retry,
    RetryKind,
    Verdict,
)
from cwgpu.model.drop import DropReason
from cwgpu.model.event import EmfEvent, LogBatch, Outcome, StreamKey, Waybill

STREAM = StreamKey("/aws/containerinsights/eks-lab/prometheus", "gpu")
TOO_OLD, TOO_NEW = DropReason.TOO_OLD, DropReason.TOO_NEW


def waybill(count: int) -> Waybill:
    """Give that of events that have 1, 10, 100 ... samples, and twice the datapoints."""
    return parcel.waybill(
        LogBatch(
            STREAM,
            tuple(EmfEvent.of(STREAM, at, b"{}", 10**at, 2 * 10**at) for at in range(count)),
        )
    )


FOUR = waybill(4)

THROTTLED, SERVER = Retry(RetryKind.THROTTLED), Retry(RetryKind.SERVER)
NETWORK = Retry(RetryKind.NETWORK)
UNSURE = Retry(RetryKind.NETWORK, ambiguous=True)
CREDENTIALS, DENIED, BISECT = Credentials("{}: m"), Denied("{}: m"), Bisect()


@pytest.mark.parametrize(
    ("code", "status", "expected"),
    [
        ("ThrottlingException", 400, THROTTLED),
        ("Throttling", 400, THROTTLED),
        ("SlowDown", 503, THROTTLED),
        ("LimitExceededException", 400, THROTTLED),
        ("RequestTimeout", 408, SERVER),
        ("InternalFailure", 500, SERVER),
        ("502", 502, SERVER),
        ("ServiceUnavailableException", 503, SERVER),
        ("504", 504, SERVER),
        ("OperationAbortedException", 400, SERVER),
        ("RequestAbortedException", 400, SERVER),
        ("InvalidSequenceTokenException", 400, SERVER),
        ("ConnectionError", 0, NETWORK),
        ("ConnectTimeout", 0, NETWORK),
        ("ConnectionClosed", 0, UNSURE),
        ("ReadTimeout", 0, UNSURE),
        ("ResourceNotFoundException", 400, Create(STREAM)),
        ("ExpiredTokenException", 400, CREDENTIALS),
        ("UnrecognizedClientException", 400, CREDENTIALS),
        ("InvalidSignatureException", 400, CREDENTIALS),
        ("RequestExpired", 400, CREDENTIALS),
        ("InvalidToken", 400, CREDENTIALS),
        ("NoCredentials", 0, CREDENTIALS),
        ("CredentialRetrievalError", 0, CREDENTIALS),
        ("AccessDeniedException", 400, DENIED),
        ("AccessDenied", 403, DENIED),
        ("OptInRequired", 403, DENIED),
        ("KMSDisabledException", 400, DENIED),
        ("LogGroupClass", 0, DENIED),
        ("LogGroupClass", 200, DENIED),
        ("InvalidParameterException", 400, BISECT),
        ("ValidationException", 400, BISECT),
        ("SerializationException", 400, BISECT),
        ("RequestEntityTooLargeException", 413, BISECT),
        ("Unheard", 413, BISECT),
        ("413", 413, BISECT),
        ("400", 400, SERVER),
        ("404", 404, SERVER),
        ("403", 403, DENIED),
        ("429", 429, THROTTLED),
        ("Unheard", 0, NETWORK),
        ("Unheard", 302, SERVER),
        ("UnknownOperationException", 404, DENIED),
        ("SubscriptionRequiredException", 400, DENIED),
        ("Unheard", 400, DENIED),
        ("Unheard", 401, DENIED),
        ("Unheard", 403, DENIED),
        ("Unheard", 404, DENIED),
        ("Unheard", 407, DENIED),
        ("Unheard", 408, SERVER),
        ("Unheard", 429, THROTTLED),
        ("Unheard", 499, DENIED),
        ("Unheard", 500, SERVER),
        ("Unheard", 599, SERVER),
    ],
)
def test_what_an_error_means(code: str, status: int, expected: Verdict) -> None:
    """A batch is cut in half only where its content is at fault; all else is tried again."""
    found = verdict.judge(Answer(code, "m", status), FOUR)
    if isinstance(expected, Credentials | Denied):
        text = code if not status else f"{code} (HTTP {status})"
        expected = type(expected)(expected.detail.format(text))
    assert found == expected


LISTS = (
    codes.THROTTLED,
    codes.SERVER,
    codes.NETWORK,
    codes.UNANSWERED,
    codes.CREDENTIALS,
    codes.DENIED,
    codes.CONTENT,
)
KNOWN = sorted(frozenset().union(*LISTS))


@pytest.mark.parametrize("code", KNOWN)
def test_no_code_means_two_things(code: str) -> None:
    """Each is in one list only, or the first that is asked would hide the others."""
    assert sum(code in each for each in LISTS) == 1


def test_a_key_that_cannot_be_used_is_not_the_batchs_fault() -> None:
    """The words are those of a bad event, but what has to be changed is the log group's key."""
    answer = Answer("InvalidParameterException", "KMS key is disabled", 400)
    assert verdict.judge(answer, FOUR) == Denied(
        "InvalidParameterException (HTTP 400): KMS key is disabled"
    )


@given(
    st.text() | st.sampled_from(KNOWN),
    st.integers(0, 599),
    st.integers(1, 4),
)
def test_nothing_is_given_up_but_for_what_it_holds(code: str, status: int, events: int) -> None:
    """A word that nobody has heard of costs no event, whatever the status beside it."""
    found = verdict.judge(Answer(code, "m", status), waybill(events))
    if isinstance(found, Delivered) and found.outcome.dropped:
        assert events == 1
        assert code in codes.CONTENT or status == 413
    if isinstance(found, Bisect):
        assert events > 1
        assert code in codes.CONTENT or status == 413


def test_success_delivers_everything() -> None:
    """A plain 200 accounts for all events, samples and datapoints."""
    found = verdict.judge(Answer("", status=200), FOUR)
    assert found == Delivered(Outcome(STREAM, 4, 1111, 2222))


def test_a_batch_that_was_stored_before_is_delivered() -> None:
    """What an older imitation of the service calls a repetition needs no third try."""
    found = verdict.judge(Answer("DataAlreadyAcceptedException", "", 400), FOUR)
    assert found == Delivered(Outcome(STREAM, 4, 1111, 2222))


@pytest.mark.parametrize(
    ("rejected", "stored", "dropped", "detail"),
    [
        (Rejected(), (4, 1111), (), ""),
        (Rejected(too_old_end=1), (3, 1110), ((TOO_OLD, 1),), "1 of 4 events too old"),
        (Rejected(too_old_end=0), (4, 1111), (), ""),
        (Rejected(expired_end=2), (2, 1100), ((TOO_OLD, 11),), "2 of 4 events too old"),
        (
            Rejected(too_old_end=1, expired_end=3),
            (1, 1000),
            ((TOO_OLD, 111),),
            "3 of 4 events too old",
        ),
        (Rejected(too_new_start=3), (3, 111), ((TOO_NEW, 1000),), "1 of 4 events too new"),
        (Rejected(too_new_start=4), (4, 1111), (), ""),
        (
            Rejected(too_old_end=1, too_new_start=3),
            (2, 110),
            ((TOO_OLD, 1), (TOO_NEW, 1000)),
            "1 of 4 events too old, 1 of 4 events too new",
        ),
        (Rejected(too_new_start=0), (0, 0), ((TOO_NEW, 1111),), "4 of 4 events too new"),
        (Rejected(too_old_end=99), (0, 0), ((TOO_OLD, 1111),), "4 of 4 events too old"),
        (Rejected(too_new_start=99), (4, 1111), (), ""),
        (Rejected(-1, -5, -7), (4, 1111), (), ""),
        (
            Rejected(too_old_end=3, too_new_start=1),
            (0, 0),
            ((TOO_OLD, 111), (TOO_NEW, 1000)),
            "3 of 4 events too old, 1 of 4 events too new",
        ),
    ],
)
def test_rejected_events_are_counted_by_reason(
    rejected: Rejected,
    stored: tuple[int, int],
    dropped: tuple[tuple[DropReason, int], ...],
    detail: str,
) -> None:
    """The ends are exclusive, the start is inclusive, and nonsense costs no event twice."""
    events, samples = stored
    found = verdict.judge(Answer("", status=200, rejected=rejected), FOUR)
    assert found == Delivered(
        Outcome(STREAM, events, samples, 2 * samples, dropped=dropped, detail=detail)
    )


INDEX = st.none() | st.integers(-3, 9) | st.integers()


@given(st.integers(1, 6), INDEX, INDEX, INDEX)
def test_every_sample_is_stored_or_dropped(
    count: int, old: int | None, expired: int | None, new: int | None
) -> None:
    """Whatever indexes come back, each sample of the batch is accounted for once."""
    sent = waybill(count)
    found = verdict.judge(Answer("", rejected=Rejected(old, expired, new)), sent)
    assert isinstance(found, Delivered)
    lost = sum(samples for _, samples in found.outcome.dropped)
    assert found.outcome.delivered_samples + lost == sent.load.samples
    start, end = verdict.bounds(count, Rejected(old, expired, new))
    assert found.outcome.delivered_events == end - start


@pytest.mark.parametrize(
    ("message", "status", "detail"),
    [
        ("Log event too large", 400, "InvalidParameterException (HTTP 400): Log event too large"),
        ("", 400, "InvalidParameterException (HTTP 400)"),
    ],
)
def test_a_single_refused_event_is_given_up(message: str, status: int, detail: str) -> None:
    """At the end of the halving stands the one event that is lost, with the service's words."""
    found = verdict.judge(Answer("InvalidParameterException", message, status), waybill(1))
    dropped = ((DropReason.REJECTED, 1),)
    assert found == Delivered(Outcome(STREAM, 0, 0, 0, dropped=dropped, detail=detail))


@pytest.mark.parametrize(
    ("said", "waits"),
    [
        (None, None),
        (0.0, 0.0),
        (2.5, 2.5),
        (math.inf, 300),
        (1e9, 300),
        (-1, None),
        (math.nan, None),
    ],
)
def test_the_service_may_say_when_to_come_back(said: float | None, waits: float | None) -> None:
    """Its word is taken up to five minutes, and nonsense is not taken at all."""
    answer = Answer("ThrottlingException", "", 400, retry_after_s=said)
    assert verdict.judge(answer, FOUR) == Retry(RetryKind.THROTTLED, after_s=waits)


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (Answer("", status=200), Created()),
        (Answer("ResourceAlreadyExistsException", "m", 400), Created()),
        (Answer("OperationAbortedException", "m", 400), SERVER),
        (Answer("ResourceNotFoundException", "m", 400), SERVER),
        (Answer("LimitExceededException", "m", 400), THROTTLED),
        (Answer("ConnectionError", "m"), NETWORK),
        (Answer("ExpiredTokenException", "m"), Credentials("ExpiredTokenException: m")),
        (Answer("AccessDeniedException", "m"), Denied("AccessDeniedException: m")),
        (
            Answer("InvalidParameterException", "KMS key is disabled", 400),
            Denied("InvalidParameterException (HTTP 400): KMS key is disabled"),
        ),
    ],
)
def test_what_came_of_a_creation(
    answer: Answer, expected: Created | Retry | Credentials | Denied
) -> None:
    """What exists is created; what is refused waits for somebody to put it right."""
    assert verdict.judge_creation(answer) == expected
