"""docs/metrics.md against the code."""

import json
import re
import shlex

import boto3
from moto import mock_aws

from cwgpu.model.drop import DropReason
from cwgpu.model.scrape import FailReason
from cwgpu.telemetry.metrics import Metrics
from tests.docs import pages

PAGE = "docs/metrics.md"
ALERTS = "Alerts worth having:"


def test_every_drop_reason_is_explained() -> None:
    """The table of drop reasons has each of them once, in the order of the code."""
    words = pages.first_cells(PAGE, "## Why a sample was dropped")
    assert words == [reason.value for reason in DropReason]


def test_every_fail_reason_is_explained() -> None:
    """The table of failed scrapes has each reason once, in the order of the code."""
    words = pages.first_cells(PAGE, "## Why a scrape failed")
    assert words == [reason.value for reason in FailReason]


def test_every_self_metric_is_explained() -> None:
    """The table of self metrics has each with its type, in the order of the page itself."""
    page = Metrics(lambda: 0.0).render()[0].decode()
    types = re.findall(r"(?m)^# TYPE (cwgpu_\w+) (\w+)$", page)
    assert [(row[0], row[1]) for row in pages.rows(PAGE, "## Self metrics")] == types


def test_every_alert_is_about_metrics_that_there_are() -> None:
    """No alert names a metric that the table does not have."""
    text = pages.section(PAGE, "## Self metrics")
    known = {row[0] for row in pages.rows(PAGE, "## Self metrics")}
    assert set(re.findall(r"cwgpu_\w+", text.partition(ALERTS)[2])) <= known


def _alarm() -> dict[str, str]:
    """Give the flags of the command that makes the alarm."""
    text = pages.section(PAGE, "## EMF errors").partition("```\n")[2].partition("```")[0]
    words = shlex.split(text.replace("\\\n", " "))
    assert words[:3] == ["aws", "cloudwatch", "put-metric-alarm"]
    flags = [word.removeprefix("--") for word in words[3::2]]
    return dict(zip(flags, words[4::2], strict=True))


@mock_aws
def test_the_alarm_of_emf_errors_can_be_made() -> None:
    """The command is one that the API takes, and watches both of CloudWatch's counts."""
    flags = _alarm()
    cloudwatch = boto3.client("cloudwatch", "eu-west-1")  # with the credentials of moto
    cloudwatch.put_metric_alarm(
        AlarmName=flags.pop("alarm-name"),
        AlarmDescription=flags.pop("alarm-description"),
        Metrics=json.loads(flags.pop("metrics")),
        ComparisonOperator=flags.pop("comparison-operator"),
        Threshold=float(flags.pop("threshold")),
        EvaluationPeriods=int(flags.pop("evaluation-periods")),
        DatapointsToAlarm=int(flags.pop("datapoints-to-alarm")),
        TreatMissingData=flags.pop("treat-missing-data"),
        AlarmActions=[flags.pop("alarm-actions")],
    )
    assert not flags
    (made,) = cloudwatch.describe_alarms()["MetricAlarms"]
    assert made["AlarmName"] == "cwgpu.emf_errors_alarm"
    stats = [one["MetricStat"] for one in made["Metrics"] if "MetricStat" in one]
    assert {one["Stat"] for one in stats} == {"Sum"}
    names = [(one["Metric"]["Namespace"], one["Metric"]["MetricName"]) for one in stats]
    assert names == [("AWS/Logs", "EMFParsingErrors"), ("AWS/Logs", "EMFValidationErrors")]
    dimensions = [one["Metric"]["Dimensions"] for one in stats]
    assert all(one == [{"Name": "LogGroupName", "Value": "/gpu/lab"}] for one in dimensions)
