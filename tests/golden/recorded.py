"""What the CloudWatch agent's own code answered, and the same input run through cwgpu.

``data/cloudwatch-agent.jsonl`` holds a case a line: a configuration, scrapes, and the EMF events
(version 0) that the agent made of them. Both sides are compared by the datapoints that CloudWatch
would store.
"""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cwgpu.config import load
from cwgpu.digest.page import Page
from cwgpu.digest.recipe import Recipe
from cwgpu.model.event import EmfEvent
from cwgpu.model.reading import Reading
from cwgpu.plan.plan import Plan
from tests.fakes import emf
from tests.fakes.emf import Datapoint

START_MS = 1_765_000_000_000
"""When the first scrape of every case began."""
TARGET = {
    "Service": "dcgm-exporter-west",
    "Namespace": "gpu-mon",
    "job": "gpu-endpoints",
    "instance": "10.1.2.3:9400",
}
"""The target's labels, in nearly all cases."""

DATA = Path(__file__).parents[1] / "data"
_OPENMETRICS = "application/openmetrics-text; version=1.0.0"
EXEMPLAR = " # {"
_HOST = "EC2 host"

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Case:
    """One line of the file."""

    id: str
    """Such as P01; the words behind it are in ``title``."""
    title: str
    row: Json

    @property
    def scrapes(self) -> list[Json]:
        """Scrapes of targets that were still there when they ended."""
        return [one for one in self.row["scrapes"] if not one.get("target_already_removed")]


def cases() -> dict[str, Case]:
    """Give all cases by id."""
    found = {}
    for line in (DATA / "cloudwatch-agent.jsonl").read_text("utf-8").splitlines():
        row = json.loads(line)
        if row["environment"]["where"].startswith(_HOST):  # the agent's group came from elsewhere
            section = row["config_fragment"]["logs"]["metrics_collected"]["prometheus"]
            section["log_group_name"] = row["environment"]["log_group_name_resolved"]
        found[row["id"][:3]] = Case(row["id"][:3], row["title"], row)
    return found


def recorded(case: Case) -> list[Json]:
    """Give the agent's events: stream, time and message of each."""
    flushes: list[list[Json]] = [one for one in case.row["expected"] if one != "dropped"]
    return [event for flush in flushes for event in flush]


def recorded_datapoints(case: Case) -> Counter[Datapoint]:
    """Give what CloudWatch makes of the agent's events."""
    return _datapoints(json.dumps(event["emf"]) for event in recorded(case))


def plan(case: Case, folder: Path, *, jobs: Sequence[Json] = (), own: Json | None = None) -> Plan:
    """Load the configuration of a case from files.

    ``jobs`` are scrape_configs in place of one static job; ``own`` is the object ``cwgpu``.
    """
    agent, prometheus = folder / "cwagent.json", folder / "prometheus.yml"
    agent.write_text(json.dumps({**case.row["config_fragment"], "cwgpu": own or {}}), "utf-8")
    written = list(jobs) or [job(case)]
    prometheus.write_text(json.dumps({"scrape_configs": written}), "utf-8")
    return load.load(agent, prometheus, environment(case.row["environment"])).plan


def environment(where: Mapping[str, str]) -> dict[str, str]:
    """Give the variables that tell cwgpu what the agent found out in this environment."""
    contained = {} if where["where"].startswith(_HOST) else {"RUN_IN_CONTAINER": "True"}
    cluster = where.get("cluster_name_resolved")
    return contained | ({"CLUSTER_NAME": cluster} if cluster else {})


def job(case: Case, *addresses: str) -> Json:
    """Give the scrape_configs entry of a case, for targets at these addresses."""
    renames = {
        old: new
        for scrape in case.scrapes
        for old, new in scrape.get("metric_relabel_renames", {}).items()
    }
    return {
        "job_name": "gpu-endpoints",
        "static_configs": [{"targets": addresses or ["10.1.2.3:9400"]}],
        "metric_relabel_configs": [
            {
                "source_labels": ["__name__"],
                "regex": old,
                "target_label": "__name__",
                "replacement": new,
            }
            for old, new in renames.items()
        ],
    }


def events(case: Case, by: Plan) -> list[EmfEvent]:
    """Read the scrapes of a case, each target by a page of its own."""
    recipe = Recipe(by, by.jobs[0])
    pages: dict[str, Page] = {}
    found: list[EmfEvent] = []
    for scrape in case.scrapes:
        labels = scrape["target_labels_after_relabel"]
        key = json.dumps([labels, scrape.get("address_before_relabel")])
        page = pages.setdefault(key, Page(recipe, labels))
        reading = page.read(*_answer(scrape["text"], scrape["scrape_ts_ms"]))
        assert isinstance(reading, Reading), reading
        found += reading.events
    return found


def _answer(text: str, at_ms: int) -> tuple[bytes, int, str]:
    if EXEMPLAR in text:  # the text format has none
        return f"{text}\n# EOF\n".encode(), at_ms, _OPENMETRICS
    return text.encode(), at_ms, "text/plain; version=0.0.4"


def datapoints(made: Sequence[EmfEvent]) -> Counter[Datapoint]:
    """Give what CloudWatch makes of our events."""
    return _datapoints(event.message.decode() for event in made)


def _datapoints(messages: Iterator[str]) -> Counter[Datapoint]:
    found: Counter[Datapoint] = Counter()
    for message in messages:
        extracted = emf.extract(message, START_MS, declared=True)
        assert extracted.error is None, extracted.error
        found.update(extracted.datapoints)
    return found


def fields(message: Json) -> Json:
    """Give what Logs Insights sees of a message: all but what makes it EMF, of either version."""
    if "_aws" not in message and message.get("Version") == "0":
        ours = {"Version", "Timestamp", "CloudWatchMetrics"}
    else:
        ours = {"_aws"}
    return {name: value for name, value in message.items() if name not in ours}
