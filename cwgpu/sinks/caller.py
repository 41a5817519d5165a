"""The calls to CloudWatch Logs, each of which blocks its thread and gives an answer."""

import threading
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from cwgpu.logs import codes, verdict
from cwgpu.logs.verdict import Answer, Denied
from cwgpu.model.event import Parcel, StreamKey
from cwgpu.sinks.access import Access

if TYPE_CHECKING:
    from mypy_boto3_logs.client import CloudWatchLogsClient

    from cwgpu.sinks.session import Session

Operation = Callable[["CloudWatchLogsClient"], Mapping[str, Any]]


class Caller:
    """Shared by the threads of a sink. Its session is opened by the first call."""

    def __init__(self, access: Access, retention_days: int | None, connections: int) -> None:
        self._access = access
        self._retention_days = retention_days
        self._connections = connections
        self._lock = threading.Lock()
        self._session: Session | None = None
        self._unlimited: set[str] = set()
        """Groups that we created and that still keep their events for ever."""

    def send(self, parcel: Parcel) -> Answer:
        """Call PutLogEvents."""
        packed: Any = parcel.body  # taken out again before anybody serialises it
        key = parcel.waybill.stream
        return self._call(
            lambda client: client.put_log_events(
                logGroupName=key.group, logStreamName=key.stream, logEvents=packed
            )
        )

    def create(self, key: StreamKey) -> Answer:
        """Make a log stream, and its group if that is missing too; make sure of the retention.

        In this order, so that where the group exists no permission for groups is needed.
        """
        answer = self._create_stream(key)
        if answer.code == codes.MISSING:
            answer = self._create_group(key.group)
            answer = answer if answer.code else self._create_stream(key)
        if not answer.code and key.group in self._unlimited:
            return self._limit(key.group)
        return answer

    def renew(self) -> None:
        """Forget the session; the next call opens another."""
        with self._lock:
            session, self._session = self._session, None
        if session is not None:
            session.client.close()

    def close(self) -> None:
        """Let go of idle connections; never waits, not even for a session that is being opened."""
        if self._session is not None:
            self._session.client.close()

    def _create_stream(self, key: StreamKey) -> Answer:
        return _settled(
            self._call(
                lambda client: client.create_log_stream(
                    logGroupName=key.group, logStreamName=key.stream
                )
            )
        )

    def _create_group(self, group: str) -> Answer:
        answer = self._call(lambda client: client.create_log_group(logGroupName=group))
        if not answer.code and self._retention_days is not None:
            self._unlimited.add(group)
        return _settled(answer)

    def _limit(self, group: str) -> Answer:
        """Set the retention. Events matter more: where it cannot be set, they still flow."""
        days = self._retention_days or 0
        answer = self._call(
            lambda client: client.put_retention_policy(logGroupName=group, retentionInDays=days)
        )
        if not answer.code:
            self._unlimited.discard(group)
        elif isinstance(verdict.judge_creation(answer), Denied):
            self._unlimited.discard(group)
            text = f"log group {group} keeps its events for ever: {answer.code}: {answer.message}"
            return Answer("", text, answer.status)
        return answer

    def _call(self, operation: Operation) -> Answer:
        from cwgpu.sinks import failure, reply  # noqa: PLC0415 - boto3 takes half a second

        try:
            session = self._opened()
            secrets = session.secrets()
        except Exception as error:  # noqa: BLE001 - credentials come from anywhere
            return failure.before(error)
        try:
            return reply.success(operation(session.client))
        except Exception as error:  # noqa: BLE001 - a sink answers
            return failure.during(error, secrets)

    def _opened(self) -> "Session":
        from cwgpu.sinks import session  # noqa: PLC0415 - boto3 takes half a second

        with self._lock:
            if self._session is None:
                self._session = session.open_session(self._access, self._connections)
            return self._session


def _settled(answer: Answer) -> Answer:
    """Take what exists already for created."""
    return Answer("", status=answer.status) if answer.code == codes.EXISTS else answer
