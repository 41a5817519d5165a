"""docs/metrics.md against the code."""

from cwgpu.model.drop import DropReason
from cwgpu.model.scrape import FailReason
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
