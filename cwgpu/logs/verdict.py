"""What the answer to a call means for the batch: the one place where that is decided.

The rule behind the table: a batch is given up only when the service says that its content can
never be stored; everything else, also what we do not know, is tried again.
"""

import enum
import math
from dataclasses import dataclass
from typing import ClassVar, TypeAlias

from cwgpu.logs import codes
from cwgpu.model.drop import DropReason
from cwgpu.model.event import Outcome, StreamKey, Waybill

RETRY_AFTER_MOST_S = 300.0
"""We never wait longer than this at the service's word, so that a wrong one cannot stop us."""


@dataclass(frozen=True, slots=True)
class Rejected:
    """``rejectedLogEventsInfo``: the events of an accepted call that are not stored, by index."""

    too_old_end: int | None = None
    """Those before this index are older than 14 days."""
    expired_end: int | None = None
    """Those before this index are older than the log group keeps events."""
    too_new_start: int | None = None
    """This index and those after it are more than 2 hours ahead."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What a sink got back, or a word of its own for what it got instead of an answer."""

    code: str
    """Empty for success; else the service's error code, or one of ``codes.NETWORK`` and such."""
    message: str = ""
    status: int = 0
    """HTTP status; 0 when no answer came."""
    retry_after_s: float | None = None
    rejected: Rejected | None = None
    date_s: float | None = None
    """The service's clock when it answered, in seconds since 1970; None: it did not say."""
    expires_s: float | None = None
    """When the credentials end that the call was signed with; None: never, or unknown."""


class RetryKind(enum.Enum):
    """Whom a retry waits for."""

    THROTTLED = "throttled"
    SERVER = "server"
    NETWORK = "network"


@dataclass(frozen=True, slots=True)
class Delivered:
    """The service has decided on every event; nothing is left to send."""

    outcome: Outcome
    """Which events are stored and which are lost; also of a single event that was refused."""


@dataclass(frozen=True, slots=True)
class Retry:
    """Send the same batch again, later."""

    base_s: ClassVar[float] = 1.0
    cap_s: ClassVar[float] = 60.0
    kind: RetryKind
    after_s: float | None = None
    """Not before so many seconds, at the service's word; None leaves it to us."""
    ambiguous: bool = False
    """The batch may have been stored already: sending it again may count it twice."""


@dataclass(frozen=True, slots=True)
class Create:
    """Make the log group and stream, then send the same batch again."""

    stream: StreamKey


@dataclass(frozen=True, slots=True)
class Bisect:
    """Something in the batch is refused: send the parts that ``parcel.halve`` gives."""


@dataclass(frozen=True, slots=True)
class Credentials:
    """Keep the batch, get new credentials, and send it again, slowly."""

    base_s: ClassVar[float] = 30.0
    cap_s: ClassVar[float] = 60.0
    detail: str


@dataclass(frozen=True, slots=True)
class Denied:
    """Keep the batch, say so loudly, and try slowly until somebody puts right what is refused."""

    base_s: ClassVar[float] = 60.0
    cap_s: ClassVar[float] = 300.0
    detail: str


@dataclass(frozen=True, slots=True)
class Created:
    """What was to be created is there."""


Verdict: TypeAlias = Delivered | Retry | Create | Bisect | Credentials | Denied
"""``base_s`` and ``cap_s`` of those that wait are for ``pace.backoff.full_jitter``."""


# HTTP statuses, of RFC 9110 but for 429, which is of RFC 6585.
_UNAUTHORIZED, _FORBIDDEN, _PROXY_LOGIN, _REQUEST_TIMEOUT = 401, 403, 407, 408
_TOO_LARGE, _TOO_MANY_REQUESTS = 413, 429
_REFUSALS = (_UNAUTHORIZED, _FORBIDDEN, _PROXY_LOGIN)
"""By which a proxy or firewall in between refuses without any code of AWS."""
_AT_FAULT = range(400, 500)
"""The request is said to be wrong; below it and above it, the way or the service is."""
_KEY = "KMS"
"""In the message of a refusal: the log group's key, and no event, is what is wrong."""


