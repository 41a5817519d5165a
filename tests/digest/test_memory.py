"""What a page remembers, and what it counts as new."""

import pytest

from cwgpu.digest.page import Page
from cwgpu.model.reading import Counts, Reading, Refused
from tests.digest import kitchen
from tests.digest.kitchen import START_MS

OPENMETRICS = "application/openmetrics-text"
GOOD = "# TYPE a gauge\na 1\nb 2\n"


def scrape(of: Page, body: str, content_type: str = "") -> Counts:
    """Scrape a page, good or bad, and give its counts."""
    return of.read(body.encode(), START_MS, content_type).counts


def added(of: Page, *bodies: str) -> list[int]:
    """Give how many series of each page are new."""
    return [scrape(of, body).added for body in bodies]


STORIES: list[tuple[str, list[str], list[int]]] = [
    ("the same page has nothing new, read or replayed", ["a 1\nb 2\n"] * 4, [2, 0, 0, 0]),
    ("a series that comes back is new", ["a 1\nb 2\n", "a 1\n", "a 1\nb 2\n"], [2, 0, 1]),
    (
        "it is new after pages that were replayed, too",
        ["a 1\nb 2\n", "a 1\n", "a 1\n", "a 1\n", "a 1\nb 2\n"],
        [2, 0, 0, 0, 1],
    ),
    ("an empty page takes nothing away", ["a 1\n", "", "", "a 1\n"], [1, 0, 0, 0]),
    ("a page without samples does", ["a 1\n", "# none\n", "a 1\n"], [1, 0, 1]),
    ("a refused page takes nothing away", ["a 1\nb 2\n", "a 1\n}\n", "a 1\nb 2\n"], [2, 0, 0]),
    ("what a refused page had is known", ["c 1\n}\n", "c 1\n", "c 1\n"], [1, 0, 0]),
    (
        "what was there before the last good page is not",
        ["a 1\nb 2\n", "a 1\n", "a 1\n}\n", "a 1\nb 2\n"],
        [2, 0, 0, 1],
    ),
    ("a series that stands there twice is new once", ["a 1\na 2\n", "a 1\na 2\n"], [1, 0]),
    (
        "so is one that stands there under two TYPEs",
        ["# none\n", "a 1\n# TYPE a gauge\na 2\na 3\n"] * 3,
        [0, 1] * 3,
    ),
    ("another way to write it counts as another", ["a 1\na{} 2\n", "a 1\na{} 2\n"], [2, 0]),
]


@pytest.mark.parametrize(
    ("bodies", "expected"), [one[1:] for one in STORIES], ids=[one[0] for one in STORIES]
)
def test_what_is_new(bodies: list[str], expected: list[int]) -> None:
    """A series is new that the last good page did not have, nor a refused one since."""
    assert added(kitchen.page(strict=True), *bodies) == expected


@pytest.mark.parametrize(
    ("ahead_ms", "new"), [(-3_600_001, 0), (-3_600_000, 1), (0, 1), (600_000, 1), (600_001, 0)]
)
def test_a_sample_out_of_time_is_no_new_series(ahead_ms: int, new: int) -> None:
    """Prometheus stores nothing more than ten minutes ahead, or before its storage begins."""
    counts = scrape(kitchen.page(), f"a 1 {START_MS + ahead_ms}\n")
    assert counts == Counts(1, 1, new)


def test_a_bad_line_is_not_counted_where_it_costs_itself() -> None:
    """The page is good, and has the samples that could be read."""
    assert scrape(kitchen.page(), "a 1\nbad\nb 2\n") == Counts(2, 2, 2)


def test_a_page_in_another_format_begins_anew() -> None:
    """Its lines are others; what counters stood at is kept all the same."""
    of = kitchen.page()
    counter = '# TYPE DCGM_C counter\nDCGM_C{pod="p"} 5\n'
    assert scrape(of, counter).added == 1
    assert scrape(of, counter + "# EOF\n", OPENMETRICS).added == 1
    found = of.read(counter.replace(" 5", " 7").encode(), START_MS + 1, "text/plain")
    assert isinstance(found, Reading)
    assert kitchen.account(found) == "DCGM_C=2"


def test_an_empty_page_has_no_format() -> None:
    """Whatever it is called, and without a fallback, it is a good page as in Prometheus 3."""
    of = kitchen.page(fallback_format=None)
    for content_type in ("", "text/html", OPENMETRICS):
        found = of.read(b"", START_MS, content_type)
        assert isinstance(found, Reading)
        assert (found.samples, found.counts) == (0, Counts())
    assert isinstance(of.read(b"a 1\n", START_MS, "text/html"), Refused)


def test_refused_pages_with_ever_new_lines_leave_nothing_behind() -> None:
    """Memory is bounded although no page is let in, and the last good page is remembered."""
    of = kitchen.page(strict=True)
    counter = '# TYPE DCGM_C counter\nDCGM_C{pod="p"} '
    scrape(of, counter + "5\n")
    for number in range(60):
        lines = "".join(f'x{{pod="{number}-{line}"}} 1\n' for line in range(100))
        scrape(of, counter + f"6\n{lines}}}\n")
        assert of.remembered < 1500
    assert kitchen.account(kitchen.read(of, counter + "9\n", START_MS + 1)) == "DCGM_C=4"
