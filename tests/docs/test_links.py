"""Links between the documentation's pages."""

import re

import pytest

from tests.docs import pages

PAGES = sorted(
    path.relative_to(pages.ROOT).as_posix()
    for path in (*pages.ROOT.glob("*.md"), *(pages.ROOT / "docs").rglob("*.md"))
)


def _anchors(page: str) -> set[str]:
    headings = re.findall(r"(?m)^#+ (.+)$", pages.text(page))
    return {re.sub(r"[^\w\- ]", "", heading).lower().replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES)
def test_links_lead_somewhere(page: str) -> None:
    """Every relative link of a page names a file that is there, and a heading within it."""
    for target in re.findall(r"\]\(([^)\s]+)\)", pages.text(page)):
        if target.startswith("http"):
            continue
        name, _, anchor = target.partition("#")
        place = (pages.ROOT / page).parent / name if name else pages.ROOT / page
        assert place.exists(), target
        if anchor:
            assert anchor in _anchors(place.resolve().relative_to(pages.ROOT).as_posix()), target


def test_every_decision_is_listed() -> None:
    """The list of decisions has every record, by number."""
    listed = re.findall(r"\((\d{4}-[^)]+)\)", pages.text("docs/decisions/README.md"))
    records = sorted(path.name for path in (pages.ROOT / "docs/decisions").glob("0*.md"))
    assert listed == records
