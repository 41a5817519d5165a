"""What CloudWatch Logs was sent, read from the file that ``tests.bench.fleet.service`` wrote."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

OVERHEAD_BYTES = 26
"""That CloudWatch Logs adds to each event when it bills."""

UNREAD = "unread"
"""The action of a call to where any body is taken."""
TAKEN = ("PutLogEvents", UNREAD)


@dataclass(frozen=True, slots=True)
class Put:
    """A call of PutLogEvents that was accepted, or a body that went where nothing is read."""

    at_s: float
    """When it was answered, in seconds since 1970."""
    wire_bytes: int
    """Of the body as sent, compressed or not."""
    raw_bytes: int
    """Of the body, not compressed."""
    events: list[dict[str, Any]]
    """Each with ``timestamp`` and ``message``."""

    @property
    def billed_bytes(self) -> int:
        """What CloudWatch counts."""
        return sum(len(event["message"].encode()) + OVERHEAD_BYTES for event in self.events)

    @property
    def samples(self) -> int:
        """How many values of metrics the events have; what is no EMF has none."""
        return sum(_samples(orjson.loads(event["message"])) for event in self.events)


def _samples(document: Any) -> int:  # noqa: ANN401 - JSON
    directives = document.get("_aws", {}).get("CloudWatchMetrics", [])
    names = {metric["Name"] for directive in directives for metric in directive["Metrics"]}
    values = (document[name] for name in names)
    return sum(len(value) if isinstance(value, list) else 1 for value in values)


def puts(path: Path) -> Iterator[Put]:
    """Read the accepted calls, in the order in which they came."""
    with path.open("rb") as file:
        while line := file.readline():
            head = json.loads(line)
            body = file.read(head["body_bytes"])
            if head["action"] in TAKEN and head["status"] == 200:
                events = orjson.loads(body)["logEvents"] if body else []
                yield Put(head["at_s"], head["wire_bytes"], len(body), events)
