"""A target's life-cycle told, held against the life-cycle itself."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from cwgpu.model.target import DroppedTarget, Target, TargetGroup
from cwgpu.prom import outcome, relabel, targeting
from cwgpu.prom.outcome import Fate
from cwgpu.prom.rule import Rule

_DATA = Path(__file__).parents[1] / "data" / "relabel.jsonl"
_ROWS: list[dict[str, Any]] = [json.loads(line) for line in _DATA.read_text("utf-8").splitlines()]


@dataclass(frozen=True)
class _Job:
    name: str = "j"
    interval_s: float = 90.0
    timeout_s: float = 10.0
    metrics_path: str = "/metrics"
    scheme: str = "http"
    params: Mapping[str, Sequence[str]] = field(default_factory=dict)
    relabel: Sequence[Rule] = ()


def _rule(config: dict[str, Any]) -> Rule:
    texts = {
        key: "" if value is None else value if isinstance(value, str) else json.dumps(value)
        for key, value in config.items()
        if key not in {"source_labels", "modulus"}
    }
    return relabel.rule(
        source_labels=config.get("source_labels"), modulus=config.get("modulus", 0), **texts
    )


@pytest.mark.parametrize("row", _ROWS, ids=lambda row: row["id"])
def test_the_told_target_is_the_scraped_one(row: dict[str, Any]) -> None:
    """What becomes of a target is what becomes of it in its group, and as Prometheus has it."""
    job = _Job(relabel=[_rule(config) for config in row["relabel_configs"]])
    labels = {"__address__": row["address"], **row["sd_labels"]}
    told = outcome.outcome(job, labels)
    assert [told.target] == list(targeting.targets(job, TargetGroup("", (labels,), {})))
    assert told.fate.value == row["outcome"]
    assert told.discovered == targeting.discovered(job, labels)
    assert told.trace.result == relabel.apply(told.discovered, job.relabel)


def test_periods_are_as_they_are_written() -> None:
    """The job's are printed as Prometheus prints them; a label's stays as it is."""
    told = outcome.outcome(_Job(), {"__address__": "h:1", "__scrape_timeout__": "0m7s"})
    assert (told.fate, told.interval, told.timeout) == (Fate.ACTIVE, "1m30s", "0m7s")
    assert isinstance(told.target, Target)
    assert told.target.timeout_s == 7.0


@pytest.mark.parametrize(
    ("labels", "fate"),
    [
        ({"a": "1", "__address__": "h"}, Fate.DROPPED),
        ({"__address__": ":1"}, Fate.REJECTED),
        ({"__address__": "h", "b": "\ud800"}, Fate.REJECTED),
    ],
)
def test_what_is_not_scraped_has_no_periods(labels: dict[str, str], fate: Fate) -> None:
    """A target that a rule dropped, or that cannot be scraped, says which and why."""
    job = _Job(relabel=[relabel.rule(action="drop", source_labels=["a"], regex="1")])
    told = outcome.outcome(job, labels)
    assert (told.fate, told.interval, told.timeout) == (fate, None, None)
    assert isinstance(told.target, DroppedTarget)
    assert told.target.reason
