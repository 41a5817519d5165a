"""What users of agents such as this one reported, and which test runs it.

``data/reports.jsonl`` holds a report a line: an input that shows the trouble, and what is right. A
test is for those that ``of`` names; what no test runs has its reason in ``apart``.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

Json = dict[str, Any]

_DATA = Path(__file__).parents[1] / "data/reports.jsonl"
ROWS: dict[str, Json] = {
    row["id"]: row for row in map(json.loads, _DATA.read_text("utf-8").splitlines())
}


def of(*ids: str) -> pytest.MarkDecorator:
    """Run a test for these reports; each is its parameter ``report``."""
    return pytest.mark.parametrize("report", [ROWS[name] for name in ids], ids=ids)


def run_by(module: ModuleType) -> Iterator[str]:
    """Give the ids of the reports that a module's tests are for."""
    for test in vars(module).values():
        for mark in getattr(test, "pytestmark", ()):
            if mark.name == "parametrize" and mark.args[0] == "report":
                yield from mark.kwargs["ids"]
