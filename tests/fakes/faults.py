"""What can go wrong with CloudWatch Logs, to be told to the fake: ``server.fail(throttled())``."""

import math
from collections.abc import Iterator, MutableSequence
from dataclasses import dataclass, field

from tests.fakes.refusal import Refusal


@dataclass(frozen=True, slots=True)
class Reset:
    """The connection breaks before anything is done."""


@dataclass(frozen=True, slots=True)
class AcceptThenDrop:
    """Everything is done, then the connection breaks: the caller cannot know."""


@dataclass(frozen=True, slots=True)
class Hold:
    """The answer waits until ``release()``, or for this long; the request is done before."""

    seconds: float = math.inf


@dataclass(frozen=True, slots=True)
class SkewedDate:
    """The Date header of the answer is off by this much; the service's own clock is not."""

    seconds: float


@dataclass(frozen=True, slots=True)
class GroupDeleted:
    """Somebody deletes the log group that the request names, just before it."""


Fault = Refusal | Reset | AcceptThenDrop | Hold | SkewedDate | GroupDeleted


def throttled(retry_after_ms: int | None = None) -> Refusal:
    """Give the answer of a service that is asked too often; the header counts milliseconds."""
    headers = {} if retry_after_ms is None else {"x-amz-retry-after": str(retry_after_ms)}
    return Refusal("ThrottlingException", "Rate exceeded", headers=headers)


def server_error(status: int = 500) -> Refusal:
    """Give an answer of a service that is broken."""
    if status == 503:  # Service Unavailable has a code of its own
        return Refusal("ServiceUnavailableException", "Service is unavailable.", status)
    return Refusal("InternalFailure", "An internal error occurred.", status)


def expired_token() -> Refusal:
    """Give the answer to credentials that were good once."""
    return Refusal("ExpiredTokenException", "The security token included in the request is expired")


def access_denied(action: str = "logs:PutLogEvents") -> Refusal:
    """Give the answer to credentials that may not do this."""
    return Refusal(
        "AccessDeniedException",
        f"User: arn:aws:sts::123456789012:assumed-role/gpu/cwgpu is not authorized to perform: "
        f"{action} on resource: arn:aws:logs:us-west-2:123456789012:log-group:gpu:log-stream:s "
        f"because no identity-based policy allows the {action} action",
    )


@dataclass(slots=True)
class _Planned:
    fault: Fault
    action: str | None
    left: float


@dataclass(slots=True)
class Faults:
    """The faults still to come, taken in the order in which they were told."""

    planned: MutableSequence[_Planned] = field(default_factory=list)

    def add(self, fault: Fault, *, action: str | None, times: float) -> None:
        """Let the next ``times`` calls (of ``action``, when given) meet this fault."""
        self.planned.append(_Planned(fault, action, times))

    def take(self, action: str) -> Fault | None:
        """Give the fault of this call, if it has one."""
        for planned in self._matching(action):
            planned.left -= 1
            if planned.left <= 0:
                self.planned.remove(planned)
            return planned.fault
        return None

    def _matching(self, action: str) -> Iterator[_Planned]:
        return (item for item in list(self.planned) if item.action in (None, action))
