"""The calls to CloudWatch Logs, each of which blocks its thread and gives an answer."""

import dataclasses
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from cwgpu.logs import codes
from cwgpu.logs.verdict import Answer
from cwgpu.model.event import Parcel, StreamKey
from cwgpu.sinks.access import Access
from cwgpu.sinks.keeper import Keeper

if TYPE_CHECKING:
    from mypy_boto3_logs.client import CloudWatchLogsClient

    from cwgpu.sinks.session import Session

Operation = Callable[["CloudWatchLogsClient"], Mapping[str, Any]]


class Caller:
    """Shared by the threads of a sink. Its session is opened by the first call."""

    def __init__(self, access: Access, connections: int) -> None:
        self._keeper = Keeper(access, connections)

    def put(self, parcel: Parcel) -> Answer:
        """Call PutLogEvents."""
        packed: Any = parcel.body  # taken out again before anybody serialises it
        key = parcel.waybill.stream
        return self._call(
            lambda client: client.put_log_events(
                logGroupName=key.group, logStreamName=key.stream, logEvents=packed
            )
        )

    def create_stream(self, key: StreamKey) -> Answer:
        """Call CreateLogStream; that it exists is a success."""
        return _settled(
            self._call(
                lambda client: client.create_log_stream(
                    logGroupName=key.group, logStreamName=key.stream
                )
            )
        )

    def create_group(self, group: str) -> Answer:
        """Call CreateLogGroup; its class is STANDARD where none is given."""
        return self._call(lambda client: client.create_log_group(logGroupName=group))

    def retain(self, group: str, days: int) -> Answer:
        """Call PutRetentionPolicy."""
        return self._call(
            lambda client: client.put_retention_policy(logGroupName=group, retentionInDays=days)
        )

    def describe(self, group: str) -> tuple[Answer, str | None]:
        """Call DescribeLogGroups; gives the group's class too, or None if there is no such group.

        They come in the order of their names, so that the name itself is before all that it begins.
        """
        from cwgpu.sinks import reply  # noqa: PLC0415 - see _call

        found: list[str | None] = [None]

        def ask(client: "CloudWatchLogsClient") -> Mapping[str, Any]:
            response = client.describe_log_groups(logGroupNamePrefix=group)
            found[0] = reply.log_class(response, group)
            return response

        return self._call(ask), found[0]

    def renew(self) -> bool:
        """Throw the session away if its credentials were refused; the next call opens another."""
        return self._keeper.renew()

    def close(self) -> None:
        """Let go of idle connections; never waits, not even for a session that is being opened."""
        self._keeper.close()

    def _call(self, operation: Operation) -> Answer:
        from cwgpu.sinks import failure  # noqa: PLC0415 - boto3 takes half a second

        try:
            with self._keeper.lend() as kept:
                answer = _attempt(kept.session, operation)
                kept.doubted = kept.doubted or answer.code in codes.CREDENTIALS
                return answer
        except Exception as error:  # noqa: BLE001 - credentials come from anywhere
            return failure.before(error)


def _attempt(session: "Session", operation: Operation) -> Answer:
    from cwgpu.sinks import failure, reply  # noqa: PLC0415 - see Caller._call

    try:
        secrets = session.secrets()
    except Exception as error:  # noqa: BLE001 - credentials come from anywhere
        return failure.before(error)
    expires_s = session.expires_s()
    try:
        answer = reply.success(operation(session.client))
    except Exception as error:  # noqa: BLE001 - a sink answers
        answer = failure.during(error, secrets)
    return dataclasses.replace(answer, expires_s=expires_s)


def _settled(answer: Answer) -> Answer:
    """Take what exists already for created."""
    return (
        dataclasses.replace(answer, code="", message="") if answer.code == codes.EXISTS else answer
    )