def judge(answer: Answer, waybill: Waybill) -> Verdict:
    """Say what is to be done with a batch after the answer to its PutLogEvents call."""
    if answer.code in {"", codes.ACCEPTED_BEFORE}:
        return Delivered(_outcome(waybill, answer.rejected or Rejected()))
    if answer.code == codes.MISSING:
        return Create(waybill.stream)
    if verdict := _keep(answer):
        return verdict
    if waybill.events > 1:
        return Bisect()
    lost = ((DropReason.REJECTED, waybill.load.samples),)
    return Delivered(Outcome(waybill.stream, 0, 0, 0, lost, _detail(answer)))


def judge_creation(answer: Answer) -> Created | Retry | Credentials | Denied:
    """Say what came of creating a log group or stream, or of setting a retention.

    An order that is refused as wrong is ``Denied``, since no batch is to blame: a name or a key of
    KMS has to be changed by somebody.
    """
    if answer.code in {"", codes.EXISTS}:
        return Created()
    if answer.code == codes.MISSING:  # somebody deleted the group between our two calls
        return Retry(RetryKind.SERVER)
    return _keep(answer) or Denied(_detail(answer))


def _keep(answer: Answer) -> Retry | Credentials | Denied | None:
    """Say how the same call is to be tried again; None if it is refused for what it holds."""
    if answer.code in codes.CREDENTIALS:
        return Credentials(_detail(answer))
    if answer.code in codes.DENIED:
        return Denied(_detail(answer))
    if kind := _retry_kind(answer):
        ambiguous = answer.code in codes.UNANSWERED
        return Retry(kind, _after_s(answer.retry_after_s), ambiguous)
    at_fault = answer.code in codes.CONTENT or answer.status == _TOO_LARGE
    return None if at_fault and _KEY not in answer.message else Denied(_detail(answer))


def _retry_kind(answer: Answer) -> RetryKind | None:
    """Say whom a retry would wait for; the code decides, then the HTTP status."""
    if answer.code in codes.THROTTLED:
        return RetryKind.THROTTLED
    if answer.code in codes.SERVER:
        return RetryKind.SERVER
    if answer.code in codes.NETWORK | codes.UNANSWERED or not answer.status:
        return RetryKind.NETWORK
    if answer.status == _TOO_MANY_REQUESTS:
        return RetryKind.THROTTLED
    # CloudWatch Logs names what is wrong; a bare status is the SDK's word for a page of others.
    foreign = answer.code == str(answer.status) and answer.status != _TOO_LARGE
    if answer.status in _AT_FAULT and answer.status != _REQUEST_TIMEOUT:
        return RetryKind.SERVER if foreign and answer.status not in _REFUSALS else None
    return RetryKind.SERVER


def _after_s(seconds: float | None) -> float | None:
    if seconds is None or math.isnan(seconds) or seconds < 0:
        return None
    return min(seconds, RETRY_AFTER_MOST_S)


def _detail(answer: Answer) -> str:
    status = f" (HTTP {answer.status})" if answer.status else ""
    return f"{answer.code}{status}: {answer.message}" if answer.message else answer.code + status


def bounds(events: int, rejected: Rejected) -> tuple[int, int]:
    """Give the indexes from and up to which events are stored, whatever the service names."""
    old_end = min(max(rejected.too_old_end or 0, rejected.expired_end or 0, 0), events)
    start = rejected.too_new_start
    new_start = events if start is None or start < 0 else min(max(start, old_end), events)
    return old_end, new_start


def _outcome(waybill: Waybill, rejected: Rejected) -> Outcome:
    """Account for every event once."""
    size = waybill.events
    old_end, new_start = bounds(size, rejected)
    stored = waybill.part(old_end, new_start)
    lost = (
        (DropReason.TOO_OLD, waybill.part(0, old_end), "too old"),
        (DropReason.TOO_NEW, waybill.part(new_start, size), "too new"),
    )
    return Outcome(
        stream=waybill.stream,
        delivered_events=stored.events,
        delivered_samples=stored.samples,
        delivered_datapoints=stored.datapoints,
        dropped=tuple((reason, part.samples) for reason, part, _ in lost if part.events),
        detail=", ".join(
            f"{part.events} of {size} events {word}" for _, part, word in lost if part.events
        ),
    )
