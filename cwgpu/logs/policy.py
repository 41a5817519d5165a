"""The least IAM policy for sending to one log group.

Which resource belongs to which action:
https://docs.aws.amazon.com/service-authorization/latest/reference/list_amazoncloudwatchlogs.html
A log group has two ARNs, with and without ``:*`` at its end, and a request may be held against
either: refusals of CreateLogGroup and PutRetentionPolicy name ``GROUP:log-stream:``, refusals of
CreateLogStream ``GROUP:log-stream:STREAM``, newer ones the bare ``GROUP``.
https://docs.aws.amazon.com/AmazonCloudWatch/latest/logs/iam-access-control-overview-cwl.html
"""

from dataclasses import dataclass
from typing import Any, TypeAlias

from cwgpu.model.event import StreamKey

Document: TypeAlias = dict[str, Any]
"""A policy, as JSON has it."""

_PARTITIONS = (
    ("cn-", "aws-cn"),
    ("us-gov-", "aws-us-gov"),
    ("us-isob-", "aws-iso-b"),
    ("us-isof-", "aws-iso-f"),
    ("us-iso-", "aws-iso"),
    ("eu-isoe-", "aws-iso-e"),
    ("eusc-", "aws-eusc"),
)
"""How the regions begin that are not of the partition ``aws``; from botocore's partitions.json."""

_ESCAPES = str.maketrans({"$": "${$}", "?": "${?}"})
"""What has a meaning of its own in a resource; the names of streams may hold it."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where the log group is; a star is any."""

    partition: str
    region: str
    account: str


def partition(region: str) -> str:
    """Tell which part of AWS a region belongs to."""
    return next((each for begin, each in _PARTITIONS if region.startswith(begin)), "aws")


def document(*statements: Document) -> Document:
    """Make a policy of statements."""
    # The only version whose resources may hold ${?}; the date is no date but its name.
    return {"Version": "2012-10-17", "Statement": list(statements)}


def allow(sid: str, actions: tuple[str, ...], resources: tuple[str, ...]) -> Document:
    """Make one statement."""
    return {
        "Sid": sid,
        "Effect": "Allow",
        "Action": list(actions),
        "Resource": list(resources),
    }


def sending(place: Place, key: StreamKey, *, retention: bool) -> Document:
    """Make the policy for sending to this group and stream, whose names may hold stars.

    ``retention``: groups that are made are told how long to keep their events.
    """
    every = f"arn:{place.partition}:logs:{place.region}:{place.account}:log-group:"
    group = f"{every}{key.group}"
    stream = f"{group}:log-stream:{key.stream.translate(_ESCAPES)}"
    making = ("logs:CreateLogGroup", *(("logs:PutRetentionPolicy",) if retention else ()))
    return document(
        allow("SendEvents", ("logs:PutLogEvents",), (stream,)),
        allow("MakeStreams", ("logs:CreateLogStream",), (group, stream)),
        allow("MakeGroups", making, (group, f"{group}:*")),
        # It lists, so that it cannot be held against one group: log-group::log-stream: is asked.
        allow("SeeLogClass", ("logs:DescribeLogGroups",), (f"{every}*",)),
    )
