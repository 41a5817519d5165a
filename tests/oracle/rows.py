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

_HTTP = "http"
_LIMIT = "limit"

TAKERS: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "relabel": {
        "every label after the rules": (
            "tests/prom/test_relabel.py::test_labels_are_those_of_prometheus",
        ),
        "outcome, public labels, URL, interval, timeout": (
            "tests/prom/test_targeting.py::test_targets_are_those_of_prometheus",
        ),
    },
    "exposition": {
        "the parser": (
            "tests/prom/test_exposition.py::test_pages_are_read_as_prometheus_does",
            "tests/prom/test_exposition.py::test_content_types_are_told_as_prometheus_does",
            "tests/scrape/test_oracle.py::test_answers_are_taken_as_prometheus_does",
        ),
        "the scrape": (
            "tests/oracle/test_scrape.py::test_scrapes_are_those_of_prometheus",
            "tests/digest/test_oracle.py::test_limits_are_those_of_prometheus",
            "tests/scrape/test_oracle.py::test_answers_are_taken_as_prometheus_does",
        ),
    },
    "scrape_config": {
        "accepted or refused": (
            "tests/config/test_oracle.py::test_accepts_and_refuses_as_prometheus",
        ),
    },
    "staleness": {
        "samples over time": (
            "tests/digest/test_oracle.py::test_samples_over_time_are_those_of_prometheus",
        ),
    },
}
"""By file, and by what is compared: the tests that run its rows, all of them together."""


def read(name: str) -> list[Json]:
    """Give the rows of a file."""
    if name == "staleness":
        cases = json.loads((_DATA / "staleness.json").read_text("utf-8"))["cases"]
        return [{"id": key, **case} for key, case in cases.items()]
    lines = (_DATA / f"{name}.jsonl").read_text("utf-8").splitlines()
    return [json.loads(line) for line in lines]


def scrapes() -> list[Json]:
    """Give the pages whose fate HTTP and the limits have no part in."""
    return [row for row in read("exposition") if row["group"] not in {_HTTP, _LIMIT}]


def body_of(row: Json) -> bytes:
    """Give the page of a row."""
    if "body_b64" in row:
        return base64.b64decode(row["body_b64"])
    return str(row["body"]).encode()
