"""From an event's labels to its log group and stream.

Placeholders are those of the CloudWatch agent's EMF exporter: a label of the placeholder's own name
counts first, then the label that the agent takes for it. What is still unknown reads "undefined".
Characters that CloudWatch Logs does not take are replaced: one odd job name must not make every
write of its stream fail.
"""

import itertools
import re

from cwgpu.model.event import StreamKey
from cwgpu.model.labels import Labels

_SOURCES = {
    "ClusterName": "aws.ecs.cluster.name",
    "TaskId": "aws.ecs.task.id",
    "NodeName": "k8s.node.name",
    "PodName": "pod",
    "ServiceName": "service.name",
    "ContainerInstanceId": "aws.ecs.container.instance.id",
    "TaskDefinitionFamily": "aws.ecs.task.family",
    "JobName": "job",
}
_PLACEHOLDER = re.compile("{(" + "|".join(_SOURCES) + ")}")
# PutLogEvents: logGroupName [\.\-_/#A-Za-z0-9]+, logStreamName [^:*]*, both at most 512 characters.
_NOT_IN_GROUP = re.compile(r"[^\.\-_/#A-Za-z0-9]")
_NOT_IN_STREAM = re.compile(r"[:*\x00-\x1f]")
_LONGEST = 512


def resolve(group: str, stream: str, labels: Labels) -> StreamKey:
    """Fill the placeholders of both names from ``labels``."""

    def value(match: re.Match[str]) -> str:
        name = match[1]
        return labels.get(name) or labels.get(_SOURCES[name]) or "undefined"

    return StreamKey(
        _NOT_IN_GROUP.sub("_", _PLACEHOLDER.sub(value, group))[:_LONGEST],
        _NOT_IN_STREAM.sub("_", _PLACEHOLDER.sub(value, stream))[:_LONGEST],
    )


def pattern(group: str, stream: str, known: Labels) -> StreamKey:
    """Give both names with a star for what only an event's labels tell; no name has a star."""
    return StreamKey(_pattern(group, known, _NOT_IN_GROUP), _pattern(stream, known, _NOT_IN_STREAM))


def _pattern(name: str, known: Labels, foreign: re.Pattern[str]) -> str:
    parts = _PLACEHOLDER.split(name)
    literal = [foreign.sub("_", part) for part in parts[::2]]
    filled = [foreign.sub("_", known[part]) if known.get(part) else "*" for part in parts[1::2]]
    pairs = itertools.zip_longest(literal, filled, fillvalue="")
    return "".join(itertools.chain.from_iterable(pairs))
