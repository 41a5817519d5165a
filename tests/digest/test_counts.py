"""Limits and counts, held against recorded scrapes of Prometheus.

The rows are answers of Prometheus 2.42, and of the parser of 3.0.1, whose word counts where they
differ.
"""

import base64
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from cwgpu.digest.page import Page
from cwgpu.digest.recipe import Recipe
from cwgpu.model.reading import Counts, Reading, Refused
from cwgpu.model.scrape import FailReason
from cwgpu.plan.plan import Plan
from cwgpu.prom import relabel
from tests.digest import kitchen

DATA = Path(__file__).parents[1] / "data"
ROWS: dict[str, dict[str, Any]] = {
    row["id"]: row
    for row in map(json.loads, (DATA / "exposition.jsonl").read_text().splitlines())
    # What is about HTTP, or fails for the size of the body, never becomes a page.
    if row["group"] != "http" and row["id"] != "l_body_equal"
}
NOW_MS = 1_796_012_232_000
"""When the rows with timestamps were scraped."""
LATER_FORMS = {
    "om_empty": Counts(),
    "om_exemplar_on_gauge": Counts(1, 1, 1),
    "om_quoted_name": Counts(1, 1, 1),
    "om_trailing_comma": Counts(1, 1, 1),
    "t_quoted_label": Counts(1, 1, 1),
    "t_quoted_name": Counts(1, 1, 1),
}
"""What 3.0.1 reads and 2.42 did not."""
NAMES = {"mr_rename_invalid", "t_leading_space", "t_leading_space_labels", "t_leading_tab"}
"""Names that 3.0.1 takes where its scheme is not ``legacy``."""
REASONS = {
    "sample limit": FailReason.SAMPLE_LIMIT,
    "label_": FailReason.LABEL_LIMIT,
    "invalid metric name or label names": FailReason.BAD_NAME,
}


def plan() -> Plan:
    """Send everything, untyped samples too."""
    return kitchen.plan(kitchen.declared(source="job", matcher=".", sets=kitchen.JOB))


def page(row: dict[str, Any], **job: Any) -> Page:  # noqa: ANN401 - fields of Job
    """Make the page of a row's target, read strictly and without a fallback format."""
    written = dict(row.get("job", {}))
    rules = tuple(relabel.rule(**one) for one in written.pop("metric_relabel_configs", ()))
    basic = {"metric_relabel": rules, "strict": True, "fallback_format": None, **written}
    by = replace(plan(), emf=replace(plan().emf, untyped_as_gauge=True))
    target = {
        "job": row["id"],
        "instance": "127.0.0.1:19300",
        **row.get("target_labels", {}),
    }
    return Page(Recipe(by, replace(by.jobs[0], **basic, **job)), target)


def read(row: dict[str, Any], **job: Any) -> Reading | Refused:  # noqa: ANN401 - the same
    """Scrape a row."""
    body = base64.b64decode(row["body_b64"]) if "body_b64" in row else row["body"].encode()
    return page(row, **job).read(body, NOW_MS, row["content_type"])


def counted(row: dict[str, Any]) -> Counts:
    """Give the counts that Prometheus reported."""
    return Counts(*(row["scrape"][name] for name in ("scraped", "passed", "added")))


@pytest.mark.parametrize("id_", sorted(ROWS.keys() - NAMES))
def test_a_scrape_is_counted_as_in_prometheus(id_: str) -> None:
    """It succeeds or fails, and its report has the same numbers."""
    row = ROWS[id_]
    found = read(row)
    if "content_type_error" in row:
        assert isinstance(found, Refused)
        assert found.counts == Counts()
        return
    assert found.counts == LATER_FORMS.get(id_, counted(row))
    good = id_ in LATER_FORMS or "error" not in row["scrape"]
    assert isinstance(found, Reading) is good, found


@pytest.mark.parametrize("id_", [id_ for id_, row in ROWS.items() if row["group"] == "limit"])
def test_a_limit_that_is_broken_fails_the_scrape(id_: str) -> None:
    """The reason says which; a page that is just within its limit is let in."""
    row = ROWS[id_]
    found, error = read(row), row["scrape"].get("error", "")
    reason = next((one for begin, one in REASONS.items() if error.startswith(begin)), None)
    assert (found.reason if isinstance(found, Refused) else None) is reason


@pytest.mark.parametrize("id_", sorted(NAMES))
def test_names_are_judged_by_the_schemes(id_: str) -> None:
    """With ``legacy`` as 2.42 did, which knew no other; else they are names like others."""
    row = ROWS[id_]
    found = read(row, legacy_names=True)
    assert isinstance(found, Refused)
    assert (found.reason, found.counts) == (FailReason.BAD_NAME, counted(row))
    samples = len(row["entries"])
    found = read(row)
    assert isinstance(found, Reading)
    assert found.counts == Counts(samples, samples, samples)
