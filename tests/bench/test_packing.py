"""What CloudWatch is sent of a page, which is what it bills: the figures of docs/performance.md."""

import pytest

from tests.bench import packing
from tests.docs import pages

MOST = {packing.SMALL: 105.0, packing.ARRAYS: 12.0}
"""Bytes for one sample that is scraped every 5 seconds, at most."""


@pytest.mark.parametrize("form", MOST)
def test_a_sample_has_no_more_bytes_than_wanted(form: str) -> None:
    """One event for each GPU is as small as it can be, and arrays are a tenth of that."""
    assert packing.sent(packing.FORMS[form], 5).bytes_per_sample <= MOST[form]


def test_every_form_carries_the_same_samples() -> None:
    """None of them is small because something is missing."""
    assert len({packing.sent(each, 15).samples for each in packing.FORMS.values()}) == 1


@pytest.mark.parametrize("interval_s", packing.INTERVALS_S)
def test_the_figures_are_those_of_the_page(interval_s: int) -> None:
    """docs/performance.md has a row for each form, and what is measured stands there."""
    column = packing.INTERVALS_S.index(interval_s)
    rows = [line.split("|") for line in pages.text("docs/performance.md").splitlines()]
    said = {row[1].strip(" `"): row[2 + column].strip() for row in rows if len(row) > 3 + column}
    for form, events in packing.FORMS.items():
        found = packing.sent(events, interval_s).bytes_per_sample
        assert said[form] == f"{found:.1f}", form
