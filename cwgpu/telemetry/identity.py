"""Which CloudWatch metrics a log event feeds.

A metric is a namespace, a name and a set of dimensions with their values; every different one costs
money. https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/CloudWatch_Embedded_Metric_Format_Specification.html
"""

from collections.abc import Iterator
from typing import TypeAlias

import orjson

Dimensioned: TypeAlias = tuple[str, tuple[tuple[str, str], ...]]
"""Namespace, and dimensions in the order of their names."""
MetricIdentity: TypeAlias = tuple[str, tuple[tuple[str, str], ...], str]
"""The same, and the metric's name."""


def directives(message: bytes) -> Iterator[tuple[Dimensioned, list[str]]]:
    """Give metric names of an event in EMF version 1 by what else tells them from others.

    A plain log event has none.
    """
    root = orjson.loads(message)
    for directive in root.get("_aws", {}).get("CloudWatchMetrics", ()):
        metrics = [metric["Name"] for metric in directive["Metrics"]]
        for names in directive["Dimensions"]:
            dimensions = tuple([(name, root[name]) for name in sorted(names)])
            yield (directive["Namespace"], dimensions), metrics


def metrics(message: bytes) -> Iterator[MetricIdentity]:
    """Give each metric that an event feeds."""
    for (namespace, dimensions), names in directives(message):
        for name in names:
            yield namespace, dimensions, name
