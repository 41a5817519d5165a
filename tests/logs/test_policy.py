"""The least policy: what it allows, and nothing beside that."""

import re
from pathlib import Path

import botocore
import orjson
import pytest

from cwgpu.logs import policy
from cwgpu.logs.policy import Place
from cwgpu.model.event import StreamKey
from tests.fakes.iam import allowed

HERE = Place("aws", "eu-west-1", "111122223333")
KEY = StreamKey("/aws/containerinsights/lab/prometheus", "*")
GROUPS = "arn:aws:logs:eu-west-1:111122223333:log-group"
GROUP = f"{GROUPS}:/aws/containerinsights/lab/prometheus"


# As CloudWatch Logs names the resource when it refuses, and as the reference has it.
@pytest.mark.parametrize(
    ("action", "resource"),
    [
        ("logs:PutLogEvents", f"{GROUP}:log-stream:dcgm"),
        ("logs:CreateLogStream", f"{GROUP}:log-stream:dcgm"),
        ("logs:CreateLogStream", GROUP),
        ("logs:CreateLogGroup", f"{GROUP}:log-stream:"),
        ("logs:CreateLogGroup", GROUP),
        ("logs:PutRetentionPolicy", f"{GROUP}:log-stream:"),
        ("logs:PutRetentionPolicy", GROUP),
        ("logs:DescribeLogGroups", f"{GROUPS}::log-stream:"),
    ],
)
def test_what_is_needed_is_allowed(action: str, resource: str) -> None:
    """Each call goes through, by whichever of its ARNs the service holds it against."""
    assert allowed(policy.sending(HERE, KEY, retention=True), action, resource)


@pytest.mark.parametrize(
    ("action", "resource"),
    [
        ("logs:PutLogEvents", GROUP),
        ("logs:PutLogEvents", f"{GROUPS}:/aws/containerinsights/lab/application:log-stream:dcgm"),
        ("logs:CreateLogStream", f"{GROUP}2"),
        ("logs:CreateLogGroup", f"{GROUP}2"),
        ("logs:CreateLogGroup", f"{GROUP}2:log-stream:"),
        ("logs:PutLogEvents", f"{GROUP.replace('111122223333', '444455556666')}:log-stream:dcgm"),
        ("logs:PutLogEvents", f"{GROUP.replace('eu-west-1', 'eu-west-2')}:log-stream:dcgm"),
        ("logs:GetLogEvents", f"{GROUP}:log-stream:dcgm"),
        ("logs:DeleteLogGroup", GROUP),
    ],
)
def test_nothing_else_is_allowed(action: str, resource: str) -> None:
    """Neither another group, account or region, nor any other action."""
    assert not allowed(policy.sending(HERE, KEY, retention=True), action, resource)


def test_retention_is_set_only_where_it_is_asked_for() -> None:
    """Without it the action is not in the policy."""
    made = policy.sending(HERE, KEY, retention=False)
    assert not allowed(made, "logs:PutRetentionPolicy", GROUP)
    assert allowed(made, "logs:CreateLogGroup", GROUP)


def test_a_fixed_stream_is_the_only_one() -> None:
    """Its characters mean themselves, also those that IAM would read otherwise."""
    made = policy.sending(HERE, StreamKey(KEY.group, "what? $1 ${a}"), retention=False)
    assert allowed(made, "logs:PutLogEvents", f"{GROUP}:log-stream:what? $1 ${{a}}")
    assert not allowed(made, "logs:PutLogEvents", f"{GROUP}:log-stream:whats $1 ${{a}}")
    assert not allowed(made, "logs:CreateLogStream", f"{GROUP}:log-stream:other")


def test_each_statement_says_what_it_is_for() -> None:
    """Who makes groups and streams elsewhere leaves out a statement as a whole."""
    made = policy.sending(HERE, KEY, retention=True)
    sids = [statement["Sid"] for statement in made["Statement"]]
    assert sids == ["SendEvents", "MakeStreams", "MakeGroups", "SeeLogClass"]
    assert made["Version"] == "2012-10-17"
    assert all(re.fullmatch(r"[A-Za-z0-9]+", sid) for sid in sids)  # IAM takes no others


def test_partitions_are_those_that_the_sdk_knows() -> None:
    """Every region of every partition is told by how its name begins."""
    data = Path(botocore.__file__).with_name("data") / "partitions.json"
    for each in orjson.loads(data.read_bytes())["partitions"]:
        for region in each["regions"]:
            if not region.endswith("-global"):
                assert policy.partition(region) == each["id"]


def test_any_region() -> None:
    """Where none is known the partition is the usual one."""
    assert policy.partition("*") == "aws"
    made = policy.sending(Place("aws", "*", "*"), KEY, retention=False)
    resource = "arn:aws:logs:us-west-2:1:log-group:/aws/containerinsights/lab/prometheus"
    assert allowed(made, "logs:CreateLogGroup", resource)
