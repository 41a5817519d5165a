"""Which CloudWatch metrics a log event feeds.

A metric is a namespace, a name and a set of dimensions with their values; every different one costs
money. https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/CloudWatch_Embedded_Metric_Format_Specification.html
"""

from collections.abc import Iterator
from typing import TypeAlias

import orjson

MetricIdentity: TypeAlias = tuple[str, tuple[tuple[str, str], ...], str]
"""Namespace, dimensions in the order of their names, metric name."""


def metrics(message: bytes) -> Iterator[MetricIdentity]:
    """Give the metrics of an event in EMF version 1; a plain log event has none."""
    root = orjson.loads(message)
    for directive in root.get("_aws", {}).get("CloudWatchMetrics", ()):
        for names in directive["Dimensions"]:
            dimensions = tuple((name, root[name]) for name in sorted(names))
            for metric in directive["Metrics"]:
                yield directive["Namespace"], dimensions, metric["Name"]
