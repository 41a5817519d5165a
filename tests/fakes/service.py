"""What CloudWatch Logs remembers and does, without HTTP: groups, streams, events, datapoints."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from tests.fakes import emf, limits
from tests.fakes.emf import Datapoint
from tests.fakes.limits import LogEvent
from tests.fakes.refusal import Refused

ACCOUNT = "123456789012"


@dataclass(slots=True)
class Stream:
    """One log stream."""

    events: list[LogEvent] = field(default_factory=list)
    """Empty where texts are not kept."""
    taken: int = 0
    """How many events came, kept or not."""


@dataclass(slots=True)
class Group:
    """One log group."""

    created_ms: int
    log_class: str = "STANDARD"
    retention_days: int | None = None
    streams: dict[str, Stream] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class EmfFault:
    """A message that was stored and gave no datapoint because it breaks EMF's rules."""

    group: str
    stream: str
    message: str
    reason: str


@dataclass(frozen=True, slots=True)
class Request:
    """One call, read."""

    action: str
    members: Mapping[str, Any]
    headers: Mapping[str, str]
    now_ms: int


@dataclass(slots=True)
class Service:
    """The state behind the API; ``act`` is one call of it."""

    groups: dict[str, Group] = field(default_factory=dict)
    datapoints: list[Datapoint] = field(default_factory=list)
    """Of all groups, in the order of their arrival."""
    emf_errors: list[EmfFault] = field(default_factory=list)
    texts: bool = True
    """False: events are counted and not kept."""
    metrics: bool = True
    """False: no event is read as EMF."""

    def act(self, request: Request) -> dict[str, Any]:
        """Do one call; raises Refused."""
        actions: Mapping[str, Callable[[Request], dict[str, Any]]] = {
            "PutLogEvents": self._put_log_events,
            "CreateLogGroup": self._create_log_group,
            "CreateLogStream": self._create_log_stream,
            "PutRetentionPolicy": self._put_retention_policy,
            "DescribeLogGroups": self._describe_log_groups,
            "DescribeLogStreams": self._describe_log_streams,
        }
        if request.action not in actions:
            raise Refused("UnknownOperationException", "")
        return actions[request.action](request)

    def _put_log_events(self, request: Request) -> dict[str, Any]:
        group_name, stream_name = limits.group(request.members), limits.stream(request.members)
        events = limits.log_events(request.members)
        group = self._group(group_name)
        stream = group.streams.get(stream_name)
        if stream is None:
            raise Refused("ResourceNotFoundException", "The specified log stream does not exist.")
        window = limits.window(events, request.now_ms, group.retention_days)
        declared = request.headers.get("x-amzn-logs-format") == "json/emf"
        stored = events[window.valid]
        stream.taken += len(stored)
        stream.events.extend(stored if self.texts else ())
        if group.log_class == "STANDARD" and self.metrics:  # the other classes extract no metrics
            for event in stored:
                found = emf.extract(event.message, request.now_ms, declared=declared)
                self.datapoints.extend(found.datapoints)
                if found.error is not None:
                    fault = EmfFault(group_name, stream_name, event.message, found.error)
                    self.emf_errors.append(fault)
        answer: dict[str, Any] = {"nextSequenceToken": f"{stream.taken:056d}"}
        rejected = window.rejected()
        return answer | ({"rejectedLogEventsInfo": rejected} if rejected else {})

    def _create_log_group(self, request: Request) -> dict[str, Any]:
        name, log_class = limits.new_group(request.members), limits.log_class(request.members)
        if name in self.groups:
            raise _exists("group")
        self.groups[name] = Group(request.now_ms, log_class)
        return {}

    def _create_log_stream(self, request: Request) -> dict[str, Any]:
        group, name = self._group(limits.group(request.members)), limits.stream(request.members)
        if name in group.streams:
            raise _exists("stream")
        group.streams[name] = Stream()
        return {}

    def _put_retention_policy(self, request: Request) -> dict[str, Any]:
        days = limits.retention_days(request.members)
        self._group(limits.group(request.members)).retention_days = days
        return {}

    def _describe_log_groups(self, request: Request) -> dict[str, Any]:
        prefix = request.members.get("logGroupNamePrefix", "")
        return _page(
            request.members,
            "logGroups",
            [
                _described_group(name, group)
                for name, group in sorted(self.groups.items())
                if name.startswith(prefix)
            ],
        )

    def _describe_log_streams(self, request: Request) -> dict[str, Any]:
        group = self._group(limits.group(request.members))
        prefix = request.members.get("logStreamNamePrefix", "")
        return _page(
            request.members,
            "logStreams",
            [
                _described_stream(name, stream)
                for name, stream in sorted(group.streams.items())
                if name.startswith(prefix)
            ],
        )

    def _group(self, name: str) -> Group:
        if name not in self.groups:
            raise Refused("ResourceNotFoundException", "The specified log group does not exist.")
        return self.groups[name]


def _exists(what: str) -> Refused:
    return Refused("ResourceAlreadyExistsException", f"The specified log {what} already exists")


def _described_group(name: str, group: Group) -> dict[str, Any]:
    described = {
        "logGroupName": name,
        "creationTime": group.created_ms,
        "arn": f"arn:aws:logs:us-west-2:{ACCOUNT}:log-group:{name}:*",
        "logGroupClass": group.log_class,
        "storedBytes": 0,
    }
    if group.retention_days is not None:
        described["retentionInDays"] = group.retention_days
    return described


def _described_stream(name: str, stream: Stream) -> dict[str, Any]:
    times = [event.at_ms for event in stream.events]
    ends = {"firstEventTimestamp": min(times), "lastEventTimestamp": max(times)} if times else {}
    return {"logStreamName": name, "storedBytes": 0, **ends}


def _page(members: Mapping[str, Any], what: str, items: list[dict[str, Any]]) -> dict[str, Any]:
    limit = members.get("limit", 50)
    if not 1 <= limit <= 50:  # of both Describe calls
        raise Refused("InvalidParameterException", f"limit {limit} is not within 1..50")
    start = int(members.get("nextToken", 0))
    answer: dict[str, Any] = {what: items[start : start + limit]}
    if start + limit < len(items):
        answer["nextToken"] = str(start + limit)
    return answer
