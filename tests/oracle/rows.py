"""The recorded rows, and who runs them.

A row is an input of our own and what the real program answered. Which test runs it is said here;
test_rows.py sees that every row is run.
"""

import base64
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

Json = dict[str, Any]

_DATA = Path(__file__).parents[1] / "data"
SCRAPED_MS = 1_796_012_232_000
"""When the pages of exposition.jsonl were scraped."""

_ANSWERS = (
    "tests/scrape/test_cases.py::test_what_prometheus_reads_is_read",
    "tests/scrape/test_cases.py::test_what_prometheus_cannot_read_has_a_reason",
)

TAKERS: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "relabel": {
        "every label after the rules": (
            "tests/prom/test_relabel.py::test_labels_are_those_of_prometheus",
        ),
        "outcome, public labels, URL, interval and timeout": (
            "tests/prom/test_targeting.py::test_targets_are_those_of_prometheus",
        ),
        "explain": (
            "tests/cli/test_explain.py::test_labels_are_those_of_prometheus",
            "tests/cli/test_explain.py::test_targets_are_those_of_prometheus",
        ),
    },
    "exposition": {
        "what the parser reads": (
            "tests/prom/test_exposition.py::test_pages_are_read_as_prometheus_does",
            "tests/prom/test_exposition.py::test_content_types_are_told_as_prometheus_does",
            *_ANSWERS,
        ),
        "samples, or that there are none": (
            "tests/oracle/test_scrape.py::test_scrapes_are_those_of_prometheus",
            "tests/oracle/test_scrape.py::test_a_body_of_the_limit_fails_the_scrape",
            *_ANSWERS,
        ),
        "counts": (
            "tests/digest/test_counts.py::test_a_scrape_is_counted_as_in_prometheus",
            "tests/digest/test_counts.py::test_names_are_judged_by_the_schemes",
            "tests/oracle/test_scrape.py::test_a_body_of_the_limit_fails_the_scrape",
            *_ANSWERS,
        ),
    },
    "scrape_config": {
        "accepted or refused": (
            "tests/config/test_oracle.py::test_accepts_and_refuses_as_prometheus",
        ),
    },
    "staleness": {
        "samples over time": (
            "tests/agent/test_reports.py::test_series_over_time_are_those_of_prometheus",
            "tests/agent/test_reports.py::test_a_target_that_is_gone_sends_nothing",
        ),
    },
    "kubernetes_sd": {
        "groups, of objects": (
            (
                "tests/prom/kubernetes/test_recorded.py"
                "::test_objects_become_the_groups_that_prometheus_makes"
            ),
        ),
        "groups, of an API server": (
            "tests/oracle/test_clusters.py::test_groups_are_those_of_prometheus",
        ),
    },
}
"""By file, and by what is compared: the tests that run its rows, all of them together.

A row's id is the parameter of the test that runs it."""

ALONE = {"tests/agent/test_reports.py::test_a_target_that_is_gone_sends_nothing": "target_removed"}
"""Tests that run one row, without a parameter."""


def read(name: str) -> list[Json]:
    """Give the rows of a file."""
    if name == "staleness":
        cases = json.loads((_DATA / "staleness.json").read_text("utf-8"))["cases"]
        return [{"id": key, **case} for key, case in cases.items()]
    lines = (_DATA / f"{name}.jsonl").read_text("utf-8").splitlines()
    return [json.loads(line) for line in lines]


def pages() -> list[Json]:
    """Give the pages whose fate HTTP has no part in."""
    return [row for row in read("exposition") if row["group"] != "http" and not is_large(row)]


def is_large(row: Json) -> bool:
    """Tell whether it is the size of its body that decides on a row."""
    return "body_size_limit" in row.get("job", {})


def body_of(row: Json) -> bytes:
    """Give the page of a row."""
    if "body_b64" in row:
        return base64.b64decode(row["body_b64"])
    return str(row["body"]).encode()
