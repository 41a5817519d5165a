"""docs/metrics.md against the code."""

import re

from cwgpu.model.drop import DropReason
from cwgpu.model.scrape import FailReason
from cwgpu.telemetry.metrics import Metrics
from tests.docs import pages

PAGE = "docs/metrics.md"


def test_every_drop_reason_is_explained() -> None:
    """The table of drop reasons has each of them once, in the order of the code."""
    words = pages.first_cells(PAGE, "## Why a sample was dropped")
    assert words == [reason.value for reason in DropReason]


def test_every_fail_reason_is_explained() -> None:
    """The table of failed scrapes has each reason once, in the order of the code."""
    words = pages.first_cells(PAGE, "## Why a scrape failed")
    assert words == [reason.value for reason in FailReason]


def test_every_self_metric_is_explained() -> None:
    """The table of self metrics has each with its type, in the order of the page itself."""
    page = Metrics(lambda: 0.0).render()[0].decode()
    types = re.findall(r"(?m)^# TYPE (cwgpu_\w+) (\w+)$", page)
    assert [(row[0], row[1]) for row in pages.rows(PAGE, "## Self metrics")] == types
