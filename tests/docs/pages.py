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


def rows(page: str, heading: str) -> list[list[str]]:
    """Give the rows of the tables below a heading whose first cell is code, without back-ticks."""
    lines = (line for line in section(page, heading).splitlines() if line.startswith("| `"))
    return [
        [cell.strip(" `") for cell in line.split(" | ")] for line in (x.strip("| ") for x in lines)
    ]


def first_cells(page: str, heading: str) -> list[str]:
    """Give the names in the first column of the tables below a heading."""
    return [row[0].split("`")[0] for row in rows(page, heading)]
