"""Reading the documentation's pages."""

import re
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent


def text(page: str) -> str:
    """Give a page, named from the repository's root."""
    return (ROOT / page).read_text("utf-8")


def section(page: str, heading: str) -> str:
    """Give what stands between a heading and the next of the same or a higher rank."""
    marks = "#" * (len(heading) - len(heading.lstrip("#")))
    body = text(page).partition(f"\n{heading}\n")[2]
    assert body, f"{page} has no heading {heading!r}"
    return re.split(rf"(?m)^#{{1,{len(marks)}}} ", body)[0]


def first_cells(page: str, heading: str) -> list[str]:
    """Give the first column of the tables below a heading, without back-ticks and the head."""
    rows = [
        line.split("|")[1].strip()
        for line in section(page, heading).splitlines()
        if line[:1] == "|"
    ]
    return [cell.strip("`") for cell in rows if cell.startswith("`")]
